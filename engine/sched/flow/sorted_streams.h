// SortedStreams: rows of one instance and iteration that several workers have sorted, each its own,
// merged as they come (Knuth 5.4.1). A row goes on when the next one of every worker is known; of
// equal rows those of the worker with the lower number go first. What waits here is bounded by who
// gives it: frames by their window, the worker's own by Waiting(). Belongs to its worker's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "engine/op/state/sort_keys.h"
#include "engine/sched/lane.h"

namespace koios::engine {

class SortedStreams {
 public:
  SortedStreams() = default;
  // `workers`: who has rows, ascending. `run`: whose rows they are. A limit of the order counts
  // here.
  SortedStreams(const plan::Order& order, const std::vector<uint32_t>& workers, Run run);

  // All rows have come and gone; nothing is kept.
  bool empty() const { return streams_.empty(); }
  // Takes the worker's next rows, at least one. False: it has none, or other ones.
  [[nodiscard]] bool Add(uint32_t worker, Input* input);
  // So many rows the worker has given, or will have. False: that can't be.
  [[nodiscard]] bool End(uint32_t worker, uint64_t rows);
  size_t Waiting(uint32_t worker) const;
  bool HasInput() const;
  // There are rows, and of all that are to come it is known which is next.
  bool CanMerge() const;

  // Weight that nobody needs any more: `count` pieces of 2^-k.
  struct Weight {
    uint32_t k = 0;
    uint32_t count = 1;
  };
  struct Merged {
    Batch batch;  // with runs; may have no rows when the limit is reached
    std::vector<Input> through;
    std::vector<Weight> returned;
  };
  // The next rows, `most_rows` or a batch's bytes. REQUIRES: CanMerge(). Keys are charged as long
  // as they are kept.
  StatusOr<Merged> Merge(const storage::GraphView& view, size_t most_rows,
                         const ChargeFunction& charge);
  // Everything that is here goes, without being merged.
  StatusOr<Merged> Drop(const ChargeFunction& charge);

  template <typename Use>
  void ForEachInput(const Use& use) const {
    for (const Stream& stream : streams_) {
      for (const Input& input : stream.inputs) use(input);
    }
  }

 private:
  struct Stream {
    uint32_t worker = 0;
    Fifo<Input> inputs;
    uint64_t received = 0;
    std::optional<uint64_t> total;
    // Of the first input: the next row, and the keys of all rows once one of them was compared.
    size_t row = 0;
    std::vector<Value> keys;
    int64_t key_bytes = 0;

    bool has_ended() const { return total.has_value() && *total == received; }
  };

  const Stream* Find(uint32_t worker) const;
  Stream* Find(uint32_t worker) { return const_cast<Stream*>(std::as_const(*this).Find(worker)); }
  Status LoadKeys(const storage::GraphView& view, Stream* stream, const ChargeFunction& charge);
  bool Precedes(const Stream& a, const Stream& b) const;
  StatusOr<bool> PassWhole(Stream* only, Merged* merged, const ChargeFunction& charge);
  Status TakeStretch(Stream* best, const Stream* second, size_t most_rows, size_t* bytes,
                     Merged* merged, const ChargeFunction& charge);
  Status Finish(Stream* stream, Merged* merged, const ChargeFunction& charge);
  void Weigh(Stream* last, Merged* merged);
  void ForgetEnded();

  std::vector<plan::SortKey> keys_;
  Run run_;
  int64_t limit_ = 0;  // rows that may still go on; negative: all
  std::vector<Stream> streams_;
};

}  // namespace koios::engine
