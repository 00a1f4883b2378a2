// MergedRows: distinct rows and the sums of their bulks, the oldest first. Of rows that are a
// vertex and nothing else only that is kept, of others their encoded form.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "engine/batch/batch.h"

namespace koios::engine {

// Keys of different groups are different, and so are those whose bulks do not fit a long together.
template <typename Key>
class BulkSums {
  using Place = std::pair<Key, uint32_t>;

 public:
  struct Row {
    Key key;
    uint32_t group;
    int64_t bulk;  // 0: the sum is in bulks_
  };

  // Of a row that will be added soon: its place comes into the processor's cache meanwhile.
  void Prefetch(const Key& key, uint32_t group) const { bulks_.prefetch(Place(key, group)); }

  // Whether the row is new.
  bool Add(Key key, uint32_t group, int64_t bulk) {
    const auto [sum, fresh] = bulks_.try_emplace({key, group}, bulk);
    if (!fresh && sum->second <= INT64_MAX - bulk) {
      sum->second += bulk;
      return false;
    }
    rows_.push_back({std::move(key), group, fresh ? 0 : bulk});
    return true;
  }

  const Row& front() const { return rows_.front(); }
  // Removes it and gives its bulk.
  int64_t Pop() {
    int64_t bulk = rows_.front().bulk;
    if (bulk == 0) {
      const auto sum = bulks_.find(Place(rows_.front().key, rows_.front().group));
      bulk = sum->second;
      bulks_.erase(sum);
    }
    rows_.pop_front();
    return bulk;
  }
  size_t size() const { return rows_.size(); }

 private:
  std::deque<Row> rows_;
  absl::flat_hash_map<Place, int64_t> bulks_;
};

class MergedRows {
 public:
  size_t size() const { return vertices_.size() + others_.size(); }
  // Adds rows [begin, end) to a group; `num_fresh` grows by those that are new. Returns the bytes
  // that they take.
  int64_t Add(const Batch& input, size_t begin, size_t end, uint32_t group, size_t* num_fresh);
  // Moves the oldest rows behind those of `output`, as far as they have the same slots and a batch
  // has room, and appends their groups. Returns the bytes that this frees.
  StatusOr<int64_t> Take(Batch* output, std::vector<uint32_t>* groups);

 private:
  BulkSums<uint64_t> vertices_;
  BulkSums<std::string> others_;
};

}  // namespace koios::engine
