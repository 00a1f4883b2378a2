// DataFolder: the folder that a server, an import or an embedded engine owns. Holds named graphs.
//   DIR/LOCK                  held while the folder is open; names the process
//   DIR/FORMAT                "koios data N\n"
//   DIR/graphs/NAME/CURRENT   names the data folder that is the graph; replaced by rename
//   DIR/graphs/NAME/DROPPED   what CURRENT becomes when the graph is dropped
//   DIR/graphs/NAME/data-N/   a GraphStore's folder
//   DIR/graphs/NAME/data-N/STAGED   until the graph is published
// Leftovers of imports that died (STAGED), of graphs that were dropped or replaced are removed when
// the folder is opened for writing; nothing else ever is. A graph without its CURRENT, or whose
// CURRENT names nothing, is damaged: it is listed, opening it is DATA_LOSS, the others serve.
// A folder that can't be written (permissions, a disk mounted so) is opened for reading only.
// Thread-safe. One process at a time; many may share a folder that all open read-only.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "storage/disk/files.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

inline constexpr size_t kMaxGraphNameBytes = 64;
// [A-Za-z_][A-Za-z0-9_]*, at most kMaxGraphNameBytes; INVALID_ARGUMENT else.
Status CheckGraphName(std::string_view name);

// What the folder at `path` says it is, and saying it. NOT_FOUND: no data folder; DATA_LOSS.
Status CheckDataFormat(const std::string& path);
Status WriteDataFormat(const std::string& path);

struct DataFolderOptions {
  bool create = false;
  bool read_only = false;
  // For the graphs, which share its memory. `create` and `read_only` in it don't count.
  StoreOptions store;
  // Files that all graphs together may keep open; 0: as `store` says, each.
  uint64_t max_open_files = 0;
};

class DataFolder {
 public:
  // NOT_FOUND: no data folder and not `create`. FAILED_PRECONDITION: in use by another process
  // (named), another data folder of this one, or written by a newer Koios.
  static StatusOr<std::unique_ptr<DataFolder>> Open(const std::string& path,
                                                    const DataFolderOptions& options);
  // Graphs that are still used stay open; the folder's lock goes at once.
  ~DataFolder() = default;
  DataFolder(const DataFolder&) = delete;
  DataFolder& operator=(const DataFolder&) = delete;

  const std::string& path() const { return path_; }
  // As they are in force: read_only also when the folder can't be written.
  const DataFolderOptions& options() const { return options_; }

  std::vector<std::string> ListGraphs() const;  // sorted
  bool HasGraph(std::string_view name) const;
  // An empty graph with options.store.num_partitions. ALREADY_EXISTS.
  StatusOr<std::shared_ptr<GraphStore>> CreateGraph(const std::string& name);
  // The same store for all callers; opened when first asked for. NOT_FOUND; DATA_LOSS, which is
  // remembered while the folder is open.
  StatusOr<std::shared_ptr<GraphStore>> OpenGraph(const std::string& name);
  // Null unless it is open; also while another one is being opened. Waits for nobody.
  std::shared_ptr<GraphStore> FindOpen(const std::string& name);
  StatusOr<std::shared_ptr<GraphStore>> OpenOrCreateGraph(const std::string& name);
  // The graph is gone at once; stores and views that are in use go on until their last user is
  // done, then the files are deleted.
  Status DropGraph(const std::string& name);

  // The path of a new data folder, not yet created, for a graph that is built aside
  // (BulkWriter::Create). It is nobody's until PublishGraph; UnstageGraph removes it.
  StatusOr<std::string> StageGraph(const std::string& name);
  Status UnstageGraph(const std::string& staged_path);
  // Makes a staged graph, complete and closed, the graph of that name, atomically. ALREADY_EXISTS
  // when there is one and not `replace`; the one replaced goes as with DropGraph.
  Status PublishGraph(const std::string& name, const std::string& staged_path, bool replace);

  // Of a graph that is not open: where its files are. One without a good CURRENT gets one that
  // names its newest data folder; `restored` is set then.
  StatusOr<std::string> RestoreCurrent(const std::string& name, bool* restored);

 private:
  DataFolder(std::string path, const DataFolderOptions& options)
      : path_(std::move(path)), options_(options) {}
  Status LoadGraphs();
  Status LoadGraph(const std::string& name) KOIOS_REQUIRES(mutex_);
  Status RemoveLeftovers(const std::string& name, const std::string& current);
  Status CheckWritable() const;
  bool HasLocked(std::string_view name) const KOIOS_REQUIRES(mutex_);
  std::string GraphPath(const std::string& name) const { return path_ + "/graphs/" + name; }
  StatusOr<std::string> NextDataFolder(const std::string& name) KOIOS_REQUIRES(mutex_);
  StatusOr<std::shared_ptr<GraphStore>> OpenLocked(const std::string& name) KOIOS_REQUIRES(mutex_);
  // Sets CURRENT and lets go of the graph that was.
  Status SetCurrent(const std::string& name, const std::string& data_folder) KOIOS_REQUIRES(mutex_);
  void Retire(const std::string& name) KOIOS_REQUIRES(mutex_);

  std::string path_;
  DataFolderOptions options_;
  std::unique_ptr<FileLock> lock_;

  mutable Mutex mutex_;
  // Name to "data-N".
  std::map<std::string, std::string, std::less<>> current_ KOIOS_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<GraphStore>> open_ KOIOS_GUARDED_BY(mutex_);
  std::map<std::string, Status, std::less<>> damaged_ KOIOS_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t> next_number_ KOIOS_GUARDED_BY(mutex_);  // of data folders
};

}  // namespace koios::storage
