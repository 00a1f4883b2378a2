#include "engine/batch/key_bound.h"

#include <string>

namespace koios::engine {

Status CheckKey(const Value& key) {
  const size_t bytes = key.FlatBytes();
  if (bytes <= kMaxKeyBytes) return OkStatus();
  return TooManyBytes("A value of " + std::to_string(bytes) +
                          " bytes is too large to be compared with others: the limit is " +
                          std::to_string(kMaxKeyBytes) + " bytes.",
                      "KEY_TOO_LARGE", bytes, kMaxKeyBytes,
                      "Compare something smaller, for example with by().");
}

Status CheckKeys(const Batch& batch, const std::vector<uint32_t>& slots) {
  for (const uint32_t slot : slots) {
    if (!batch.Has(slot) || batch.slots[slot].kind() != Column::Kind::kValue) continue;
    for (size_t row = 0; row < batch.rows; ++row) {
      RETURN_IF_ERROR(CheckKey(batch.slots[slot].ValueAt(row)));
    }
  }
  return OkStatus();
}

}  // namespace koios::engine
