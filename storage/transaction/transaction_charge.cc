// What a transaction keeps is charged to whoever it belongs to.
#include "storage/transaction/transaction.h"

namespace koios::storage {

void Transaction::ChargeTo(std::shared_ptr<MemoryAccount> account) {
  if (account != nullptr) account->Charge(static_cast<int64_t>(bytes_));
  if (account_ != nullptr) account_->Release(static_cast<int64_t>(bytes_));
  account_ = std::move(account);
}

Status Transaction::Charge(size_t bytes) const {
  if (bytes == 0) return OkStatus();
  const auto more = static_cast<int64_t>(bytes);
  if (account_ != nullptr && !account_->TryCharge(more)) {
    return account_->OverLimit(more);
  }
  bytes_ += bytes;
  return OkStatus();
}

void Transaction::GiveBack(size_t bytes) const {
  if (account_ != nullptr) account_->Release(static_cast<int64_t>(bytes));
  bytes_ -= bytes;
}

int64_t Transaction::RoomOfTables() const {
  int64_t bytes = RoomOf(own_vertices_) + RoomOf(own_edges_) + RoomOf(own_vertex_of_) +
                  RoomOf(own_edge_of_) + RoomOf(own_ends_) + RoomOf(changed_edges_) +
                  RoomOf(dropped_vertices_) + RoomOf(dropped_edges_) + RoomOf(stored_drops_) +
                  RoomOf(stored_edge_drops_) + RoomOf(lookup_guards_) + RoomOf(guard_keys_);
  for (const auto& own : own_by_partition_) bytes += RoomOf(own);
  for (const auto& own : own_edges_by_partition_) bytes += RoomOf(own);
  return bytes;
}

}  // namespace koios::storage
