#include "core/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

namespace koios {
namespace {

std::atomic<LogLevel> current_level{LogLevel::kInfo};

spdlog::logger* Logger() {
  static const std::shared_ptr<spdlog::logger> kLogger = [] {
    auto created = std::make_shared<spdlog::logger>(
        "koios", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    created->set_level(spdlog::level::trace);  // the level is decided in LogEnabled
    created->flush_on(spdlog::level::warn);
    created->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %s:%# %v");
    return created;
  }();
  return kLogger.get();
}

spdlog::level::level_enum LevelFor(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

void SetLogLevel(LogLevel level) { current_level.store(level, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) {
  return level != LogLevel::kOff && level >= current_level.load(std::memory_order_relaxed);
}

std::optional<LogLevel> LogLevelOf(std::string_view name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  if (name == "off") return LogLevel::kOff;
  return std::nullopt;
}

void LogMessage(LogLevel level, const char* file, int line, std::string_view message) {
  Logger()->log(spdlog::source_loc{file, line, ""}, LevelFor(level),
                spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace koios
