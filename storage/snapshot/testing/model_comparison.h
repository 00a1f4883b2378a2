// A model's snapshots against the model, by every accessor. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/snapshot/testing/snapshot_model.h"

namespace koios::storage {

// What reading all of the snapshots by every accessor finds to differ from the model, in words
// (empty: nothing); or the first error.
class ModelComparison {
 public:
  ModelComparison(const SnapshotModel& model, Snapshots snapshots)
      : model_(model), snapshots_(std::move(snapshots)) {}

  Status Run() {
    RETURN_IF_ERROR(ComparePlaces());
    RETURN_IF_ERROR(CompareScans());
    RETURN_IF_ERROR(CompareIds());
    for (const auto& [ref, vertex] : model_.vertices) {
      RETURN_IF_ERROR(CompareVertex(ref, vertex));
      for (const Direction direction : {Direction::kOut, Direction::kIn}) {
        for (LabelId label = 11; label <= 14; ++label) {
          RETURN_IF_ERROR(CompareList(ref, direction, label));
        }
      }
    }
    return CompareFacts();
  }
  const std::string& difference() const { return difference_; }
  // Lists whose edges had ids.
  size_t ListsWithIds(SectionIndex index) { return lists_with_ids_[index]; }

 private:
  void Expect(bool same, const std::string& what) {
    if (!same && difference_.empty()) difference_ = what;
  }
  static std::string Name(VertexRef ref) {
    return std::to_string(ref.partition()) + "/" + std::to_string(ref.local());
  }
  const PartitionSnapshot& Of(VertexRef ref) const { return *snapshots_[ref.partition()]; }

  StatusOr<VertexPlace> Place(VertexRef ref) const {
    const uint64_t local = ref.local();
    VertexPlace place;
    RETURN_IF_ERROR(Of(ref).Locate({&local, 1}, &place));
    return place;
  }

  Status ComparePlaces() {
    for (uint32_t p = 0; p < model_.num_partitions; ++p) {
      std::set<std::pair<uint32_t, uint64_t>> rows;
      for (uint64_t local = 0; local < snapshots_[p]->header().end_local + 3; ++local) {
        const VertexRef ref = VertexRef::Make(p, local);
        ASSIGN_OR_RETURN(const VertexPlace place, Place(ref));
        const auto vertex = model_.vertices.find(ref);
        Expect((place.set == kNoSet) == (vertex == model_.vertices.end()), "place of " + Name(ref));
        if (place.set == kNoSet || vertex == model_.vertices.end()) continue;
        const LabelSet& set = snapshots_[p]->label_sets()[place.set];
        Expect(set.labels == vertex->second.labels, "labels of " + Name(ref));
        Expect(rows.insert({place.set, place.row}).second && place.row < set.rows,
               "row of " + Name(ref));
      }
    }
    return OkStatus();
  }

  Status CompareScans() {
    for (uint32_t p = 0; p < model_.num_partitions; ++p) {
      const PartitionSnapshot& snapshot = *snapshots_[p];
      std::map<std::vector<LabelId>, std::vector<uint64_t>> expected;
      std::vector<uint64_t> all;
      for (const auto& [ref, vertex] : model_.vertices) {
        if (ref.partition() != p) continue;
        expected[vertex.labels].push_back(ref.local());
        all.push_back(ref.local());
      }
      for (uint32_t set = 0; set <= snapshot.label_sets().size(); ++set) {
        const bool any = set == snapshot.label_sets().size();
        std::vector<uint64_t> found;
        for (uint64_t next = 0; next < snapshot.header().end_local;) {
          RETURN_IF_ERROR(snapshot.ScanVertices(any ? kNoSet : set, &next, 5, &found));
        }
        Expect(found == (any ? all : expected[snapshot.label_sets()[set].labels]), "scan");
      }
    }
    return OkStatus();
  }

  Status CompareIds() {
    for (const auto& [ref, vertex] : model_.vertices) {
      const std::string id = IdBytes(vertex.id), other = id + "x";
      const std::string_view ids[] = {id, other};
      uint64_t found[2];
      RETURN_IF_ERROR(Of(ref).FindIds(ids, found));
      Expect(found[0] == ref.local(), "id of " + Name(ref));
      Expect(found[1] == kNoLocal, "no id");
    }
    return OkStatus();
  }

