#include "import/load/row_encoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/text/text.h"
#include "core/value_codec.h"
#include "import/load/vertex_map.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/commit_limits.h"

namespace koios::import {
namespace {

bool Fail(BadRow* bad, RowCode code, size_t column, std::string message) {
  bad->code = code;
  bad->column = static_cast<uint32_t>(column) + 1;
  bad->message = std::move(message);
  return false;
}

bool ParseWholeId(std::string_view text, int64_t* number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// A vertex has one label; several are joined as Neptune does.
std::string JoinLabels(std::string_view text, char delimiter) {
  std::string joined;
  while (!text.empty()) {
    const size_t end = std::min(text.find(delimiter), text.size());
    if (end > 0) joined.append(joined.empty() ? "" : "::").append(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return joined;
}

}  // namespace

struct RowEncoder::WaitingEdge {
  IdName out, in;
  LabelId label = kNoName;
  RecordSource source;
  std::string_view raw;
  std::string payload;
  std::string id_bytes;
  std::string out_bytes, in_bytes;  // of texts
};

struct RowEncoder::RowState {
  std::string key, value, id_bytes, other_bytes;
  RecordSource source;
  std::string last_label_text;
  LabelId last_label = kNoName;
  std::array<WaitingEdge, 16> waiting;
  size_t num_waiting = 0;
};

RowEncoder::RowEncoder(const TablePlan& plan, uint32_t file, const Sources& sources,
                       const EncodeTarget& target, LabelCache* labels)
    : plan_(plan),
      file_(file),
      csv_(sources.csv),
      id_type_(sources.id_type),
      target_(target),
      labels_(labels),
      id_column_(plan.Find(ColumnRole::kId)),
      label_column_(plan.Find(ColumnRole::kLabel)),
      start_column_(plan.Find(ColumnRole::kStart)),
      end_column_(plan.Find(ColumnRole::kEnd)) {
  if (start_column_) out_space_ = target.spaces->Find(plan.columns[*start_column_].space);
  if (end_column_) in_space_ = target.spaces->Find(plan.columns[*end_column_].space);
}

StatusOr<std::unique_ptr<RowEncoder>> RowEncoder::Create(const SourceTable& table, uint32_t file,
                                                         const Sources& sources,
                                                         const EncodeTarget& target,
                                                         storage::BulkWriter* writer,
                                                         LabelCache* labels) {
  std::unique_ptr<RowEncoder> encoder(new RowEncoder(table.plan, file, sources, target, labels));
  RETURN_IF_ERROR(encoder->InternNames(writer));
  return encoder;
}

Status RowEncoder::InternNames(storage::BulkWriter* writer) {
  if (!plan_.label.empty()) {
    ASSIGN_OR_RETURN(default_label_, labels_->Find(plan_.label, [] { return true; }));
  }
  bool has_original = false;
  for (size_t i = 0; i < plan_.columns.size(); ++i) {
    const ColumnPlan& column = plan_.columns[i];
    const bool is_id = column.role == ColumnRole::kId;
    if (column.role != ColumnRole::kProperty && !(is_id && !column.name.empty())) continue;
    ASSIGN_OR_RETURN(KeyId key, writer->InternKey(column.name));
    properties_.push_back({key, i, column.type, is_id});
    has_original = has_original || column.name == kOriginalIdKey;
  }
  if (id_column_ && !plan_.columns[*id_column_].space.empty() && !has_original) {
    ASSIGN_OR_RETURN(KeyId key, writer->InternKey(kOriginalIdKey));
    properties_.push_back({key, *id_column_, ColumnType{}, true});
  }
  std::sort(properties_.begin(), properties_.end(),
            [](const PropertyColumn& a, const PropertyColumn& b) { return a.key < b.key; });
  return OkStatus();
}

Status RowEncoder::EncodeChunk(const Chunk& chunk, const std::function<bool()>& wait_for_turn,
                               RecordBlock* block) const {
  const bool is_utf8 = IsValidUtf8(chunk.bytes);
  RowParser parser(chunk, csv_, plan_.columns.size());
  Row row;
  const auto state = std::make_unique<RowState>();
  while (parser.Next(&row)) {
    ++block->num_rows;
    RETURN_IF_ERROR(EncodeRow(row, is_utf8, wait_for_turn, state.get(), block));
  }
  ResolveWaiting(state.get(), block);
  return OkStatus();
}

void RowEncoder::AddBad(BadRow bad, uint64_t line, std::string_view raw, RecordBlock* block) const {
  bad.file = file_;
  bad.line = line;
  bad.raw = TruncateUtf8(raw, kMaxRawBytes);
  block->AddBad(bad);
}

Status RowEncoder::EncodeRow(const Row& row, bool chunk_is_utf8,
                             const std::function<bool()>& wait_for_turn, RowState* state,
                             RecordBlock* block) const {
  BadRow bad;
  bool good = CheckRow(row, chunk_is_utf8, &bad);
  LabelId label = default_label_;
  if (good && label_column_) {
    ASSIGN_OR_RETURN(
        good, ReadLabel(row.fields[*label_column_].text, wait_for_turn, state, &label, &bad));
  }
  if (good) {
    state->source = RecordSource{file_, row.line, row.offset};
    good = plan_.kind == TableKind::kNodes ? EncodeVertexRow(row, label, state, block, &bad)
                                           : EncodeEdgeRow(row, label, state, block, &bad);
  }
  if (!good) {
    ResolveWaiting(state, block);  // bad rows stay in their order
    AddBad(std::move(bad), row.line, row.raw, block);
  }
  return OkStatus();
}

StatusOr<bool> RowEncoder::ReadLabel(std::string_view text,
                                     const std::function<bool()>& wait_for_turn, RowState* state,
                                     LabelId* label, BadRow* bad) const {
  if (state->last_label != kNoName && text == state->last_label_text) {
    *label = state->last_label;
    return true;
  }
  std::string joined;
  std::string_view name = text;
  if (plan_.kind == TableKind::kNodes && text.find(csv_.array_delimiter) != text.npos) {
    joined = JoinLabels(text, csv_.array_delimiter);
    name = joined;
  }
  if (!name.empty()) {
    if (const Status named = storage::CheckName(name, "label"); !named.ok()) {
      return Fail(bad, RowCode::kBadType, *label_column_, MessageOf(named));
    }
    ASSIGN_OR_RETURN(*label, labels_->Find(name, wait_for_turn));
  }
  if (*label == kNoName) {
    return Fail(bad, RowCode::kBadType, *label_column_, "the row has no label");
  }
  state->last_label_text = text;
  state->last_label = *label;
  return true;
}

bool RowEncoder::CheckRow(const Row& row, bool chunk_is_utf8, BadRow* bad) const {
  switch (row.error) {
    case RowError::kNone:
      break;
    case RowError::kBadQuote:
      return Fail(bad, RowCode::kBadQuote, row.error_field, "there is text behind a closing quote");
    case RowError::kOpenQuote:
      return Fail(bad, RowCode::kBadQuote, row.error_field, "a quote is never closed");
    case RowError::kTooLong:
      return Fail(bad, RowCode::kTooLong, row.error_field,
                  "the field or row is longer than " + std::to_string(csv_.max_field_bytes) +
                      " bytes (a larger --memory allows longer rows)");
    case RowError::kTooManyFields:
      return Fail(
          bad, RowCode::kRaggedRow, plan_.columns.size(),
          "the row has more fields than the header's " + std::to_string(plan_.columns.size()));
  }
  if (row.fields.size() != plan_.columns.size()) {
    return Fail(bad, RowCode::kRaggedRow, row.fields.size(),
                "the row has " + std::to_string(row.fields.size()) + " fields, the header " +
                    std::to_string(plan_.columns.size()));
  }
  if (chunk_is_utf8) return true;
  for (size_t i = 0; i < row.fields.size(); ++i) {
    if (!IsValidUtf8(row.fields[i].text)) {
      return Fail(bad, RowCode::kBadUtf8, i, "the field is no UTF-8");
    }
  }
  return true;
}

bool RowEncoder::ReadId(const Row& row, size_t column, RawId* id, BadRow* bad) const {
  const ColumnPlan& plan = plan_.columns[column];
  const std::string_view text = row.fields[column].text;
  if (text.empty()) return Fail(bad, RowCode::kBadId, column, "the id is empty");
  if (plan.space.size() + 1 + text.size() > storage::kMaxIdBytes) {
    return Fail(bad, RowCode::kTooLong, column,
                "the id is longer than " + std::to_string(storage::kMaxIdBytes) + " bytes");
  }
  *id = {false, 0, text};
  switch (plan.id_type.value_or(id_type_)) {
    case IdType::kAuto:
      if (const auto number = storage::CanonicalDecimal(text)) *id = {true, *number, text};
      return true;
    case IdType::kInt:
      id->is_number = ParseWholeId(text, &id->number);
      if (id->is_number) return true;
      return Fail(bad, RowCode::kBadId, column,
                  "'" + std::string(TruncateUtf8(text, 40)) + "' is no 64-bit integer id");
    case IdType::kString:
      return true;
  }
  return true;
}

void RowEncoder::AppendIdBytes(size_t column, const RawId& id, std::string* out) const {
  const std::string& space = plan_.columns[column].space;
  if (space.empty()) {
    return id.is_number ? storage::AppendNumberId(id.number, out)
                        : storage::AppendTextId(id.text, out);
  }
  storage::AppendTextId(space, out);
  out->push_back(':');
  if (!id.is_number) {
    out->append(id.text);
    return;
  }
  char digits[24];
  out->append(digits, std::to_chars(digits, digits + sizeof(digits), id.number).ptr);
}

size_t RowEncoder::AppendIdKey(std::string_view id_bytes, std::string* out) const {
  const uint32_t partition = storage::PartitionOfIdBytes(id_bytes, target_.bins.num_partitions());
  storage::PutBigEndian16(static_cast<uint16_t>(partition), out);
  out->append(id_bytes);
  return target_.bins.Of(partition);
}

bool RowEncoder::AppendProperties(const Row& row, const RawId* original, std::string* out,
                                  BadRow* bad) const {
  for (const PropertyColumn& property : properties_) {
    if (property.is_id) {
      if (original == nullptr) continue;
      if (original->is_number) {
        storage::AppendProperty(property.key, Value::Long(original->number), out);
      } else {
        storage::AppendTextProperty(property.key, original->text, out);
      }
      continue;
    }
    const Field& field = row.fields[property.column];
    const bool is_text = property.type == ColumnType{};
    if (field.text.empty() && !(field.quoted && is_text)) continue;
    if (is_text) {
      storage::AppendTextProperty(property.key, field.text, out);
      continue;
    }
    Value value;
    std::string why;
    if (!ParseField(property.type, field.text, csv_, &value, &why)) {
      return Fail(bad, RowCode::kBadType, property.column, std::move(why));
    }
    storage::AppendProperty(property.key, value, out);
  }
  return true;
}

bool RowEncoder::EncodeVertexRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                                 BadRow* bad) const {
  RawId id{true, 0, {}};
  if (id_column_ && !ReadId(row, *id_column_, &id, bad)) return false;
  state->id_bytes.clear();
  if (id_column_) {
    AppendIdBytes(*id_column_, id, &state->id_bytes);
  } else {
    storage::AppendNumberId(0, &state->id_bytes);
  }
  std::string& value = state->value;
  value.clear();
  PutSource(state->source, &value);
  storage::AppendVertexHead(label, state->id_bytes, &value);
  if (!AppendProperties(row, id_column_ ? &id : nullptr, &value, bad)) return false;
  if (!id_column_) {
    block->without_id.Add("", value);
    return true;
  }
  const bool in_space = !plan_.columns[*id_column_].space.empty();
  if (id.is_number && !in_space) block->max_int_id = std::max(block->max_int_id, id.number);
  if (in_space) block->labels_in_space.insert(label);
  block->ids.Note(IdName::OfBytes(state->id_bytes, *target_.spaces));
  state->key.clear();
  const size_t bin = AppendIdKey(state->id_bytes, &state->key);
  block->records[bin].Add(state->key, value);
  return true;
}

bool RowEncoder::EncodeEdgeRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                               BadRow* bad) const {
  RawId out, in, id;
  if (!ReadId(row, *start_column_, &out, bad)) return false;
  if (!ReadId(row, *end_column_, &in, bad)) return false;
  const bool has_id = id_column_ && !row.fields[*id_column_].text.empty();
  if (has_id && !ReadId(row, *id_column_, &id, bad)) return false;
  WaitingEdge& edge = state->waiting[state->num_waiting];
  edge.label = label;
  edge.source = state->source;
  edge.raw = row.raw;
  edge.id_bytes.clear();
  if (has_id) AppendIdBytes(*id_column_, id, &edge.id_bytes);
  edge.payload.clear();
  PutBytes(edge.id_bytes, &edge.payload);
  if (!AppendProperties(row, has_id ? &id : nullptr, &edge.payload, bad)) return false;
  const auto begin_end = [&](size_t column, const RawId& raw, IdName* name, std::string* bytes) {
    bytes->clear();
    const uint32_t space = column == *start_column_ ? out_space_ : in_space_;
    if (raw.is_number && target_.ids != nullptr) {
      *name = IdName::Number(space, raw.number);
      return target_.ids->Prefetch(*name);
    }
    AppendIdBytes(column, raw, bytes);
    *name = IdName::OfBytes(*bytes, *target_.spaces);
  };
  begin_end(*start_column_, out, &edge.out, &edge.out_bytes);
  begin_end(*end_column_, in, &edge.in, &edge.in_bytes);
  if (target_.ids != nullptr) {
    if (++state->num_waiting == state->waiting.size()) ResolveWaiting(state, block);
    return true;
  }
  state->other_bytes.clear();
  AppendIdKey(edge.out_bytes, &state->other_bytes);
  std::string& value = state->value;
  value.clear();
  PutBytes(state->other_bytes, &value);
  PutSource(edge.source, &value);
  PutVarint(label, &value);
  value += edge.payload;
  state->key.clear();
  const size_t bin = AppendIdKey(edge.in_bytes, &state->key);
  AddEdge(state->key, bin, value, edge.id_bytes, edge.source, state, block);
  return true;
}

void RowEncoder::AddEdge(std::string_view key, size_t bin, std::string_view value,
                         std::string_view id_bytes, const RecordSource& source, RowState* state,
                         RecordBlock* block) const {
  if (id_bytes.empty()) return block->records[bin].Add(key, value);
  std::string& whole = state->other_bytes;
  whole.clear();
  PutSource(source, &whole);
  PutBytes(key, &whole);
  whole += value;
  state->id_bytes.clear();
  const size_t id_bin = AppendIdKey(id_bytes, &state->id_bytes);
  block->with_id[id_bin].Add(state->id_bytes, whole);
}

void RowEncoder::ResolveWaiting(RowState* state, RecordBlock* block) const {
  const auto missing = [&](const WaitingEdge& edge, const IdName& id, std::string bytes,
                           size_t column) {
    if (bytes.empty()) AppendIdBytes(column, {true, id.number, {}}, &bytes);
    if (!edge.id_bytes.empty()) {
      // Duplicates of the id are told from it all the same.
      std::string value;
      PutVarint(column, &value);
      value += bytes;
      return AddEdge("", 0, value, edge.id_bytes, edge.source, state, block);
    }
    BadRow bad;
    Fail(&bad, RowCode::kMissingEndpoint, column, "there is no vertex " + DescribeId(bytes));
    AddBad(std::move(bad), edge.source.line, edge.raw, block);
  };
  for (size_t i = 0; i < state->num_waiting; ++i) {
    const WaitingEdge& edge = state->waiting[i];
    const auto in = target_.ids->Find(edge.in);
    const auto out = in ? target_.ids->Find(edge.out) : std::nullopt;
    if (!in) {
      missing(edge, edge.in, edge.in_bytes, *end_column_);
    } else if (!out) {
      missing(edge, edge.out, edge.out_bytes, *start_column_);
    } else {
      state->key.clear();
      PutEdgeKey({*out, *in, edge.label}, &state->key);
      AddEdge(state->key, target_.bins.Of(out->partition()), edge.payload, edge.id_bytes,
              edge.source, state, block);
    }
  }
  state->num_waiting = 0;
}

}  // namespace koios::import
