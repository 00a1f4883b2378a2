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
// Rows with elements that are made together, at most (of elements with their properties fewer, as
// nobody knows how large they are), and about what they come to.
constexpr size_t kMostRows = 256;
constexpr size_t kMostWithProperties = 64;
constexpr size_t kSomeBytes = 32 << 10;
// What a row takes at most while it is made. A number in a list is 4 bytes when it is sent, and 40
// until then: a list of kMaxRowBytes may be sent.
constexpr size_t kMaxRowMemory = 12 * kMaxRowBytes;
// What a bulk costs at most in a packed field.
constexpr size_t kBulkBytes = 10;

Status RowTooLarge(size_t bytes, const char* has = "has", size_t limit = kMaxRowBytes) {
  return TooManyBytes(std::string("One result ") + has + " " + std::to_string(bytes) +
                          " bytes; the limit for one result is " + std::to_string(limit) +
                          " bytes.",
                      "ROW_TOO_LARGE", bytes, limit,
                      "Return the parts of the value as results of their own, e.g. with unfold().");
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

size_t BytesOf(const EncodedMessages& messages) {
  size_t bytes = 0;
  for (const EncodedMessage& message : messages) bytes += message.bytes();
  return bytes;
}

// Opens messages as they fill up, behind those that there are. NextRow() first, then the caller
// adds the row's value to the column of the message that it got.
class MessageSplitter {
 public:
  MessageSplitter(const engine::ResultBatch& batch, EncodedMessages* out)
      : batch_(batch), out_(out) {
    for (const int64_t bulk : batch.bulk) has_bulk_ = has_bulk_ || bulk != 1;
    for (const EncodedMessage& message : *out) total_bytes_ += message.sent_bytes();
    if (out->empty()) return;
    current_ = out->back().message()->mutable_batch();
    bytes_ += out->back().sent_bytes();
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
  // What is sent of the rows so far.
  size_t total_bytes() const { return total_bytes_; }
  bool has_enough() const { return total_bytes_ >= kMaxMessageBytes; }
  size_t made_bytes() const { return BytesOf(*out_); }

 private:
  void Open() {
    current_ = out_->emplace_back().message()->mutable_batch();
    bytes_ = kMessageOverhead;
  }

  const engine::ResultBatch& batch_;
  EncodedMessages* out_;
  v1::ResultBatch* current_ = nullptr;
  size_t bytes_ = kMessageOverhead;
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

// What is written of a row between two questions whether to go on.
constexpr uint64_t kAskBytes = 64 << 10;

// Where the rows end, at most at `end`, that are made together from `begin` on: each path is
// written in full, however much of it other rows share.
size_t EndOfSome(const Column& column, size_t begin, size_t end) {
  if (column.kind() != Column::Kind::kValue) return end;
  size_t bytes = 0;
  for (size_t row = begin; row < end; ++row) {
    bytes += column.ValueAt(row).FlatBytes();
    if (bytes > kSomeBytes) return std::max(row, begin + 1);
  }
  return end;
}

}  // namespace

// Rows [begin, end) of a column, made together.
struct ResultEncoder::Some {
  size_t size() const { return end - begin; }

  const Column& column;
  const size_t begin;
  size_t end;
  bool is_much = false;      // for several: one at a time
  bool comes_later = false;  // one large row: behind what is there
};

// One that is larger than a message asks for its memory, and goes alone.
Status ResultEncoder::EncodeStrings(const Column& column, size_t* row, const Ask& ask,
                                    MessageSplitter* splitter) const {
  for (; *row < column.size() && !splitter->has_enough(); ++*row) {
    const std::string_view text = column.StringAt(*row);
    if (text.size() > kMaxMessageBytes) {
      if (splitter->total_bytes() > 0) return OkStatus();
      RETURN_IF_ERROR(ask(text.size()));
    }
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(*row, FramedSize(text.size())));
    message->mutable_strings()->add_values(text.data(), text.size());
  }
  return OkStatus();
}

// Their elements are looked up together. Nothing is made of rows that are much or come later.
Status ResultEncoder::EncodeSome(const Ask& ask, MessageSplitter* splitter, Some* some) const {
  const Column& column = some->column;
  const size_t made_bytes = splitter->made_bytes();
  size_t flat_bytes = 0;  // of the rows, of which a copy with elements is made
  engine::ElementResolver resolver(*view_, materialize_);
  std::vector<Value> values;
  for (size_t row = some->begin; row < some->end; ++row) {
    values.push_back(column.Get(row));
    RETURN_IF_ERROR(CheckSentDepth(values.back()));
    flat_bytes += values.back().FlatBytes();
    RETURN_IF_ERROR(resolver.Collect(values.back(), [&](size_t bytes) {
      const size_t all_bytes = bytes + flat_bytes;
      return all_bytes > kMaxMessageBytes ? ask(made_bytes + all_bytes) : OkStatus();
    }));
  }
  const size_t elements_bytes = resolver.ElementBytes() + flat_bytes;
  if (elements_bytes > kMaxMessageBytes) RETURN_IF_ERROR(ask(made_bytes + elements_bytes));
  size_t source_bytes = elements_bytes;  // of what the rows are made of
  const auto read = [&](size_t bytes) -> Status {
    source_bytes = elements_bytes + bytes;
    some->is_much = some->size() > 1 && bytes > kMaxMessageBytes;
    some->comes_later =
        some->size() == 1 && bytes > kMaxMessageBytes && splitter->total_bytes() > 0;
    if (some->is_much || some->comes_later) return Cancelled("It is made later.");
    return ask(made_bytes + source_bytes);
  };
  if (const Status loaded = resolver.Load(read); !loaded.ok()) {
    return some->is_much || some->comes_later ? OkStatus() : loaded;
  }
  uint64_t row_begin = 0, written = 0;
  WorkCheck work(kAskBytes, [&](uint64_t done) {
    written = done;
    // No row of one that is more than all may have can be sent.
    if (done - row_begin > kMaxRowBytes) return RowTooLarge(done - row_begin);
    if (splitter->made_bytes() > kMaxRowMemory) {
      return RowTooLarge(splitter->made_bytes(), "takes, while it is made,", kMaxRowMemory);
    }
    // Of small values in values the message takes twenty times what is sent.
    return ask(splitter->made_bytes() + source_bytes + done - row_begin);
  });
  const bool vertices = column.kind() == Column::Kind::kVertex;
  for (size_t row = some->begin; row < some->end; ++row) {
    auto* value = google::protobuf::Arena::CreateMessage<v1::Value>(splitter->arena());
    ASSIGN_OR_RETURN(const Value resolved, resolver.Resolve(values[row - some->begin]));
    row_begin = written;
    RETURN_IF_ERROR(ToProto(resolved, value, &work));
    const size_t bytes = vertices ? value->vertex_value().ByteSizeLong() : value->ByteSizeLong();
    ASSIGN_OR_RETURN(v1::ResultBatch * message, splitter->NextRow(row, FramedSize(bytes)));
    if (vertices) {
      message->mutable_vertices()->add_values()->Swap(value->mutable_vertex_value());
    } else {
      message->mutable_values()->add_items()->Swap(value);
    }
    if (splitter->has_enough()) some->end = row + 1;
  }
  return OkStatus();
}

// How many rows may follow at once.
void ResultEncoder::LearnFrom(const Some& some, size_t bytes, int64_t nanos) {
  if (some.is_much) {
    rows_at_once_ = 1;
  } else if (nanos > kEncodeSliceNanos || bytes > kSomeBytes) {
    rows_at_once_ = std::max<size_t>(1, some.size() / 2);
  } else if (nanos < kEncodeSliceNanos / 2 && bytes < kSomeBytes / 2) {
    const size_t most = materialize_ ? kMostWithProperties : kMostRows;
    rows_at_once_ = std::min(std::max(2 * some.size(), rows_at_once_), most);
  }
}

StatusOr<bool> ResultEncoder::EncodeElements(const Column& column, size_t* row, const Ask& ask,
                                             MessageSplitter* splitter) {
  const int64_t begin = clock_->NowNanos();
  int64_t now = begin;
  while (*row < column.size() && !splitter->has_enough()) {
    RETURN_IF_ERROR(ask(splitter->made_bytes()));
    const size_t end = std::min(column.size(), *row + rows_at_once_);
    Some some{column, *row, EndOfSome(column, *row, end)};
    const size_t bytes_before = splitter->total_bytes();
    RETURN_IF_ERROR(EncodeSome(ask, splitter, &some));
    const int64_t before = std::exchange(now, clock_->NowNanos());
    if (some.comes_later) return true;
    LearnFrom(some, splitter->total_bytes() - bytes_before, now - before);
    if (!some.is_much) *row = some.end;
    if (now - begin >= kEncodeSliceNanos) break;
  }
  return *row >= column.size() || splitter->has_enough();
}

StatusOr<bool> ResultEncoder::Encode(const engine::ResultBatch& batch, size_t* row,
                                     EncodedMessages* out, const Ask& ask) {
  const Column& column = batch.column;
  if (!batch.bulk.empty() && batch.bulk.size() != column.size()) {
    return Internal("A result batch has another number of bulks than rows.");
  }
  MessageSplitter splitter(batch, out);
  switch (column.kind()) {
    case Column::Kind::kEmpty:
      break;
    case Column::Kind::kBool:
      RETURN_IF_ERROR(
          EncodeNumbers(column.bools(), &splitter, [](v1::ResultBatch* message, uint8_t v) {
            message->mutable_bools()->add_values(v != 0);
          }));
      break;
    case Column::Kind::kInt:
      RETURN_IF_ERROR(EncodeNumbers(
          column.ints(), &splitter,
          [](v1::ResultBatch* message, int32_t v) { message->mutable_ints()->add_values(v); }));
      break;
    case Column::Kind::kLong:
      RETURN_IF_ERROR(EncodeNumbers(
          column.longs(), &splitter,
          [](v1::ResultBatch* message, int64_t v) { message->mutable_longs()->add_values(v); }));
      break;
    case Column::Kind::kDouble:
      RETURN_IF_ERROR(EncodeNumbers(
          column.doubles(), &splitter,
          [](v1::ResultBatch* message, double v) { message->mutable_doubles()->add_values(v); }));
      break;
    case Column::Kind::kString:
      RETURN_IF_ERROR(EncodeStrings(column, row, ask, &splitter));
      return true;
    case Column::Kind::kVertex:
    case Column::Kind::kEdge:
    case Column::Kind::kValue:
      return EncodeElements(column, row, ask, &splitter);
  }
  *row = column.size();
  return true;
}

}  // namespace koios::server
