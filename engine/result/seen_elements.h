// SeenElements: elements that were read where they are, for values that refer to them. As
// ElementResolver, whose values are of any size: it goes on in many calls.
// Belongs to one caller.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "core/memory/charged_growth.h"
#include "core/status.h"
#include "core/value.h"
#include "core/memory/parted_table.h"

namespace koios::engine {

class SeenElements {
 public:
  // A list of a reference and its element. `work` is what is left of a call's; what moves is work.
  // INTERNAL for another value.
  Status Add(const Value& pair, size_t* work);
  // As clients see it. INTERNAL where it is missing.
  StatusOr<Value> Of(VertexRef vertex);
  StatusOr<Value> Of(const EdgeRef& edge);
  // Frees them, as many as there is work for; true: all. Nothing but this is called any more.
  bool Free(size_t* work);
  size_t HeldBytes() const { return static_cast<size_t>(room_.bytes + made_bytes_); }

 private:
  struct Element {
    Value value;
    bool is_whole;  // an edge is once its ends are told
  };
  using Table = PartedTable<absl::flat_hash_map<uint64_t, Element>>;

  Status Add(uint64_t key, Element element, Table* table, size_t* work);

  Table vertices_, edges_;
  Counted room_;
  int64_t made_bytes_ = 0;  // of whole edges
  bool is_free_ = false;
};

}  // namespace koios::engine
