// Counts of the edges between pairs: a search in a sorted list of the snapshot for each, and what
// the delta has of just these two vertices.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "storage/view/snapshot_view.h"
#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

// Pairs whose lists are found at once.
constexpr size_t kPairsAtOnce = 1024;

// The next change of a pair to be looked at.
struct BetweenResume {
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
  uint64_t edge = 0;

  std::string Encode() const {
    std::string bytes(sizeof(*this), '\0');
    std::memcpy(bytes.data(), this, sizeof(*this));
    return bytes;
  }
  static StatusOr<BetweenResume> Decode(std::string_view bytes) {
    BetweenResume resume;
    if (bytes.empty()) return resume;
    if (bytes.size() != sizeof(resume)) {
      return Internal("A count between vertices was resumed by another view.");
    }
    std::memcpy(&resume, bytes.data(), sizeof(resume));
    return resume;
  }
};

// Adds up what changes say of the edges from a vertex to a neighbour.
class PairChanges {
 public:
  PairChanges(const WindowLists& lists, size_t* steps) : lists_(lists), steps_(steps) {}

  // From *at on; false: the steps are used up, and *at is where to go on.
  bool Count(const PartitionDelta& delta, uint64_t version, VertexRef vertex, VertexRef neighbour,
             BetweenResume* at, int64_t* count) {
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (!lists_.Wants(one) || one < at->direction) continue;
      if (one > at->direction) *at = {one, kNoName, 0};
      SortedChanges::Reader changes = delta.Ends(vertex.local(), one, version);
      for (LabelId label = NextLabel(&changes, at->label); label != kNone;
           label = NextLabel(&changes, label + 1)) {
        if (label != at->label) *at = {one, label, 0};
        for (changes.Seek({label, neighbour.bits, at->edge}); changes.Valid(); changes.Next()) {
          const ChangeKey& key = changes.change().key;
          if (key.label != label || key.first != neighbour.bits) break;
          if (*steps_ == 0) {
            at->edge = key.second;
            return false;
          }
          --*steps_;
          *count += changes.change().difference;
        }
        at->label = label + 1;
        at->edge = 0;
      }
    }
    return true;
  }

 private:
  static constexpr LabelId kNone = ~LabelId{0};

  // The first label that is asked for, from `from` on.
  LabelId NextLabel(SortedChanges::Reader* changes, LabelId from) const {
    if (lists_.all_labels()) {
      changes->Seek({from, 0, 0});
      return changes->Valid() ? changes->change().key.label : kNone;
    }
    const auto next = std::lower_bound(lists_.labels().begin(), lists_.labels().end(), from);
    return next == lists_.labels().end() ? kNone : *next;
  }

  const WindowLists& lists_;
  size_t* const steps_;
};

int64_t CountInBase(const WindowLists& lists, size_t row, VertexRef neighbour, int64_t enough) {
  int64_t count = 0;
  for (uint32_t i = 0; i < lists.NumLists(row) && count < enough; ++i) {
    const WindowLists::List list = lists.ListOf(row, i);
    const uint64_t first = list.adjacency->FirstNotBefore(list.slice, neighbour);
    count += static_cast<int64_t>(list.adjacency->CountFrom(list.slice, first, neighbour));
  }
  return count;
}

}  // namespace

Status SnapshotView::CountBetween(const VertexPairs& pairs, Direction direction,
                                  std::span<const LabelId> labels, int64_t enough,
                                  BetweenCursor* cursor, size_t limit,
                                  std::vector<int64_t>* out) const {
  WindowLists lists(*snapshots_, direction, labels);
  PairChanges changes(lists, &limit);
  ASSIGN_OR_RETURN(BetweenResume at, BetweenResume::Decode(cursor->resume_key));
  bool begun = !cursor->resume_key.empty();  // the first pair: its step was taken before
  cursor->resume_key.clear();
  while (cursor->row < pairs.vertices.size() && limit > 0) {
    const size_t begin = cursor->row;
    const size_t count = std::min({kPairsAtOnce, limit, pairs.vertices.size() - begin});
    const std::span<const VertexRef> some = pairs.vertices.subspan(begin, count);
    RETURN_IF_ERROR(lists.Find(some));
    for (size_t row = 0; row < count && limit > 0; ++row, at = {}) {
      const VertexRef neighbour = pairs.neighbours[begin + row];
      if (!std::exchange(begun, false)) --limit;
      int64_t found = 0;
      if (HasChangedEnds(some[row], direction, labels)) {
        if (!changes.Count(delta_->Of(some[row].partition()), at_.version, some[row], neighbour,
                           &at, &cursor->counted)) {
          cursor->resume_key = at.Encode();
          return DamageOf(some);
        }
        found = std::exchange(cursor->counted, 0) +
                CountInBase(lists, row, neighbour, std::numeric_limits<int64_t>::max());
      } else {
        found = CountInBase(lists, row, neighbour, enough);
      }
      out->push_back(std::min(found, enough));
      ++cursor->row;
    }
    RETURN_IF_ERROR(DamageOf(some));
  }
  cursor->done = cursor->row == pairs.vertices.size();
  return OkStatus();
}

}  // namespace koios::storage
