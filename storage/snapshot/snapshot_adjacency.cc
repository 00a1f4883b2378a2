#include "storage/snapshot/snapshot_adjacency.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace koios::storage {
namespace {

// Of ids, to be gathered by id: 100 KB of memory.
constexpr uint64_t kMostSoughtRuns = 4096;

}  // namespace

StatusOr<std::unique_ptr<SnapshotAdjacency>> SnapshotAdjacency::Make(
    const SectionName& name, const MappedSection& facts, const AdjacencySections& sections,
    const NarrowRefs& refs) {
  RETURN_IF_ERROR(facts.TouchAll());
  AdjacencyFacts copy;
  if (facts.rows() != sizeof(copy)) return facts.file().NoteDamage();
  std::memcpy(&copy, facts.bytes().data(), sizeof(copy));
  if (sections.neighbours == nullptr) return facts.file().NoteDamage();
  std::unique_ptr<SnapshotAdjacency> adjacency(new SnapshotAdjacency(name, copy, sections, refs));
  RETURN_IF_ERROR(adjacency->CheckSections());
  return adjacency;
}

Status SnapshotAdjacency::CheckSections() const {
  const auto& s = sections_;
  const uint64_t lists = s.presence != nullptr ? facts_.rows_with_any : facts_.rows;
  const auto has = [](const MappedSection* section, uint64_t rows) {
    return section == nullptr || section->rows() == rows;
  };
  const bool whole = s.neighbours->rows() == facts_.edges &&
                     has(s.presence, WordsOfBits(facts_.rows)) && has(s.offsets, lists + 1) &&
                     (s.offsets != nullptr || lists == facts_.edges) &&
                     (s.edge_ids == nullptr || s.edge_ids->width() == sizeof(EdgeIdRun) ||
                      s.edge_ids->rows() == facts_.edges);
  return whole ? OkStatus() : file().NoteDamage();
}

Status SnapshotAdjacency::ListOfPresent(uint64_t list, ListSlice* out) const {
  if (sections_.offsets == nullptr) {
    *out = {list, 1};
  } else {
    RETURN_IF_ERROR(sections_.offsets->Touch(list, 2));
    const uint64_t begin = NumberAt(*sections_.offsets, list);
    const uint64_t end = NumberAt(*sections_.offsets, list + 1);
    if (begin > end) return file().NoteDamage();
    *out = {begin, end - begin};
  }
  return out->begin + out->count <= facts_.edges ? OkStatus() : file().NoteDamage();
}

Status SnapshotAdjacency::ListOf(uint64_t row, ListSlice* out) const {
  DCHECK(row < facts_.rows);
  if (sections_.presence == nullptr) return ListOfPresent(row, out);
  RETURN_IF_ERROR(sections_.presence->Touch(row / 64, 1));
  const PresenceWord& word = sections_.presence->As<PresenceWord>()[row / 64];
  *out = {};
  if ((word.bits >> (row % 64) & 1) == 0) return OkStatus();
  const uint64_t below = word.bits & ((uint64_t{1} << (row % 64)) - 1);
  const uint64_t list = word.before + ListLengths::BitsIn(below);
  return list < facts_.rows_with_any ? ListOfPresent(list, out) : file().NoteDamage();
}

bool SnapshotAdjacency::AllChecked() const {
  return sections_.neighbours->checked() &&
         (sections_.offsets == nullptr || sections_.offsets->checked()) &&
         (sections_.presence == nullptr || sections_.presence->checked());
}

