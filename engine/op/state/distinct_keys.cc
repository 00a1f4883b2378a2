#include "engine/op/state/distinct_keys.h"

#include <algorithm>
#include <utility>

namespace koios::engine {
namespace {

// What is longer stays a value: a view tells no length beyond 4 GiB.
constexpr size_t kMostPacked = size_t{1} << 30;

size_t OutsideBytes(const Value& value) { return value.ByteSize() - sizeof(Value); }

void AppendBytes(const void* start, size_t bytes, std::string* out) {
  out->append(static_cast<const char*>(start), bytes);
}

}  // namespace

std::span<const VertexRef> KeyReader::Vertices(const Batch& batch) const {
  if (slots_.size() != 1 || !batch.Has(slots_[0])) return {};
  const Column& column = batch.slots[slots_[0]];
  if (column.kind() != Column::Kind::kVertex || column.has_absent()) return {};
  return column.vertices();
}

bool KeyReader::HasKey(const Batch& batch, size_t row) const {
  return std::all_of(slots_.begin(), slots_.end(), [&](uint32_t slot) {
    return batch.Has(slot) && !batch.slots[slot].IsAbsent(row);
  });
}

DistinctKeys::Part DistinctKeys::PartOf(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kBool:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kChar:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return {Form::kWord, {static_cast<uint64_t>(value.AsInteger()), value.kind()}, {}};
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return {Form::kWord, {EquivalenceBits(value.AsDouble()), value.kind()}, {}};
    case ValueKind::kVertex:
      return {Form::kWord, {value.AsVertex().bits, value.kind()}, {}};
    case ValueKind::kEdge:
      return {Form::kWord, {value.AsEdge().id, value.kind()}, {}};
    case ValueKind::kString:
      return {Form::kText, {}, value.AsString()};
    default:
      return {Form::kOther, {}, {}};
  }
}

DistinctKeys::Part DistinctKeys::PartAt(const Column& column, size_t row) {
  const auto word = [](uint64_t bits, ValueKind kind) {
    return Part{Form::kWord, {bits, kind}, {}};
  };
  switch (column.kind()) {
    case Column::Kind::kEmpty:
      return {Form::kOther, {}, {}};
    case Column::Kind::kBool:
      return word(column.bools()[row], ValueKind::kBool);
    case Column::Kind::kInt:
      return word(static_cast<uint64_t>(int64_t{column.ints()[row]}), ValueKind::kInt);
    case Column::Kind::kLong:
      return word(static_cast<uint64_t>(column.longs()[row]), ValueKind::kLong);
    case Column::Kind::kDouble:
      return word(EquivalenceBits(column.doubles()[row]), ValueKind::kDouble);
    case Column::Kind::kString:
      return {Form::kText, {}, column.StringAt(row)};
    case Column::Kind::kVertex:
      return word(column.vertices()[row].bits, ValueKind::kVertex);
    case Column::Kind::kEdge:
      return word(column.edges()[row].id, ValueKind::kEdge);
    case Column::Kind::kValue:
      return PartOf(column.ValueAt(row));
  }
  return {Form::kOther, {}, {}};
}

bool DistinctKeys::Pack(const KeyReader& reader, const Batch& batch, size_t row) {
  scratch_.clear();
  for (const uint32_t slot : reader.slots()) {
    const Part part = PartAt(batch.slots[slot], row);
    if (part.form == Form::kOther) return false;
    const ValueKind kind = part.form == Form::kText ? ValueKind::kString : part.word.kind;
    const uint64_t bits = part.form == Form::kText ? part.text.size() : part.word.bits;
    AppendBytes(&kind, sizeof(kind), &scratch_);
    AppendBytes(&bits, sizeof(bits), &scratch_);
    scratch_ += part.text;
    if (scratch_.size() > kMostPacked) return false;
  }
  return true;
}

StatusOr<Value> DistinctKeys::SeveralAt(const KeyReader& reader, const Batch& batch, size_t row) {
  ValueList parts;
  for (const uint32_t slot : reader.slots()) parts.push_back(batch.slots[slot].Get(row));
  return Value::List(std::move(parts));
}

template <typename Set, typename Key>
StatusOr<bool> DistinctKeys::AddTo(Set DistinctKeys::*set, const Key& key, size_t bytes,
                                   const DistinctKeys* passed, ChargeAhead* charge) {
  if (passed != nullptr && (passed->*set).Contains(key)) return false;
  if ((this->*set).Contains(key)) return false;
  RETURN_IF_ERROR((this->*set).MakeRoom(key, charge));
  RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(bytes)));
  (this->*set).Emplace(key);
  return true;
}

StatusOr<bool> DistinctKeys::AddVertex(VertexRef vertex, const DistinctKeys* passed,
                                       ChargeAhead* charge) {
  if (passed != nullptr && passed->vertices_.Contains(vertex)) return false;
  return vertices_.Insert(vertex, charge);
}

StatusOr<bool> DistinctKeys::AddValue(Value value, const DistinctKeys* passed,
                                      ChargeAhead* charge) {
  const size_t outside = OutsideBytes(value);
  return AddTo(&DistinctKeys::values_, HashedValue(std::move(value)), outside, passed, charge);
}

