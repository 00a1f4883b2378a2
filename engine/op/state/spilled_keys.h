// SpilledKeys: a set of keys on disk, in sorted runs that do not change (a log-structured merge
// tree: O'Neil et al. 1996). In memory there is of each run where its blocks begin, and where there
// is room a filter (a Bloom filter in lines: Putze et al. 2007). Runs of like size are merged when
// they become too many, so that a key is written a number of times that grows with the logarithm of
// theirs. What is in memory is charged. Belongs to one operator.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/operator.h"
#include "engine/op/state/key_code.h"

namespace koios::engine {

class SpilledKeys {
 public:
  static constexpr size_t kMostRuns = 8;

  explicit SpilledKeys(OperatorHost* host) : host_(host) {}
  ~SpilledKeys();
  SpilledKeys(const SpilledKeys&) = delete;
  SpilledKeys& operator=(const SpilledKeys&) = delete;

  // A run of at most `most` keys comes, which takes about so many bytes.
  Status BeginRun(size_t most, uint64_t bytes);
  // Its next key: they come in ascending order.
  Status Append(const KeyCode& key);
  Status EndRun();
  // A slice of merging runs. True: there are few enough. REQUIRES: no run has been begun.
  StatusOr<bool> Merge();

  // All keys in ascending order, one after the other: nothing else is asked any more. False: there
  // is none left. REQUIRES for TakeNext: BeginTaking.
  Status BeginTaking();
  StatusOr<bool> TakeNext(KeyCode* key);

  // The key may be in a run that has no filter.
  bool MustRead(const KeyCode& key) const;
  // Blocks to be read before it is known whether the key is there. 0: it is not.
  size_t Looks(const KeyCode& key) const;
  // keys: in ascending order. Sets (*found)[i] for those that are there.
  Status Find(std::span<const KeyCode> keys, std::vector<bool>* found) const;

  size_t num_runs() const { return runs_.size(); }
  uint64_t num_keys() const;

 private:
  struct Block {
    KeyCode first;
    uint64_t at;
  };
  struct Run {
    explicit Run(OperatorHost* h) : host(h) {}
    ~Run();
    bool MayHave(const KeyCode& key) const;
    size_t BlockOf(const KeyCode& key) const;  // REQUIRES: blocks.front().first <= key
    Status MakeFilter(size_t keys);
    void DropFilter();
    void AddToFilter(const KeyCode& key);

    OperatorHost* const host;
    std::vector<Block> blocks;
    std::vector<uint64_t> filter;  // empty: all keys may be there
    KeyCode last;
    uint64_t keys = 0;
    uint64_t bytes = 0;           // of its blocks, not compressed
    uint64_t begin = 0, end = 0;  // in the file: nothing else is there
    int64_t charged = 0;          // for `blocks`
    int64_t filter_charged = 0;
  };
  // Keys of a block, one after the other.
  struct BlockReader {
    bool Next(KeyCode* key);
    std::string_view left;
    KeyCode previous;
  };
  // A run that is being merged.
  struct Source {
    std::string block;
    BlockReader reader;
    size_t next_block = 0;
    KeyCode key;
    int64_t charged = 0;
  };

  Status EndBlock();
  int64_t FilterRoom() const;
  // Of two sources the one whose key comes later.
  auto Later() const {
    return [this](uint32_t a, uint32_t b) { return sources_[b].key < sources_[a].key; };
  }
  // How many of the runs, the smallest first, are merged next; 0: none need to.
  size_t NumToMerge();
  Status BeginMerge(size_t count);
  Status OpenSources(size_t count);
  StatusOr<bool> Advance(size_t source);  // false: it is through
  void EndMerge();
  Status FindIn(const Run& run, std::span<const KeyCode> keys, std::vector<bool>* found) const;

  OperatorHost* const host_;
  std::vector<std::unique_ptr<Run>> runs_;  // a merge's are the first ones
  std::unique_ptr<Run> writing_;
  std::string block_;  // of `writing_`, what is not on disk
  KeyCode block_first_, block_last_;
  size_t block_bytes_ = 0;  // when it is full
  std::vector<Source> sources_;
  std::vector<uint32_t> heap_;  // of sources, the first key on top
};

}  // namespace koios::engine
