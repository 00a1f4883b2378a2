// DistinctKeys: the keys that dedup() has met. Vertices have a set of their own, as most keys are
// some. Grows with its operator's charge.
#pragma once

#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/value_compare.h"
#include "engine/account/charge_ahead.h"
#include "engine/batch/batch.h"
#include "engine/op/state/vertex_set.h"

namespace koios::engine {

// Where a row's key is.
class KeyReader {
 public:
  explicit KeyReader(std::vector<uint32_t> slots) : slots_(std::move(slots)) {}

  // All keys of the batch are these vertices; none: not so.
  std::span<const VertexRef> Vertices(const Batch& batch) const {
    if (slots_.size() != 1 || !batch.Has(slots_[0])) return {};
    const Column& column = batch.slots[slots_[0]];
    if (column.kind() != Column::Kind::kVertex || column.has_absent()) return {};
    return column.vertices();
  }

  // False: the row lacks one of them, as an unproductive by() does.
  StatusOr<bool> KeyAt(const Batch& batch, size_t row, Value* key) const {
    for (uint32_t slot : slots_) {
      if (!batch.Has(slot) || batch.slots[slot].IsAbsent(row)) return false;
    }
    if (slots_.size() == 1) {
      *key = batch.slots[slots_[0]].Get(row);
      return true;
    }
    ValueList parts;
    for (uint32_t slot : slots_) parts.push_back(batch.slots[slot].Get(row));
    ASSIGN_OR_RETURN(*key, Value::List(std::move(parts)));
    return true;
  }

 private:
  const std::vector<uint32_t> slots_;
};

class DistinctKeys {
 public:
  int64_t bytes() const { return bytes_; }
  int64_t* mutable_bytes() { return &bytes_; }
  // Of the root instance, before the first key.
  void ExpectMany() { vertices_.ExpectMany(); }

  // Whether the key was not there. `charge` is one for mutable_bytes().
  StatusOr<bool> Add(Value key, ChargeAhead* charge) {
    if (key.kind() == ValueKind::kVertex) return vertices_.Insert(key.AsVertex(), charge);
    const int64_t bytes = 2 * static_cast<int64_t>(sizeof(Value) + key.ByteSize());
    RETURN_IF_ERROR(charge->Take(bytes));
    const bool fresh = values_.insert(std::move(key)).second;
    if (!fresh) charge->Return(bytes);
    return fresh;
  }

  bool Contains(const Value& key) const {
    return key.kind() == ValueKind::kVertex ? vertices_.Contains(key.AsVertex())
                                            : values_.contains(key);
  }

  // Adds the keys of rows [begin, end) that `passed` (nullptr: nothing) has not; appends the rows
  // whose key is new to both.
  Status AddRows(const KeyReader& reader, const Batch& batch, size_t begin, size_t end,
                 const DistinctKeys* passed, ChargeAhead* charge, std::vector<uint32_t>* fresh) {
    if (const auto vertices = reader.Vertices(batch); !vertices.empty()) {
      return vertices_.InsertAll(vertices, begin, end,
                                 passed == nullptr ? nullptr : &passed->vertices_, charge, fresh);
    }
    for (size_t row = begin; row < end; ++row) {
      Value key;
      ASSIGN_OR_RETURN(const bool has_key, reader.KeyAt(batch, row, &key));
      if (!has_key || (passed != nullptr && passed->Contains(key))) continue;
      ASSIGN_OR_RETURN(const bool is_new, Add(std::move(key), charge));
      if (is_new) fresh->push_back(static_cast<uint32_t>(row));
    }
    return OkStatus();
  }

 private:
  VertexSet vertices_;
  absl::flat_hash_set<Value, ValueHash, ValueEquivalent> values_;
  int64_t bytes_ = 0;
};

}  // namespace koios::engine
