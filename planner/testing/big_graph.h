// Schema and statistics of a graph that is only thought of: people who know each other, their
// posts, and the tags of those. Included by tests only.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"

namespace koios::planner::testing {

inline const Schema& BigSchema() {
  static const Schema kSchema = [] {
    Schema schema;
    const auto label = [&](const std::string& name) { return schema.labels.Intern(name); };
    schema.vertex_counts = {
        {label("Person"), 10'000}, {label("Post"), 1'000'000}, {label("Tag"), 1000}};
    schema.edge_counts = {
        {label("knows"), 200'000}, {label("creator"), 1'000'000}, {label("tag"), 1'500'000}};
    const auto index = [&](const std::string& of, std::vector<std::string> names) {
      VertexIndex one{label(of), {}, /*ready=*/true, 0};
      for (const std::string& name : names) {
        one.keys.push_back(schema.keys.Intern(name));
        schema.property_kinds.Set(one.label, one.keys.back(), ValueKind::kNull);
      }
      schema.vertex_indexes[static_cast<IndexId>(schema.vertex_indexes.size() + 1)] = one;
    };
    index("Person", {"id"});
    index("Person", {"gender"});
    index("Person", {"name"});
    index("Post", {"date"});
    index("Tag", {"name"});
    for (const char* key : {"length", "content", "age"}) schema.keys.Intern(key);
    return schema;
  }();
  return kSchema;
}

inline const GraphStatistics& BigStatistics() {
  static const GraphStatistics kStatistics = [] {
    const Schema& schema = BigSchema();
    GraphStatistics out;
    out.version = 1;
    for (const auto& [of, count] : schema.vertex_counts) out.vertices[of] = count;
    for (const auto& [of, count] : schema.edge_counts) out.edges[of] = count;
    const auto label = [&](const std::string& name) { return schema.labels.Find(name); };
    const auto key = [&](const char* of, const char* name, uint64_t elements, double distinct,
                         double largest) {
      out.vertex_properties[{label(of), schema.keys.Find(name)}] = {elements,    elements, distinct,
                                                                    largest > 0, 0,        largest};
    };
    key("Person", "id", 10'000, 10'000, 9999);
    key("Person", "gender", 10'000, 2, 0);
    key("Person", "name", 10'000, 500, 0);
    key("Person", "age", 10'000, 80, 100);
    key("Post", "date", 1'000'000, 900'000, 1'000'000);
    key("Post", "length", 1'000'000, 2000, 2000);
    key("Post", "content", 700'000, 700'000, 0);
    key("Tag", "name", 1000, 1000, 0);
    // All at one end have as many.
    const auto ends = [&](const char* of, Direction direction, const char* edges) {
      const uint64_t vertices = schema.vertex_counts.Count(label(of));
      DegreeStatistics& degrees = out.degrees[{label(edges), direction, label(of)}];
      degrees.vertices = degrees.with_any = vertices;
      degrees.edges = schema.edge_counts.Count(label(edges));
      degrees.largest = degrees.edges / vertices + 1;
      degrees.classes[static_cast<size_t>(std::bit_width(degrees.edges / vertices))] = vertices;
      degrees.sum_of_squares = degrees.Mean() * static_cast<double>(degrees.edges);
    };
    ends("Person", Direction::kOut, "knows");
    ends("Person", Direction::kIn, "knows");
    ends("Post", Direction::kOut, "creator");
    ends("Person", Direction::kIn, "creator");
    ends("Post", Direction::kOut, "tag");
    ends("Tag", Direction::kIn, "tag");
    return out;
  }();
  return kStatistics;
}

}  // namespace koios::planner::testing
