// What stands before a statement, or between two lines of one.
#pragma once

#include <cstddef>
#include <string_view>

namespace koios::client {

// The blanks and comments that a text begins with.
struct Leading {
  size_t bytes = 0;
  bool open = false;  // the text ends in a block comment, or in a "/": what comes behind it decides
};
Leading LeadingComments(std::string_view text);

}  // namespace koios::client
