// What a graph is about like, in the words of the API.
#pragma once

#include "proto/service.pb.h"
#include "storage/graph_view.h"

namespace koios::server {

// Its labels with their counts, and what its statistics know of each.
void FillStatistics(const storage::GraphView& view, v1::GetStatsResponse* response);

}  // namespace koios::server
