// How a CSV file is written, and the bounds on what one row may cost us.
#pragma once

#include <cstddef>
#include <optional>

namespace koios::import {

struct CsvOptions {
  char delimiter = ',';
  std::optional<char> quote = '"';  // nullopt: a quote is an ordinary character
  char array_delimiter = ';';
  size_t max_row_bytes = size_t{64} << 20;
  size_t max_field_bytes = size_t{16} << 20;
  size_t max_list_items = 100'000;
};

}  // namespace koios::import
