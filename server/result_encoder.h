// ResultEncoder: one engine batch to the messages a client reads. References to elements become ids
// and labels (and properties, when materialised), looked up in the view once per batch, never per
// row. A message is at most kMaxMessageBytes, but for a single larger row, which travels alone; a
// row past kMaxRowBytes fails with RESOURCE_EXHAUSTED.
// Owned by one session; one call at a time.
#pragma once

#include <google/protobuf/arena.h>

#include <functional>
#include <memory>
#include <vector>

#include "core/status.h"
#include "core/value_proto.h"
#include "engine/engine.h"
#include "proto/service.pb.h"
#include "storage/graph_view.h"

namespace koios::server {

inline constexpr size_t kMaxMessageBytes = 256 << 10;
inline constexpr size_t kMaxRowBytes = 64 << 20;

// A message on an arena of its own, made and freed in one piece.
class EncodedMessage {
 public:
  EncodedMessage();

  v1::SubmitResponse* message() const { return message_; }
  google::protobuf::Arena* arena() const { return arena_.get(); }
  // What it takes. Texts are counted by what is sent of them, as they are beside the arena.
  size_t bytes() const { return arena_->SpaceAllocated() + sent_bytes_; }
  void AddSentBytes(size_t bytes) { sent_bytes_ += bytes; }

 private:
  std::unique_ptr<google::protobuf::Arena> arena_;
  v1::SubmitResponse* message_;
  size_t sent_bytes_ = 0;
};

class MessageSplitter;

class ResultEncoder {
 public:
  ResultEncoder(std::shared_ptr<const storage::GraphView> view, bool materialize)
      : view_(std::move(view)), materialize_(materialize) {}

  // Whether to go on with what takes long; an error ends it.
  using Ask = std::function<Status()>;
  // Appends messages of the batch's rows from *row on to *out, in their order, and sets *row to the
  // first that is left. All rows at once, but where they get larger than what the engine has
  // counted: elements with their properties come by the message.
  Status Encode(
      const engine::ResultBatch& batch, size_t* row, std::vector<EncodedMessage>* out,
      const Ask& ask = [] { return OkStatus(); }) const;

 private:
  Status EncodeElements(const Column& column, size_t* row, const Ask& ask,
                        MessageSplitter* splitter) const;
  Status EncodeSome(const Column& column, size_t begin, size_t end, WorkCheck* work,
                    MessageSplitter* splitter) const;

  std::shared_ptr<const storage::GraphView> view_;
  bool materialize_;
};

}  // namespace koios::server