StatusOr<bool> DistinctKeys::AddSeveral(const KeyReader& reader, const Batch& batch, size_t row,
                                        const DistinctKeys* passed, ChargeAhead* charge) {
  if (Pack(reader, batch, row)) {
    const HashedView packed(scratch_);
    return AddTo(&DistinctKeys::packed_, packed, HashedText::BytesOf(scratch_), passed, charge);
  }
  ASSIGN_OR_RETURN(Value key, SeveralAt(reader, batch, row));
  return AddValue(std::move(key), passed, charge);
}

StatusOr<bool> DistinctKeys::AddRow(const KeyReader& reader, const Batch& batch, size_t row,
                                    const DistinctKeys* passed, ChargeAhead* charge) {
  if (!reader.HasKey(batch, row)) return false;
  if (reader.slots().size() != 1) return AddSeveral(reader, batch, row, passed, charge);
  const Column& column = batch.slots[reader.slots()[0]];
  const Part part = PartAt(column, row);
  switch (part.form) {
    case Form::kWord:
      if (part.word.kind == ValueKind::kVertex) {
        return AddVertex(VertexRef{part.word.bits}, passed, charge);
      }
      return AddTo(&DistinctKeys::words_, part.word, 0, passed, charge);
    case Form::kText:
      return AddTo(&DistinctKeys::texts_, HashedView(part.text), HashedText::BytesOf(part.text),
                   passed, charge);
    case Form::kOther:
      break;
  }
  return AddValue(column.Get(row), passed, charge);
}

Status DistinctKeys::AddRows(const KeyReader& reader, const Batch& batch, size_t begin, size_t end,
                             const DistinctKeys* passed, ChargeAhead* charge,
                             std::vector<uint32_t>* fresh) {
  if (const auto vertices = reader.Vertices(batch); !vertices.empty()) {
    return vertices_.InsertAll(vertices, begin, end,
                               passed == nullptr ? nullptr : &passed->vertices_, charge, fresh);
  }
  for (size_t row = begin; row < end; ++row) {
    ASSIGN_OR_RETURN(const bool is_new, AddRow(reader, batch, row, passed, charge));
    if (is_new) fresh->push_back(static_cast<uint32_t>(row));
  }
  return OkStatus();
}

StatusOr<bool> DistinctKeys::Contains(const KeyReader& reader, const Batch& batch, size_t row) {
  if (reader.slots().size() != 1) {
    if (Pack(reader, batch, row)) return packed_.Contains(HashedView(scratch_));
    if (values_.empty()) return false;
    ASSIGN_OR_RETURN(Value key, SeveralAt(reader, batch, row));
    return values_.Contains(HashedValue(std::move(key)));
  }
  const Column& column = batch.slots[reader.slots()[0]];
  const Part part = PartAt(column, row);
  switch (part.form) {
    case Form::kWord:
      if (part.word.kind == ValueKind::kVertex) {
        return vertices_.Contains(VertexRef{part.word.bits});
      }
      return words_.Contains(part.word);
    case Form::kText:
      return texts_.Contains(HashedView(part.text));
    case Form::kOther:
      break;
  }
  return !values_.empty() && values_.Contains(HashedValue(column.Get(row)));
}

StatusOr<KeyCode> DistinctKeys::CodeOf(const KeyReader& reader, const Batch& batch, size_t row,
                                       uint64_t seed) {
  if (reader.slots().size() != 1) {
    if (Pack(reader, batch, row)) return CodeOfText(scratch_, seed);
    ASSIGN_OR_RETURN(const Value key, SeveralAt(reader, batch, row));
    return CodeOfValue(key, seed);
  }
  const Column& column = batch.slots[reader.slots()[0]];
  const Part part = PartAt(column, row);
  switch (part.form) {
    case Form::kWord:
      return CodeOfNumber(part.word.kind, part.word.bits);
    case Form::kText:
      return CodeOfText(part.text, seed);
    case Form::kOther:
      break;
  }
  return CodeOfValue(column.Get(row), seed);
}

bool DistinctKeys::FreeSome(int64_t* freed) {
  const auto of_text = [](const HashedText& key) { return HashedText::BytesOf(key.text()); };
  return words_.FreeSome(freed) && texts_.FreeSome(freed, of_text) &&
         packed_.FreeSome(freed, of_text) &&
         values_.FreeSome(freed, [](const HashedValue& key) { return OutsideBytes(key.value); });
}

bool DistinctKeys::WalkSome(Walk* walk, uint64_t seed,
                            const std::function<void(const KeyCode&)>& use) const {
  const auto some = [&](int number, const auto& set, auto* at, const auto& code_of) {
    if (walk->set_ > number) return false;
    walk->set_ = number;
    return set.WalkSome(at, kWalkMost, [&](const auto& key) { use(code_of(key)); });
  };
  const auto of_text = [&](const HashedText& key) { return CodeOfText(key.text(), seed); };
  if (walk->set_ < 0 && vertices_.WalkSome(&walk->vertices_, [&](VertexRef vertex) {
        use(CodeOfNumber(ValueKind::kVertex, vertex.bits));
      })) {
    return true;
  }
  return some(0, words_, &walk->word_,
              [](const Word& word) { return CodeOfNumber(word.kind, word.bits); }) ||
         some(1, texts_, &walk->text_, of_text) || some(2, packed_, &walk->packed_, of_text) ||
         some(3, values_, &walk->value_,
              [&](const HashedValue& key) { return CodeOfValue(key.value, seed); });
}

}  // namespace koios::engine