template <typename Number>
bool SnapshotAdjacency::FillLists(std::span<const uint64_t> rows, ListSlice* out) const {
  const Number* const begins =
      sections_.offsets == nullptr ? nullptr : sections_.offsets->As<Number>();
  uint64_t wrong = 0;
  const auto fill = [&](uint64_t list, ListSlice* slice) {
    const uint64_t begin = begins == nullptr ? list : begins[list];
    const uint64_t end = begins == nullptr ? list + 1 : begins[list + 1];
    wrong |= static_cast<uint64_t>(begin > end) | static_cast<uint64_t>(end > facts_.edges);
    *slice = {begin, end - begin};
  };
  if (sections_.presence == nullptr) {
    for (size_t i = 0; i < rows.size(); ++i) {
      DCHECK(rows[i] < facts_.rows);
      fill(rows[i], &out[i]);
    }
    return wrong == 0;
  }
  const PresenceWord* const words = sections_.presence->As<PresenceWord>();
  for (size_t i = 0; i < rows.size(); ++i) {
    DCHECK(rows[i] < facts_.rows);
    const PresenceWord& word = words[rows[i] / 64];
    const uint64_t bit = uint64_t{1} << (rows[i] % 64);
    out[i] = {};
    if ((word.bits & bit) == 0) continue;
    const uint64_t list = word.before + ListLengths::BitsIn(word.bits & (bit - 1));
    if (list >= facts_.rows_with_any) return false;
    fill(list, &out[i]);
  }
  return wrong == 0;
}

Status SnapshotAdjacency::Lists(std::span<const uint64_t> rows, ListSlice* out) const {
  if (AllChecked()) {
    const bool wide = sections_.offsets != nullptr && sections_.offsets->width() == 8;
    const bool right = wide ? FillLists<uint64_t>(rows, out) : FillLists<uint32_t>(rows, out);
    return right ? file().Damage() : file().NoteDamage();
  }
  if (sections_.presence != nullptr) {
    RETURN_IF_ERROR(sections_.presence->TouchEach(
        rows.size(), [&](size_t i) { return std::pair(rows[i] / 64, uint64_t{1}); }));
  }
  for (size_t i = 0; i < rows.size(); ++i) RETURN_IF_ERROR(ListOf(rows[i], &out[i]));
  RETURN_IF_ERROR(sections_.neighbours->TouchEach(
      rows.size(), [&](size_t i) { return std::pair(out[i].begin, out[i].count); }));
  return file().Damage();
}

std::optional<ListLengths> SnapshotAdjacency::Lengths() const {
  for (const MappedSection* const section : {sections_.offsets, sections_.presence}) {
    if (section != nullptr && !section->CheckedAtOnce()) return std::nullopt;
  }
  ListLengths lengths;
  lengths.lists_ = facts_.rows_with_any;
  if (sections_.presence != nullptr) lengths.presence_ = sections_.presence->As<PresenceWord>();
  if (sections_.offsets == nullptr) return lengths;
  if (sections_.offsets->width() == 8) {
    lengths.wide_ = sections_.offsets->As<uint64_t>();
  } else {
    lengths.narrow_ = sections_.offsets->As<uint32_t>();
  }
  return lengths;
}

// Halves are taken without a branch, so that searches one after the other overlap.
uint64_t SnapshotAdjacency::FirstNotBefore(const ListSlice& list, VertexRef vertex) const {
  const auto search = [&](const auto& bits_at) {
    uint64_t first = list.begin, count = list.count;
    while (count > 0) {
      const uint64_t half = count / 2;
      const bool before = bits_at(first + half) < vertex.bits;
      first = before ? first + half + 1 : first;
      count = before ? count - half - 1 : half;
    }
    return first;
  };
  if (is_wide()) {
    return search([from = wide()](uint64_t position) { return from[position]; });
  }
  return search([from = narrow(), names = refs_](uint64_t position) {
    return names.Widen(from[position]).bits;
  });
}

namespace {

constexpr size_t kSearchesAtOnce = 16;

// Searches that take their halves in turn. Numbers ascend in each list.
template <typename Number>
class SearchesAtOnce {
 public:
  // `out` is set by Run().
  void Add(const ListSlice& list, Number wanted, uint64_t* out) {
    first_[size_] = list.begin;
    count_[size_] = list.count;
    wanted_[size_] = wanted;
    out_[size_++] = out;
    most_ = std::max(most_, list.count);
  }
  bool full() const { return size_ == kSearchesAtOnce; }

