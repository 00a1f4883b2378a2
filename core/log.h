// The log of a process: lines on stderr with time, level and place, formatted with fmt.
// spdlog's headers are seen in log.cc only. Any thread.
//
//   KLOG_INFO("graph {} has {} vertices", name, count);
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace koios {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };

// Lines below `level` are dropped, their arguments not formatted. kInfo at start.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
// "debug", "info", "warning", "error", "off".
std::optional<LogLevel> LogLevelOf(std::string_view name);

void LogMessage(LogLevel level, const char* file, int line, std::string_view message);

}  // namespace koios

#define KLOG(level, ...)                                                          \
  do {                                                                            \
    if (::koios::LogEnabled(level)) {                                             \
      ::koios::LogMessage(level, __FILE__, __LINE__, ::fmt::format(__VA_ARGS__)); \
    }                                                                             \
  } while (false)
#define KLOG_DEBUG(...) KLOG(::koios::LogLevel::kDebug, __VA_ARGS__)
#define KLOG_INFO(...) KLOG(::koios::LogLevel::kInfo, __VA_ARGS__)
#define KLOG_WARNING(...) KLOG(::koios::LogLevel::kWarning, __VA_ARGS__)
#define KLOG_ERROR(...) KLOG(::koios::LogLevel::kError, __VA_ARGS__)
