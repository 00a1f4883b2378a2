// SnapshotAdjacency: the lists of neighbours in a snapshot of the vertices of one label set, in one
// direction, by one edge label. Lists are read in place: `Lists` says where they are, and checks
// that they may be read. Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/status.h"
#include "storage/snapshot/mapped_file.h"

namespace koios::storage {

inline constexpr uint64_t kNoPosition = ~uint64_t{0};

// Neighbours [begin, begin + count) of the adjacency; begin is the position of the first edge.
struct ListSlice {
  uint64_t begin = 0;
  uint64_t count = 0;
  bool operator==(const ListSlice&) const = default;
};

// The sections of one; those that it lacks are null.
struct AdjacencySections {
  const MappedSection* presence = nullptr;
  const MappedSection* offsets = nullptr;
  const MappedSection* neighbours = nullptr;
  const MappedSection* edge_ids = nullptr;
};

// How long lists are, told one by one without a call. Who asks calls the file's Damage()
// afterwards.
class ListLengths {
 public:
  // *wrong: is set when what stands there makes no sense. REQUIRES: a row of the adjacency.
  uint64_t Of(uint64_t row, bool* wrong) const {
    uint64_t list = row;
    if (presence_ != nullptr) {
      const PresenceWord& word = presence_[row / 64];
      const uint64_t bit = uint64_t{1} << (row % 64);
      if ((word.bits & bit) == 0) return 0;
      list = word.before + BitsIn(word.bits & (bit - 1));
      if (list >= lists_) {
        *wrong = true;
        return 0;
      }
    }
    if (narrow_ != nullptr) return Length(narrow_[list], narrow_[list + 1], wrong);
    if (wide_ != nullptr) return Length(wide_[list], wide_[list + 1], wrong);
    return 1;
  }

  // Adds to out[i] the length of the list of row + i. REQUIRES: rows of the adjacency.
  void AddTo(uint64_t row, std::span<int64_t> out, bool* wrong) const {
    if (presence_ != nullptr || narrow_ == nullptr) {
      for (size_t i = 0; i < out.size(); ++i) out[i] += static_cast<int64_t>(Of(row + i, wrong));
      return;
    }
    const uint32_t* const begins = narrow_ + row;
    bool descends = false;
    for (size_t i = 0; i < out.size(); ++i) {
      descends |= begins[i] > begins[i + 1];
      out[i] += begins[i + 1] - begins[i];
    }
    *wrong |= descends;
  }

  // Without the processor's own instruction, which a portable build has not, std::popcount is a
  // call.
  static uint64_t BitsIn(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return (word * 0x0101010101010101) >> 56;
  }

 private:
  friend class SnapshotAdjacency;
  static uint64_t Length(uint64_t begin, uint64_t end, bool* wrong) {
    if (begin > end) *wrong = true;
    return end - begin;
  }

  const PresenceWord* presence_ = nullptr;  // null: each row has a list
  const uint32_t* narrow_ = nullptr;        // where lists begin; neither: each has one member
  const uint64_t* wide_ = nullptr;
  uint64_t lists_ = 0;
};

class SnapshotAdjacency {
 public:
  // DATA_LOSS unless the sections fit each other.
  static StatusOr<std::unique_ptr<SnapshotAdjacency>> Make(const SectionName& name,
                                                           const MappedSection& facts,
                                                           const AdjacencySections& sections,
                                                           const NarrowRefs& refs);

  const SectionName& name() const { return name_; }
  const AdjacencyFacts& facts() const { return facts_; }
  uint64_t num_positions() const { return facts_.edges; }

  // out[i]: the list of rows[i]. REQUIRES: rows < facts().rows; out has room for all.
  Status Lists(std::span<const uint64_t> rows, ListSlice* out) const;
  // Nothing while what they are told from has not been checked, and is large.
  std::optional<ListLengths> Lengths() const;