  // REQUIRES: no list is empty.
  void Run(const Number* from) {
    // What is left of the longest list is never shorter than what is left of another.
    for (; most_ > 1; most_ -= most_ / 2) {
      for (size_t i = 0; i < size_; ++i) {
        const uint64_t half = count_[i] / 2;
        const uint64_t last = first_[i] + half - (half > 0 ? 1 : 0);
        first_[i] += from[last] < wanted_[i] ? half : 0;
        count_[i] -= half;
      }
    }
    for (size_t i = 0; i < size_; ++i) {
      *out_[i] = first_[i] + (from[first_[i]] < wanted_[i] ? 1 : 0);
    }
    size_ = 0;
    most_ = 0;
  }

 private:
  size_t size_ = 0;
  uint64_t most_ = 0;
  std::array<uint64_t, kSearchesAtOnce> first_, count_;
  std::array<Number, kSearchesAtOnce> wanted_;
  std::array<uint64_t*, kSearchesAtOnce> out_;
};

}  // namespace

void SnapshotAdjacency::FirstsNotBefore(std::span<const ListSlice> lists,
                                        std::span<const VertexRef> vertices, uint64_t* out) const {
  const auto search = [&]<typename Number>(const Number* from, const auto& narrowed) {
    SearchesAtOnce<Number> searches;
    for (size_t i = 0; i < lists.size(); ++i) {
      const std::optional<Number> wanted = narrowed(vertices[i]);
      if (lists[i].count == 0 || !wanted) {
        out[i] = FirstNotBefore(lists[i], vertices[i]);
        continue;
      }
      searches.Add(lists[i], *wanted, &out[i]);
      if (searches.full()) searches.Run(from);
    }
    searches.Run(from);
  };
  if (is_wide()) {
    search(wide(), [](VertexRef vertex) { return std::optional(vertex.bits); });
    return;
  }
  search(narrow(), [this](VertexRef vertex) -> std::optional<uint32_t> {
    const uint32_t number = refs_.Narrow(vertex);
    if (refs_.Widen(number) != vertex) return std::nullopt;
    return number;
  });
}

// Mostly one, or none: in steps that double, then halve.
uint64_t SnapshotAdjacency::CountFrom(const ListSlice& list, uint64_t first,
                                      VertexRef vertex) const {
  const uint64_t end = list.begin + list.count;
  uint64_t behind = first, step = 1;
  while (behind < end && NeighbourAt(behind) == vertex) {
    const uint64_t next = std::min(end, behind + step);
    if (NeighbourAt(next - 1) == vertex) {
      behind = next;
      step *= 2;
    } else {
      return FirstNotBefore({behind, next - behind}, {vertex.bits + 1}) - first;
    }
  }
  return behind - first;
}

namespace {

// The run of the position; null: it is in none.
const EdgeIdRun* RunOf(std::span<const EdgeIdRun> runs, uint64_t position) {
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), position,
      [](uint64_t wanted, const EdgeIdRun& run) { return wanted < run.first_position; });
  return after == runs.begin() ? nullptr : &*(after - 1);
}

}  // namespace

Status SnapshotAdjacency::EdgeIds(std::span<const uint64_t> positions, uint64_t* out) const {
  const MappedSection* const ids = sections_.edge_ids;
  if (ids == nullptr) return file().NoteDamage();
  if (ids->width() == sizeof(EdgeIdRun)) {
    RETURN_IF_ERROR(ids->TouchAll());
    const std::span<const EdgeIdRun> runs(ids->As<EdgeIdRun>(), ids->rows());
    const EdgeIdRun* run = nullptr;
    uint64_t behind = 0;  // of the run
    for (size_t i = 0; i < positions.size(); ++i) {
      if (run == nullptr || positions[i] < run->first_position || positions[i] >= behind) {
        run = RunOf(runs, positions[i]);
        if (run == nullptr) return file().NoteDamage();
        behind = run == &runs.back() ? kNoPosition : run[1].first_position;
      }
      out[i] = IdBase(positions[i]) + run->first_id + (positions[i] - run->first_position);
    }
    return file().Damage();
  }
  for (size_t i = 0; i < positions.size(); ++i) {
    RETURN_IF_ERROR(ids->Touch(positions[i], 1));
    out[i] = IdBase(positions[i]) + facts_.first_edge_id + NumberAt(*ids, positions[i]);
  }
  return file().Damage();
}

