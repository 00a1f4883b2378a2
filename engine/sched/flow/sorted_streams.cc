#include "engine/sched/flow/sorted_streams.h"

#include <algorithm>
#include <utility>

namespace koios::engine {

SortedStreams::SortedStreams(const plan::Order& order, const std::vector<uint32_t>& workers,
                             Run run)
    : keys_(SortKeysOf(order)),
      run_(std::move(run)),
      limit_(order.limit() > 0 ? order.limit() : -1) {
  for (const uint32_t worker : workers) {
    streams_.emplace_back();
    streams_.back().worker = worker;
  }
}

const SortedStreams::Stream* SortedStreams::Find(uint32_t worker) const {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const Stream& one) { return one.worker == worker; });
  return found == streams_.end() ? nullptr : &*found;
}

bool SortedStreams::Add(uint32_t worker, Input* input) {
  Stream* const stream = Find(worker);
  const auto is_ours = [this](const Run& run) {
    return run.instance == run_.instance && run.loops == run_.loops;
  };
  const Batch& batch = input->batch;
  if (stream == nullptr || batch.rows == 0 ||
      !std::all_of(batch.runs.begin(), batch.runs.end(), is_ours) ||
      (stream->total && stream->received + batch.rows > *stream->total)) {
    return false;
  }
  stream->received += batch.rows;
  stream->inputs.push_back(std::move(*input));
  return true;
}

bool SortedStreams::End(uint32_t worker, uint64_t rows) {
  Stream* const stream = Find(worker);
  if (stream == nullptr || stream->total || stream->received > rows) return false;
  stream->total = rows;
  ForgetEnded();
  return true;
}

size_t SortedStreams::Waiting(uint32_t worker) const {
  const Stream* const stream = Find(worker);
  return stream == nullptr ? 0 : stream->inputs.size();
}

bool SortedStreams::HasInput() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return !stream.inputs.empty(); });
}

bool SortedStreams::CanMerge() const {
  if (limit_ == 0) return HasInput();
  return !streams_.empty() &&
         std::none_of(streams_.begin(), streams_.end(),
                      [](const Stream& stream) { return stream.inputs.empty(); });
}

void SortedStreams::ForgetEnded() {
  std::erase_if(streams_,
                [](const Stream& stream) { return stream.inputs.empty() && stream.has_ended(); });
}

Status SortedStreams::LoadKeys(const storage::GraphView& view, Stream* stream,
                               const ChargeFunction& charge) {
  if (!stream->keys.empty()) return OkStatus();
  const Batch& batch = stream->inputs.front().batch;
  const auto plain = static_cast<int64_t>(batch.rows * keys_.size() * sizeof(Value));
  RETURN_IF_ERROR(charge(plain));
  stream->key_bytes = plain;
  std::vector<Value> keys;
  keys.reserve(batch.rows * keys_.size());
  for (size_t row = 0; row < batch.rows; ++row) {
    for (const plan::SortKey& key : keys_) keys.push_back(SortKeyAt(batch, row, key));
  }
  RETURN_IF_ERROR(ElementsToIds(view, &keys));
  int64_t apart = 0;
  for (const Value& key : keys) apart += static_cast<int64_t>(key.ByteSize() - sizeof(Value));
  RETURN_IF_ERROR(charge(apart));
  stream->key_bytes += apart;
  stream->keys = std::move(keys);
  return OkStatus();
}

// By their next rows. The stream that stands first comes first where these are equal.
bool SortedStreams::Precedes(const Stream& a, const Stream& b) const {
  for (size_t k = 0; k < keys_.size(); ++k) {
    const std::strong_ordering order = CompareSortKeys(keys_[k], a.keys[a.row * keys_.size() + k],
                                                       b.keys[b.row * keys_.size() + k]);
    if (order != std::strong_ordering::equal) return order == std::strong_ordering::less;
  }
  return &a < &b;
}

// The rows of the only stream that is left are in order as they are. False: it has given some.
StatusOr<bool> SortedStreams::PassWhole(Stream* only, Merged* merged,
                                        const ChargeFunction& charge) {
  Input& input = only->inputs.front();
  if (only->row > 0 || !input.left.empty()) return false;
  if (limit_ > 0) {
    int64_t stand_for = 0;
    for (size_t row = 0; row < input.batch.rows; ++row) stand_for += input.batch.BulkAt(row);
    if (stand_for > limit_) return false;
    limit_ -= stand_for;
  }
  merged->batch = std::exchange(input.batch, {});
  RETURN_IF_ERROR(Finish(only, merged, charge));
  return true;
}

