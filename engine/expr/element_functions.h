// Functions over elements: the rows that expr/element_functions.cc gives to the function table.
#pragma once

#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

const std::vector<ScalarKernel>& ElementFunctions();

// Edge ends that one call counts, about: no less than the cache keeps of one vertex.
inline constexpr size_t kCountedEnds = size_t{1} << 18;

// The elements among an operand's rows, by sort, each with the row it stands in.
struct ElementRows {
  std::vector<VertexRef> vertices;
  std::vector<uint32_t> vertex_rows;
  std::vector<EdgeRef> edges;
  std::vector<uint32_t> edge_rows;
  std::vector<uint32_t> other_rows;  // present, and neither vertex nor edge

  static ElementRows Of(const Operand& operand, size_t rows);
};

}  // namespace koios::engine
