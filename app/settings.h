// Where a flag's value comes from: the command line, else the environment (KOIOS_GRPC_PORT for
// --grpc-port), else the configuration file (YAML, `grpc-port: 8183`), else its default.
// A key in the file that is no flag of the command is an error.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/status.h"

namespace koios::app {

// Fills the options of `command` that the command line did not give. `config_path` is the value of
// its --config, empty: no file.
Status ApplySettings(CLI::App* command, const std::string& config_path);

}  // namespace koios::app
