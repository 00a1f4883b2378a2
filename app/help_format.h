// How --help and wrong usage look, for all commands.
#pragma once

#include <CLI/CLI.hpp>

namespace koios::app {

// Call it when all commands are there.
void SetHelpFormat(CLI::App* app);

}  // namespace koios::app
