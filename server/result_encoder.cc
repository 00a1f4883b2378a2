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

google::protobuf::ArenaOptions OptionsOfArena() {
  google::protobuf::ArenaOptions options;
  options.start_block_size = size_t{1} << 10;
  options.max_block_size = size_t{64} << 10;
  return options;
}

}  // namespace

EncodedMessage::EncodedMessage()
    : arena_(std::make_unique<google::protobuf::Arena>(OptionsOfArena())),
      message_(google::protobuf::Arena::CreateMessage<v1::SubmitResponse>(arena_.get())) {}

// Opens messages as they fill up. NextRow() first, then the caller adds the row's value to the
// column of the message that it got.
class MessageSplitter {
 public:
  MessageSplitter(const engine::ResultBatch& batch, std::vector<EncodedMessage>* out)
      : batch_(batch), out_(out) {
    for (const int64_t bulk : batch.bulk) has_bulk_ = has_bulk_ || bulk != 1;
  }

  StatusOr<v1::ResultBatch*> NextRow(size_t row, size_t row_bytes) {
    if (row_bytes > kMaxRowBytes) return RowTooLarge(row_bytes);
    const size_t cost = row_bytes + (has_bulk_ ? kBulkBytes : 0);
    const bool is_full = bytes_ > kMessageOverhead && bytes_ + cost > kMaxMessageBytes;
    if (current_ == nullptr || is_full) Open();
    bytes_ += cost;
    total_bytes_ += cost;
    out_->back().AddSentBytes(cost);
    if (has_bulk_) current_->add_bulk(batch_.bulk[row]);
    return current_;
  }
  // Where a value for the next row is best made.
  google::protobuf::Arena* arena() {
    if (current_ == nullptr) Open();
    return out_->back().arena();
  }
  size_t total_bytes() const { return total_bytes_; }

 private:
  void Open() {
    current_ = out_->emplace_back().message()->mutable_batch();
    bytes_ = kMessageOverhead;
  }

  const engine::ResultBatch& batch_;
  std::vector<EncodedMessage>* out_;
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
Status EncodeNumbers(std::span<const T> values, MessageSplitter* splitter, Add add) {
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

// What is written of a row between two questions whether to go on.
constexpr uint64_t kAskBytes = 1 << 20;

// Where the rows end, at most at `end`, that are read at once from `begin` on: each path is written
// in full, however much of it other rows share.
size_t EndOfSome(const Column& column, size_t begin, size_t end) {
  if (column.kind() != Column::Kind::kValue) return end;
  size_t bytes = 0;
  for (size_t row = begin; row < end; ++row) {
    bytes += column.ValueAt(row).FlatBytes();
    if (bytes > kAskBytes) return std::max(row, begin + 1);
  }
  return end;
}
}  // namespace

// Rows [begin, end): their elements are looked up together.
Status ResultEncoder::EncodeSome(const Column& column, size_t begin, size_t end, WorkCheck* work,
                                 MessageSplitter* splitter) const {
  engine::ElementResolver resolver(*view_, materialize_);
  std::vector<Value> values;
  for (size_t row = begin; row < end; ++row) {
    values.push_back(column.Get(row));
    RETURN_IF_ERROR(CheckSentDepth(values.back()));
    resolver.Collect(values.back());
  }
  RETURN_IF_ERROR(resolver.Load());
  const bool vertices = column.kind() == Column::Kind::kVertex;
  for (size_t row = begin; row < end; ++row) {
    auto* value = google::protobuf::Arena::CreateMessage<v1::Value>(splitter->arena());
    ASSIGN_OR_RETURN(const Value resolved, resolver.Resolve(values[row - begin]));
    RETURN_IF_ERROR(ToProto(resolved, value, work));
    const size_t bytes = vertices ? value->vertex_value().ByteSizeLong() : value->ByteSizeLong();
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(row, FramedSize(bytes)));
    if (vertices) {
      message->mutable_vertices()->add_values()->Swap(value->mutable_vertex_value());
    } else {
      message->mutable_values()->add_items()->Swap(value);
    }
  }
  return OkStatus();
}

// All rows at once, unless their elements come with properties: of those so many at a time as do
// not take long and, by what the rows have taken so far, may fill a message.
Status ResultEncoder::EncodeElements(const Column& column, size_t* row, const Ask& ask,
                                     MessageSplitter* splitter) const {
  const size_t first = *row;
  size_t num_rows = materialize_ ? kFirstRows : column.size();
  while (*row < column.size() && splitter->total_bytes() < kMaxMessageBytes) {
    const size_t end = EndOfSome(column, *row, std::min(column.size(), *row + num_rows));
    uint64_t bytes = 0;
    WorkCheck work(std::min<uint64_t>(kAskBytes, kMaxRowBytes), [&](uint64_t done) {
      bytes = done;
      // No row of one that is more than all may have can be sent.
      if (end - *row == 1 && done > kMaxRowBytes) return RowTooLarge(done);
      return ask();
    });
    RETURN_IF_ERROR(EncodeSome(column, *row, end, &work, splitter));
    *row = end;
    if (bytes == 0) num_rows *= 2;
    if (bytes > kAskBytes) num_rows = std::max<size_t>(1, num_rows / 2);
    const size_t bytes_per_row = splitter->total_bytes() / (end - first) + 1;
    num_rows = std::clamp<size_t>(kMaxMessageBytes / bytes_per_row, 1, num_rows);
    if (*row < column.size()) RETURN_IF_ERROR(ask());
  }
  return OkStatus();
}

Status ResultEncoder::Encode(const engine::ResultBatch& batch, size_t* row,
                             std::vector<EncodedMessage>* out, const Ask& ask) const {
  const Column& column = batch.column;
  if (!batch.bulk.empty() && batch.bulk.size() != column.size()) {
    return Internal("A result batch has another number of bulks than rows.");
  }
  MessageSplitter splitter(batch, out);
  const bool has_elements = column.kind() == Column::Kind::kVertex ||
                            column.kind() == Column::Kind::kEdge ||
                            column.kind() == Column::Kind::kValue;
  if (has_elements) return EncodeElements(column, row, ask, &splitter);
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
