#include "storage/data_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/log.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

constexpr std::string_view kFormatWords = "koios data ";
constexpr uint32_t kDataFormat = 1;
constexpr std::string_view kDataPrefix = "data-";
constexpr uint64_t kMinOpenFiles = 20;  // of a graph; RocksDB takes no less
constexpr char kCurrentFile[] = "/CURRENT";
constexpr char kDroppedFile[] = "/DROPPED";
constexpr char kStagedFile[] = "/STAGED";

std::optional<uint64_t> NumberAfter(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string WithoutNewline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// Creates the folder if asked to, and checks what it says it is.
Status PrepareFolder(const std::string& path, bool create) {
  Status found = CheckDataFormat(path);
  if (found.code() != StatusCode::kNotFound || !create) return found;
  RETURN_IF_ERROR(MakeFolder(path));
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path));
  const bool ours = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "LOCK" || name == "graphs" || name == "FORMAT.new" || name == "FORMAT";
  });
  if (ours) return OkStatus();
  return FailedPrecondition("The folder '" + path + "' is neither empty nor a data folder.");
}

// STAGED goes last: what is half removed must not look like a graph.
Status RemoveDataFolder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(path));
  for (const std::string& entry : entries) {
    if ("/" + entry != kStagedFile) RETURN_IF_ERROR(RemovePath(path + "/" + entry));
  }
  return RemovePath(path);
}

Status NoGraph(std::string_view name) {
  return NotFound("There is no graph '" + std::string(name) + "'.");
}

Status GraphExists(std::string_view name) {
  return AlreadyExists("There is already a graph '" + std::string(name) + "'.");
}

}  // namespace

Status CheckGraphName(std::string_view name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good = !name.empty() && name.size() <= kMaxGraphNameBytes && letter(name[0]) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (good) return OkStatus();
  return InvalidArgument("'" + std::string(name.substr(0, kMaxGraphNameBytes)) +
                         "' can't name a graph: a name has letters, digits and '_', begins with " +
                         "no digit, and is at most " + std::to_string(kMaxGraphNameBytes) +
                         " bytes long.");
}

Status CheckDataFormat(const std::string& path) {
  const std::string format_file = path + "/FORMAT";
  if (!PathExists(format_file)) {
    const auto graphs = ListFolder(path + "/graphs");
    if (!graphs.ok() || graphs->empty()) {
      return NotFound("There is no data folder in '" + path + "'.");
    }
    return WithWayOut(
        DataLoss("The data folder '" + path + "' has graphs, but its file FORMAT is gone."));
  }
  ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(format_file));
  const std::optional<uint64_t> format = NumberAfter(kFormatWords, WithoutNewline(content));
  if (!format || *format == 0) {
    return WithWayOut(DataLoss("The file '" + format_file + "' is damaged."));
  }
  if (*format <= kDataFormat) return OkStatus();
  return FailedPrecondition("The data folder '" + path + "' was written by a newer Koios (format " +
                            std::to_string(*format) + "; this one reads up to " +
                            std::to_string(kDataFormat) + ").");
}

Status WriteDataFormat(const std::string& path) {
  return WriteFileDurably(path + "/FORMAT",
                          std::string(kFormatWords) + std::to_string(kDataFormat) + "\n");
}

