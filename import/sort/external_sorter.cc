#include "import/sort/external_sorter.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace koios::import {
namespace {

constexpr size_t kMinReadBuffer = size_t{32} << 10;
constexpr size_t kMaxReadBuffer = size_t{1} << 20;
constexpr size_t kMaxFanIn = 512;
constexpr size_t kWriteBuffer = size_t{256} << 10;
constexpr size_t kRecordHeader = 2 * sizeof(uint32_t);

uint64_t PrefixOf(std::string_view key) {
  uint64_t prefix = 0;
  std::memcpy(&prefix, key.data(), std::min(key.size(), sizeof(prefix)));
  return std::endian::native == std::endian::little ? __builtin_bswap64(prefix) : prefix;
}

}  // namespace

ExternalSorter::ExternalSorter(const SortOptions& options) : options_(options) {
  options_.build_bytes &= ~(sizeof(Entry) - 1);
}

ExternalSorter::~ExternalSorter() = default;

ExternalSorter::Record ExternalSorter::RecordAt(uint64_t at) const {
  uint32_t sizes[2];
  std::memcpy(sizes, buffer_.get() + at, sizeof(sizes));
  const char* key = buffer_.get() + at + kRecordHeader;
  return {std::string_view(key, sizes[0]), std::string_view(key + sizes[0], sizes[1])};
}

Status ExternalSorter::Add(std::string_view key, std::string_view value) {
  DCHECK(!merging_);
  const size_t size = kRecordHeader + key.size() + value.size();
  if (size + sizeof(Entry) > options_.build_bytes) {
    ErrorDetail detail;
    detail.limit = std::to_string(options_.build_bytes) + " bytes";
    detail.used = std::to_string(size) + " bytes";
    detail.setting = "--memory";
    return ResourceExhausted("A row does not fit the memory that the import may use.", detail);
  }
  if (front_ + size + (num_entries_ + 1) * sizeof(Entry) > options_.build_bytes) {
    RETURN_IF_ERROR(Spill());
  }
  if (buffer_ == nullptr) {
    // Not value-initialised: pages that are never touched cost nothing.
    buffer_.reset(new char[options_.build_bytes]);
    entries_ = reinterpret_cast<Entry*>(buffer_.get() + options_.build_bytes);
  }
  const uint32_t sizes[2] = {static_cast<uint32_t>(key.size()),
                             static_cast<uint32_t>(value.size())};
  char* at = buffer_.get() + front_;
  std::memcpy(at, sizes, sizeof(sizes));
  std::memcpy(at + kRecordHeader, key.data(), key.size());
  std::memcpy(at + kRecordHeader + key.size(), value.data(), value.size());
  *--entries_ = Entry{PrefixOf(key), front_};
  ++num_entries_;
  front_ += size;
  ++num_records_;
  return OkStatus();
}

void ExternalSorter::SortEntries() {
  std::sort(entries_, entries_ + num_entries_, [this](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = RecordAt(a.at).key.compare(RecordAt(b.at).key);
    return order != 0 ? order < 0 : a.at < b.at;
  });
}

Status ExternalSorter::Spill() {
  if (num_entries_ == 0) return OkStatus();
  SortEntries();
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, TempFile::Create(options_.temp_dir));
  }
  RunWriter writer(file_.get(), std::min(kWriteBuffer, options_.build_bytes));
  for (size_t i = 0; i < num_entries_; ++i) {
    const Record record = RecordAt(entries_[i].at);
    RETURN_IF_ERROR(writer.Add(record.key, record.value));
  }
  ASSIGN_OR_RETURN(Run run, writer.Finish());
  spilled_bytes_ += run.end - run.begin;
  runs_.push_back(run);
  ++num_runs_;
  front_ = 0;
  entries_ += num_entries_;
  num_entries_ = 0;
  return OkStatus();
}

void ExternalSorter::ReleaseBuffer() {
  buffer_.reset();
  entries_ = nullptr;
  num_entries_ = 0;
}

