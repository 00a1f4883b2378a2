// The graphs of a data folder on disk, as the server sees them. Owns the folder: while it lives, no
// other process can open it.
#pragma once

#include <memory>

#include "server/graphs.h"
#include "storage/data_folder.h"

namespace koios::server {

class DataFolderGraphs final : public Graphs {
 public:
  explicit DataFolderGraphs(std::unique_ptr<storage::DataFolder> folder)
      : folder_(std::move(folder)) {}

  std::vector<std::string> Names() const override;
  StatusOr<std::shared_ptr<const storage::GraphView>> View(std::string_view name) const override;
  StatusOr<std::shared_ptr<storage::Transaction>> Begin(std::string_view name) const override;
  StatusOr<storage::CommitResult> Commit(std::string_view name, storage::CommitRecord record,
                                         const storage::CommitWatch& watch,
                                         storage::CommitTurn* turn) const override;
  StatusOr<uint64_t> DiskBytes(std::string_view name) const override;
  bool OldViewsKeepTooMuch() const override;
  uint64_t NumReleases() const override;
  uint64_t FoldedVersion(std::string_view name) const override;
  StatusOr<storage::CheckReport> Check(std::string_view name,
                                       const storage::CheckWatch& watch) const override;
  StatusOr<storage::IndexReport> CreateIndex(std::string_view name, const storage::IndexSpec& spec,
                                             const storage::IndexWatch& watch) const override;
  Status DropIndex(std::string_view name, const storage::IndexSpec& spec) const override;
  StatusOr<uint64_t> IndexBytes(std::string_view name, IndexId index) const override;
  StatusOr<storage::SnapshotReport> BuildSnapshots(
      std::string_view name, const storage::SnapshotWatch& watch) const override;

 private:
  StatusOr<std::shared_ptr<storage::GraphStore>> Find(std::string_view name) const;

  std::unique_ptr<storage::DataFolder> folder_;
};

}  // namespace koios::server
