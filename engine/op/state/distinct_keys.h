// DistinctKeys: the keys that dedup() has met. What equal keys become is told by the key alone: a
// vertex is in a set of its own, what one number tells (integers, reals, edges) is that number with
// its kind, text is text, several of these are packed into bytes, and only what is none of it is a
// Value. A key that was met before allocates nothing. Grows with its operator's charge.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "engine/account/call_work.h"
#include "core/memory/parted_table.h"
#include "engine/batch/batch.h"
#include "engine/effect/hashed_key.h"
#include "engine/op/state/key_code.h"
#include "engine/op/state/vertex_set.h"

namespace koios::engine {

// Where a row's key is: in one slot, or several.
class KeyReader {
 public:
  explicit KeyReader(std::vector<uint32_t> slots) : slots_(std::move(slots)) {}

  const std::vector<uint32_t>& slots() const { return slots_; }
  // All keys of the batch are these vertices; none: not so.
  std::span<const VertexRef> Vertices(const Batch& batch) const;
  // False: the row lacks one of them, as an unproductive by() does.
  bool HasKey(const Batch& batch, size_t row) const;
  // What is large in the key, to a call's work.
  void AddLarge(const Batch& batch, size_t row, CallWork* work) const;

 private:
  const std::vector<uint32_t> slots_;
};

class DistinctKeys {
 public:
  int64_t bytes() const { return bytes_; }
  int64_t* mutable_bytes() { return &bytes_; }
  // Of the root instance, before the first key.
  void ExpectMany() { vertices_.ExpectMany(); }

  // Whether the row has a key, and it was not there. `charge` is one for mutable_bytes().
  StatusOr<bool> AddRow(const KeyReader& reader, const Batch& batch, size_t row,
                        ChargeAhead* charge);
  // Adds the keys of rows [*row, end) that `passed` (nullptr: nothing) has not; appends the rows
  // whose key is new to both. *row: where it stands; a call has its share of work, of keys that are
  // no vertices, and stops early when tables that grew have made much of it.
  Status AddRows(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                 const DistinctKeys* passed, ChargeAhead* charge, std::vector<uint32_t>* fresh);
  // Whether the row's key is there. REQUIRES: it has one.
  StatusOr<bool> Contains(const KeyReader& reader, const Batch& batch, size_t row);
  // What stands for the row's key on disk. REQUIRES: it has one.
  StatusOr<KeyCode> CodeOf(const KeyReader& reader, const Batch& batch, size_t row, uint64_t seed);

  // As a Leftover's; nothing but this is called any more.
  bool FreeSome(int64_t* freed);

  class Walk;
  // Calls use(code) for some of the keys that come next, kWalkMost at most. False: there is none
  // left. REQUIRES: nothing changes in between.
  static constexpr size_t kWalkMost = VertexSet::kWalkMost;
  bool WalkSome(Walk* walk, uint64_t seed, const std::function<void(const KeyCode&)>& use) const;

 private:
  // Of a kind whose values are equal when their bits are.
  struct Word {
    uint64_t bits;
    ValueKind kind;
    bool operator==(const Word&) const = default;
    template <typename H>
    friend H AbslHashValue(H state, const Word& word) {
      return H::combine(std::move(state), word.bits, word.kind);
    }
  };
  enum class Form : uint8_t { kVertex, kWord, kText, kPacked, kOther };
  // A row's key as the set of its form has it: nothing yet of one that is a Value.
  struct Look {
    Form form = Form::kOther;
    uint32_t row = 0;
    Word word = {};
    HashedView text;  // of a batch, or of scratch_
  };
  struct Part;
  static constexpr size_t kAhead = 16;  // rows that are looked for together
  static constexpr size_t kScratchBytes = 4096;

  static Part PartOf(const Value& value);
  static Part PartAt(const Column& column, size_t row);
  static StatusOr<Value> ValueAt(const KeyReader& reader, const Batch& batch, size_t row);
  // Appends the row's parts to scratch_, one behind the other. False: one of them is a Value.
  bool Pack(const KeyReader& reader, const Batch& batch, size_t row);
  // What is packed is behind what scratch_ has, and may move when more is.
  Look LookAt(const KeyReader& reader, const Batch& batch, size_t row);
  Look OneLook(const KeyReader& reader, const Batch& batch, size_t row) {
    scratch_.clear();
    return LookAt(reader, batch, row);
  }
  // Of the rows from *row on that have a key, as many as are looked for together, with what it
  // takes to look for them on its way.
  std::span<const Look> LookAhead(const KeyReader& reader, const Batch& batch, size_t* row,
                                  size_t end, std::array<Look, kAhead>* looks);
  void Prefetch(const Look& look) const;

  // Whether it was not there.
  StatusOr<bool> Add(const Look& look, const KeyReader& reader, const Batch& batch,
                     const DistinctKeys* passed, ChargeAhead* charge);
  StatusOr<bool> AddVertex(VertexRef vertex, const DistinctKeys* passed, ChargeAhead* charge);
  // `key` in the set, which is the same one of this and of `passed`. `bytes`: beside its place.
  template <typename Set, typename Key>
  StatusOr<bool> AddTo(Set DistinctKeys::*set, const Key& key, size_t bytes,
                       const DistinctKeys* passed, ChargeAhead* charge);

  VertexSet vertices_;
  PartedTable<absl::flat_hash_set<Word>> words_;
  PartedTable<absl::flat_hash_set<HashedText, TextHash, SameText>> texts_;
  PartedTable<absl::flat_hash_set<HashedText, TextHash, SameText>> packed_;
  PartedTable<absl::flat_hash_set<HashedValue, HashedValue::Hash, HashedValue::Same>> values_;
  std::string scratch_;  // of the rows that are looked at
  size_t moved_ = 0;     // entries, as tables grew
  int64_t bytes_ = 0;
};

// Where somebody is who looks at all keys.
class DistinctKeys::Walk {
 private:
  friend class DistinctKeys;
  int set_ = -1;  // the last one that was begun
  VertexSet::Walk vertices_;
  decltype(DistinctKeys::words_)::Walk word_;
  decltype(DistinctKeys::texts_)::Walk text_;
  decltype(DistinctKeys::packed_)::Walk packed_;
  decltype(DistinctKeys::values_)::Walk value_;
};

}  // namespace koios::engine
