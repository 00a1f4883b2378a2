// koios generate: makes deterministic graphs as CSV files.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/console/query_session.h"
#include "import/generate/generate.h"

namespace koios::app {
namespace {

int RunGenerate(CLI::App* command, const import::GenerateOptions& options) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  if (options.kind.empty() || command->count("--scale") == 0 || options.out.empty()) {
    return FailUsage(InvalidArgument("generate needs a KIND, --scale N and --out DIR."));
  }
  const auto graph = import::Generate(options);
  if (!graph.ok()) {
    return graph.status().code() == StatusCode::kInvalidArgument ? FailUsage(graph.status())
                                                                 : Fail(graph.status());
  }
  std::cout << graph->num_vertices << " vertices and " << graph->num_edges << " edges are in "
            << options.out << ". Import them with\n  " << import::ImportCommand(*graph, "DATA")
            << "\n";
  return client::kExitOk;
}

// Each line of a kind's help behind its name.
std::string KindsHelp() {
  constexpr size_t kNameWidth = 8;
  std::string text = "Kinds:\n";
  for (const import::GraphKind& kind : import::GraphKinds()) {
    std::string name = kind.name;
    name.resize(kNameWidth, ' ');
    text += "  " + name;
    for (const char* c = kind.help; *c != '\0'; ++c) {
      text += *c;
      if (*c == '\n') text += std::string(kNameWidth + 2, ' ');
    }
    text += "\n";
  }
  return text;
}

}  // namespace

RunCommand AddGenerateCommand(CLI::App* command) {
  auto options = std::make_shared<import::GenerateOptions>();
  command->add_option("kind", options->kind, "money, social or rmat");
  command->add_option("--scale", options->scale, "The size, see below");
  command->add_option("--out", options->out, "The folder for the files; made when missing");
  command->add_option("--seed", options->seed, "The same seed makes the same bytes (1)");
  command->add_option("--edge-factor", options->edge_factor, "Edges per vertex, see below");
  command->footer(KindsHelp() +
                  "Examples:\n"
                  "  koios generate money --scale 10000 --out sample\n"
                  "  koios generate rmat --scale 18 --edge-factor 16 --seed 7 --out rmat18");
  return [command, options] { return RunGenerate(command, *options); };
}

}  // namespace koios::app