  // As encoded; nullopt: none.
  static Status ReadOne(const SnapshotColumn* column, uint64_t row,
                        std::optional<std::string>* out) {
    *out = std::nullopt;
    if (column == nullptr) return OkStatus();
    std::vector<std::optional<Value>> values;
    RETURN_IF_ERROR(column->Values({&row, 1}, &values));
    if (values[0]) *out = EncodeValue(*values[0]);
    const bool text =
        column->form() == ColumnForm::kHeap || column->form() == ColumnForm::kDictionary;
    if (!text || column->by_item()) return OkStatus();
    std::string_view view;
    RETURN_IF_ERROR(column->Texts({&row, 1}, &view));
    const std::string expected = values[0] ? values[0]->AsString() : "";
    EXPECT_EQ(view, expected);
    return OkStatus();
  }

  Status CompareVertex(VertexRef ref, const ModelVertex& vertex) {
    ASSIGN_OR_RETURN(const VertexPlace place, Place(ref));
    std::optional<std::string> value;
    RETURN_IF_ERROR(ReadOne(Of(ref).FindVertexColumn(place.set, kNoName), place.row, &value));
    Expect(value == EncodeValue(vertex.id), "id of " + Name(ref));
    for (KeyId key = 1; key <= kModelKeys + 1; ++key) {
      RETURN_IF_ERROR(ReadOne(Of(ref).FindVertexColumn(place.set, key), place.row, &value));
      const auto expected = vertex.properties.find(key);
      Expect(expected == vertex.properties.end() ? !value : value == expected->second,
             "property " + std::to_string(key) + " of " + Name(ref));
    }
    return OkStatus();
  }

  Status CompareEdge(uint64_t number, const SnapshotAdjacency& out,
                     const PartitionSnapshot& snapshot, uint64_t position) {
    uint64_t id = 0;
    RETURN_IF_ERROR(out.EdgeIds({&position, 1}, &id));
    Expect(id == number, "id of an edge");
    const ModelEdge& edge = model_.edges.at(number);
    std::optional<std::string> value;
    for (KeyId key = 0; key <= kModelKeys; ++key) {
      const SnapshotColumn* const column = snapshot.FindEdgeColumn(out.name().set, edge.label, key);
      RETURN_IF_ERROR(ReadOne(column, position, &value));
      std::optional<std::string> expected;
      if (key == kNoName && !edge.id.is_null()) expected = EncodeValue(edge.id);
      const auto property = edge.properties.find(key);
      if (property != edge.properties.end()) expected = property->second;
      Expect(value == expected, "property " + std::to_string(key) + " of an edge");
    }
    return OkStatus();
  }

  Status CompareList(VertexRef ref, Direction direction, LabelId label) {
    std::vector<std::pair<VertexRef, uint64_t>> expected;  // neighbour, edge
    for (auto end = model_.ends.lower_bound({ref, direction, label, VertexRef{}, 0});
         end != model_.ends.end() && std::get<0>(*end) == ref && std::get<1>(*end) == direction &&
         std::get<2>(*end) == label;
         ++end) {
      expected.emplace_back(std::get<3>(*end), std::get<4>(*end));
    }
    ASSIGN_OR_RETURN(const VertexPlace place, Place(ref));
    const SnapshotAdjacency* const lists = Of(ref).FindAdjacency(place.set, direction, label);
    if (lists == nullptr) {
      Expect(expected.empty(), "list of " + Name(ref));
      return OkStatus();
    }
    ListSlice list;
    RETURN_IF_ERROR(lists->Lists({&place.row, 1}, &list));
    const std::optional<ListLengths> lengths = lists->Lengths();
    bool wrong = false;
    if (lengths) wrong = lengths->Of(place.row, &wrong) != list.count || wrong;
    Expect(list.count == expected.size() && !wrong, "degree of " + Name(ref));
    if (list.count != expected.size()) return OkStatus();
    RETURN_IF_ERROR(CompareSearches(ref, *lists, list, expected));
    for (uint64_t i = 0; i < list.count; ++i) {
      const uint64_t position = list.begin + i;
      Expect(lists->NeighbourAt(position) == expected[i].first, "neighbour of " + Name(ref));
      if (direction == Direction::kOut) {
        RETURN_IF_ERROR(CompareEdge(expected[i].second, *lists, Of(ref), position));
      }
    }
    return OkStatus();
  }

