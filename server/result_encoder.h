// ResultEncoder: engine batches to the messages a client reads, a slice of work at a time.
// References to elements become ids and labels (and properties, when materialised), looked up in
// the view for many rows at once, never per row. A message is at most kMaxMessageBytes, but for a
// single larger row, which travels alone; a row past kMaxRowBytes fails with RESOURCE_EXHAUSTED.
// Owned by one session; one call at a time.
#pragma once

#include <google/protobuf/arena.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/status.h"
#include "core/value_proto.h"
#include "engine/engine.h"
#include "proto/service.pb.h"
#include "storage/graph_view.h"

namespace koios::server {

inline constexpr size_t kMaxMessageBytes = 256 << 10;
inline constexpr size_t kMaxRowBytes = 64 << 20;
// A slice ends then, or with the few rows that it is at.
inline constexpr int64_t kEncodeSliceNanos = 250'000;

// A message on an arena of its own, made and freed in one piece.
class EncodedMessage {
 public:
  EncodedMessage();

  v1::SubmitResponse* message() const { return message_; }
  google::protobuf::Arena* arena() const { return arena_.get(); }
  // What it takes. Texts are counted by what is sent of them, as they are beside the arena.
  size_t bytes() const { return arena_->SpaceAllocated() + sent_bytes_; }
  void AddSentBytes(size_t bytes) { sent_bytes_ += bytes; }
  size_t sent_bytes() const { return sent_bytes_; }

 private:
  std::unique_ptr<google::protobuf::Arena> arena_;
  v1::SubmitResponse* message_;
  size_t sent_bytes_ = 0;
};

using EncodedMessages = std::vector<EncodedMessage>;
size_t BytesOf(const EncodedMessages& messages);

class MessageSplitter;

class ResultEncoder {
 public:
  ResultEncoder(std::shared_ptr<const storage::GraphView> view, bool materialize,
                const Clock* clock = SteadyClock::Get())
      : view_(std::move(view)), materialize_(materialize), clock_(clock) {}

  // Whether to go on, with so many bytes in all for the messages and what they are made of: asked
  // before they are taken, but for properties of a few elements, which are read first. An error
  // ends it.
  using Ask = std::function<Status(size_t bytes)>;
  // Appends the batch's rows from *row on to the messages in *out, in their order, goes on with the
  // last of them, and sets *row to the first that is left. True: the messages should go, as they
  // are whole, or what is next needs the memory. False: the slice is over, and more has its place
  // in them. REQUIRES: *out has messages of this batch only.
  StatusOr<bool> Encode(
      const engine::ResultBatch& batch, size_t* row, EncodedMessages* out,
      const Ask& ask = [](size_t) { return OkStatus(); });

 private:
  struct Some;
  Status EncodeStrings(const Column& column, size_t* row, const Ask& ask,
                       MessageSplitter* splitter) const;
  StatusOr<bool> EncodeElements(const Column& column, size_t* row, const Ask& ask,
                                MessageSplitter* splitter);
  Status EncodeSome(const Ask& ask, MessageSplitter* splitter, Some* some) const;
  void LearnFrom(const Some& some, size_t bytes, int64_t nanos);

  std::shared_ptr<const storage::GraphView> view_;
  bool materialize_;
  const Clock* clock_;
  size_t rows_at_once_ = 8;  // by what those before took
};

}  // namespace koios::server
