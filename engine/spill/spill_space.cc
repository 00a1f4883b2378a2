#include "engine/spill/spill_space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "core/clock.h"
#include "storage/disk/files.h"

namespace koios::engine {
namespace {

constexpr char kPrefix[] = "koios-spill-";
constexpr int kLevel = 1;  // of zstd: what is read soon is to be written fast

// What zstd works with, of each thread: to make it takes longer than a small block does.
struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};
ZSTD_CCtx* Compressor() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> kContext(ZSTD_createCCtx());
  return kContext.get();
}
ZSTD_DCtx* Decompressor() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> kContext(ZSTD_createDCtx());
  return kContext.get();
}

ErrorDetail DetailOf(const char* reason, const char* setting, const char* hint) {
  ErrorDetail detail;
  detail.reason = reason;
  detail.setting = setting;
  detail.hint = hint;
  return detail;
}

Status DiskIsFull(const std::string& folder) {
  return ResourceExhausted(
      "There is no room on the disk for rows that do not fit into memory, in " + folder + ".",
      DetailOf("SPILL_DISK", "spill-dir", "Free room there, or name a folder on another disk."));
}

Status CannotWrite(const std::string& folder, int error) {
  if (error == ENOSPC || error == EDQUOT) return DiskIsFull(folder);
  return WithDetail(
      storage::FileError("Can't put rows that do not fit into memory in", folder, error),
      DetailOf("SPILL_DISK", "spill-dir", "Name a folder that can be written."));
}