  // Searches in a list, and the ids of stretches of it.
  Status CompareSearches(VertexRef ref, const SnapshotAdjacency& lists, const ListSlice& list,
                         const std::vector<std::pair<VertexRef, uint64_t>>& expected) {
    for (const auto& [neighbour, id] : expected) {
      for (const VertexRef sought : {neighbour, VertexRef{neighbour.bits + 1}}) {
        const auto range =
            std::equal_range(expected.begin(), expected.end(), std::pair(sought, uint64_t{0}),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
        const uint64_t first = lists.FirstNotBefore(list, sought);
        Expect(first - list.begin == static_cast<uint64_t>(range.first - expected.begin()) &&
                   lists.CountFrom(list, first, sought) ==
                       static_cast<uint64_t>(range.second - range.first),
               "neighbours found of " + Name(ref));
      }
    }
    if (!lists.has_edge_ids()) return OkStatus();
    ++lists_with_ids_[lists.name().index];
    std::vector<uint64_t> ids(list.count), found(list.count);
    for (const uint64_t skipped : {uint64_t{0}, list.count / 2}) {
      RETURN_IF_ERROR(lists.EdgeIdsFrom(list.begin + skipped, list.count - skipped, ids.data()));
      for (uint64_t i = skipped; i < list.count; ++i) {
        Expect(ids[i - skipped] == expected[i].second, "ids of edges of " + Name(ref));
        const uint64_t position = list.begin + i;
        uint64_t id = 0;
        RETURN_IF_ERROR(lists.EdgeIds({&position, 1}, &id));
        Expect(id == expected[i].second, "id of an edge of " + Name(ref));
      }
    }
    if (lists.name().index != SectionIndex::kOut || list.count == 0) return OkStatus();
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = expected[i].second;
    ids[0] += uint64_t{1} << 41;  // nobody's
    ASSIGN_OR_RETURN(const bool told, lists.FindByIds(ids, found.data()));
    for (size_t i = 0; told && i < found.size(); ++i) {
      Expect(found[i] == (i == 0 ? kNoPosition : list.begin + i), "edges by id of " + Name(ref));
    }
    return OkStatus();
  }

  Status CompareFacts() {
    std::map<std::tuple<VertexRef, Direction, LabelId>, uint64_t> degrees;
    for (const auto& end : model_.ends) {
      ++degrees[{std::get<0>(end), std::get<1>(end), std::get<2>(end)}];
    }
    struct Expected {
      uint64_t edges = 0, rows = 0, largest = 0;
      double squares = 0;
      std::map<size_t, uint64_t> classes;
    };
    std::map<std::pair<uint32_t, SectionName>, Expected> expected;
    for (const auto& [key, degree] : degrees) {
      const auto& [ref, direction, label] = key;
      ASSIGN_OR_RETURN(const VertexPlace place, Place(ref));
      const SectionIndex index =
          direction == Direction::kOut ? SectionIndex::kOut : SectionIndex::kIn;
      Expected& one =
          expected[{ref.partition(), {SectionKind::kAdjacency, index, place.set, label, 0}}];
      one.edges += degree;
      ++one.rows;
      one.largest = std::max(one.largest, degree);
      one.squares += static_cast<double>(degree * degree);
      ++one.classes[std::bit_width(degree)];
    }
    size_t found = 0;
    for (uint32_t p = 0; p < model_.num_partitions; ++p) {
      for (const auto& [name, lists] : snapshots_[p]->adjacencies()) {
        ++found;
        const AdjacencyFacts& facts = lists->facts();
        const Expected& one = expected[{p, name}];
        Expect(facts.edges == one.edges && facts.rows_with_any == one.rows &&
                   facts.largest_degree == one.largest && facts.sum_of_squares == one.squares,
               "facts of degrees");
        for (const auto& [bits, rows] : one.classes) {
          Expect(facts.degree_classes[bits] == rows, "classes of degrees");
        }
      }
      CompareColumnFacts(p);
    }
    Expect(found == expected.size(), "adjacencies: " + std::to_string(found));
    return OkStatus();
  }

  void CompareColumnFacts(uint32_t partition) {
    const PartitionSnapshot& snapshot = *snapshots_[partition];
    for (const auto& [name, column] : snapshot.columns()) {
      if (name.index != SectionIndex::kVertex || name.key == kNoName) continue;
      std::set<std::string> distinct;
      uint64_t present = 0;
      for (const auto& [ref, vertex] : model_.vertices) {
        const auto value = vertex.properties.find(name.key);
        if (ref.partition() != partition || value == vertex.properties.end() ||
            vertex.labels != snapshot.label_sets()[name.set].labels) {
          continue;
        }
        ++present;
        distinct.insert(value->second);
      }
      const ColumnFacts& facts = column->facts();
      Expect(facts.rows_present == present, "present values");
      if (facts.exact_distinct != 0 && !column->holds_lists()) {
        Expect(facts.distinct == distinct.size(), "distinct values");
      }
    }
  }

  const SnapshotModel& model_;
  const Snapshots snapshots_;
  std::map<SectionIndex, size_t> lists_with_ids_;
  std::string difference_;
};

}  // namespace koios::storage
