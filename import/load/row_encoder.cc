#include "import/load/row_encoder.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/text.h"
#include "core/value_codec.h"
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

struct RowEncoder::RowState {
  storage::KeyedProperties properties;
  std::string value;
  RecordSource source;
};

RowEncoder::RowEncoder(const TablePlan& plan, uint32_t file, const Sources& sources,
                       uint32_t num_partitions, LabelCache* labels)
    : plan_(plan),
      file_(file),
      csv_(sources.csv),
      id_type_(sources.id_type),
      num_partitions_(num_partitions),
      labels_(labels),
      id_column_(plan.Find(ColumnRole::kId)),
      label_column_(plan.Find(ColumnRole::kLabel)),
      start_column_(plan.Find(ColumnRole::kStart)),
      end_column_(plan.Find(ColumnRole::kEnd)) {}

StatusOr<std::unique_ptr<RowEncoder>> RowEncoder::Create(const SourceTable& table, uint32_t file,
                                                         const Sources& sources,
                                                         storage::BulkWriter* writer,
                                                         LabelCache* labels) {
  std::unique_ptr<RowEncoder> encoder(
      new RowEncoder(table.plan, file, sources, writer->num_partitions(), labels));
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

uint32_t RowEncoder::ColumnOfEnd(ColumnRole role) const {
  return static_cast<uint32_t>(plan_.Find(role).value_or(0)) + 1;
}

Status RowEncoder::EncodeChunk(const Chunk& chunk, const std::function<bool()>& wait_for_turn,
                               RecordBlock* block) const {
  const bool is_utf8 = IsValidUtf8(chunk.bytes);
  RowParser parser(chunk, csv_, plan_.columns.size());
  Row row;
  RowState state;
  while (parser.Next(&row)) {
    ++block->num_rows;
    RETURN_IF_ERROR(EncodeRow(row, is_utf8, wait_for_turn, &state, block));
  }
  return OkStatus();
}

Status RowEncoder::EncodeRow(const Row& row, bool chunk_is_utf8,
                             const std::function<bool()>& wait_for_turn, RowState* state,
                             RecordBlock* block) const {
  BadRow bad;
  bool good = CheckRow(row, chunk_is_utf8, &bad);
  std::string label_text;
  if (good && label_column_) {
    label_text = ReadLabel(row.fields[*label_column_].text);
    const Status named = label_text.empty() ? OkStatus() : storage::CheckName(label_text, "label");
    if (!named.ok()) good = Fail(&bad, RowCode::kBadType, *label_column_, MessageOf(named));
  }
  if (good) {
    state->source = RecordSource{file_, row.line, row.offset};
    state->value.clear();
    LabelId label = default_label_;
    if (!label_text.empty()) {
      ASSIGN_OR_RETURN(label, labels_->Find(label_text, wait_for_turn));
    }
    if (label == kNoName) {
      good = Fail(&bad, RowCode::kBadType, *label_column_, "the row has no label");
    } else {
      good = plan_.kind == TableKind::kNodes ? EncodeVertexRow(row, label, state, block, &bad)
                                             : EncodeEdgeRow(row, label, state, block, &bad);
    }
  }
  if (!good) {
    bad.file = file_;
    bad.line = row.line;
    bad.raw = TruncateUtf8(row.raw, 1000);
    block->AddBad(bad);
  }
  return OkStatus();
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

bool RowEncoder::ReadId(const Row& row, size_t column, Value* id, Value* original,
                        BadRow* bad) const {
  const ColumnPlan& plan = plan_.columns[column];
  const std::string_view text = row.fields[column].text;
  if (text.empty()) return Fail(bad, RowCode::kBadId, column, "the id is empty");
  if (plan.space.size() + 1 + text.size() > storage::kMaxIdBytes) {
    return Fail(bad, RowCode::kTooLong, column,
                "the id is longer than " + std::to_string(storage::kMaxIdBytes) + " bytes");
  }
  std::optional<int64_t> number;
  switch (plan.id_type.value_or(id_type_)) {
    case IdType::kAuto:
      number = storage::CanonicalDecimal(text);
      break;
    case IdType::kInt: {
      int64_t parsed = 0;
      if (!ParseWholeId(text, &parsed)) {
        return Fail(bad, RowCode::kBadId, column,
                    "'" + std::string(TruncateUtf8(text, 40)) + "' is no 64-bit integer id");
      }
      number = parsed;
      break;
    }
    case IdType::kString:
      break;
  }
  *original = number ? Value::Long(*number) : Value::String(std::string(text));
  if (plan.space.empty()) {
    *id = *original;
    return true;
  }
  const std::string plain = number ? std::to_string(*number) : std::string(text);
  *id = Value::String(plan.space + ":" + plain);
  return true;
}

// A vertex of several labels has one that joins them.
std::string RowEncoder::ReadLabel(std::string_view text) const {
  if (plan_.kind == TableKind::kEdges || text.find(csv_.array_delimiter) == std::string::npos) {
    return std::string(text);
  }
  return JoinLabels(text, csv_.array_delimiter);
}

bool RowEncoder::ReadProperties(const Row& row, const Value& original, RowState* state,
                                BadRow* bad) const {
  state->properties.clear();
  for (const PropertyColumn& property : properties_) {
    if (property.is_id) {
      if (!original.is_null()) state->properties.emplace_back(property.key, original);
      continue;
    }
    const Field& field = row.fields[property.column];
    const bool is_text = property.type == ColumnType{};
    if (field.text.empty() && !(field.quoted && is_text)) continue;
    Value value;
    std::string why;
    if (!ParseField(property.type, field.text, csv_, &value, &why)) {
      return Fail(bad, RowCode::kBadType, property.column, std::move(why));
    }
    state->properties.emplace_back(property.key, std::move(value));
  }
  return true;
}

bool RowEncoder::EncodeVertexRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                                 BadRow* bad) const {
  Value id = Value::Long(0), original;
  if (id_column_ && !ReadId(row, *id_column_, &id, &original, bad)) return false;
  if (!ReadProperties(row, original, state, bad)) return false;
  PutSource(state->source, &state->value);
  state->value += storage::EncodeVertexRecord(label, id, state->properties);
  if (!id_column_) {
    block->Add("", state->value);
    return true;
  }
  if (id.kind() == ValueKind::kLong)
    block->max_int_id = std::max(block->max_int_id, id.AsInteger());
  if (!plan_.columns[*id_column_].space.empty()) block->labels_in_space.insert(label);
  block->Add(storage::VertexIdKey(storage::IdBytes(id), num_partitions_), state->value);
  return true;
}

bool RowEncoder::EncodeEdgeRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                               BadRow* bad) const {
  Value out, in, id, original;
  if (!ReadId(row, *start_column_, &out, &original, bad)) return false;
  if (!ReadId(row, *end_column_, &in, &original, bad)) return false;
  const bool has_id = id_column_ && !row.fields[*id_column_].text.empty();
  original = Value();
  if (has_id && !ReadId(row, *id_column_, &id, &original, bad)) return false;
  if (!ReadProperties(row, original, state, bad)) return false;
  PutBytes(storage::VertexIdKey(storage::IdBytes(in), num_partitions_), &state->value);
  PutBytes(storage::VertexIdKey(storage::IdBytes(out), num_partitions_), &state->value);
  PutSource(state->source, &state->value);
  EdgeRef edge;
  edge.label = label;
  state->value += storage::EncodeEdgeRecord(edge, has_id ? std::optional<Value>(id) : std::nullopt,
                                            state->properties);
  block->Add(has_id ? storage::EdgeIdKey(storage::IdBytes(id), num_partitions_) : "", state->value);
  return true;
}

}  // namespace koios::import
