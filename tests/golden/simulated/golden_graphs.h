// The graphs that golden files name, in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "storage/memory_graph.h"

namespace koios::golden {

// From CSV files with Neptune's headers; the vertices first.
StatusOr<std::shared_ptr<storage::MemoryGraph>> LoadGraph(const std::vector<std::string>& nodes,
                                                          const std::vector<std::string>& edges);

// "modern" (from `data_folder`), "money" or "scratch" (empty). NOT_FOUND for others.
StatusOr<std::shared_ptr<storage::MemoryGraph>> MakeGraph(const std::string& name,
                                                          const std::string& data_folder);

// Vertices can be sought by each of their properties, and by some pairs.
void IndexAll(storage::MemoryGraph* graph);

}  // namespace koios::golden
