#include "engine/op/walk/vertex_bag.h"

namespace koios::engine {

Status TooManyWalks() {
  return InvalidArgument("More traversers are equal than a long can count.");
}

StatusOr<bool> VertexBag::Add(VertexRef vertex, int64_t times, StateAccount* account) {
  const auto charge = [&](int64_t bytes) -> Status {
    RETURN_IF_ERROR(account->ChargeState(bytes));
    bytes_ += bytes;
    return OkStatus();
  };
  if (counts_) {
    ASSIGN_OR_RETURN(Times* const page, times_.Get(vertex, charge));
    int64_t& entry = (*page)[vertex.local() % kTimes];
    const bool fresh = entry == 0;
    if (__builtin_add_overflow(entry, times, &entry)) return TooManyWalks();
    return fresh;
  }
  ASSIGN_OR_RETURN(Bits* const page, bits_.Get(vertex, charge));
  uint64_t& word = (*page)[vertex.local() % kBits / 64];
  const uint64_t bit = uint64_t{1} << (vertex.local() % 64);
  const bool fresh = (word & bit) == 0;
  word |= bit;
  return fresh;
}

void VertexBag::Clear() {
  bits_ = {};
  times_ = {};
  bytes_ = 0;
}

}  // namespace koios::engine