// Of `best` all rows that come before the next one of `second`; null: there is no other.
Status SortedStreams::TakeStretch(Stream* best, const Stream* second, size_t most_rows,
                                  size_t* bytes, Merged* merged, const ChargeFunction& charge) {
  Input& input = best->inputs.front();
  const Batch& batch = input.batch;
  if (input.left.empty()) {  // one weight for all of its rows is enough
    for (size_t r = 1; r < batch.runs.size(); ++r) merged->returned.push_back({batch.runs[r].k});
    input.left.emplace_back(batch.runs.front().k);
  }
  std::vector<uint32_t> picked;
  Batch* const out = &merged->batch;
  const size_t room = most_rows - out->rows;
  int64_t cut = 0;  // traversers of the last row that are too many
  do {
    picked.push_back(static_cast<uint32_t>(best->row));
    *bytes += batch.RowBytes(best->row);
    if (limit_ >= 0) {
      limit_ -= batch.BulkAt(best->row);
      cut = std::max<int64_t>(-limit_, 0);
      limit_ = std::max<int64_t>(limit_, 0);
    }
    ++best->row;
  } while (limit_ != 0 && best->row < batch.rows && picked.size() < room && *bytes < kBatchBytes &&
           (second == nullptr || Precedes(*best, *second)));
  out->AppendRows(batch, picked);
  if (cut > 0) out->bulk.back() -= cut;
  return best->row == batch.rows ? Finish(best, merged, charge) : OkStatus();
}

// The stream's first input is used up.
Status SortedStreams::Finish(Stream* stream, Merged* merged, const ChargeFunction& charge) {
  merged->through.push_back(std::move(stream->inputs.front()));
  stream->inputs.pop_front();
  stream->row = 0;
  stream->keys = {};
  return charge(-std::exchange(stream->key_bytes, 0));
}

// The rows get the last weight that is left of an input, or a piece of that of the last one that
// gave rows; what else is left goes home.
void SortedStreams::Weigh(Stream* last, Merged* merged) {
  std::optional<uint32_t> k;
  for (const Input& input : merged->through) {
    const WeightPool& left = input.left.front();
    if (!k) {
      k = left.k();
      if (left.left() > 1) merged->returned.push_back({left.k(), left.left() - 1});
    } else {
      merged->returned.push_back({left.k(), left.left()});
    }
  }
  if (!k) k = last->inputs.front().left.front().Take();
  Run run = run_;
  run.count = static_cast<uint32_t>(merged->batch.rows);
  run.k = *k;
  merged->batch.runs.push_back(std::move(run));
}

StatusOr<SortedStreams::Merged> SortedStreams::Merge(const storage::GraphView& view,
                                                     size_t most_rows,
                                                     const ChargeFunction& charge) {
  if (limit_ == 0) return Drop(charge);
  Merged merged;
  if (streams_.size() == 1) {
    ASSIGN_OR_RETURN(const bool whole, PassWhole(&streams_.front(), &merged, charge));
    ForgetEnded();
    if (whole) return merged;
  }
  size_t bytes = 0;
  Stream* last = nullptr;
  while (limit_ != 0 && CanMerge() && merged.batch.rows < most_rows && bytes < kBatchBytes) {
    Stream *best = nullptr, *second = nullptr;
    for (Stream& stream : streams_) {
      RETURN_IF_ERROR(LoadKeys(view, &stream, charge));
      if (best == nullptr || Precedes(stream, *best)) {
        second = std::exchange(best, &stream);
      } else if (second == nullptr || Precedes(stream, *second)) {
        second = &stream;
      }
    }
    const Batch& next = best->inputs.front().batch;
    if (merged.batch.rows > 0 && !merged.batch.SameShape(next)) break;
    last = best;
    RETURN_IF_ERROR(TakeStretch(best, second, most_rows, &bytes, &merged, charge));
    if (best->inputs.empty() && best->has_ended()) {
      ForgetEnded();  // moves streams: `last` gave its input, whose weight is taken
    }
  }
  Weigh(last, &merged);
  return merged;
}

StatusOr<SortedStreams::Merged> SortedStreams::Drop(const ChargeFunction& charge) {
  Merged merged;
  for (Stream& stream : streams_) {
    while (!stream.inputs.empty()) {
      const Input& input = stream.inputs.front();
      for (const Run& run : input.batch.runs) {
        if (input.left.empty()) merged.returned.push_back({run.k});
      }
      for (const WeightPool& left : input.left) merged.returned.push_back({left.k(), left.left()});
      RETURN_IF_ERROR(Finish(&stream, &merged, charge));
    }
  }
  ForgetEnded();
  return merged;
}

}  // namespace koios::engine
