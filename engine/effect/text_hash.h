// TextHash: for tables of texts that are looked up without making a string.
#pragma once

#include <functional>
#include <string_view>

namespace koios::engine {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

}  // namespace koios::engine
