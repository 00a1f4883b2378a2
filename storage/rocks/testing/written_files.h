// WrittenFiles: what of a folder's files is on disk while they are written: of each file in db/,
// snapshots/ and ingest/ how much was synced, and of each of these folders which names were there
// when it was last synced. From that it makes images, which are what a crash would leave. Other
// files are small and written durably: an image has them as they are. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "storage/disk/files.h"

namespace koios::storage::testing {

// What a crash leaves.
enum class Remains : uint8_t {
  kAll,     // the process ended: all that was written
  kHalf,    // the power failed: half of what was not synced, and the mark as it was last synced
  kSynced,  // the power failed: bytes and names that were synced, and the mark as it was written
};
inline constexpr std::array kAllRemains = {Remains::kAll, Remains::kHalf, Remains::kSynced};
inline const char* NameOf(Remains remains) {
  switch (remains) {
    case Remains::kAll:
      return "all";
    case Remains::kHalf:
      return "half";
    case Remains::kSynced:
      return "synced";
  }
  return "";
}

class WrittenFiles {
 public:
  // A file's bytes, under any of its names.
  struct Node {
    std::string kept;  // a name that stays
    uint64_t synced = 0;
  };
  using Names = std::map<std::string, std::shared_ptr<Node>>;  // by path

  // What is in `folder` is on disk. `aside`: a folder of its own, in the same file system.
  WrittenFiles(std::string folder, std::string aside)
      : folder_(std::move(folder)), aside_(std::move(aside)) {
    std::filesystem::create_directories(aside_ + "/kept");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file() && IsTracked(path)) NodeOf(path)->synced = entry.file_size();
    }
    durable_ = now_;
  }

  std::string ImageOf(Remains remains) const { return aside_ + "/" + NameOf(remains); }
  void TakeImage(Remains remains) const;

  // A new file.
  std::shared_ptr<Node> Created(const std::string& path) {
    now_.erase(path);
    return NodeOf(path);
  }
  // Of a file that is there.
  std::shared_ptr<Node> NodeOf(const std::string& path) {
    std::shared_ptr<Node>& node = now_[path];
    if (node != nullptr) return node;
    node = std::make_shared<Node>();
    node->kept = aside_ + "/kept/" + std::to_string(next_kept_++);
    std::filesystem::create_hard_link(path, node->kept);
    return node;
  }
  void Removed(const std::string& path) { now_.erase(path); }
  void Linked(const std::string& from, const std::string& to) {
    if (const auto found = now_.find(from); found != now_.end()) now_[to] = found->second;
  }
  // The names in a folder are on disk.
  void SyncedFolder(const std::string& folder) {
    std::erase_if(durable_, [&](const auto& named) { return FolderOf(named.first) == folder; });
    for (const auto& [path, node] : now_) {
      // What was removed past us is gone, too.
      if (FolderOf(path) == folder && PathExists(path)) durable_[path] = node;
    }
  }
  // The mark of the graph whose log goes was synced just before.
  void RemovesLog(const std::string& path) {
    const std::string mark = FolderOf(FolderOf(path)) + "/MARK";
    std::ifstream in(mark, std::ios::binary);
    if (in) synced_marks_[mark] = {std::istreambuf_iterator<char>(in), {}};
  }

  static std::string FolderOf(const std::string& path) {
    return std::filesystem::path(path).parent_path().string();
  }

 private:
  static bool IsTracked(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().filename().string();
    return folder == "db" || folder == "snapshots" || folder == "ingest";
  }
  // What goes meanwhile, past us, is gone already.
  static void CopyPart(const std::string& from, const std::string& to, uint64_t bytes) {
    std::error_code gone;
    std::filesystem::create_directories(FolderOf(to));
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, gone);
    if (!gone && std::filesystem::file_size(to) > bytes) std::filesystem::resize_file(to, bytes);
  }
  std::string PathIn(Remains remains, const std::string& path) const {
    return ImageOf(remains) + path.substr(folder_.size());
  }
  void TakeImageOf(const std::string& folder, Remains remains) const;

  const std::string folder_, aside_;
  uint64_t next_kept_ = 0;
  Names now_, durable_;
  std::map<std::string, std::string> synced_marks_;  // by path
};

inline void WrittenFiles::TakeImage(Remains remains) const {
  if (remains == Remains::kSynced) {
    for (const auto& [path, node] : durable_) {
      CopyPart(node->kept, PathIn(remains, path), node->synced);
    }
  }
  TakeImageOf(folder_, remains);
}

inline void WrittenFiles::TakeImageOf(const std::string& folder, Remains remains) const {
  std::filesystem::create_directories(PathIn(remains, folder));
  const auto names = ListFolder(folder);
  if (!names.ok()) return;  // gone meanwhile
  for (const std::string& name : *names) {
    const std::string path = folder + "/" + name;
    std::error_code gone;
    if (std::filesystem::is_directory(path, gone)) {
      TakeImageOf(path, remains);
      continue;
    }
    uint64_t bytes = std::filesystem::file_size(path, gone);
    if (gone) continue;
    if (!IsTracked(path)) {
      CopyPart(path, PathIn(remains, path), bytes);
      const auto mark = synced_marks_.find(path);
      if (remains != Remains::kHalf || mark == synced_marks_.end()) continue;
      std::ofstream(PathIn(remains, path), std::ios::binary) << mark->second;
    } else if (remains != Remains::kSynced) {
      const auto node = now_.find(path);
      if (remains == Remains::kHalf && node != now_.end() && node->second->synced < bytes) {
        bytes = (node->second->synced + bytes) / 2;
      }
      CopyPart(path, PathIn(remains, path), bytes);
    }
  }
}

}  // namespace koios::storage::testing
