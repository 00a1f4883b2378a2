// MergedRows: distinct rows and the sums of their bulks, the oldest first. Of rows that are a
// vertex and nothing else only that is kept, of others their encoded form. Where these are a good
// part of a graph's vertices each vertex has its sum at its number: a level of a search is then
// kept whole, however many there are, and a row is two reads.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "core/memory/parted_table.h"
#include "engine/batch/batch.h"
#include "engine/op/operator.h"

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
  void Prefetch(const Key& key, uint32_t group) const { bulks_.Prefetch(Place(key, group)); }

  // Whether the row is new. Adds to `moved` how many rows went elsewhere to make room for it, which
  // its caller answers for.
  bool Add(Key key, uint32_t group, int64_t bulk, size_t* moved) {
    Place place(std::move(key), group);
    auto* const found = bulks_.Find(place);
    if (found != nullptr && found->second <= INT64_MAX - bulk) {
      found->second += bulk;
      return false;
    }
    rows_.push_back({place.first, group, found == nullptr ? 0 : bulk});
    if (found != nullptr) return true;
    Uncharged charge;
    *moved += bulks_.MakeRoom(place, &charge).value();
    bulks_.Emplace(place, bulk);
    return true;
  }

  const Row& front() const { return rows_.front(); }
  // Removes it and gives its bulk.
  int64_t Pop() {
    int64_t bulk = rows_.front().bulk;
    if (bulk == 0) {
      bulk = bulks_.Take(Place(std::move(rows_.front().key), rows_.front().group));
    }
    rows_.pop_front();
    return bulk;
  }
  size_t size() const { return rows_.size(); }

 private:
  std::deque<Row> rows_;
  PartedTable<absl::flat_hash_map<Place, int64_t>> bulks_;
};

// The same of vertices of one group, by partition and number.
class DenseSums {
 public:
  // Bytes that so many vertices take at most, about.
  static int64_t BytesOf(uint64_t vertices) {
    return static_cast<int64_t>(vertices) * (static_cast<int64_t>(sizeof(int64_t)) + kListedBytes);
  }

  // Whether it is new. Nullopt: the sum does not fit a long, and nothing was added.
  std::optional<bool> Add(VertexRef vertex, int64_t bulk);
  VertexRef front() const { return order_.front(); }
  // Removes it and gives its bulk.
  int64_t Pop();
  size_t size() const { return order_.size(); }
  // Of all that it has allocated; 0 after Clear.
  int64_t bytes() const { return bytes_; }
  void Clear() { *this = {}; }

 private:
  static constexpr uint64_t kVertices = 256;                      // of a page
  static constexpr int64_t kListedBytes = sizeof(VertexRef) + 1;  // in blocks
  using Page = std::array<int64_t, kVertices>;

  int64_t* Find(VertexRef vertex) const {
    return &(*pages_[vertex.partition()][vertex.local() / kVertices])[vertex.local() % kVertices];
  }

  std::vector<std::vector<std::unique_ptr<Page>>> pages_;  // a sum of 0: it is not there
  std::deque<VertexRef> order_;                            // the oldest first
  int64_t bytes_ = 0;
};

class MergedRows {
 public:
  size_t size() const { return num_listed() + dense_.size(); }
  // Of these, those that are not kept by number.
  size_t num_listed() const { return vertices_.size() + others_.size(); }
  // From now on vertices of this group are kept by their numbers: so are `most` of those that are
  // there. REQUIRES: all rows are of it. Returns the bytes that this takes.
  int64_t MakeDense(uint32_t group, size_t most);
  bool is_dense() const { return dense_group_.has_value(); }
  // What MakeDense has to be called for again, before rows are added.
  bool is_becoming_dense() const { return num_to_move_ > 0; }
  // At least what rows [begin, end) take when they are added, unless they are kept by number.
  static int64_t MostBytes(const Batch& input, size_t begin, size_t end);
  // Adds rows [begin, end) to a group; `num_fresh` grows by those that are new. Returns the bytes
  // that they take.
  int64_t Add(const Batch& input, size_t begin, size_t end, uint32_t group, size_t* num_fresh);
  // Moves the oldest rows behind those of `output`, as far as they have the same slots and a batch
  // has room, and appends their groups. Returns the bytes that this frees.
  StatusOr<int64_t> Take(Batch* output, std::vector<uint32_t>* groups);
  // How many rows have gone elsewhere to make room for others.
  const size_t* moved() const { return &moved_; }

 private:
  int64_t AddVertices(const Batch& input, size_t begin, size_t end, uint32_t group,
                      size_t* num_fresh);

  BulkSums<uint64_t> vertices_;
  DenseSums dense_;
  std::optional<uint32_t> dense_group_;
  size_t num_to_move_ = 0;  // of vertices_, to dense_
  BulkSums<std::string> others_;
  size_t moved_ = 0;
};

// Whether so many rows are worth a word for each vertex of the graph, and there is room for that.
class DenseChoice {
 public:
  // `capacity`: no more are kept otherwise.
  DenseChoice(const OperatorHost& host, size_t capacity);
  bool IsWorth(size_t rows) const;

 private:
  const OperatorHost& host_;
  uint64_t vertices_ = 0;
  size_t enough_ = 0;
};

}  // namespace koios::engine