  // The neighbours as they stand there, by position: narrow references, or (wide) the bits of
  // VertexRefs. Read them where Lists said; afterwards the file's Damage() says whether they were
  // what was written.
  bool is_wide() const { return sections_.neighbours->width() == 8; }
  const uint32_t* narrow() const { return sections_.neighbours->As<uint32_t>(); }
  const uint64_t* wide() const { return sections_.neighbours->As<uint64_t>(); }
  const NarrowRefs& refs() const { return refs_; }
  VertexRef NeighbourAt(uint64_t position) const {
    return is_wide() ? VertexRef{wide()[position]} : refs_.Widen(narrow()[position]);
  }

  // Of a list that Lists gave: the first position whose neighbour is not before the vertex, or the
  // list's end; and how many from there on have it as their neighbour.
  uint64_t FirstNotBefore(const ListSlice& list, VertexRef vertex) const;
  uint64_t CountFrom(const ListSlice& list, uint64_t first, VertexRef vertex) const;
  // out[i]: FirstNotBefore of lists[i] and vertices[i]; searches go side by side, as each one
  // mostly waits for memory.
  void FirstsNotBefore(std::span<const ListSlice> lists, std::span<const VertexRef> vertices,
                       uint64_t* out) const;

  // Out-edges have their ids here, and in-edges of labels that have properties.
  bool has_edge_ids() const { return sections_.edge_ids != nullptr; }
  // REQUIRES: has_edge_ids(), positions < num_positions().
  Status EdgeIds(std::span<const uint64_t> positions, uint64_t* out) const;
  // Those of `count` edges from a position on.
  Status EdgeIdsFrom(uint64_t position, size_t count, uint64_t* out) const;
  // out[i]: the position of the out-edge ids[i], or kNoPosition. False: ids do not tell where their
  // edges are, as they are not numbered as the lists are.
  StatusOr<bool> FindByIds(std::span<const uint64_t> ids, uint64_t* out) const;
  // How many edges of the list that lead to the neighbour are before the one at the position.
  uint64_t NthOf(const ListSlice& list, uint64_t position) const;

 private:
  SnapshotAdjacency(const SectionName& name, const AdjacencyFacts& facts,
                    const AdjacencySections& sections, const NarrowRefs& refs)
      : name_(name), facts_(facts), sections_(sections), refs_(refs) {}
  Status CheckSections() const;
  bool AllChecked() const;
  // As Lists, once all is checked. False: what stands there makes no sense.
  template <typename Number>
  bool FillLists(std::span<const uint64_t> rows, ListSlice* out) const;
  Status ListOf(uint64_t row, ListSlice* out) const;
  Status ListOfPresent(uint64_t list, ListSlice* out) const;
  // What is added to the stored id of an edge.
  uint64_t IdBase(uint64_t position) const {
    if (name_.index == SectionIndex::kOut) return 0;
    return VertexRef::Make(NeighbourAt(position).partition(), 0).bits;
  }
  void AddIdBases(uint64_t position, std::span<uint64_t> ids) const;
  void SortIdRuns() const;
  const MappedFile& file() const { return sections_.neighbours->file(); }

  const SectionName name_;
  const AdjacencyFacts facts_;
  const AdjacencySections sections_;
  const NarrowRefs refs_;
  // The runs of ids by their first ones, gathered when they are first asked for.
  struct SoughtRun {
    EdgeIdRun run;
    uint64_t length = 0;
  };
  mutable std::once_flag runs_sorted_;
  mutable std::vector<SoughtRun> runs_by_id_;
};

// Entry `i` of an array that is 1, 2, 3, 4 or 8 bytes wide.
inline uint64_t NumberAt(const MappedSection& section, uint64_t i) {
  switch (section.width()) {
    case 1:
      return section.As<uint8_t>()[i];
    case 2:
      return section.As<uint16_t>()[i];
    case 3: {
      const uint8_t* const bytes = section.As<uint8_t>() + 3 * i;
      return bytes[0] | uint64_t{bytes[1]} << 8 | uint64_t{bytes[2]} << 16;
    }
    case 4:
      return section.As<uint32_t>()[i];
    default:
      return section.As<uint64_t>()[i];
  }
}
inline bool BitAt(const MappedSection& section, uint64_t i) {
  return (section.As<uint64_t>()[i / 64] >> (i % 64) & 1) != 0;
}

}  // namespace koios::storage
