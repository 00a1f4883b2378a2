#include "server/result_encoder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/value_proto.h"
#include "engine/result/element_resolver.h"

namespace koios::server {
namespace {

// Room in a message for the tags and lengths around its column.
constexpr size_t kMessageOverhead = 64;
// Elements with properties that are read first: how large they are shows then.
constexpr size_t kFirstRows = 8;
// What a bulk costs at most in a packed field.
constexpr size_t kBulkBytes = 10;

Status RowTooLarge(size_t bytes) {
  ErrorDetail detail;
  detail.reason = "ROW_TOO_LARGE";
  detail.limit = std::to_string(kMaxRowBytes) + " bytes for one result";
  detail.used = std::to_string(bytes) + " bytes";
  detail.setting = "none: the limit is fixed";
  detail.hint = "Return the parts of the value as results of their own, e.g. with unfold().";
  return ResourceExhausted("One result has " + std::to_string(bytes) +
                               " bytes; the limit for one result is " +
                               std::to_string(kMaxRowBytes) + " bytes.",
                           detail);
}

}  // namespace

// Opens messages as they fill up. NextRow() first, then the caller adds the row's value to the
// column of the message that it got.
class MessageSplitter {
 public:
  MessageSplitter(const engine::ResultBatch& batch, std::vector<v1::ResultBatch>* out)
      : batch_(batch), out_(out) {
    for (const int64_t bulk : batch.bulk) has_bulk_ = has_bulk_ || bulk != 1;
  }

  StatusOr<v1::ResultBatch*> NextRow(size_t row, size_t row_bytes) {
    if (row_bytes > kMaxRowBytes) return RowTooLarge(row_bytes);
    const size_t cost = row_bytes + (has_bulk_ ? kBulkBytes : 0);
    if (current_ == nullptr || bytes_ + cost > kMaxMessageBytes) {
      current_ = &out_->emplace_back();
      bytes_ = kMessageOverhead;
    }
    bytes_ += cost;
    total_bytes_ += cost;
    if (has_bulk_) current_->add_bulk(batch_.bulk[row]);
    return current_;
  }
  size_t total_bytes() const { return total_bytes_; }

 private:
  const engine::ResultBatch& batch_;
  std::vector<v1::ResultBatch>* out_;
  v1::ResultBatch* current_ = nullptr;
  size_t bytes_ = 0;
  size_t total_bytes_ = 0;
  bool has_bulk_ = false;
};

namespace {

// A message inside a repeated field: its tag and length.
size_t FramedSize(size_t bytes) { return bytes + 6; }

// What one fixed-size row costs at most in a packed field.
constexpr size_t kNumberBytes = 10;

template <typename T, typename Add>
Status EncodeNumbers(const std::vector<T>& values, MessageSplitter* splitter, Add add) {
  for (size_t row = 0; row < values.size(); ++row) {
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(row, kNumberBytes));
    add(message, values[row]);
  }
  return OkStatus();
}

Status EncodeStrings(const Column& column, MessageSplitter* splitter) {
  for (size_t row = 0; row < column.size(); ++row) {
    const std::string_view text = column.StringAt(row);
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(row, FramedSize(text.size())));
    message->mutable_strings()->add_values(text.data(), text.size());
  }
  return OkStatus();
}

// Rows of a column.
struct Rows {
  size_t begin = 0;
  size_t end = 0;
};

Status EncodeVertices(const storage::GraphView& view, bool materialize, const Column& column,
                      Rows rows, MessageSplitter* splitter) {
  engine::ElementResolver resolver(view, materialize);
  for (size_t row = rows.begin; row < rows.end; ++row) resolver.Collect(column.vertices()[row]);
  RETURN_IF_ERROR(resolver.Load());
  for (size_t row = rows.begin; row < rows.end; ++row) {
    v1::Value value;
    ToProto(Value::Of(resolver.Resolve(column.vertices()[row])), &value);
    const size_t bytes = FramedSize(value.vertex_value().ByteSizeLong());
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(row, bytes));
    message->mutable_vertices()->add_values()->Swap(value.mutable_vertex_value());
  }
  return OkStatus();
}

