// Functions over elements: the rows that expr/element_functions.cc gives to the function table.
#pragma once

#include <span>
#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& ElementFunctions();

// The elements among an operand's rows, by sort, each with the row it stands in.
// A column of them is shared, not copied.
class ElementRows {
 public:
  ElementRows() = default;
  static ElementRows Of(const Operand& operand, size_t rows);
  ElementRows(ElementRows&&) = default;
  ElementRows& operator=(ElementRows&&) = default;

  std::span<const VertexRef> vertices;
  std::vector<uint32_t> vertex_rows;
  std::span<const EdgeRef> edges;
  std::vector<uint32_t> edge_rows;
  std::vector<uint32_t> other_rows;  // present, and neither vertex nor edge

 private:
  // What the spans look at.
  Column shared_;
  std::vector<VertexRef> own_vertices_;
  std::vector<EdgeRef> own_edges_;
};

}  // namespace koios::engine
