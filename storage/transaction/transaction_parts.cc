// The parts of a transaction where no worker reads another one's partitions, and how they become
// one again.
#include <utility>

#include "storage/transaction/transaction.h"

namespace koios::storage {
namespace {

// All rooms are charged in one sum, when everything is moved.
template <typename T>
void Append(PagedList<T>* from, PagedList<T>* to) {
  if (to->empty()) std::swap(*from, *to);
  Uncharged charge;
  for (size_t i = 0; i < from->num_pages(); ++i) {
    for (T& item : std::exchange(from->page(i), {})) {
      CHECK(to->MakeRoom(&charge).ok());
      to->EmplaceBack(std::move(item));
    }
  }
  *from = PagedList<T>();
}

// Keeps what is there: an edge between two parts was dropped in both.
template <typename Table, typename Key, typename... Args>
void Insert(PartedTable<Table>* table, const Key& key, Args&&... args) {
  if (table->Contains(key)) return;
  Uncharged charge;
  CHECK(table->MakeRoom(key, &charge).ok());
  table->Emplace(key, std::forward<Args>(args)...);
}

template <typename Table>
void Append(PartedTable<Table>* from, PartedTable<Table>* to) {
  if (to->empty()) std::swap(*from, *to);
  from->Drain([to](auto& entry) {
    if constexpr (requires { typename Table::mapped_type; }) {
      Insert(to, entry.first, std::move(entry.second));
    } else {
      Insert(to, entry);
    }
  });
}

}  // namespace

// Parts that are made at once agree about the numbers of new names.
LabelId Transaction::InternLabel(std::string_view name) {
  if (names_ == nullptr) return schema_.labels.Intern(name);
  const LabelId known = schema_.labels.Find(name);
  return known != kNoName ? known : names_->InternLabel(name, &schema_);
}

KeyId Transaction::InternKey(std::string_view name) {
  if (names_ == nullptr) return schema_.keys.Intern(name);
  const KeyId known = schema_.keys.Find(name);
  return known != kNoName ? known : names_->InternKey(name, &schema_);
}

std::vector<std::shared_ptr<Transaction>> Transaction::Split(
    std::span<const std::shared_ptr<const GraphView>> bases) {
  CHECK(!has_changes_);
  names_ = std::make_shared<SharedNames>(schema_);
  std::vector<std::shared_ptr<Transaction>> parts;
  for (uint32_t i = 0; i < bases.size(); ++i) {
    auto part =
        std::make_shared<Transaction>(bases[i], numbers_, max_value_bytes_, max_commit_bytes_);
    part->part_ = i;
    part->num_parts_ = static_cast<uint32_t>(bases.size());
    part->names_ = names_;
    parts.push_back(std::move(part));
  }
  return parts;
}

void Transaction::Absorb(std::span<const std::shared_ptr<Transaction>> parts) {
  for (const std::shared_ptr<Transaction>& part : parts) {
    AbsorbSchema(part.get());
    AbsorbOne(part.get());
  }
  names_ = nullptr;
}

void Transaction::AbsorbSchema(Transaction* part) {
  names_->CatchUp(&schema_);
  const Schema& before = base_->schema();
  schema_.vertex_counts.AddGrowth(part->schema_.vertex_counts, before.vertex_counts);
  schema_.edge_counts.AddGrowth(part->schema_.edge_counts, before.edge_counts);
  part->schema_.property_kinds.ForEachNew(before.property_kinds, [this](const auto& entry) {
    const auto& [name, kind] = entry;
    schema_.property_kinds.Note(name.first, name.second, kind);
  });
}

// Of an element all but an edge's in-end is in one part, so that tables have no key in common but
// that of dropped edges.
void Transaction::AbsorbOne(Transaction* part) {
  has_changes_ = has_changes_ || part->has_changes_;
  const int64_t tables = RoomOfTables() + part->RoomOfTables();
  // What was allowed there is charged here, whatever the limit.
  if (account_ != nullptr) account_->Charge(static_cast<int64_t>(part->bytes_));
  if (part->account_ != nullptr) part->account_->Release(static_cast<int64_t>(part->bytes_));
  bytes_ += std::exchange(part->bytes_, 0);
  for (size_t i = 0; i < part->own_vertices_.size(); ++i) {
    Insert(&own_vertex_of_, part->own_vertices_[i].ref.bits, own_vertices_.size() + i);
  }
  for (size_t i = 0; i < part->own_edges_.size(); ++i) {
    Insert(&own_edge_of_, part->own_edges_[i].ref.id, own_edges_.size() + i);
  }
  part->own_vertex_of_ = NumberMap<size_t>();
  part->own_edge_of_ = NumberMap<size_t>();
  Append(&part->own_vertices_, &own_vertices_);
  Append(&part->own_edges_, &own_edges_);
  for (uint32_t i = 0; i < own_by_partition_.size(); ++i) {
    Append(&part->own_by_partition_[i], &own_by_partition_[i]);
    Append(&part->own_edges_by_partition_[i], &own_edges_by_partition_[i]);
  }
  Append(&part->own_vertex_ids_, &own_vertex_ids_);
  Append(&part->own_edge_ids_, &own_edge_ids_);
  Append(&part->own_ends_, &own_ends_);
  own_index_.Absorb(&part->own_index_);
  vertex_changes_.merge(part->vertex_changes_);
  edge_changes_.merge(part->edge_changes_);
  Append(&part->changed_edges_, &changed_edges_);
  Append(&part->dropped_vertices_, &dropped_vertices_);
  Append(&part->dropped_edges_, &dropped_edges_);
  Append(&part->stored_drops_, &stored_drops_);
  Append(&part->stored_edge_drops_, &stored_edge_drops_);
  Append(&part->lookup_guards_, &lookup_guards_);
  guard_keys_.insert(part->guard_keys_.begin(), part->guard_keys_.end());
  absl::flat_hash_set<uint64_t>().swap(part->guard_keys_);
  looked_up_.merge(part->looked_up_);
  // Tables that are one may have more room than their parts had, or less.
  const int64_t grown = RoomOfTables() + part->RoomOfTables() - tables;
  if (account_ != nullptr && grown > 0) account_->Charge(grown);
  if (grown > 0) bytes_ += static_cast<size_t>(grown);
  if (grown < 0) GiveBack(static_cast<size_t>(-grown));
}

}  // namespace koios::storage
