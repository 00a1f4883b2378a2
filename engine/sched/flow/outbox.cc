#include "engine/sched/flow/outbox.h"

#include <algorithm>
#include <utility>

#include "engine/scope/weight.h"

namespace koios::engine {
namespace {

// Hands out runs of rows piece by piece. A run that several pieces have rows of shares its weight
// exactly among them.
class RunCutter {
 public:
  // Pieces have so many rows, but for the last.
  RunCutter(const std::vector<Run>& runs, size_t piece_rows)
      : runs_(runs), piece_rows_(piece_rows) {}

  std::vector<Run> Next(size_t rows) {
    std::vector<Run> piece;
    while (rows > 0) {
      const Run& run = runs_[run_];
      const size_t left = run.count - given_;
      if (given_ == 0) {
        const size_t behind = left > rows ? left - rows : 0;
        part_ = 0;
        split_ =
            SplitWeight(run.k, static_cast<uint32_t>(1 + (behind + piece_rows_ - 1) / piece_rows_));
      }
      const size_t count = std::min(left, rows);
      const uint32_t k = split_.low_k + (part_++ < split_.num_low ? 0 : 1);
      piece.push_back({run.instance, run.loops, static_cast<uint32_t>(count), k});
      rows -= count;
      given_ += count;
      if (given_ < run.count) continue;
      given_ = 0;
      ++run_;
    }
    return piece;
  }

 private:
  const std::vector<Run>& runs_;
  const size_t piece_rows_;
  size_t run_ = 0;
  size_t given_ = 0;  // rows of the run
  uint32_t part_ = 0;
  ExactSplit split_{0, 0};
};

}  // namespace

void Outbox::Add(uint32_t to, const Loops& iteration, const Batch& source,
                 const std::vector<uint32_t>& picked, const std::vector<Run>& runs) {
  Lane& lane = lanes_[to][iteration];
  size_t bytes = source.runs.size() * sizeof(Run);  // of all rows, as they are copied
  for (const Column& column : source.slots) bytes += column.FlatByteSize() + PathBytes(column);
  const size_t rows = std::max<size_t>(source.rows, 1);
  const size_t piece_rows = std::max<size_t>(frame_bytes_ * rows / std::max<size_t>(bytes, 1), 1);
  if (picked.size() <= piece_rows) {
    return AddPiece(&lane, source, picked, runs, bytes * picked.size() / rows);
  }
  RunCutter cutter(runs, piece_rows);
  for (size_t begin = 0; begin < picked.size(); begin += piece_rows) {
    const size_t count = std::min(piece_rows, picked.size() - begin);
    const auto first = picked.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<uint32_t> piece(first, first + static_cast<std::ptrdiff_t>(count));
    AddPiece(&lane, source, piece, cutter.Next(count), bytes * count / rows);
  }
}

void Outbox::AddPiece(Lane* lane, const Batch& source, const std::vector<uint32_t>& picked,
                      const std::vector<Run>& runs, size_t bytes) {
  const auto fits = [&](const JoinedBatch& last) {
    return last.batch.rows + picked.size() <= kBatchRows && last.bytes + bytes <= frame_bytes_ &&
           last.batch.SameShape(source);
  };
  if (lane->batches.empty() || !fits(lane->batches.back().joined)) {
    lane->batches.push_back({});
    ++num_batches_;
  }
  lane->batches.back().leaving_bytes = 0;
  JoinedBatch& last = lane->batches.back().joined;
  last.batch.AppendRows(source, picked);
  last.bytes += bytes;
  bytes_ += bytes;
  for (const Run& run : runs) last.batch.AppendRun(run);
}

bool Outbox::IsFull(const Lane& lane) const {
  if (lane.batches.size() != 1) return !lane.batches.empty();
  const JoinedBatch& only = lane.batches.front().joined;
  return only.batch.rows >= kBatchRows || only.bytes >= frame_bytes_;
}

std::vector<Loops> Outbox::Waiting(uint32_t to) const {
  std::vector<Loops> waiting;
  lanes_[to].ForEach([&waiting](const Loops& iteration, const Lane& lane) {
    if (!lane.batches.empty()) waiting.push_back(iteration);
  });
  std::reverse(waiting.begin(), waiting.end());
  return waiting;
}

bool Outbox::IsReady(uint32_t to, const Loops& iteration, bool flush) const {
  const Lane* lane = lanes_[to].Find(iteration);
  return lane != nullptr && !lane->batches.empty() && (flush || IsFull(*lane));
}

bool Outbox::IsOpen(uint32_t to, const Loops& iteration) const {
  const Lane* lane = lanes_[to].Find(iteration);
  return lane == nullptr || lane->in_flight.size() < kWindow;
}

size_t Outbox::NextBytes(uint32_t to, const Loops& iteration) {
  Gathered& next = lanes_[to].Find(iteration)->batches.front();
  if (next.leaving_bytes == 0) next.leaving_bytes = next.joined.batch.ByteSize();
  return next.leaving_bytes;
}

Batch Outbox::Take(uint32_t to, const Loops& iteration) {
  Lane* lane = lanes_[to].Find(iteration);
  JoinedBatch& first = lane->batches.front().joined;
  bytes_ -= first.bytes;
  Batch batch = std::move(first.batch);
  lane->batches.pop_front();
  --num_batches_;
  lanes_[to].Trim(iteration);
  return batch;
}

void Outbox::Sent(uint32_t to, const Loops& iteration, const FrameCredit& credit) {
  lanes_[to][iteration].in_flight.push_back(credit);
}

size_t Outbox::ByteSize() const {
  size_t bytes = bytes_;
  for (const ByIteration<Lane>& lanes : lanes_) bytes += lanes.ByteSize();
  return bytes;
}

bool Outbox::MayPass(uint32_t to, const Loops& iteration) const {
  const Lane* lane = lanes_[to].Find(iteration);
  return lane == nullptr || (lane->batches.empty() && lane->in_flight.size() < kWindow);
}

bool Outbox::Ask(uint32_t to, const Loops& iteration) {
  return !std::exchange(lanes_[to][iteration].has_asked, true);
}

bool Outbox::Answer(uint32_t to, const Loops& iteration) {
  Lane* lane = lanes_[to].Find(iteration);
  if (lane == nullptr || !lane->has_asked) return false;
  lane->has_asked = false;
  lanes_[to].Trim(iteration);
  return true;
}

bool Outbox::Acknowledge(uint32_t to, const Loops& iteration, FrameCredit* credit) {
  Lane* lane = lanes_[to].Find(iteration);
  if (lane == nullptr || lane->in_flight.empty()) return false;
  *credit = lane->in_flight.front();
  lane->in_flight.pop_front();
  lanes_[to].Trim(iteration);
  return true;
}

bool Outbox::Blocked(const Loops& iteration) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const ByIteration<Lane>& lanes) {
    const Lane* lane = lanes.Find(iteration);
    return lane != nullptr && IsFull(*lane);
  });
}

}  // namespace koios::engine
