// IdTable: the references of the vertices of a load by their ids, in memory: ends of edges become
// references as they are read. Integers, alone or in an id space, are kept and looked up as
// numbers. Filled by any thread, then read by any thread; never both.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "core/types.h"
#include "import/sort/large_array.h"

namespace koios::import {

// The id spaces of a load's tables. 0 is none.
class IdSpaces {
 public:
  // Names ascending, distinct, none empty.
  explicit IdSpaces(std::vector<std::string> names) : names_(std::move(names)) {}

  size_t size() const { return names_.size() + 1; }
  uint32_t Find(std::string_view name) const;  // 0 when there is none of the name

 private:
  const std::vector<std::string> names_;
};

// An id, told apart from all others.
struct IdName {
  uint32_t space = 0;
  bool is_number = false;
  int64_t number = 0;
  std::string_view text;  // the whole id, when it is no number

  static IdName Number(uint32_t space, int64_t number) { return {space, true, number, {}}; }
  // A string id is a number of a space when it is spelled so.
  static IdName Text(std::string_view id, const IdSpaces& spaces);
  // Of the bytes of an id (storage/codec/element_id.h).
  static IdName OfBytes(std::string_view id_bytes, const IdSpaces& spaces);
};

// How much room ids need: counted while vertices are read.
struct IdCounts {
  struct OfSpace {
    uint64_t numbers = 0;
    int64_t least = 0, largest = 0;
    void Add(const OfSpace& other);
  };
  std::vector<OfSpace> spaces;
  uint64_t texts = 0, text_bytes = 0;

  void Note(const IdName& id);
  void Add(const IdCounts& other);
};

class IdTable {
 public:
  static uint64_t BytesFor(const IdCounts& counts);
  explicit IdTable(const IdCounts& counts);

  // REQUIRES: the id was counted, and is not there.
  void Insert(const IdName& id, VertexRef vertex);
  std::optional<VertexRef> Find(const IdName& id) const;
  // Has what Find will read fetched.
  void Prefetch(const IdName& id) const;

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  struct Slot {
    int64_t number = 0;
    uint64_t vertex = kNone;
  };
  // Numbers of a space: by number where they lie close, else in open addressing.
  struct Numbers {
    bool dense = false;
    int64_t least = 0;
    LargeArray<uint64_t> vertices;
    LargeArray<Slot> slots;
  };
  static bool IsDense(const IdCounts::OfSpace& counts);
  static uint64_t SlotsFor(uint64_t numbers) { return numbers + numbers / 2 + 1; }
  static size_t Begin(int64_t number, size_t num_slots);

  std::vector<Numbers> numbers_;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const;
  };
  mutable Mutex mutex_;  // of texts_ while ids are inserted
  std::unordered_map<std::string, VertexRef, TextHash, std::equal_to<>> texts_;
};

}  // namespace koios::import
