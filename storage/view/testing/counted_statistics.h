// The statistics of a view, counted one element at a time: what the estimates are measured by, and
// those of graphs in memory. Included by tests only.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/statistics/graph_statistics.h"
#include "core/value_codec.h"
#include "storage/graph_view.h"

namespace koios::storage::testing {

class StatisticsCounter {
 public:
  explicit StatisticsCounter(const GraphView& view) : view_(view) {}

  GraphStatistics Count() {
    out_.version = view_.version();
    for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
      std::vector<VertexRef> vertices;
      for (ScanCursor cursor; !cursor.done;) {
        CHECK(view_.ScanVertices(p, {}, &cursor, 1000, &vertices).ok());
      }
      for (const VertexRef vertex : vertices) AddVertex(vertex);
    }
    for (const auto& [of, by_vertex] : degrees_) {
      DegreeStatistics& degrees = out_.degrees[of];
      for (const auto& [vertex, degree] : by_vertex) degrees.AddVertex(degree);
      const uint64_t all = out_.vertices[of.vertex_label];
      degrees.classes[0] = all - degrees.vertices;
      degrees.vertices = all;
    }
    Finish(vertex_values_, &out_.vertex_properties);
    Finish(edge_values_, &out_.edge_properties);
    return out_;
  }

 private:
  struct Values {
    PropertyStatistics sum;
    std::set<std::string> distinct;
    bool all_are_numbers = true;
  };
  using ValuesOf = std::map<std::pair<LabelId, KeyId>, Values>;

  static std::optional<double> NumberOf(const Value& value) {
    switch (value.kind()) {
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
        return static_cast<double>(value.AsInteger());
      case ValueKind::kFloat:
      case ValueKind::kDouble:
        return value.AsDouble();
      default:
        return std::nullopt;
    }
  }

  static void Add(LabelId label, const PropertyRows& rows, ValuesOf* to) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      Values& values = (*to)[{label, rows.keys[i]}];
      const Value value = rows.values.Get(i);
      const std::optional<double> number = NumberOf(value);
      PropertyStatistics& sum = values.sum;
      values.all_are_numbers = values.all_are_numbers && number.has_value();
      if (number) {
        sum.least = sum.elements == 0 ? *number : std::min(sum.least, *number);
        sum.largest = sum.elements == 0 ? *number : std::max(sum.largest, *number);
      }
      ++sum.elements;
      ++sum.values;
      values.distinct.insert(EncodeValue(value));
    }
  }

  static void Finish(const ValuesOf& values, GraphStatistics::Properties* out) {
    for (const auto& [name, one] : values) {
      PropertyStatistics& property = (*out)[name];
      property = one.sum;
      property.distinct = static_cast<double>(one.distinct.size());
      property.has_range = one.all_are_numbers;
    }
  }

  void AddVertex(VertexRef vertex) {
    std::vector<LabelId> labels;
    CHECK(view_.VertexLabels({&vertex, 1}, &labels).ok());
    ++out_.vertices[labels[0]];
    PropertyRows properties;
    CHECK(view_.VertexProperties({&vertex, 1}, {}, &properties).ok());
    Add(labels[0], properties, &vertex_values_);
    for (const Direction direction : {Direction::kOut, Direction::kIn}) {
      ExpandCursor cursor;
      Expansion ends;
      CHECK(view_.Expand({&vertex, 1}, direction, {}, true, &cursor, 1'000'000, &ends).ok());
      for (const EdgeRef& edge : ends.edges) {
        ++degrees_[{edge.label, direction, labels[0]}][vertex.bits];
        if (direction == Direction::kIn) continue;
        ++out_.edges[edge.label];
        PropertyRows of_edge;
        CHECK(view_.EdgeProperties({&edge, 1}, {}, &of_edge).ok());
        Add(edge.label, of_edge, &edge_values_);
      }
    }
  }

  const GraphView& view_;
  GraphStatistics out_;
  std::map<DegreesOf, std::map<uint64_t, uint64_t>> degrees_;
  ValuesOf vertex_values_, edge_values_;
};

inline GraphStatistics CountStatistics(const GraphView& view) {
  return StatisticsCounter(view).Count();
}

}  // namespace koios::storage::testing