Status ExternalSorter::Finish() {
  merging_ = true;
  if (runs_.empty()) {
    if (num_entries_ > 0) SortEntries();
    return OkStatus();
  }
  RETURN_IF_ERROR(Spill());
  ReleaseBuffer();
  const size_t fan_in = std::clamp<size_t>(options_.merge_bytes / kMinReadBuffer, 2, kMaxFanIn);
  RETURN_IF_ERROR(MergeToFanIn(fan_in));
  return StartMerge(runs_);
}

// Merges neighbouring runs, which keeps the sort stable, until at most `fan_in` are left.
Status ExternalSorter::MergeToFanIn(size_t fan_in) {
  while (runs_.size() > fan_in) {
    ASSIGN_OR_RETURN(std::unique_ptr<TempFile> merged, TempFile::Create(options_.temp_dir));
    std::vector<Run> old = std::move(runs_);
    std::vector<Run> fewer;
    for (size_t begin = 0; begin < old.size(); begin += fan_in) {
      const size_t end = std::min(begin + fan_in, old.size());
      RETURN_IF_ERROR(StartMerge(std::vector<Run>(old.begin() + static_cast<ptrdiff_t>(begin),
                                                  old.begin() + static_cast<ptrdiff_t>(end))));
      RunWriter writer(merged.get(), kWriteBuffer);
      while (true) {
        ASSIGN_OR_RETURN(bool more, NextMerged());
        if (!more) break;
        RETURN_IF_ERROR(writer.Add(key_, value_));
      }
      ASSIGN_OR_RETURN(Run run, writer.Finish());
      fewer.push_back(run);
    }
    runs_ = std::move(fewer);
    readers_.clear();
    file_ = std::move(merged);
  }
  return OkStatus();
}

Status ExternalSorter::StartMerge(const std::vector<Run>& runs) {
  readers_.clear();
  heap_.clear();
  advance_top_ = false;
  const size_t buffer = std::clamp(options_.merge_bytes / std::max<size_t>(runs.size(), 1),
                                   size_t{1} << 10, kMaxReadBuffer);
  for (const Run& run : runs) {
    auto reader = std::make_unique<RunReader>(file_.get(), run, buffer);
    ASSIGN_OR_RETURN(bool more, reader->Next());
    if (more) heap_.push_back(readers_.size());
    readers_.push_back(std::move(reader));
  }
  for (size_t slot = heap_.size() / 2; slot-- > 0;) SiftDown(slot);
  return OkStatus();
}

bool ExternalSorter::Less(size_t a, size_t b) const {
  const int order = readers_[a]->key().compare(readers_[b]->key());
  return order != 0 ? order < 0 : a < b;
}

void ExternalSorter::SiftDown(size_t slot) {
  while (true) {
    size_t least = slot;
    for (size_t child = 2 * slot + 1; child <= 2 * slot + 2 && child < heap_.size(); ++child) {
      if (Less(heap_[child], heap_[least])) least = child;
    }
    if (least == slot) return;
    std::swap(heap_[slot], heap_[least]);
    slot = least;
  }
}

StatusOr<bool> ExternalSorter::NextMerged() {
  if (advance_top_) {
    ASSIGN_OR_RETURN(bool more, readers_[heap_[0]]->Next());
    if (!more) {
      heap_[0] = heap_.back();
      heap_.pop_back();
    }
    if (!heap_.empty()) SiftDown(0);
    advance_top_ = false;
  }
  if (heap_.empty()) return false;
  key_ = readers_[heap_[0]]->key();
  value_ = readers_[heap_[0]]->value();
  advance_top_ = true;
  return true;
}

StatusOr<bool> ExternalSorter::Next() {
  DCHECK(merging_);
  if (!readers_.empty()) return NextMerged();
  if (next_entry_ >= num_entries_) return false;
  const Record record = RecordAt(entries_[next_entry_++].at);
  key_ = record.key;
  value_ = record.value;
  return true;
}

Status ExternalSorter::Rewind() {
  next_entry_ = 0;
  return runs_.empty() ? OkStatus() : StartMerge(runs_);
}

}  // namespace koios::import
