// All that a view says of its graph, as text: two views with the same elements, references and ids
// included, have the same one, whatever numbers their names have.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/value_codec.h"
#include "storage/view/testing/same_views.h"

namespace koios::storage::testing {

// Bytes as they are in a line of text.
inline std::string Printable(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte > 32 && byte < 127 ? std::string(1, c) : "\\" + std::to_string(byte);
  }
  return out;
}

// Those of each row, sorted.
inline std::vector<std::string> PropertyTexts(const Schema& schema, const PropertyRows& found,
                                              size_t rows) {
  std::vector<std::vector<std::string>> words(rows);
  for (size_t i = 0; i < found.rows.size(); ++i) {
    words[found.rows[i]].push_back(" " + schema.keys.Name(found.keys[i]) + "=" +
                                   Printable(EncodeValue(found.values.Get(i))));
  }
  std::vector<std::string> texts(rows);
  for (size_t row = 0; row < rows; ++row) {
    std::sort(words[row].begin(), words[row].end());
    for (const std::string& word : words[row]) texts[row] += word;
  }
  return texts;
}

inline std::string TextOf(const GraphView& view) {
  const std::vector<VertexRef> vertices = AllVertices(view, {}, 1000);
  std::vector<LabelId> labels;
  Column vertex_ids, edge_ids;
  PropertyRows vertex_properties, edge_properties;
  Status read = view.VertexLabels(vertices, &labels);
  read.Update(view.VertexIds(vertices, &vertex_ids));
  read.Update(view.VertexProperties(vertices, {}, &vertex_properties));
  std::vector<EdgeRef> edges =
      WholeExpansion(view, vertices, Direction::kOut, {}, true, size_t{1} << 20).edges;
  std::sort(edges.begin(), edges.end(),
            [](const EdgeRef& a, const EdgeRef& b) { return a.id < b.id; });
  read.Update(view.EdgeIds(edges, &edge_ids));
  read.Update(view.EdgeProperties(edges, {}, &edge_properties));
  if (!read.ok()) return std::string(read.message());
  const auto of_vertices = PropertyTexts(view.schema(), vertex_properties, vertices.size());
  const auto of_edges = PropertyTexts(view.schema(), edge_properties, edges.size());
  std::string text;
  for (size_t i = 0; i < vertices.size(); ++i) {
    text += "v" + std::to_string(vertices[i].bits) + " " + view.schema().labels.Name(labels[i]) +
            " " + Printable(EncodeValue(vertex_ids.Get(i))) + of_vertices[i] + "\n";
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    text += "e" + std::to_string(edges[i].id) + " " + std::to_string(edges[i].out.bits) + " " +
            view.schema().labels.Name(edges[i].label) + " " + std::to_string(edges[i].in.bits) +
            " " + Printable(EncodeValue(edge_ids.Get(i))) + of_edges[i] + "\n";
  }
  return text;
}

}  // namespace koios::storage::testing
