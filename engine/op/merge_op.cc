#include "engine/op/merge_op.h"

#include <deque>
#include <map>

#include "core/value_codec.h"
#include "engine/scope/weight.h"

namespace koios::engine {
namespace {

// Distinct rows and their bulks, the oldest first. Rows of different groups (instances) are
// different, and so are those whose bulks do not fit a long together.
template <typename Key>
class DistinctRows {
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

// Any row as bytes: a tag per slot, and its value.
enum Tag : char { kNoSlot = 0, kAbsent = 1, kPresent = 2 };

std::string EncodeRow(const Batch& batch, size_t row) {
  std::string bytes;
  for (size_t slot = 0; slot < batch.slots.size(); ++slot) {
    const Column& column = batch.slots[slot];
    if (!batch.Has(slot)) {
      bytes.push_back(kNoSlot);
    } else if (column.IsAbsent(row)) {
      bytes.push_back(kAbsent);
    } else {
      bytes.push_back(kPresent);
      EncodeValue(column.Get(row), &bytes);
    }
  }
  return bytes;
}

// Appends the row; false, and nothing is appended, when the batch's rows have other slots.
StatusOr<bool> DecodeRow(std::string_view bytes, Batch* out) {
  std::vector<std::pair<Tag, Value>> cells;
  while (!bytes.empty()) {
    const Tag tag = static_cast<Tag>(bytes[0]);
    bytes.remove_prefix(1);
    Value value;
    if (tag == kPresent) {
      ASSIGN_OR_RETURN(value, DecodeValue(&bytes));
    }
    cells.emplace_back(tag, std::move(value));
  }
  if (out->rows == 0) out->slots.resize(cells.size());
  if (out->slots.size() != cells.size()) return false;
  for (size_t slot = 0; slot < cells.size(); ++slot) {
    if (out->rows > 0 && (cells[slot].first == kNoSlot) != out->slots[slot].empty()) return false;
  }
  for (size_t slot = 0; slot < cells.size(); ++slot) {
    if (cells[slot].first == kAbsent) out->slots[slot].AppendAbsent();
    if (cells[slot].first == kPresent) out->slots[slot].Append(cells[slot].second);
  }
  return true;
}

bool HoldsOnlyVertices(const Batch& batch) {
  if (!batch.Has(0) || batch.slots[0].kind() != Column::Kind::kVertex ||
      batch.slots[0].has_absent()) {
    return false;
  }
  for (size_t slot = 1; slot < batch.slots.size(); ++slot) {
    if (!batch.slots[slot].empty()) return false;
  }
  return true;
}

// Keeps per iteration up to `capacity` distinct rows; what comes then pushes out the oldest. An
// instance's rows share the weight of the first run that came; the others' go home.
class MergeOp : public PartialOperator {
 public:
  MergeOp(size_t capacity, OperatorHost* host) : capacity_(capacity), host_(host) {}

  Status Absorb(const Batch& input, std::vector<Run>* returned) override {
    const bool only_vertices = HoldsOnlyVertices(input);
    size_t row = 0;
    int64_t bytes = 0;
    for (const Run& run : input.runs) {
      const size_t end = row + run.count;
      if (row == end) {
        returned->push_back(run);
        continue;
      }
      Iteration& iteration = iterations_[run.loops];
      const size_t num_groups = iteration.groups.size();
      const uint32_t group = GroupOf(run, &iteration, returned);
      if (iteration.groups.size() > num_groups) bytes += kGroupBytes;
      size_t* num_rows = &iteration.groups[group].rows;
      if (only_vertices) {
        const std::vector<VertexRef>& vertices = input.slots[0].vertices();
        for (; row < end; ++row) {
          const size_t soon = row + kPrefetched;
          if (soon < end) iteration.vertices.Prefetch(vertices[soon].bits, group);
          if (!iteration.vertices.Add(vertices[row].bits, group, input.BulkAt(row))) continue;
          ++*num_rows;
          bytes += kVertexBytes;
        }
        continue;
      }
      for (; row < end; ++row) {
        std::string key = EncodeRow(input, row);
        const int64_t key_bytes = BytesOf(key);
        if (!iteration.others.Add(std::move(key), group, input.BulkAt(row))) continue;
        ++*num_rows;
        bytes += key_bytes;
      }
    }
    return host_->ChargeState(bytes);
  }

  bool IsFull(const Loops& iteration) const override {
    const auto found = iterations_.find(iteration);
    return found != iterations_.end() && found->second.size() > capacity_;
  }

