#include "storage/disk/high_water_mark.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/disk/files.h"

namespace koios::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

constexpr uint64_t kMagic = 0x6b726d736f696f6b;  // "koiosmrk"
constexpr std::string_view kManifestWord = "MANIFEST-";

// A slot's bytes, but for those of the files.
struct SlotHead {
  uint64_t hash = 0;  // of all that follows it in the slot
  uint64_t magic = kMagic;
  uint64_t turn = 0;
  uint64_t version = 0;
  uint64_t num_logs = 0;
};
static_assert(sizeof(SlotHead) + (kMaxMarkedLogs + 1) * sizeof(MarkedFile) <= kMarkSlotBytes);

using Slot = std::array<char, kMarkSlotBytes>;

uint64_t HashOf(const Slot& slot) {
  return XXH3_64bits(slot.data() + sizeof(SlotHead::hash), slot.size() - sizeof(SlotHead::hash));
}

Slot Encode(const MarkContent& content, uint64_t turn) {
  Slot slot{};
  char* out = slot.data() + sizeof(SlotHead);
  const auto put = [&out](const MarkedFile& file) {
    std::memcpy(out, &file, sizeof(file));
    out += sizeof(file);
  };
  put(content.manifest);
  for (const auto& [number, log] : content.logs) put(log);
  SlotHead head;
  head.turn = turn;
  head.version = content.version;
  head.num_logs = content.logs.size();
  std::memcpy(slot.data(), &head, sizeof(head));
  head.hash = HashOf(slot);
  std::memcpy(slot.data(), &head.hash, sizeof(head.hash));
  return slot;
}

std::optional<MarkContent> Decode(const Slot& slot, uint64_t* turn) {
  SlotHead head;
  std::memcpy(&head, slot.data(), sizeof(head));
  if (head.magic != kMagic || head.num_logs > kMaxMarkedLogs || head.hash != HashOf(slot)) {
    return std::nullopt;
  }
  *turn = head.turn;
  MarkContent content;
  content.version = head.version;
  const char* in = slot.data() + sizeof(head);
  std::memcpy(&content.manifest, in, sizeof(MarkedFile));
  for (uint64_t i = 0; i < head.num_logs; ++i) {
    MarkedFile log;
    std::memcpy(&log, in + (i + 1) * sizeof(log), sizeof(log));
    content.logs[log.number] = log;
  }
  return content;
}

struct ReadSlots {
  MarkContent content;
  uint64_t turn = 0;
};

StatusOr<ReadSlots> Read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadSmallFile(path));
  std::optional<ReadSlots> newest;
  for (size_t i = 0; i < 2 && (i + 1) * kMarkSlotBytes <= bytes.size(); ++i) {
    Slot slot;
    std::memcpy(slot.data(), bytes.data() + i * kMarkSlotBytes, kMarkSlotBytes);
    uint64_t turn = 0;
    std::optional<MarkContent> content = Decode(slot, &turn);
    if (content && (!newest || turn > newest->turn)) newest = {std::move(*content), turn};
  }
  if (!newest) return DataLoss("The file MARK is damaged.");
  return std::move(*newest);
}

std::string Numbered(const char* format, uint64_t number) {
  char name[40];
  std::snprintf(name, sizeof(name), format, static_cast<unsigned long long>(number));
  return name;
}

Status CheckFile(const MarkedFile& file, const std::string& name, const std::string& path) {
  const StatusOr<FileHash> found = HashFile(path, file.bytes);
  if (found.status().code() == StatusCode::kNotFound) {
    return DataLoss("The file " + name + " is gone.");
  }
  RETURN_IF_ERROR(found.status());
  if (found->bytes < file.bytes) {
    return DataLoss("The file " + name + " was cut short: " + std::to_string(found->bytes) +
                    " bytes are left of " + std::to_string(file.bytes) + ".");
  }
  if (found->hash == file.hash) return OkStatus();
  return DataLoss("The file " + name + " was changed.");
}

}  // namespace

std::string LogName(uint64_t number) { return Numbered("%06llu.log", number); }
std::string ManifestName(uint64_t number) { return Numbered("MANIFEST-%06llu", number); }

StatusOr<MarkContent> ReadMark(const std::string& path) {
  ASSIGN_OR_RETURN(ReadSlots slots, Read(path));
  return std::move(slots.content);
}

