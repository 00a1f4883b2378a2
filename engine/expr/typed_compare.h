// Comparisons of columns whose kinds are known, row by row in plain loops over their arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/expr/expression.h"

namespace koios::engine {

enum class Relation : uint8_t { kEq, kNeq, kLt, kLte, kGt, kGte };

// out[row]: whether the relation holds, 0 or 1; of absent rows anything. False: nothing was done,
// as there is no loop for operands of these kinds; values must be compared one by one.
bool CompareTyped(Relation relation, const Operand& a, const Operand& b, size_t rows,
                  std::vector<uint8_t>* out);

}  // namespace koios::engine
