#include "storage/rocks/snapshots/named_snapshots.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/log.h"
#include "storage/disk/files.h"

namespace koios::storage {

Status RemoveUnnamedSnapshots(const std::string& folder, const NamedSnapshots& named) {
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
    if (!paths.contains(path)) RETURN_IF_ERROR(RemovePath(path));
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

std::shared_ptr<const SnapshotSet> OpenNamedSnapshots(const std::string& folder,
                                                      const MetaState& meta) {
  const NamedSnapshots& named = meta.snapshots();
  const auto is_current = [&](const auto& of_partition) {
    return of_partition.second.version == meta.version();
  };
  if (named.size() != meta.num_partitions() ||
      !std::all_of(named.begin(), named.end(), is_current)) {
    return nullptr;
  }
  std::vector<std::shared_ptr<const PartitionSnapshot>> opened;
  for (const auto& [partition, snapshot] : named) {
    auto one = PartitionSnapshot::Open(folder, partition, snapshot.files.front());
    if (!one.ok()) {
      KLOG_WARNING("A snapshot can't be read, and reading is slow until it is made anew: {}",
                   MessageOf(one.status()));
      return nullptr;
    }
    opened.push_back(*std::move(one));
  }
  return std::make_shared<const SnapshotSet>(std::move(opened));
}

}  // namespace koios::storage
