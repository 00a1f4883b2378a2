// ResultEncoder: one engine batch to the messages a client reads. References to elements become ids
// and labels (and properties, when materialised), looked up in the view once per batch, never per
// row. A message is at most kMaxMessageBytes, but for a single larger row, which travels alone; a
// row past kMaxRowBytes fails with RESOURCE_EXHAUSTED.
// Owned by one session; one call at a time.
#pragma once

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
      const engine::ResultBatch& batch, size_t* row, std::vector<v1::ResultBatch>* out,
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
