#include "import/load/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace koios::import {
namespace {

constexpr double kNanosPerSecond = 1e9;
constexpr int64_t kJsonPeriodNanos = 1'000'000'000;
constexpr int64_t kTerminalPeriodNanos = 250'000'000;

// 12345678 as 12.3M.
std::string Short(double number) {
  const char* unit = "";
  for (const char* next : {"k", "M", "G"}) {
    if (number < 10'000) break;
    number /= 1000;
    unit = next;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f%s", number, unit);
  return text;
}

}  // namespace

Progress::Progress(ProgressMode mode, std::FILE* out, const Clock* clock)
    : mode_(mode),
      out_(out),
      clock_(clock),
      is_terminal_(mode == ProgressMode::kAuto && ::isatty(::fileno(out)) == 1),
      start_nanos_(clock->NowNanos()) {
  if (mode_ == ProgressMode::kJson || is_terminal_) thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Progress::StartStage(const std::string& name, uint64_t total) {
  EndStage(true);
  MutexLock lock(&mutex_);
  stage_ = name;
  total_ = total;
  stage_start_nanos_ = clock_->NowNanos();
  rows_ = 0;
  done_ = 0;
}

void Progress::EndStage(bool whole) {
  MutexLock lock(&mutex_);
  if (stage_.empty() || mode_ == ProgressMode::kNone) return;
  if (whole) done_ = total_ = std::max<uint64_t>(total_, 1);
  const bool json = mode_ == ProgressMode::kJson;
  std::fprintf(out_, "%s%s\n", is_terminal_ ? "\r\x1b[K" : "", LineLocked(json).c_str());
  std::fflush(out_);
}

void Progress::Finish(bool whole) {
  EndStage(whole);
  MutexLock lock(&mutex_);
  stage_.clear();
}

double Progress::ElapsedSeconds() const {
  return static_cast<double>(clock_->NowNanos() - start_nanos_) / kNanosPerSecond;
}

std::string Progress::Line(bool json) const {
  MutexLock lock(&mutex_);
  return LineLocked(json);
}

std::string Progress::LineLocked(bool json) const {
  const double seconds =
      static_cast<double>(clock_->NowNanos() - stage_start_nanos_) / kNanosPerSecond;
  const double rows = static_cast<double>(rows_.load());
  const double rate = seconds > 0 ? rows / seconds : 0;
  const double share =
      total_ == 0 ? 0
                  : std::min(1.0, static_cast<double>(done_.load()) / static_cast<double>(total_));
  const bool has_eta = share > 0 && seconds > 0;
  const double eta = has_eta ? seconds * (1 - share) / share : 0;
  if (json) {
    nlohmann::ordered_json line;
    line["stage"] = stage_;
    line["rows"] = rows_.load();
    line["rows_per_s"] = std::llround(rate);
    line["done"] = std::round(share * 1000) / 1000;
    if (has_eta) line["eta_s"] = std::llround(eta);
    line["elapsed_s"] = std::round(ElapsedSeconds() * 10) / 10;
    return line.dump();
  }
  char text[160];
  std::string line = stage_;
  if (rows > 0) {
    std::snprintf(text, sizeof(text), "%-16s %8s rows %8s/s", stage_.c_str(), Short(rows).c_str(),
                  Short(rate).c_str());
    line = text;
  }
  if (total_ > 0) {
    std::snprintf(text, sizeof(text), " %5.1f %%", share * 100);
    line += text;
  }
  if (has_eta && share < 1) {
    std::snprintf(text, sizeof(text), "  %.0f s left", eta);
    line += text;
  }
  return line;
}

void Progress::Loop() {
  const bool json = mode_ == ProgressMode::kJson;
  MutexLock lock(&mutex_);
  while (!stopped_) {
    changed_.WaitFor(&mutex_, json ? kJsonPeriodNanos : kTerminalPeriodNanos);
    if (stopped_ || stage_.empty()) continue;
    std::fprintf(out_, json ? "%s\n" : "\r\x1b[K%s", LineLocked(json).c_str());
    std::fflush(out_);
  }
}

}  // namespace koios::import