  const Loops* First(const std::function<bool(const Loops&)>& may) const override {
    const auto first = std::find_if(iterations_.begin(), iterations_.end(),
                                    [&](const auto& iteration) { return may(iteration.first); });
    return first == iterations_.end() ? nullptr : &first->first;
  }

  Status Flush(const Loops& loops, Batch* output, std::vector<Run>* returned) override {
    const auto found = iterations_.find(loops);
    if (found == iterations_.end()) return OkStatus();
    Iteration& iteration = found->second;
    int64_t bytes = 0;
    std::vector<uint32_t> groups;  // of the output rows
    if (iteration.vertices.size() > 0) {
      output->slots.resize(1);
      while (iteration.vertices.size() > 0 && output->rows < kBatchRows) {
        output->slots[0].AppendVertex({iteration.vertices.front().key});
        groups.push_back(iteration.vertices.front().group);
        output->bulk.push_back(iteration.vertices.Pop());
        bytes += kVertexBytes;
        ++output->rows;
      }
    } else {
      size_t out_bytes = 0;
      while (iteration.others.size() > 0 && output->rows < kBatchRows && out_bytes < kBatchBytes) {
        const Others::Row& row = iteration.others.front();
        ASSIGN_OR_RETURN(const bool fits, DecodeRow(row.key, output));
        if (!fits) break;
        groups.push_back(row.group);
        bytes += BytesOf(row.key);
        output->bulk.push_back(iteration.others.Pop());
        out_bytes += output->RowBytes(output->rows++);
      }
    }
    const size_t num_groups = iteration.groups.size();
    GiveWeights(groups, loops, &iteration, output, returned);
    bytes += kGroupBytes * static_cast<int64_t>(num_groups - iteration.groups.size());
    if (iteration.size() == 0) iterations_.erase(found);
    return host_->ChargeState(-bytes);
  }

  bool flushes_first() const override { return true; }

 private:
  using Vertices = DistinctRows<uint64_t>;
  using Others = DistinctRows<std::string>;
  struct Group {
    InstanceId instance;
    WeightPool pool;
    size_t rows = 0;
  };
  struct Iteration {
    Vertices vertices;  // rows that are a vertex and nothing else
    Others others;
    absl::flat_hash_map<uint32_t, Group> groups;
    absl::flat_hash_map<InstanceId, uint32_t, std::hash<InstanceId>> group_of;
    uint32_t next_group = 0;
    size_t size() const { return vertices.size() + others.size(); }
  };
  static constexpr size_t kPrefetched = 8;  // rows ahead
  // An entry of each container, at the load they are kept at.
  static constexpr int64_t kVertexBytes = 80;
  static constexpr int64_t kGroupBytes = 160;
  static int64_t BytesOf(const std::string& key) {
    return kVertexBytes + 3 * static_cast<int64_t>(sizeof(std::string) + key.size());
  }

  static uint32_t GroupOf(const Run& run, Iteration* iteration, std::vector<Run>* returned) {
    const auto [found, fresh] =
        iteration->group_of.try_emplace(run.instance, iteration->next_group);
    if (fresh) {
      iteration->groups[iteration->next_group++] = {run.instance, WeightPool(run.k), 0};
    } else {
      returned->push_back(run);
    }
    return found->second;
  }

  // Covers the rows with runs; a group whose last row leaves gives up all its weight.
  static void GiveWeights(const std::vector<uint32_t>& groups, const Loops& loops,
                          Iteration* iteration, Batch* output, std::vector<Run>* returned) {
    for (size_t begin = 0, end = 0; begin < groups.size(); begin = end) {
      while (end < groups.size() && groups[end] == groups[begin]) ++end;
      const auto found = iteration->groups.find(groups[begin]);
      Group& group = found->second;
      Run run{group.instance, loops, static_cast<uint32_t>(end - begin), 0};
      group.rows -= run.count;
      const bool last = group.rows == 0;
      run.k = last ? group.pool.k() : group.pool.Take();
      if (last) {
        for (uint32_t i = 1; i < group.pool.left(); ++i) returned->push_back(run);
        iteration->group_of.erase(group.instance);
        iteration->groups.erase(found);
      }
      output->runs.push_back(std::move(run));
    }
  }

  const size_t capacity_;
  OperatorHost* const host_;
  std::map<Loops, Iteration> iterations_;
};

}  // namespace

StatusOr<OperatorBundle> MakeMerge(const plan::Merge& op, OperatorHost* host) {
  if (op.capacity() == 0) return Internal("The plan merges into no room.");
  OperatorBundle bundle;
  bundle.partial = std::make_unique<MergeOp>(op.capacity(), host);
  return bundle;
}

}  // namespace koios::engine
