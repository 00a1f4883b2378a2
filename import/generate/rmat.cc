// R-MAT (Chakrabarti, Zhan, Faloutsos: "R-MAT: A recursive model for graph mining", 2004) with the
// Graph500 probabilities. Duplicate edges are found by an external sort.
#include <string>

#include "import/generate/csv_file.h"
#include "import/generate/draw.h"
#include "import/generate/generate.h"
#include "import/sort/external_sorter.h"
#include "storage/codec/keys.h"

namespace koios::import {
namespace {

constexpr double kA = 0.57, kB = 0.19, kC = 0.19;
constexpr size_t kEndBytes = 8;

// A permutation of the numbers below 2^scale, so that neighbours in number are no neighbours in the
// recursion.
uint64_t Scramble(uint64_t v, uint64_t scale, uint64_t seed) {
  const uint64_t mask = (uint64_t{1} << scale) - 1;
  const uint64_t half = (scale + 1) / 2;
  v = (v ^ seed) & mask;
  v = (v * 0x9E3779B97F4A7C15ull) & mask;
  v ^= v >> half;
  v = (v * 0xBF58476D1CE4E5B9ull) & mask;
  v ^= v >> half;
  return v;
}

void DrawEdge(Rng* rng, uint64_t scale, uint64_t* from, uint64_t* to) {
  *from = *to = 0;
  for (uint64_t level = 0; level < scale; ++level) {
    const double u = rng->Double();
    const bool down = u >= kA + kB;
    const bool right = down ? u >= kA + kB + kC : u >= kA;
    *from = (*from << 1) | (down ? 1 : 0);
    *to = (*to << 1) | (right ? 1 : 0);
  }
}

}  // namespace

StatusOr<GeneratedGraph> GenerateRmat(const GenerateOptions& options) {
  GeneratedGraph graph;
  const uint64_t num_vertices = uint64_t{1} << options.scale;
  const std::string nodes_path = options.out + "/vertices.csv";
  const std::string edges_path = options.out + "/edges.csv";
  CsvFile nodes(nodes_path, "~id");
  for (uint64_t i = 0; i < num_vertices; ++i) nodes.Number(i).EndRow();
  RETURN_IF_ERROR(nodes.Close());

  SortOptions sorting;
  sorting.temp_dir = options.out;
  sorting.build_bytes = options.memory_bytes;
  sorting.merge_bytes = options.memory_bytes / 4;
  ExternalSorter sorter(sorting);
  std::string key;
  for (uint64_t i = 0; i < num_vertices * options.edge_factor; ++i) {
    Rng rng = DrawsOf(options.seed, 0, i);
    uint64_t from = 0, to = 0;
    DrawEdge(&rng, options.scale, &from, &to);
    key.clear();
    storage::PutBigEndian64(Scramble(from, options.scale, options.seed), &key);
    storage::PutBigEndian64(Scramble(to, options.scale, options.seed), &key);
    RETURN_IF_ERROR(sorter.Add(key, ""));
  }
  RETURN_IF_ERROR(sorter.Finish());
  CsvFile edges(edges_path, "~from,~to");
  std::string last;
  while (true) {
    ASSIGN_OR_RETURN(bool more, sorter.Next());
    if (!more) break;
    if (sorter.key() == last) continue;
    last = sorter.key();
    edges.Number(storage::GetBigEndian64(last.data()))
        .Number(storage::GetBigEndian64(last.data() + kEndBytes))
        .EndRow();
  }
  RETURN_IF_ERROR(edges.Close());
  graph.nodes = {"node=" + nodes_path};
  graph.edges = {"link=" + edges_path};
  graph.num_vertices = num_vertices;
  graph.num_edges = edges.num_rows();
  return graph;
}

}  // namespace koios::import