bool ReadAll(int fd, char* to, size_t bytes, uint64_t at) {
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, to, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    at += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

// 0, or the error.
int WriteAll(int fd, const char* from, size_t bytes, uint64_t at) {
  while (bytes > 0) {
    const ssize_t put = ::pwrite(fd, from, bytes, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put == 0 ? ENOSPC : errno;
    from += put;
    at += static_cast<uint64_t>(put);
    bytes -= static_cast<size_t>(put);
  }
  return 0;
}

// A file without a name; negative, with errno.
int OpenFile(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
    // A file system that has none without a name: it loses its name at once.
    std::string name = folder + "/" + kPrefix + "XXXXXX";
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  return fd;
}

// Of a head whose `raw` is another it is another, too.
uint64_t CheckOf(std::string_view stored, uint32_t raw) {
  return XXH3_64bits_withSeed(stored.data(), stored.size(), raw);
}

// By compare-and-swap: an add that is undone could make another query's fail.
bool TakeWithin(uint64_t limit, uint64_t bytes, std::atomic<uint64_t>* used) {
  uint64_t now = used->load(std::memory_order_relaxed);
  do {
    if (now > limit || bytes > limit - now) return false;
  } while (!used->compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
  return true;
}

}  // namespace

void SpillSpace::Sweep() const {
  namespace fs = std::filesystem;
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (!gone && at->is_regular_file(gone) && now - written > kLeftBehind) {
      fs::remove(at->path(), gone);
    }
  }
}

// One who looks is enough.
bool SpillSpace::CanWrite() const {
  constexpr uint64_t kFarBytes = uint64_t{256} << 20;  // more than a query gives at a time
  constexpr int64_t kLookNanos = 1'000'000'000;
  const int64_t now = SteadyClock::Get()->NowNanos();
  int64_t due = look_again_ns_.load(std::memory_order_relaxed);
  if (now < due || !look_again_ns_.compare_exchange_strong(due, now + kLookNanos)) {
    return can_write_.load(std::memory_order_relaxed);
  }
  const int fd = OpenFile(folder_);
  if (fd >= 0) ::close(fd);
  const StatusOr<uint64_t> free = storage::FreeBytes(folder_);
  const bool can = fd >= 0 && free.ok() && *free >= reserve_ + kFarBytes;
  can_write_.store(can, std::memory_order_relaxed);
  return can;
}

StatusOr<std::unique_ptr<SpillFile>> SpillSpace::Open(std::atomic<uint64_t>* of_query) {
  const int fd = OpenFile(folder_);
  if (fd >= 0) return std::make_unique<SpillFile>(this, fd, of_query);
  return CannotWrite(folder_, errno);
}

void SpillSpace::Return(uint64_t bytes, std::atomic<uint64_t>* of_query) {
  if (of_query != nullptr) of_query->fetch_sub(bytes, std::memory_order_relaxed);
  used_.fetch_sub(bytes, std::memory_order_release);
}

Status SpillSpace::Take(uint64_t bytes, std::atomic<uint64_t>* of_query) {
  if (writes_.fetch_add(1, std::memory_order_relaxed) + 1 >= fail_from_) return DiskIsFull(folder_);
  const bool fits = of_query == nullptr || TakeWithin(limit_ / 2, bytes, of_query);
  const bool all_fit = fits && TakeWithin(limit_, bytes, &used_);
  if (!all_fit) {
    if (fits && of_query != nullptr) of_query->fetch_sub(bytes, std::memory_order_relaxed);
    ErrorDetail detail = DetailOf("SPILL_LIMIT", "spill-mb",
                                  "Ask for less, or give what does not fit into memory more room.");
    detail.limit = std::to_string(fits ? limit_ : limit_ / 2) + " bytes";
    return ResourceExhausted(
        fits ? "Rows that do not fit into memory take all the disk that they may."
             : "The query's rows that do not fit into memory take half of the disk that all may.",
        detail);
  }
  if (reserve_ == 0) return OkStatus();
  const StatusOr<uint64_t> free = storage::FreeBytes(folder_);
  if (!free.ok() || *free >= reserve_ + bytes) return OkStatus();
  Return(bytes, of_query);
  return DiskIsFull(folder_);
}

SpillFile::~SpillFile() {
  ::close(fd_);
  space_->Return(live_, of_query_);
}

StatusOr<uint64_t> SpillFile::Append(std::string_view block) {
  if (block.size() > std::numeric_limits<uint32_t>::max() / 2) {
    return ResourceExhausted("A row is too large to be put on disk.",
                             DetailOf("SPILL_LIMIT", "query-memory-mb", "Ask for less."));
  }
  Head head;
  std::string stored(sizeof(head) + ZSTD_compressBound(block.size()), '\0');
  const size_t size =
      ZSTD_compressCCtx(Compressor(), stored.data() + sizeof(head), stored.size() - sizeof(head),
                        block.data(), block.size(), kLevel);
  if (ZSTD_isError(size) != 0) return Internal("Rows can't be compressed.");
  head.stored = static_cast<uint32_t>(size);
  head.raw = static_cast<uint32_t>(block.size());
  head.check = CheckOf({stored.data() + sizeof(head), size}, head.raw);
  std::copy_n(reinterpret_cast<const char*>(&head), sizeof(head), stored.data());
  const uint64_t bytes = sizeof(head) + size;
  RETURN_IF_ERROR(space_->Take(bytes, of_query_));
  if (const int error = WriteAll(fd_, stored.data(), bytes, end_); error != 0) {
    space_->Return(bytes, of_query_);
    return CannotWrite(space_->folder_, error);
  }
  live_ += bytes;
  written_ += bytes;
  largest_ = std::max(largest_, head.stored);
  return std::exchange(end_, end_ + bytes);
}

StatusOr<SpillFile::Head> SpillFile::HeadAt(uint64_t at) const {
  Head head;
  if (at + sizeof(head) > end_ || !ReadAll(fd_, reinterpret_cast<char*>(&head), sizeof(head), at) ||
      head.stored > std::min<uint64_t>(largest_, end_ - at - sizeof(head))) {
    return DataLoss("Rows that were put on disk can't be read again.");
  }
  return head;
}

StatusOr<std::string> SpillFile::Read(uint64_t at) const {
  ASSIGN_OR_RETURN(const Head head, HeadAt(at));
  std::string stored(head.stored, '\0');
  const bool fails =
      space_->reads_.fetch_add(1, std::memory_order_relaxed) + 1 >= space_->fail_read_from_;
  // Before anything is made as large as the head says.
  if (fails || !ReadAll(fd_, stored.data(), stored.size(), at + sizeof(head)) ||
      CheckOf(stored, head.raw) != head.check) {
    return DataLoss("Rows that were put on disk are not what was written.");
  }
  std::string block(head.raw, '\0');
  if (ZSTD_decompressDCtx(Decompressor(), block.data(), block.size(), stored.data(),
                          stored.size()) != head.raw) {
    return Internal("Rows that were put on disk can't be expanded.");
  }
  return block;
}

StatusOr<std::string> SpillFile::Take(uint64_t at) {
  ASSIGN_OR_RETURN(std::string block, Read(at));
  Drop(at);
  return block;
}

void SpillFile::Drop(uint64_t at) {
  const StatusOr<Head> head = HeadAt(at);
  if (head.ok()) Free(at, sizeof(Head) + head->stored);
}

void SpillFile::DropRange(uint64_t begin, uint64_t end) {
  if (begin < end) Free(begin, end - begin);
}

void SpillFile::Free(uint64_t at, uint64_t bytes) {
  live_ -= bytes;
  space_->Return(bytes, of_query_);
  if (live_ == 0) {
    end_ = 0;
    free_.clear();
    const int failed = ::ftruncate(fd_, 0);
    (void)failed;  // what comes next is written over it then
    return;
  }
  uint64_t begin = at, end = at + bytes;
  auto next = free_.lower_bound(at);
  if (next != free_.begin() && std::prev(next)->second == at) {
    begin = std::prev(next)->first;
    free_.erase(std::prev(next));
  }
  if (next != free_.end() && next->first == end) {
    end = next->second;
    free_.erase(next);
  }
  free_.emplace(begin, end);
  // The pages that are free as a whole, and were not before.
  constexpr uint64_t kPage = 4096;
  const auto down = [](uint64_t place) { return place / kPage * kPage; };
  const uint64_t first = std::max(down(begin + kPage - 1), down(at));
  const uint64_t last = std::min(down(end), down(at + bytes + kPage - 1));
  if (first >= last) return;
  // Where the file system can't the room comes back with the others'.
  (void)::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                    static_cast<off_t>(last - first));
}

uint64_t SpillFile::BytesOnDisk() const {
  constexpr uint64_t kBlock = 512;  // of st_blocks
  struct stat found {};
  return ::fstat(fd_, &found) == 0 ? static_cast<uint64_t>(found.st_blocks) * kBlock : 0;
}

}  // namespace koios::engine
