// HighWaterMark: how far a graph has come, kept in a small file of its own beside its database, so
// that files of the database that are cut short, exchanged or gone are noticed when it is opened:
// the newest version that was acknowledged, and how long the manifest and each log were when they
// were last synced, with a hash of all their bytes. Rule: the file never says more than is on disk.
//
// The file has two slots of kMarkSlotBytes that are written in turn, so that a torn write leaves
// the one before. A slot: hash of the rest 8, "koiosmrk", turn 8, version 8, number of logs 8, then
// the manifest and each log: number 8, bytes 8, hash 8. All little-endian. Never change it.
//
// A write goes to the operating system at once and begins its way to the disk without being waited
// for: a commit does not pay for a second sync, and the next one's takes it along. So a process
// that is killed leaves the mark exact; when the power fails it may be one write behind.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/mutex.h"
#include "core/status.h"

namespace koios::storage {

inline constexpr size_t kMarkSlotBytes = 4096;
// Of more, which a database keeps only while it can't write its tables, the oldest are left out.
inline constexpr size_t kMaxMarkedLogs = 160;

// The first `bytes` of a file, which are on disk. `number` is the one in the file's name.
struct MarkedFile {
  uint64_t number = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

struct MarkContent {
  uint64_t version = 0;
  MarkedFile manifest;                  // the one that CURRENT names; number 0: not known
  std::map<uint64_t, MarkedFile> logs;  // by number
};

// NOT_FOUND: no such file. DATA_LOSS: neither slot is whole.
StatusOr<MarkContent> ReadMark(const std::string& path);
// DATA_LOSS, which names the file: a file in `db_path` is not what the mark says.
Status CheckMarkedFiles(const MarkContent& mark, const std::string& db_path);
// What is wrong with a log that the mark names; OK when nothing is.
Status CheckMarkedLog(const MarkedFile& log, const std::string& db_path);
// The files' names in a database's folder.
std::string LogName(uint64_t number);
std::string ManifestName(uint64_t number);

// Thread-safe.
class HighWaterMark {
 public:
  // Writes a new file with `content`, or goes on with the one that is there.
  static StatusOr<std::shared_ptr<HighWaterMark>> Create(const std::string& path,
                                                         const MarkContent& content);
  static StatusOr<std::shared_ptr<HighWaterMark>> Open(const std::string& path);
  // Syncs it.
  ~HighWaterMark();
  HighWaterMark(const HighWaterMark&) = delete;
  HighWaterMark& operator=(const HighWaterMark&) = delete;

  uint64_t version() const;
  // This much of the log is on disk. Remembered; written with the version.
  void NoteLog(const MarkedFile& log);
  // Before a log is deleted; on disk when it returns OK.
  Status ForgetLog(uint64_t number);
  // CURRENT names this manifest, which is on disk.
  Status SetManifest(const MarkedFile& manifest);
  // All up to this version is on disk.
  Status SetVersion(uint64_t version);

 private:
  HighWaterMark(int file, MarkContent content) : file_(file), content_(std::move(content)) {}
  Status Write(bool wait_for_disk) KOIOS_REQUIRES(mutex_);

  const int file_;
  mutable Mutex mutex_;
  MarkContent content_ KOIOS_GUARDED_BY(mutex_);
  uint64_t turn_ KOIOS_GUARDED_BY(mutex_) = 0;
};

}  // namespace koios::storage