Status EncodeValues(const storage::GraphView& view, bool materialize, const Column& column,
                    Rows rows, MessageSplitter* splitter) {
  std::vector<Value> values(rows.end - rows.begin);
  engine::ElementResolver resolver(view, materialize);
  for (size_t row = 0; row < values.size(); ++row) {
    values[row] = column.Get(rows.begin + row);
    RETURN_IF_ERROR(CheckSentDepth(values[row]));
    resolver.Collect(values[row]);
  }
  RETURN_IF_ERROR(resolver.Load());
  for (size_t row = 0; row < values.size(); ++row) {
    v1::Value value;
    ToProto(resolver.Resolve(values[row]), &value);
    ASSIGN_OR_RETURN(v1::ResultBatch * message,
                     splitter->NextRow(rows.begin + row, FramedSize(value.ByteSizeLong())));
    message->mutable_values()->add_items()->Swap(&value);
  }
  return OkStatus();
}

}  // namespace

Status ResultEncoder::EncodeElements(const Column& column, size_t* row,
                                     MessageSplitter* splitter) const {
  const size_t first = *row;
  size_t count = materialize_ ? kFirstRows : column.size();
  while (*row < column.size() && splitter->total_bytes() < kMaxMessageBytes) {
    const Rows rows{*row, std::min(column.size(), *row + count)};
    if (column.kind() == Column::Kind::kVertex) {
      RETURN_IF_ERROR(EncodeVertices(*view_, materialize_, column, rows, splitter));
    } else {
      RETURN_IF_ERROR(EncodeValues(*view_, materialize_, column, rows, splitter));
    }
    *row = rows.end;
    // So many more as may fill the message, by what the rows have taken so far.
    const size_t bytes_per_row = splitter->total_bytes() / (rows.end - first) + 1;
    count = std::clamp<size_t>(kMaxMessageBytes / bytes_per_row, 1, 2 * count);
  }
  return OkStatus();
}

Status ResultEncoder::Encode(const engine::ResultBatch& batch, size_t* row,
                             std::vector<v1::ResultBatch>* out) const {
  const Column& column = batch.column;
  if (!batch.bulk.empty() && batch.bulk.size() != column.size()) {
    return Internal("A result batch has another number of bulks than rows.");
  }
  MessageSplitter splitter(batch, out);
  const bool has_elements = column.kind() == Column::Kind::kVertex ||
                            column.kind() == Column::Kind::kEdge ||
                            column.kind() == Column::Kind::kValue;
  if (has_elements) return EncodeElements(column, row, &splitter);
  *row = column.size();
  switch (column.kind()) {
    case Column::Kind::kEmpty:
      return OkStatus();
    case Column::Kind::kBool:
      return EncodeNumbers(column.bools(), &splitter, [](v1::ResultBatch* message, uint8_t v) {
        message->mutable_bools()->add_values(v != 0);
      });
    case Column::Kind::kInt:
      return EncodeNumbers(column.ints(), &splitter, [](v1::ResultBatch* message, int32_t v) {
        message->mutable_ints()->add_values(v);
      });
    case Column::Kind::kLong:
      return EncodeNumbers(column.longs(), &splitter, [](v1::ResultBatch* message, int64_t v) {
        message->mutable_longs()->add_values(v);
      });
    case Column::Kind::kDouble:
      return EncodeNumbers(column.doubles(), &splitter, [](v1::ResultBatch* message, double v) {
        message->mutable_doubles()->add_values(v);
      });
    case Column::Kind::kString:
      return EncodeStrings(column, &splitter);
    case Column::Kind::kVertex:
    case Column::Kind::kEdge:
    case Column::Kind::kValue:
      break;  // above
  }
  return Internal("A result batch has a column of unknown kind.");
}

}  // namespace koios::server
