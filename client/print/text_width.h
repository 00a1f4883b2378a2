// How much room a text takes on a terminal, and texts without control characters.
#pragma once

#include <string>
#include <string_view>

namespace koios::client {

// Columns that UTF-8 `text` takes: wide characters count two, combining ones none.
size_t DisplayWidth(std::string_view text);

// Line breaks, tabs, escapes and other control characters as \n, \t, \u001b.
std::string EscapedControls(std::string_view text);

}  // namespace koios::client
