// The flags that console and query share: which graph, how results look, parameters, time.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "client/console/query_session.h"
#include "core/status.h"

namespace koios::app {

struct QueryFlags {
  std::string graph;
  std::string format = "gremlin";
  std::vector<std::string> parameters;
  std::string timeout;
  bool materialize = false;

  void AddTo(CLI::App* command);
  StatusOr<client::SessionSettings> ToSettings() const;
};

// Colours only on a terminal, and not when NO_COLOR is set.
bool UseColor(int fd);

// A usage error: printed, exit code 2.
int FailUsage(const Status& status);

}  // namespace koios::app
