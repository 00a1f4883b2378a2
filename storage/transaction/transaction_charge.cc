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
  int64_t bytes = own_vertices_.Room() + own_edges_.Room() + own_vertex_of_.Room() +
                  own_edge_of_.Room() + own_vertex_ids_.Room() + own_edge_ids_.Room() +
                  own_ends_.Room() + changed_edges_.Room() + dropped_vertices_.Room() +
                  dropped_edges_.Room() + stored_drops_.Room() + stored_edge_drops_.Room() +
                  lookup_guards_.Room() + RoomOf(guard_keys_);
  for (const auto& own : own_by_partition_) bytes += own.Room();
  for (const auto& own : own_edges_by_partition_) bytes += own.Room();
  return bytes;
}

}  // namespace koios::storage
