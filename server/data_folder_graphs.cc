#include "server/data_folder_graphs.h"

#include <string>
#include <utility>

#include "storage/rocks/memory/store_memory.h"

namespace koios::server {

std::vector<std::string> DataFolderGraphs::Names() const { return folder_->ListGraphs(); }

StatusOr<std::shared_ptr<storage::GraphStore>> DataFolderGraphs::Find(std::string_view name) const {
  if (!folder_->HasGraph(name)) return NoSuchGraph(name, Names());
  return folder_->OpenGraph(std::string(name));
}

StatusOr<std::shared_ptr<const storage::GraphView>> DataFolderGraphs::View(
    std::string_view name) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return store->View();
}

StatusOr<std::shared_ptr<storage::Transaction>> DataFolderGraphs::Begin(
    std::string_view name) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return std::shared_ptr<storage::Transaction>(store->Begin());
}

StatusOr<storage::CommitResult> DataFolderGraphs::Commit(std::string_view name,
                                                         storage::CommitRecord record,
                                                         const storage::CommitWatch& watch,
                                                         storage::CommitTurn* turn) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return store->Commit(std::move(record), watch, turn);
}

bool DataFolderGraphs::OldViewsKeepTooMuch() const {
  const auto& memory = folder_->options().store.memory;
  return memory != nullptr && memory->deltas->is_exceeded();
}

uint64_t DataFolderGraphs::NumReleases() const {
  const auto& memory = folder_->options().store.memory;
  return memory == nullptr ? 0 : memory->deltas->num_releases();
}

uint64_t DataFolderGraphs::FoldedVersion(std::string_view name) const {
  const auto store = folder_->FindOpen(std::string(name));
  return store == nullptr ? 0 : store->FoldedVersion();
}

StatusOr<uint64_t> DataFolderGraphs::DiskBytes(std::string_view name) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return store->DiskBytes();
}

StatusOr<storage::CheckReport> DataFolderGraphs::Check(std::string_view name,
                                                       const storage::CheckWatch& watch) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return storage::Check(*store, watch);
}

StatusOr<storage::IndexReport> DataFolderGraphs::CreateIndex(
    std::string_view name, const storage::IndexSpec& spec, const storage::IndexWatch& watch) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return storage::CreateIndex(store.get(), spec, watch);
}

Status DataFolderGraphs::DropIndex(std::string_view name, const storage::IndexSpec& spec) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return storage::DropIndex(store.get(), spec);
}

StatusOr<uint64_t> DataFolderGraphs::IndexBytes(std::string_view name, IndexId index) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  return storage::IndexBytes(*store, index);
}

StatusOr<storage::SnapshotReport> DataFolderGraphs::BuildSnapshots(
    std::string_view name, const storage::SnapshotWatch& watch) const {
  ASSIGN_OR_RETURN(auto store, Find(name));
  storage::SnapshotOptions options;
  options.memory_bytes = folder_->options().store.fold_bytes;
  return storage::BuildSnapshots(store.get(), options, watch);
}

}  // namespace koios::server
