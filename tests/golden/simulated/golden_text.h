// Values as the golden files write them, with the type in the text: the twin of
// tests/driver/text.py.
#pragma once

#include <string>

#include "core/value.h"

namespace koios::golden {

struct TextOptions {
  bool sort_lists = false;  // for lists whose order nothing fixes
  bool sort_maps = true;
};

// REQUIRES: elements in place of references (engine/result/element_resolver.h).
std::string ToText(const Value& value, const TextOptions& options);

}  // namespace koios::golden
