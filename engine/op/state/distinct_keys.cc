#include "engine/op/state/distinct_keys.h"

#include <algorithm>
#include <utility>

#include "engine/account/call_work.h"

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

void KeyReader::AddLarge(const Batch& batch, size_t row, CallWork* work) const {
  for (const uint32_t slot : slots_) {
    const Column& column = batch.slots[slot];
    if (column.kind() == Column::Kind::kValue) work->AddLarge(column.ValueAt(row));
  }
}

bool KeyReader::HasKey(const Batch& batch, size_t row) const {
  return std::all_of(slots_.begin(), slots_.end(), [&](uint32_t slot) {
    return batch.Has(slot) && !batch.slots[slot].IsAbsent(row);
  });
}

// One slot's share of a key.
struct DistinctKeys::Part {
  Form form;  // kWord, kText, kOther
  Word word;
  std::string_view text;
};

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
  const size_t begin = scratch_.size();
  for (const uint32_t slot : reader.slots()) {
    const Part part = PartAt(batch.slots[slot], row);
    const ValueKind kind = part.form == Form::kText ? ValueKind::kString : part.word.kind;
    const uint64_t bits = part.form == Form::kText ? part.text.size() : part.word.bits;
    AppendBytes(&kind, sizeof(kind), &scratch_);
    AppendBytes(&bits, sizeof(bits), &scratch_);
    scratch_ += part.text;
    if (part.form == Form::kOther || scratch_.size() - begin > kMostPacked) {
      scratch_.resize(begin);
      return false;
    }
  }
  return true;
}

StatusOr<Value> DistinctKeys::ValueAt(const KeyReader& reader, const Batch& batch, size_t row) {
  if (reader.slots().size() == 1) return batch.slots[reader.slots()[0]].Get(row);
  ValueList parts;
  for (const uint32_t slot : reader.slots()) parts.push_back(batch.slots[slot].Get(row));
  return Value::List(std::move(parts));
}

DistinctKeys::Look DistinctKeys::LookAt(const KeyReader& reader, const Batch& batch, size_t row) {
  Look look;
  look.row = static_cast<uint32_t>(row);
  if (reader.slots().size() != 1) {
    const size_t begin = scratch_.size();
    if (!Pack(reader, batch, row)) return look;
    look.form = Form::kPacked;
    look.text = HashedView(std::string_view(scratch_).substr(begin));
    return look;
  }
  const Part part = PartAt(batch.slots[reader.slots()[0]], row);
  look.form = part.form;
  look.word = part.word;
  if (part.form == Form::kText) look.text = HashedView(part.text);
  if (part.form == Form::kWord && part.word.kind == ValueKind::kVertex) look.form = Form::kVertex;
  return look;
}

std::span<const DistinctKeys::Look> DistinctKeys::LookAhead(const KeyReader& reader,
                                                            const Batch& batch, size_t* row,
                                                            size_t end,
                                                            std::array<Look, kAhead>* looks) {
  size_t count = 0;
  scratch_.clear();
  for (; *row < end && count < kAhead && scratch_.size() < kScratchBytes; ++*row) {
    if (reader.HasKey(batch, *row)) (*looks)[count++] = LookAt(reader, batch, *row);
  }
  const auto ahead = std::span(*looks).first(count);
  size_t at = 0;
  for (Look& look : ahead) {
    if (look.form == Form::kPacked) {
      const size_t size = look.text.text().size();
      look.text = look.text.At(std::string_view(scratch_).substr(at, size));
      at += size;
    }
    Prefetch(look);
  }
  return ahead;
}

void DistinctKeys::Prefetch(const Look& look) const {
  switch (look.form) {
    case Form::kWord:
      return words_.Prefetch(look.word);
    case Form::kText:
      return texts_.Prefetch(look.text);
    case Form::kPacked:
      return packed_.Prefetch(look.text);
    case Form::kVertex:
    case Form::kOther:
      return;
  }
}

template <typename Set, typename Key>
StatusOr<bool> DistinctKeys::AddTo(Set DistinctKeys::*set, const Key& key, size_t bytes,
                                   const DistinctKeys* passed, ChargeAhead* charge) {
  if (passed != nullptr && (passed->*set).Contains(key)) return false;
  if ((this->*set).Contains(key)) return false;
  ASSIGN_OR_RETURN(const size_t moved, (this->*set).MakeRoom(key, charge));
  moved_ += moved;
  RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(bytes)));
  (this->*set).Emplace(key);
  return true;
}