StatusOr<std::unique_ptr<DataFolder>> DataFolder::Open(const std::string& path,
                                                       const DataFolderOptions& options) {
  const bool read_only = options.read_only || (PathExists(path) && !MayWriteFolder(path));
  if (read_only && !options.read_only) {
    KLOG_WARNING("{} can't be written: its graphs are open for reading only", path);
  }
  RETURN_IF_ERROR(PrepareFolder(path, options.create && !read_only));
  std::unique_ptr<DataFolder> folder(new DataFolder(path, options));
  folder->options_.read_only = read_only;
  folder->options_.store.read_only = read_only;
  folder->options_.store.create = false;
  if (folder->options_.store.memory == nullptr) {
    folder->options_.store.memory = MakeStoreMemory(folder->options_.store);
  }
  ASSIGN_OR_RETURN(folder->lock_,
                   FileLock::Acquire(path + "/LOCK", read_only, "The data folder '" + path + "'"));
  if (!read_only) {
    RETURN_IF_ERROR(MakeFolder(path + "/graphs"));
    if (!PathExists(path + "/FORMAT")) RETURN_IF_ERROR(WriteDataFormat(path));
  }
  RETURN_IF_ERROR(folder->LoadGraphs());
  if (options.max_open_files > 0) {
    int& each = folder->options_.store.max_open_files;
    const uint64_t share = options.max_open_files / (folder->ListGraphs().size() + 1);
    each =
        static_cast<int>(std::clamp<uint64_t>(share, kMinOpenFiles, static_cast<uint64_t>(each)));
  }
  return folder;
}

Status DataFolder::LoadGraphs() {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(path_ + "/graphs"));
  MutexLock lock(&mutex_);
  for (const std::string& name : names) {
    if (!CheckGraphName(name).ok()) continue;
    Status loaded = LoadGraph(name);
    if (loaded.code() != StatusCode::kDataLoss) {
      RETURN_IF_ERROR(loaded);
      continue;
    }
    KLOG_ERROR("the graph {} of {}: {}", name, path_, MessageOf(loaded));
    damaged_[name] = WithWayOut(loaded);
  }
  return OkStatus();
}

Status DataFolder::LoadGraph(const std::string& name) {
  const std::string current_file = GraphPath(name) + kCurrentFile;
  if (!PathExists(current_file)) {
    const bool dropped = PathExists(GraphPath(name) + kDroppedFile);
    ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(GraphPath(name)));
    for (const std::string& entry : entries) {
      if (dropped || !NumberAfter(kDataPrefix, entry)) continue;
      if (PathExists(GraphPath(name) + "/" + entry + kStagedFile)) continue;
      return DataLoss("The file CURRENT of the graph '" + name + "' is gone.");
    }
    return options_.read_only ? OkStatus() : RemoveLeftovers(name, "");
  }
  ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(current_file));
  const std::string current = WithoutNewline(content);
  const std::optional<uint64_t> number = NumberAfter(kDataPrefix, current);
  if (!number || content != std::string(kDataPrefix) + std::to_string(*number) + "\n") {
    return DataLoss("The file CURRENT of the graph '" + name + "' is damaged.");
  }
  const std::string data_folder = GraphPath(name) + "/" + current;
  if (!PathExists(data_folder)) {
    return DataLoss("The folder '" + current + "' of the graph '" + name + "' is gone.");
  }
  current_[name] = current;
  if (options_.read_only) return OkStatus();
  RETURN_IF_ERROR(RemovePath(data_folder + kStagedFile));
  return RemoveLeftovers(name, current);
}

// The files that say what is left over go last.
Status DataFolder::RemoveLeftovers(const std::string& name, const std::string& current) {
  ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(GraphPath(name)));
  for (const std::string& entry : entries) {
    if (entry != current && NumberAfter(kDataPrefix, entry)) {
      RETURN_IF_ERROR(RemoveDataFolder(GraphPath(name) + "/" + entry));
    }
  }
  return current.empty() ? RemovePath(GraphPath(name)) : RemovePath(GraphPath(name) + kDroppedFile);
}

Status DataFolder::CheckWritable() const {
  return options_.read_only ? OpenForReadingOnly() : OkStatus();
}