void SnapshotAdjacency::AddIdBases(uint64_t position, std::span<uint64_t> ids) const {
  if (name_.index == SectionIndex::kOut) return;
  for (size_t i = 0; i < ids.size(); ++i) ids[i] += IdBase(position + i);
}

Status SnapshotAdjacency::EdgeIdsFrom(uint64_t position, size_t count, uint64_t* out) const {
  const MappedSection* const ids = sections_.edge_ids;
  if (ids == nullptr) return file().NoteDamage();
  if (ids->width() != sizeof(EdgeIdRun)) {
    RETURN_IF_ERROR(ids->Touch(position, count));
    for (size_t i = 0; i < count; ++i) out[i] = facts_.first_edge_id + NumberAt(*ids, position + i);
    AddIdBases(position, {out, count});
    return file().Damage();
  }
  RETURN_IF_ERROR(ids->TouchAll());
  const std::span<const EdgeIdRun> runs(ids->As<EdgeIdRun>(), ids->rows());
  const EdgeIdRun* run = RunOf(runs, position);
  if (run == nullptr) return file().NoteDamage();
  const EdgeIdRun* const last = &runs.back();
  for (size_t i = 0; i < count; ++i, ++position) {
    while (run != last && run[1].first_position <= position) ++run;
    out[i] = run->first_id + (position - run->first_position);
  }
  AddIdBases(position - count, {out, count});
  return file().Damage();
}

// The runs stand there by position, which is not the order of ids once edges came after others.
void SnapshotAdjacency::SortIdRuns() const {
  const MappedSection& ids = *sections_.edge_ids;
  if (!ids.TouchAll().ok()) return;  // the file knows
  const std::span<const EdgeIdRun> runs(ids.As<EdgeIdRun>(), ids.rows());
  for (size_t i = 0; i < runs.size(); ++i) {
    const uint64_t end = i + 1 < runs.size() ? runs[i + 1].first_position : facts_.edges;
    runs_by_id_.push_back({runs[i], end - runs[i].first_position});
  }
  std::sort(runs_by_id_.begin(), runs_by_id_.end(),
            [](const SoughtRun& a, const SoughtRun& b) { return a.run.first_id < b.run.first_id; });
}

StatusOr<bool> SnapshotAdjacency::FindByIds(std::span<const uint64_t> ids, uint64_t* out) const {
  const MappedSection* const stored = sections_.edge_ids;
  if (stored == nullptr) return file().NoteDamage();
  if (stored->width() != sizeof(EdgeIdRun) || stored->rows() > kMostSoughtRuns) return false;
  std::call_once(runs_sorted_, [this] { SortIdRuns(); });
  RETURN_IF_ERROR(file().Damage());
  const SoughtRun* at = nullptr;
  for (size_t i = 0; i < ids.size(); ++i) {
    out[i] = kNoPosition;
    if (at == nullptr || ids[i] - at->run.first_id >= at->length) {
      const auto after = std::upper_bound(
          runs_by_id_.begin(), runs_by_id_.end(), ids[i],
          [](uint64_t wanted, const SoughtRun& one) { return wanted < one.run.first_id; });
      if (after == runs_by_id_.begin()) continue;
      at = &*(after - 1);
    }
    const uint64_t behind_first = ids[i] - at->run.first_id;
    if (behind_first < at->length) out[i] = at->run.first_position + behind_first;
  }
  return true;
}

uint64_t SnapshotAdjacency::NthOf(const ListSlice& list, uint64_t position) const {
  const VertexRef neighbour = NeighbourAt(position);
  if (position == list.begin || NeighbourAt(position - 1) != neighbour) return 0;
  return position - FirstNotBefore({list.begin, position - list.begin}, neighbour);
}

}  // namespace koios::storage