Status CheckMarkedLog(const MarkedFile& log, const std::string& db_path) {
  return CheckFile(log, LogName(log.number), db_path + "/" + LogName(log.number));
}

Status CheckMarkedFiles(const MarkContent& mark, const std::string& db_path) {
  for (const auto& [number, log] : mark.logs) RETURN_IF_ERROR(CheckMarkedLog(log, db_path));
  if (mark.manifest.number == 0) return OkStatus();
  const StatusOr<std::string> current = ReadSmallFile(db_path + "/CURRENT");
  if (current.status().code() == StatusCode::kNotFound) {
    return DataLoss("The database's file CURRENT is gone.");
  }
  RETURN_IF_ERROR(current.status());
  uint64_t number = 0;
  if (current->starts_with(kManifestWord)) {
    std::from_chars(current->data() + kManifestWord.size(), current->data() + current->size(),
                    number);
  }
  if (*current != ManifestName(number) + "\n") {
    return DataLoss("The database's file CURRENT is damaged.");
  }
  // A newer one was begun by an opening that was not finished, from the one that the mark knows.
  if (number > mark.manifest.number) return OkStatus();
  if (number < mark.manifest.number) {
    return DataLoss("The database's file CURRENT is an older one.");
  }
  return CheckFile(mark.manifest, ManifestName(number), db_path + "/" + ManifestName(number));
}

StatusOr<std::shared_ptr<HighWaterMark>> HighWaterMark::Create(const std::string& path,
                                                               const MarkContent& content) {
  const Slot slot = Encode(content, 0);
  std::string bytes(slot.begin(), slot.end());
  bytes.resize(2 * kMarkSlotBytes);
  RETURN_IF_ERROR(WriteFileDurably(path, bytes));
  return Open(path);
}

StatusOr<std::shared_ptr<HighWaterMark>> HighWaterMark::Open(const std::string& path) {
  ASSIGN_OR_RETURN(ReadSlots slots, Read(path));
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return FileError("Can't open", path, errno);
  std::shared_ptr<HighWaterMark> mark(new HighWaterMark(file, std::move(slots.content)));
  MutexLock lock(&mark->mutex_);
  mark->turn_ = slots.turn;
  return mark;
}

HighWaterMark::~HighWaterMark() {
  fdatasync(file_);
  close(file_);
}

uint64_t HighWaterMark::version() const {
  MutexLock lock(&mutex_);
  return content_.version;
}

void HighWaterMark::NoteLog(const MarkedFile& log) {
  MutexLock lock(&mutex_);
  content_.logs[log.number] = log;
  if (content_.logs.size() > kMaxMarkedLogs) content_.logs.erase(content_.logs.begin());
}

Status HighWaterMark::ForgetLog(uint64_t number) {
  MutexLock lock(&mutex_);
  // Also one that is left out here, or that could not be forgotten before: the file may name it.
  content_.logs.erase(number);
  return Write(/*wait_for_disk=*/true);
}

Status HighWaterMark::SetManifest(const MarkedFile& manifest) {
  MutexLock lock(&mutex_);
  content_.manifest = manifest;
  return Write(/*wait_for_disk=*/false);
}

Status HighWaterMark::SetVersion(uint64_t version) {
  MutexLock lock(&mutex_);
  content_.version = version;
  return Write(/*wait_for_disk=*/false);
}

Status HighWaterMark::Write(bool wait_for_disk) {
  ++turn_;
  const Slot slot = Encode(content_, turn_);
  const auto at = static_cast<off_t>(turn_ % 2 * kMarkSlotBytes);
  size_t done = 0;
  while (done < slot.size()) {
    const ssize_t written =
        pwrite(file_, slot.data() + done, slot.size() - done, at + static_cast<off_t>(done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("Can't write", "MARK", errno);
    done += static_cast<size_t>(written);
  }
  if (wait_for_disk) {
    if (fdatasync(file_) != 0) return FileError("Can't sync", "MARK", errno);
    return OkStatus();
  }
  // File systems that lack it write later, which is as good for all but a power failure.
  static_cast<void>(sync_file_range(file_, at, kMarkSlotBytes, SYNC_FILE_RANGE_WRITE));
  return OkStatus();
}

}  // namespace koios::storage
