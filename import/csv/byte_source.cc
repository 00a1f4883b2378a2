#include "import/csv/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "import/io_error.h"

namespace koios::import {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr size_t kMagicBytes = 4;
constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr std::string_view kZstdMagic("\x28\xb5\x2f\xfd", 4);

// A file descriptor with a few bytes read ahead (the magic).
class RawFile {
 public:
  RawFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~RawFile() { ::close(fd_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  const std::string& path() const { return path_; }
  std::string_view peeked() const { return peeked_; }

  Status Peek(size_t size) {
    while (peeked_.size() < size) {
      char buffer[kMagicBytes];
      ASSIGN_OR_RETURN(size_t got, ReadFd(buffer, size - peeked_.size()));
      if (got == 0) break;
      peeked_.append(buffer, got);
    }
    return OkStatus();
  }

  StatusOr<size_t> Read(char* buffer, size_t size) {
    if (!peeked_.empty()) {
      size_t got = std::min(size, peeked_.size());
      std::memcpy(buffer, peeked_.data(), got);
      peeked_.erase(0, got);
      return got;
    }
    return ReadFd(buffer, size);
  }

 private:
  StatusOr<size_t> ReadFd(char* buffer, size_t size) {
    while (true) {
      ssize_t got = ::read(fd_, buffer, size);
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return IoError("read", path_, errno);
    }
  }

  int fd_;
  std::string path_;
  std::string peeked_;
};

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<RawFile> file) : file_(std::move(file)) {}

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    ASSIGN_OR_RETURN(size_t got, file_->Read(buffer, size));
    consumed_.fetch_add(got, std::memory_order_relaxed);
    return got;
  }

 private:
  std::unique_ptr<RawFile> file_;
};

Status Damaged(const std::string& path, std::string_view what) {
  return InvalidArgument("The file '" + path + "' is not whole: " + std::string(what) + ".");
}

// Concatenated gzip members are one stream, as in gzip itself.
class GzipSource : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<RawFile> file) : file_(std::move(file)), input_(kReadBytes) {}
  ~GzipSource() override {
    if (started_) inflateEnd(&stream_);
  }

  Status Start() {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) return Internal("Cannot start zlib.");
    started_ = true;
    return OkStatus();
  }

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer);
    stream_.avail_out = static_cast<uInt>(std::min(size, size_t{1} << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        ASSIGN_OR_RETURN(size_t got, file_->Read(input_.data(), input_.size()));
        consumed_.fetch_add(got, std::memory_order_relaxed);
        if (got == 0) {
          if (between_members_) return size_t{0};
          return Damaged(file_->path(), "its gzip stream ends early");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(got);
      }
      if (between_members_) {
        if (inflateReset(&stream_) != Z_OK) return Internal("Cannot restart zlib.");
        between_members_ = false;
      }
      int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Damaged(file_->path(), stream_.msg ? stream_.msg : "its gzip stream is damaged");
      }
    }
    return static_cast<size_t>(wanted - stream_.avail_out);
  }

 private:
  std::unique_ptr<RawFile> file_;
  std::vector<char> input_;
  z_stream stream_{};
  bool started_ = false;
  bool between_members_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<RawFile> file) : file_(std::move(file)), input_(kReadBytes) {}
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Status Start(uint64_t max_window_bytes) {
    stream_ = ZSTD_createDStream();
    if (stream_ == nullptr) return Internal("Cannot start zstd.");
    int window_log = std::bit_width(max_window_bytes | 1) - 1;
    size_t code =
        ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, std::clamp(window_log, 10, 27));
    if (ZSTD_isError(code)) return Internal(ZSTD_getErrorName(code));
    return OkStatus();
  }

  StatusOr<size_t> Read(char* buffer, size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        ASSIGN_OR_RETURN(size_t got, file_->Read(input_.data(), input_.size()));
        consumed_.fetch_add(got, std::memory_order_relaxed);
        if (got == 0) {
          if (frame_done_) return size_t{0};
          return Damaged(file_->path(), "its zstd stream ends early");
        }
        in_ = ZSTD_inBuffer{input_.data(), got, 0};
      }
      size_t code = ZSTD_decompressStream(stream_, &out, &in_);
      if (ZSTD_isError(code)) {
        std::string what = std::string("zstd says '") + ZSTD_getErrorName(code) +
                           "' (a frame that needs too much memory loads with a larger --memory)";
        return Damaged(file_->path(), what);
      }
      frame_done_ = code == 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<RawFile> file_;
  std::vector<char> input_;
  ZSTD_DStream* stream_ = nullptr;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool frame_done_ = false;
};

}  // namespace

StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(const std::string& path,
                                                     uint64_t max_window_bytes) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return IoError("open", path, errno);
  auto file = std::make_unique<RawFile>(fd, path);
  RETURN_IF_ERROR(file->Peek(kMagicBytes));
  const bool gzip = file->peeked().starts_with(kGzipMagic);
  const bool zstd = file->peeked().starts_with(kZstdMagic);
  if (path.ends_with(".gz") && !gzip) {
    return InvalidArgument("The file '" + path + "' ends in .gz but is not gzip.");
  }
  if ((path.ends_with(".zst") || path.ends_with(".zstd")) && !zstd) {
    return InvalidArgument("The file '" + path + "' ends in .zst but is not zstd.");
  }
  if (gzip) {
    auto source = std::make_unique<GzipSource>(std::move(file));
    RETURN_IF_ERROR(source->Start());
    return source;
  }
  if (zstd) {
    auto source = std::make_unique<ZstdSource>(std::move(file));
    RETURN_IF_ERROR(source->Start(max_window_bytes));
    return source;
  }
  return std::make_unique<PlainSource>(std::move(file));
}

}  // namespace koios::import