std::vector<std::string> DataFolder::ListGraphs() const {
  MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const auto& [name, current] : current_) names.push_back(name);
  for (const auto& [name, status] : damaged_) {
    if (!current_.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool DataFolder::HasGraph(std::string_view name) const {
  MutexLock lock(&mutex_);
  return HasLocked(name);
}

bool DataFolder::HasLocked(std::string_view name) const {
  return current_.contains(name) || damaged_.contains(name);
}

StatusOr<std::string> DataFolder::NextDataFolder(const std::string& name) {
  RETURN_IF_ERROR(MakeFolder(GraphPath(name)));
  uint64_t& next = next_number_[name];
  if (next == 0) {
    next = 1;
    ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(GraphPath(name)));
    for (const std::string& entry : entries) {
      if (auto number = NumberAfter(kDataPrefix, entry)) next = std::max(next, *number + 1);
    }
  }
  std::string data_folder = std::string(kDataPrefix) + std::to_string(next++);
  const std::string path = GraphPath(name) + "/" + data_folder;
  RETURN_IF_ERROR(MakeFolder(path));
  RETURN_IF_ERROR(WriteFileDurably(path + kStagedFile, ""));
  return data_folder;
}

StatusOr<std::shared_ptr<GraphStore>> DataFolder::CreateGraph(const std::string& name) {
  RETURN_IF_ERROR(CheckGraphName(name));
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  if (HasLocked(name)) return GraphExists(name);
  ASSIGN_OR_RETURN(const std::string data_folder, NextDataFolder(name));
  StoreOptions store_options = options_.store;
  store_options.create = true;
  StatusOr<std::shared_ptr<GraphStore>> opened =
      GraphStore::Open(GraphPath(name) + "/" + data_folder, store_options);
  RETURN_IF_ERROR(WithoutPath(opened.status(), path_));
  std::shared_ptr<GraphStore> store = *std::move(opened);
  RETURN_IF_ERROR(SetCurrent(name, data_folder));
  open_[name] = store;
  return store;
}

StatusOr<std::shared_ptr<GraphStore>> DataFolder::OpenLocked(const std::string& name) {
  if (auto known = damaged_.find(name); known != damaged_.end()) return known->second;
  auto current = current_.find(name);
  if (current == current_.end()) return NoGraph(name);
  if (auto found = open_.find(name); found != open_.end()) return found->second;
  StatusOr<std::shared_ptr<GraphStore>> opened =
      GraphStore::Open(GraphPath(name) + "/" + current->second, options_.store);
  if (!opened.ok()) {
    KLOG_ERROR("the graph {} of {}: {}", name, path_, MessageOf(opened.status()));
    const Status status = WithoutPath(opened.status(), path_);
    if (status.code() == StatusCode::kDataLoss) damaged_[name] = status;
    return status;
  }
  open_[name] = *opened;
  return *std::move(opened);
}

StatusOr<std::shared_ptr<GraphStore>> DataFolder::OpenGraph(const std::string& name) {
  MutexLock lock(&mutex_);
  return OpenLocked(name);
}

std::shared_ptr<GraphStore> DataFolder::FindOpen(const std::string& name) {
  if (!mutex_.TryLock()) return nullptr;
  const auto found = open_.find(name);
  std::shared_ptr<GraphStore> store = found == open_.end() ? nullptr : found->second;
  mutex_.Unlock();
  return store;
}

StatusOr<std::shared_ptr<GraphStore>> DataFolder::OpenOrCreateGraph(const std::string& name) {
  StatusOr<std::shared_ptr<GraphStore>> created = AlreadyExists("");
  if (!HasGraph(name)) created = CreateGraph(name);
  // Somebody may have created it meanwhile.
  if (created.status().code() == StatusCode::kAlreadyExists) return OpenGraph(name);
  return created;
}

Status DataFolder::SetCurrent(const std::string& name, const std::string& data_folder) {
  RETURN_IF_ERROR(SyncFolder(GraphPath(name)));
  RETURN_IF_ERROR(WriteFileDurably(GraphPath(name) + kCurrentFile, data_folder + "\n"));
  Retire(name);
  current_[name] = data_folder;
  // Both are removed when the folder is opened if not now.
  RemovePath(GraphPath(name) + "/" + data_folder + kStagedFile).IgnoreError();
  RemovePath(GraphPath(name) + kDroppedFile).IgnoreError();
  return OkStatus();
}

void DataFolder::Retire(const std::string& name) {
  damaged_.erase(name);
  auto current = current_.find(name);
  if (current == current_.end()) return;
  if (auto found = open_.find(name); found != open_.end()) {
    found->second->RemoveWhenClosed();
    open_.erase(found);
  } else {
    // What can't be removed now is removed when the folder is opened again.
    RemovePath(GraphPath(name) + "/" + current->second).IgnoreError();
  }
  current_.erase(current);
}

Status DataFolder::DropGraph(const std::string& name) {
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  if (!HasLocked(name)) return NoGraph(name);
  // A rename asks for no room on a full disk.
  const std::string current = GraphPath(name) + kCurrentFile,
                    dropped = GraphPath(name) + kDroppedFile;
  RETURN_IF_ERROR(PathExists(current) ? RenameDurably(current, dropped)
                                      : WriteFileDurably(dropped, ""));
  Retire(name);
  return OkStatus();
}

StatusOr<std::string> DataFolder::StageGraph(const std::string& name) {
  RETURN_IF_ERROR(CheckGraphName(name));
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  ASSIGN_OR_RETURN(const std::string data_folder, NextDataFolder(name));
  return GraphPath(name) + "/" + data_folder;
}

Status DataFolder::UnstageGraph(const std::string& staged_path) {
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  for (const auto& [name, current] : current_) {
    if (GraphPath(name) + "/" + current == staged_path) {
      return InvalidArgument("'" + staged_path + "' is the graph '" + name + "'.");
    }
  }
  const std::filesystem::path staged(staged_path);
  if (!NumberAfter(kDataPrefix, staged.filename().string()) ||
      staged.parent_path().parent_path().string() != path_ + "/graphs") {
    return InvalidArgument("'" + staged_path + "' is no staged graph.");
  }
  return PathExists(staged_path) ? RemoveDataFolder(staged_path) : OkStatus();
}

Status DataFolder::PublishGraph(const std::string& name, const std::string& staged_path,
                                bool replace) {
  RETURN_IF_ERROR(CheckGraphName(name));
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  if (HasLocked(name) && !replace) return GraphExists(name);
  const std::string data_folder = std::filesystem::path(staged_path).filename().string();
  if (staged_path != GraphPath(name) + "/" + data_folder ||
      !NumberAfter(kDataPrefix, data_folder) || !PathExists(staged_path + "/FORMAT")) {
    return InvalidArgument("'" + staged_path + "' is no finished graph staged for '" + name + "'.");
  }
  return SetCurrent(name, data_folder);
}

StatusOr<std::string> DataFolder::RestoreCurrent(const std::string& name, bool* restored) {
  RETURN_IF_ERROR(CheckWritable());
  MutexLock lock(&mutex_);
  *restored = false;
  if (auto current = current_.find(name); current != current_.end()) {
    return GraphPath(name) + "/" + current->second;
  }
  if (!damaged_.contains(name)) return NoGraph(name);
  ASSIGN_OR_RETURN(const std::vector<std::string> entries, ListFolder(GraphPath(name)));
  uint64_t newest = 0;
  for (const std::string& entry : entries) {
    const auto number = NumberAfter(kDataPrefix, entry);
    if (number && !PathExists(GraphPath(name) + "/" + entry + kStagedFile)) {
      newest = std::max(newest, *number);
    }
  }
  if (newest == 0) {
    return DataLoss("Nothing is left of the graph '" + name + "'; restore it from a backup.");
  }
  *restored = true;
  RETURN_IF_ERROR(SetCurrent(name, std::string(kDataPrefix) + std::to_string(newest)));
  return GraphPath(name) + "/" + current_[name];
}

}  // namespace koios::storage
