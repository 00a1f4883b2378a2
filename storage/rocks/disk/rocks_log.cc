#include "storage/rocks/disk/rocks_log.h"

#include <rocksdb/env.h>

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "core/log.h"

namespace koios::storage {
namespace {

constexpr size_t kLongestLine = 1024;

class RocksLog : public rocksdb::Logger {
 public:
  RocksLog() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  void LogHeader(const char*, va_list) override {}
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::INFO_LEVEL, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level == rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    const LogLevel as =
        level == rocksdb::InfoLogLevel::WARN_LEVEL ? LogLevel::kDebug : LogLevel::kError;
    if (!LogEnabled(as)) return;
    char line[kLongestLine];
    std::vsnprintf(line, sizeof(line), format, arguments);
    std::string_view text = line;
    while (text.ends_with('\n')) text.remove_suffix(1);
    KLOG(as, "RocksDB: {}", text);
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> MakeRocksLog() { return std::make_shared<RocksLog>(); }

}  // namespace koios::storage
