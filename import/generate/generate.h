// `koios generate`: deterministic graphs as CSV with Neptune headers, written as they are made, in
// memory that does not depend on their size. The same options give the same bytes.
// To add a kind: a function in a file of its own (copy money.cc) and a row in kKinds (generate.cc).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace koios::import {

struct GenerateOptions {
  std::string kind;
  uint64_t scale = 0;        // what it counts depends on the kind
  uint64_t edge_factor = 0;  // 0: the kind's own
  uint64_t seed = 1;
  std::string out;                              // a folder, made when missing
  uint64_t memory_bytes = uint64_t{256} << 20;  // for sorting
};

struct GeneratedGraph {
  // As arguments of `koios import`: "[label=]path".
  std::vector<std::string> nodes, edges;
  uint64_t num_vertices = 0;
  uint64_t num_edges = 0;
};

struct GraphKind {
  const char* name;
  uint64_t default_edge_factor;
  uint64_t min_scale, max_scale;
  const char* help;  // what scale means and what is in the graph
  StatusOr<GeneratedGraph> (*generate)(const GenerateOptions& options);
};
const std::vector<GraphKind>& GraphKinds();

// INVALID_ARGUMENT for an unknown kind or a scale out of its range. Also writes OUT/README.txt with
// the command that imports the graph.
StatusOr<GeneratedGraph> Generate(GenerateOptions options);

// "koios import --data DIR --nodes … --edges …".
std::string ImportCommand(const GeneratedGraph& graph, const std::string& data);

// One per kind.
StatusOr<GeneratedGraph> GenerateMoney(const GenerateOptions& options);
StatusOr<GeneratedGraph> GenerateSocial(const GenerateOptions& options);
StatusOr<GeneratedGraph> GenerateRmat(const GenerateOptions& options);

}  // namespace koios::import
