#include "app/query_flags.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/duration.h"
#include "client/parameter.h"

namespace koios::app {

void QueryFlags::AddTo(CLI::App* command) {
  command->add_option("--graph", graph, "The graph that g stands for (default: g)");
  command->add_option("--format", format, "gremlin, table, json, jsonl or csv")
      ->capture_default_str();
  command
      ->add_option("--param", parameters,
                   "name=value: a parameter of the query; the value is a Gremlin literal or JSON")
      ->allow_extra_args(false);
  command->add_option("--timeout", timeout,
                      "Ends a query after this time, e.g. 30s or 500ms (default: the server's)");
  command->add_flag("--materialize", materialize,
                    "Elements come with their properties, in json and jsonl");
}

StatusOr<client::SessionSettings> QueryFlags::ToSettings() const {
  client::SessionSettings settings;
  settings.graph = graph;
  settings.materialize = materialize;
  ASSIGN_OR_RETURN(settings.format, client::ParseFormat(format));
  if (!timeout.empty()) {
    ASSIGN_OR_RETURN(settings.timeout_ms, client::ParseMilliseconds(timeout));
  }
  for (const std::string& text : parameters) {
    ASSIGN_OR_RETURN(auto parameter, client::ParseParameter(text));
    settings.parameters[parameter.first] = std::move(parameter.second);
  }
  return settings;
}

bool UseColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0');
}

int FailUsage(const Status& status) {
  std::cerr << "koios: " << MessageOf(status) << "\n";
  return client::kExitUsage;
}

}  // namespace koios::app