StatusOr<bool> DistinctKeys::AddVertex(VertexRef vertex, const DistinctKeys* passed,
                                       ChargeAhead* charge) {
  if (passed != nullptr && passed->vertices_.Contains(vertex)) return false;
  return vertices_.Insert(vertex, charge);
}

StatusOr<bool> DistinctKeys::Add(const Look& look, const KeyReader& reader, const Batch& batch,
                                 const DistinctKeys* passed, ChargeAhead* charge) {
  const size_t text_bytes = HashedText::BytesOf(look.text.text());
  switch (look.form) {
    case Form::kVertex:
      return AddVertex(VertexRef{look.word.bits}, passed, charge);
    case Form::kWord:
      return AddTo(&DistinctKeys::words_, look.word, 0, passed, charge);
    case Form::kText:
      return AddTo(&DistinctKeys::texts_, look.text, text_bytes, passed, charge);
    case Form::kPacked:
      return AddTo(&DistinctKeys::packed_, look.text, text_bytes, passed, charge);
    case Form::kOther:
      break;
  }
  ASSIGN_OR_RETURN(Value value, ValueAt(reader, batch, look.row));
  const size_t outside = OutsideBytes(value);
  return AddTo(&DistinctKeys::values_, HashedValue(std::move(value)), outside, passed, charge);
}

StatusOr<bool> DistinctKeys::AddRow(const KeyReader& reader, const Batch& batch, size_t row,
                                    ChargeAhead* charge) {
  if (!reader.HasKey(batch, row)) return false;
  return Add(OneLook(reader, batch, row), reader, batch, nullptr, charge);
}

Status DistinctKeys::AddRows(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                             const DistinctKeys* passed, ChargeAhead* charge,
                             std::vector<uint32_t>* fresh) {
  if (const auto vertices = reader.Vertices(batch); !vertices.empty()) {
    RETURN_IF_ERROR(vertices_.InsertAll(
        vertices, *row, end, passed == nullptr ? nullptr : &passed->vertices_, charge, fresh));
    *row = end;
    return OkStatus();
  }
  std::array<Look, kAhead> looks;
  for (CallWork work(&moved_); *row < end && !work.is_over();) {
    for (const Look& look : LookAhead(reader, batch, row, end, &looks)) {
      ASSIGN_OR_RETURN(const bool is_new, Add(look, reader, batch, passed, charge));
      if (is_new) fresh->push_back(look.row);
      // A new one has to wait for the memory that it is put into, too.
      work.Add(1 + (is_new ? 1 : 0) + (look.form == Form::kOther ? 1 : 0));
      if (look.form == Form::kOther) reader.AddLarge(batch, look.row, &work);
    }
  }
  return OkStatus();
}

StatusOr<bool> DistinctKeys::Contains(const KeyReader& reader, const Batch& batch, size_t row) {
  const Look look = OneLook(reader, batch, row);
  switch (look.form) {
    case Form::kVertex:
      return vertices_.Contains(VertexRef{look.word.bits});
    case Form::kWord:
      return words_.Contains(look.word);
    case Form::kText:
      return texts_.Contains(look.text);
    case Form::kPacked:
      return packed_.Contains(look.text);
    case Form::kOther:
      break;
  }
  if (values_.empty()) return false;
  ASSIGN_OR_RETURN(Value value, ValueAt(reader, batch, row));
  return values_.Contains(HashedValue(std::move(value)));
}

StatusOr<KeyCode> DistinctKeys::CodeOf(const KeyReader& reader, const Batch& batch, size_t row,
                                       uint64_t seed) {
  const Look look = OneLook(reader, batch, row);
  switch (look.form) {
    case Form::kVertex:
    case Form::kWord:
      return CodeOfNumber(look.word.kind, look.word.bits);
    case Form::kText:
    case Form::kPacked:
      return CodeOfText(look.text.text(), seed);
    case Form::kOther:
      break;
  }
  ASSIGN_OR_RETURN(const Value value, ValueAt(reader, batch, row));
  return CodeOfValue(value, seed);
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
