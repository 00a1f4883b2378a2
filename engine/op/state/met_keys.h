// MetKeys: the keys that dedup() has met in one instance. In memory; once that is short those that
// are there go to disk (SpilledKeys), and what comes is looked up in both. Keys found on disk are
// remembered as well as there is room. Where rows may wait they do once keys would have to be read
// from disk for each: from then on none passes before all have come. Belongs to one operator.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/expr/slice_sort.h"
#include "engine/op/operator.h"
#include "engine/op/state/distinct_keys.h"
#include "engine/op/state/spilled_keys.h"
#include "engine/op/state/waiting_rows.h"

namespace koios::engine {

// Nothing is asked of them any more: their charge is given back as they are freed.
void LeaveKeys(DistinctKeys* keys, OperatorHost* host);

class MetKeys {
 public:
  // Blocks that one call may read from disk, about.
  static constexpr size_t kLooks = 16;

  explicit MetKeys(OperatorHost* host) : host_(host) {}
  ~MetKeys();
  MetKeys(const MetKeys&) = delete;
  MetKeys& operator=(const MetKeys&) = delete;

  // Of the root instance, before the first key.
  void ExpectMany() {
    expects_many_ = true;
    met_.ExpectMany();
  }
  // Whoever asks can give rows when all have come.
  void MayWait() { may_wait_ = true; }
  // Adds the keys of rows [*row, end) until so many blocks have been read: *looks is what is left
  // of them, *row where it stands; appends the rows whose key is new. It stops early where
  // that has been much work; at no looks, when some must go to disk before there is room for more.
  Status AddRows(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                 size_t* looks, std::vector<uint32_t>* fresh);
  bool is_waiting() const { return disk_ != nullptr && disk_->waiting != nullptr; }
  // A slice of giving the rows that wait and whose key is new, when all have come; may give
  // nothing. REQUIRES: is_waiting(); `output` is empty.
  Status Fire(Batch* output, bool* done);
  // Those that are in memory: to pass over some of what has passed already.
  const DistinctKeys& in_memory() const { return met_; }

  // With the paths that keys hold, which are charged by themselves, about.
  int64_t SpillableBytes() const;
  bool must_spill() const { return must_spill_; }
  // As a Spiller's.
  StatusOr<bool> Spill();

 private:
  struct Candidate {
    KeyCode code;
    uint32_t row;
    bool is_found;
  };
  // Keys on their way to disk.
  struct Piece {
    enum class Stage : uint8_t { kGather, kSort, kWrite, kMerge };
    Stage stage = Stage::kGather;
    DistinctKeys::Walk walk;
    bool is_last = false;
    std::vector<KeyCode> codes;
    SliceSort sort;
    size_t next = 0;  // to be written
    int64_t charged = 0;
  };
  struct OnDisk {
    explicit OnDisk(OperatorHost* host) : keys(host), seed(host->random().Next()) {}
    SpilledKeys keys;
    const uint64_t seed;
    DistinctKeys known;  // some that are there, or wait
    int64_t known_paths = 0;
    std::unique_ptr<Piece> piece;
    std::unique_ptr<WaitingRows> waiting;
    bool fires = false;
    std::vector<Candidate> candidates;  // of one call
  };

  Status AddInMemory(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                     size_t* looks, std::vector<uint32_t>* fresh);
  Status FindCandidates() const;
  Status AddCandidates(const KeyReader& reader, const Batch& batch, size_t* row, size_t* looks,
                       std::vector<uint32_t>* fresh);
  bool BeginsToWait(const KeyCode& code) const;
  Status AddWaiting(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                    size_t* looks);
  void Remember(const KeyReader& reader, const Batch& batch, size_t row);
  void Forget(DistinctKeys* keys, int64_t* paths) const;
  bool CanSpill() const;
  Status BeginPiece();
  StatusOr<bool> StepPiece();
  void Gather(Piece* piece) const;
  Status Write(Piece* piece);

  OperatorHost* const host_;
  DistinctKeys met_;
  int64_t met_paths_ = 0;  // bytes
  std::unique_ptr<OnDisk> disk_;
  bool expects_many_ = false;
  bool may_wait_ = false;
  bool must_spill_ = false;
};

}  // namespace koios::engine
