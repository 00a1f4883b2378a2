#include "storage/rocks/snapshots/named_snapshots.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/log.h"
#include "storage/disk/files.h"
#include "storage/store_errors.h"

namespace koios::storage {

Status RemoveUnnamedSnapshots(const std::string& folder, const NamedSnapshots& named,
                              SnapshotDisk* disk) {
  if (!PathExists(folder)) return OkStatus();
  std::set<std::string> paths;
  for (const auto& [partition, snapshot] : named) {
    for (const SnapshotFileName& file : snapshot.files) {
      paths.insert(SnapshotPathIn(folder, partition, file.number));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder));
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (!paths.contains(path)) RETURN_IF_ERROR(disk->Remove(path));
  }
  return OkStatus();
}

StatusOr<uint64_t> NextSnapshotNumber(const std::string& folder, const NamedSnapshots& named) {
  uint64_t next = 1;
  for (const auto& [partition, snapshot] : named) {
    for (const SnapshotFileName& file : snapshot.files) next = std::max(next, file.number + 1);
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(folder));
  for (const std::string& name : names) {
    uint32_t partition = 0;
    uint64_t number = 0;
    if (ParseSnapshotFileName(name, &partition, &number)) next = std::max(next, number + 1);
  }
  return next;
}

namespace {

// Files have room for what views do not read yet.
Status CheckReadable(const PartitionSnapshot& snapshot) {
  for (const LabelSet& set : snapshot.label_sets()) {
    if (set.labels.size() != 1) return OfNewerVersion("vertices with several labels");
  }
  for (const auto& [name, column] : snapshot.columns()) {
    if (column->has_several() || name.index == SectionIndex::kValue) {
      return OfNewerVersion("several values of a property");
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<const SnapshotSet>> OpenSnapshotSet(const std::string& folder,
                                                             uint64_t version,
                                                             const NamedSnapshots& named,
                                                             const SnapshotSet* kept) {
  SnapshotSet::Snapshots opened;
  for (const auto& [partition, snapshot] : named) {
    const SnapshotFileName& file = snapshot.files.front();
    if (kept != nullptr && kept->Of(partition).header().number == file.number) {
      opened.push_back(kept->snapshots()[partition]);
      continue;
    }
    ASSIGN_OR_RETURN(auto one, PartitionSnapshot::Open(folder, partition, file));
    RETURN_IF_ERROR(CheckReadable(*one));
    opened.push_back(std::move(one));
  }
  return std::make_shared<const SnapshotSet>(version, std::move(opened));
}

std::shared_ptr<const SnapshotSet> OpenNamedSnapshots(const std::string& folder,
                                                      const MetaState& meta) {
  const NamedSnapshots& named = meta.snapshots();
  const std::optional<uint64_t> version = meta.log_start();
  if (named.empty() && version == 0) {
    SnapshotSet::Snapshots nothing;
    for (uint32_t p = 0; p < meta.num_partitions(); ++p) {
      nothing.push_back(PartitionSnapshot::Empty(p, meta.num_partitions(), 0));
    }
    return std::make_shared<const SnapshotSet>(0, std::move(nothing));
  }
  if (!version || named.size() != meta.num_partitions()) return nullptr;
  auto opened = OpenSnapshotSet(folder, *version, named, nullptr);
  if (opened.ok()) return *std::move(opened);
  KLOG_WARNING("A snapshot can't be read, and reading is slow until it is made anew: {}",
               MessageOf(opened.status()));
  return nullptr;
}

}  // namespace koios::storage
