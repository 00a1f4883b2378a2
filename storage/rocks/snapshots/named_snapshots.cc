#include "storage/rocks/snapshots/named_snapshots.h"

#include <algorithm>
#include <set>
#include <vector>

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

}  // namespace koios::storage
