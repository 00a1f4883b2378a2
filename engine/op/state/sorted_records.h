// SortedRecords: plain records that are sorted on disk, however many: in runs of as many as memory
// has room for, merged pass by pass (balanced merge, Knuth 5.4.1), and then one after the other. A
// record is read once, and its room on disk is free then. What is in memory is charged. Belongs to
// one operator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/account/free_room.h"
#include "engine/batch/fifo.h"
#include "engine/op/operator.h"
#include "engine/op/state/spilled_runs.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

template <typename Record>
class SortedRecords {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  static constexpr size_t kMostInRun = 4096;

  explicit SortedRecords(OperatorHost* host)
      : host_(host),
        block_records_(SpilledRuns::BlockBytes(*host) / sizeof(Record)),
        run_records_(std::clamp<size_t>(ShareOf(*host, 64) / sizeof(Record), 64, kMostInRun)),
        fan_in_(std::clamp<size_t>(ShareOf(*host, 32) / SpilledRuns::BlockBytes(*host), 4,
                                   SpilledRuns::kFanIn)) {}
  ~SortedRecords() {
    (void)host_->ChargeState(-charged_);
    const StatusOr<SpillFile*> file = host_->spill_file();
    for (const Source& source : sources_) DropBlocks(file, source.blocks);
    for (const Run& run : runs_) DropBlocks(file, run);
    DropBlocks(file, writing_);
  }
  SortedRecords(const SortedRecords&) = delete;
  SortedRecords& operator=(const SortedRecords&) = delete;

  // May write a run, which is a call's share of work.
  Status Add(const Record& record) {
    if (open_.capacity() == 0) {
      RETURN_IF_ERROR(Charge(RunBytes()));
      open_.reserve(run_records_);
    }
    open_.push_back(record);
    return open_.size() < run_records_ ? OkStatus() : WriteRun();
  }
  // A slice of the work between the last Add and the first Next. True: it is done.
  StatusOr<bool> Prepare() {
    if (is_merging_) {
      RETURN_IF_ERROR(MergeSome());
      return false;
    }
    if (open_.capacity() > 0) {
      RETURN_IF_ERROR(WriteRun());
      FreeRoom(&open_);
      RETURN_IF_ERROR(Charge(-RunBytes()));
      return false;
    }
    is_merging_ = runs_.size() > fan_in_;
    RETURN_IF_ERROR(Open(std::min(runs_.size(), fan_in_)));
    return !is_merging_;
  }
  // False: there is none any more. REQUIRES: Prepare() is done.
  StatusOr<bool> Next(Record* record) {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    Source& source = sources_[heap_.back()];
    *record = source.record;
    ASSIGN_OR_RETURN(const bool more, Advance(&source));
    if (more) {
      std::push_heap(heap_.begin(), heap_.end(), Later());
    } else {
      heap_.pop_back();
    }
    return true;
  }

 private:
  static constexpr size_t kMergeSlice = 4096;  // records

  using Run = Fifo<uint64_t>;  // where its blocks are
  struct Source {
    Run blocks;  // that have not been read
    std::string block;
    size_t next = 0;  // record of it
    Record record;
  };

  static size_t ShareOf(const OperatorHost& host, int64_t share) {
    return static_cast<size_t>(host.account()->limit() / share);
  }
  static void DropBlocks(const StatusOr<SpillFile*>& file, const Run& run) {
    for (size_t i = 0; file.ok() && i < run.size(); ++i) (*file)->Drop(run[i]);
  }

  Status Charge(int64_t bytes) {
    RETURN_IF_ERROR(host_->ChargeState(bytes));
    charged_ += bytes;
    return OkStatus();
  }
  int64_t RunBytes() const { return static_cast<int64_t>(run_records_ * sizeof(Record)); }
  auto Later() const {
    return [this](uint32_t a, uint32_t b) { return sources_[b].record < sources_[a].record; };
  }

  // The open records, as the next block of the run that is written.
  Status WriteBlock(size_t begin, size_t end) {
    ASSIGN_OR_RETURN(SpillFile * file, host_->spill_file());
    const std::string_view bytes(reinterpret_cast<const char*>(&open_[begin]),
                                 (end - begin) * sizeof(Record));
    ASSIGN_OR_RETURN(const uint64_t at, file->Append(bytes));
    writing_.push_back(at);
    return Charge(sizeof(uint64_t));
  }
  void EndRun() {
    if (!writing_.empty()) runs_.push_back(std::exchange(writing_, {}));
  }
  Status WriteRun() {
    std::sort(open_.begin(), open_.end());
    for (size_t begin = 0; begin < open_.size(); begin += block_records_) {
      RETURN_IF_ERROR(WriteBlock(begin, std::min(open_.size(), begin + block_records_)));
    }
    open_.clear();
    EndRun();
    return OkStatus();
  }

  // Of the blocks of so many runs, and of one that is written.
  int64_t OpenBytes(size_t count) const {
    return static_cast<int64_t>((count + 1) * block_records_ * sizeof(Record));
  }
  // The first runs, to be merged.
  Status Open(size_t count) {
    RETURN_IF_ERROR(Charge(OpenBytes(count)));
    for (; count > 0; --count) {
      Source& source = sources_.emplace_back();
      source.blocks = std::move(runs_.front());
      runs_.pop_front();
      ASSIGN_OR_RETURN(const bool has_record, Advance(&source));
      if (has_record) heap_.push_back(static_cast<uint32_t>(sources_.size() - 1));
    }
    std::make_heap(heap_.begin(), heap_.end(), Later());
    return OkStatus();
  }
  StatusOr<bool> Advance(Source* source) {
    if (source->next * sizeof(Record) == source->block.size()) {
      source->next = 0;
      source->block.clear();
      if (source->blocks.empty()) return false;
      ASSIGN_OR_RETURN(SpillFile * file, host_->spill_file());
      const uint64_t at = source->blocks.front();
      source->blocks.pop_front();
      RETURN_IF_ERROR(Charge(-static_cast<int64_t>(sizeof(uint64_t))));
      ASSIGN_OR_RETURN(source->block, file->Take(at));
      if (source->block.empty() || source->block.size() % sizeof(Record) != 0) {
        return DataLoss("Records that were put on disk are not what was written.");
      }
    }
    std::memcpy(&source->record, &source->block[source->next++ * sizeof(Record)], sizeof(Record));
    return true;
  }
  // Of the runs that are open one is made, behind all others.
  Status MergeSome() {
    if (open_.capacity() == 0) open_.reserve(block_records_);
    Status status;
    for (size_t left = kMergeSlice; left > 0 && status.ok(); --left) {
      Record record;
      ASSIGN_OR_RETURN(const bool more, Next(&record));
      if (more) open_.push_back(record);
      if (more ? open_.size() == block_records_ : !open_.empty()) {
        status = WriteBlock(0, open_.size());
        open_.clear();
      }
      if (more) continue;
      EndRun();
      RETURN_IF_ERROR(Charge(-OpenBytes(sources_.size())));
      FreeRoom(&sources_);
      is_merging_ = false;
      FreeRoom(&open_);
      break;
    }
    return status;
  }

  OperatorHost* const host_;
  const size_t block_records_;
  const size_t run_records_;
  const size_t fan_in_;
  int64_t charged_ = 0;
  std::vector<Record> open_;  // of no run yet; of a merge's, of no block yet
  Run writing_;
  Fifo<Run> runs_;
  std::vector<Source> sources_;
  std::vector<uint32_t> heap_;  // of sources, the first record on top
  bool is_merging_ = false;     // what is open becomes a run
};

}  // namespace koios::engine
