#include "import/generate/generate.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "import/io_error.h"

namespace koios::import {
namespace {

// Arguments as a shell reads them.
std::string ShellQuoted(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "'";
}

// The same with names of files alone: what is written does not depend on where.
GeneratedGraph WithoutFolder(GeneratedGraph graph, const std::string& folder) {
  for (auto* arguments : {&graph.nodes, &graph.edges}) {
    for (std::string& argument : *arguments) {
      const size_t at = argument.find(folder + "/");
      if (at != std::string::npos) argument.erase(at, folder.size() + 1);
    }
  }
  return graph;
}

}  // namespace

const std::vector<GraphKind>& GraphKinds() {
  static const std::vector<GraphKind>* const kKinds = new std::vector<GraphKind>{
      {"money", 8, 16, uint64_t{1} << 32,
       "SCALE accounts that use devices and send transfers (--edge-factor: how many on average,\n"
       "power-law both ways). Vertices account(owner, country, opened) and device(model), edges\n"
       "uses(since) and transfer(amount, time). One fraud ring is planted per 1000 accounts: 4 to\n"
       "8 accounts that share one device and pass money round in a circle within two days, each\n"
       "keeping 1 to 3 %. planted-rings.csv tells which; it is not imported.",
       &GenerateMoney},
      {"social", 16, 16, uint64_t{1} << 32,
       "SCALE persons in communities of 64 who know each other (--edge-factor: how many on\n"
       "average), write posts and like them. Vertices person(name, city, born) and post(text,\n"
       "time), edges knows(since), wrote, likes(time). knows is stored once per pair.",
       &GenerateSocial},
      {"rmat", 16, 1, 32,
       "2^SCALE vertices and at most --edge-factor times as many edges by recursive choice of\n"
       "quadrants (R-MAT, probabilities 0.57 0.19 0.19 0.05, as Graph500); duplicates are\n"
       "dropped. Vertices node with the ids 0 to 2^SCALE - 1, edges link.",
       &GenerateRmat},
  };
  return *kKinds;
}

StatusOr<GeneratedGraph> Generate(GenerateOptions options) {
  const auto& kinds = GraphKinds();
  auto kind = std::find_if(kinds.begin(), kinds.end(),
                           [&](const GraphKind& k) { return options.kind == k.name; });
  if (kind == kinds.end()) {
    return InvalidArgument("There is no kind '" + options.kind +
                           "'; there are money, social and rmat.");
  }
  if (options.scale < kind->min_scale || options.scale > kind->max_scale) {
    return InvalidArgument("--scale of " + options.kind + " is between " +
                           std::to_string(kind->min_scale) + " and " +
                           std::to_string(kind->max_scale) + ".");
  }
  constexpr uint64_t kMaxEdgeFactor = 100'000;
  if (options.edge_factor > kMaxEdgeFactor) {
    return InvalidArgument("--edge-factor is at most " + std::to_string(kMaxEdgeFactor) + ".");
  }
  if (options.edge_factor == 0) options.edge_factor = kind->default_edge_factor;
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) return IoError("make the folder", options.out, error.value());
  ASSIGN_OR_RETURN(GeneratedGraph graph, kind->generate(options));
  const std::string readme = options.out + "/README.txt";
  std::ofstream file(readme, std::ios::trunc);
  file << "koios generate " << options.kind << " --scale " << options.scale << " --edge-factor "
       << options.edge_factor << " --seed " << options.seed << ": " << graph.num_vertices
       << " vertices, " << graph.num_edges << " edges.\nImport it, in this folder, with\n  "
       << ImportCommand(WithoutFolder(graph, options.out), "DATA") << "\n";
  file.close();
  if (!file) return IoError("write", readme, EIO);
  return graph;
}

std::string ImportCommand(const GeneratedGraph& graph, const std::string& data) {
  std::string command = "koios import --data " + ShellQuoted(data) + " --nodes";
  for (const std::string& argument : graph.nodes) command += " " + ShellQuoted(argument);
  command += " --edges";
  for (const std::string& argument : graph.edges) command += " " + ShellQuoted(argument);
  return command;
}

}  // namespace koios::import
