// ColumnGather: one property of many elements, read from the columns of the tables that they are
// in, as one typed column where all of these are of one kind. Belongs to one call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/column.h"
#include "core/status.h"
#include "storage/graph_view.h"
#include "storage/snapshot/snapshot_column.h"

namespace koios::storage {

class ColumnGather {
 public:
  // What one column has of the elements.
  struct Part {
    const SnapshotColumn* column = nullptr;
    std::span<const uint32_t> inputs;   // numbers of the elements,
    std::span<const uint64_t> entries;  // and where they are in the column
  };

  // The elements that have a value, ascending, and the values. REQUIRES: no element is in two
  // parts; inputs < num_elements.
  Status Run(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
             std::vector<uint32_t>* rows, Column* values);

 private:
  template <typename T>
  Status OfFixed(std::span<const Part> parts, std::vector<T>* values);
  Status OfBools(std::span<const Part> parts, std::vector<uint8_t>* values);
  Status OfTexts(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
                 Column* values);
  Status OfAny(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
               Column* values);
  Status Mark(const Part& part);
  void ListRows(size_t num_elements);
  // Lists the rows, and gives what they have.
  template <typename T>
  std::vector<T> Present(std::vector<T> by_element);

  bool all_present_ = false;      // as no column lacks any, and each element is in one
  std::vector<uint8_t> present_;  // else, by element
  std::vector<uint32_t> rows_;    // those that are
};

}  // namespace koios::storage
