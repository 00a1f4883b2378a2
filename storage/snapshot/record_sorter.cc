#include "storage/snapshot/record_sorter.h"

#include <algorithm>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

constexpr size_t kRunWindowBytes = size_t{32} << 10;
// Of the budget: what one sorter keeps before it writes a run.
constexpr size_t kShare = 8;
constexpr size_t kLeastBytes = 4096;

}  // namespace

RecordSorter::RecordSorter(SpillSpace* space)
    : space_(space), most_bytes_(std::max(space->budget_bytes() / kShare, kLeastBytes)) {}

RecordSorter::~RecordSorter() = default;

void RecordSorter::Add(std::string_view key, std::string_view value) {
  records_.push_back({arena_.size(), key.size(), value.size()});
  arena_.append(key);
  arena_.append(value);
  if (arena_.size() + records_.size() * sizeof(Record) > most_bytes_) WriteRun();
}

void RecordSorter::SortArena() {
  const std::string_view arena = arena_;
  std::sort(records_.begin(), records_.end(), [arena](const Record& a, const Record& b) {
    const int order =
        arena.substr(a.begin, a.key_bytes).compare(arena.substr(b.begin, b.key_bytes));
    if (order != 0) return order < 0;
    // Of two that begin at one place the first one is empty.
    return a.begin != b.begin ? a.begin < b.begin : a.value_bytes < b.value_bytes;
  });
}

void RecordSorter::WriteRun() {
  SortArena();
  auto run = std::make_unique<Run>(space_);
  std::string head;
  for (const Record& record : records_) {
    head.clear();
    PutVarint(record.key_bytes, &head);
    PutVarint(record.value_bytes, &head);
    run->buffer.Append(head);
    run->buffer.Append(
        std::string_view(arena_).substr(record.begin, record.key_bytes + record.value_bytes));
  }
  runs_.push_back(std::move(run));
  records_.clear();
  arena_.clear();
}

bool RecordSorter::Run::Read() {
  uint64_t key_bytes = 0, value_bytes = 0;
  std::string_view bytes;
  if (!reader->ReadVarint(&key_bytes) || !reader->ReadVarint(&value_bytes)) return false;
  if (!reader->ReadBytes(key_bytes, &bytes)) return false;
  key.assign(bytes);
  if (!reader->ReadBytes(value_bytes, &bytes)) return false;
  value.assign(bytes);
  return true;
}

bool RecordSorter::After(size_t a, size_t b) const {
  const int order = runs_[a]->key.compare(runs_[b]->key);
  return order != 0 ? order > 0 : a > b;
}

void RecordSorter::Sort() {
  if (runs_.empty()) {
    SortArena();
    TakeTop();
    return;
  }
  if (!records_.empty()) WriteRun();
  arena_ = std::string();
  records_ = {};
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i]->reader = std::make_unique<SpillReader>(runs_[i]->buffer, kRunWindowBytes);
    if (runs_[i]->Read()) heap_.push_back(i);
  }
  const auto after = [this](size_t a, size_t b) { return After(a, b); };
  std::make_heap(heap_.begin(), heap_.end(), after);
  TakeTop();
}

void RecordSorter::TakeTop() {
  if (runs_.empty()) {
    valid_ = next_record_ < records_.size();
    if (!valid_) return;
    const Record& record = records_[next_record_++];
    key_ = std::string_view(arena_).substr(record.begin, record.key_bytes);
    value_ = std::string_view(arena_).substr(record.begin + record.key_bytes, record.value_bytes);
    return;
  }
  valid_ = !heap_.empty();
  if (!valid_) return;
  key_ = runs_[heap_.front()]->key;
  value_ = runs_[heap_.front()]->value;
}

void RecordSorter::Next() {
  if (!runs_.empty()) {
    const auto after = [this](size_t a, size_t b) { return After(a, b); };
    std::pop_heap(heap_.begin(), heap_.end(), after);
    if (runs_[heap_.back()]->Read()) {
      std::push_heap(heap_.begin(), heap_.end(), after);
    } else {
      heap_.pop_back();
    }
  }
  TakeTop();
}

Status RecordSorter::status() const {
  RETURN_IF_ERROR(space_->status());
  for (const auto& run : runs_) {
    if (run->reader != nullptr) RETURN_IF_ERROR(run->reader->status());
  }
  return OkStatus();
}

}  // namespace koios::storage
