// The server's own answers as text: schema, sizes, graphs, running queries. Tables of the same look
// as the results'.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace koios::client {

void PrintSchema(const v1::GetSchemaResponse& schema, std::ostream& out);
void PrintStats(const v1::GetStatsResponse& stats, std::ostream& out);
void PrintGraphs(const v1::ListGraphsResponse& graphs, std::ostream& out);
void PrintCheck(const v1::CheckGraphResponse& report, std::ostream& out);
void PrintIndexes(const v1::ListIndexesResponse& indexes, std::ostream& out);
void PrintSnapshots(const v1::BuildSnapshotsResponse& report, std::ostream& out);
void PrintQueries(const v1::ListQueriesResponse& queries, std::ostream& out);
// With its operators.
void PrintQuery(const v1::RunningQuery& query, std::ostream& out);

// Every label and property key, for completion.
std::vector<std::string> SchemaWords(const v1::GetSchemaResponse& schema);

}  // namespace koios::client
