#include "app/admin_snapshot.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>

#include "core/clock.h"
#include "storage/data_folder.h"

namespace koios::app {
namespace {

using storage::SectionIndex;
using storage::SectionKind;

// Rows of the table, in their order.
enum class Part : uint8_t {
  kVertices,
  kIdTable,
  kVertexColumns,
  kNeighbours,
  kLists,
  kEdgeIds,
  kEdgeColumns,
  kFacts,
};

struct PartRow {
  Part part;
  const char* name;
  bool of_edges;
};
constexpr PartRow kParts[] = {
    {Part::kVertices, "places of vertices", false},
    {Part::kIdTable, "table of ids", false},
    {Part::kVertexColumns, "ids and properties of vertices", false},
    {Part::kNeighbours, "neighbours", true},
    {Part::kLists, "where lists begin", true},
    {Part::kEdgeIds, "ids of edges", true},
    {Part::kEdgeColumns, "properties of edges", true},
    {Part::kFacts, "statistics", false},
};

Part PartOf(SectionIndex index, SectionKind kind) {
  switch (kind) {
    case SectionKind::kLabelSet:
    case SectionKind::kLabelRuns:
    case SectionKind::kSetOfLocal:
    case SectionKind::kRowOfLocal:
    case SectionKind::kAlive:
      return Part::kVertices;
    case SectionKind::kIdTable:
      return Part::kIdTable;
    case SectionKind::kNeighbours:
      return Part::kNeighbours;
    case SectionKind::kPresence:
    case SectionKind::kListOffsets:
      return Part::kLists;
    case SectionKind::kEdgeIds:
      return Part::kEdgeIds;
    case SectionKind::kAdjacency:
    case SectionKind::kColumn:
      return Part::kFacts;
    case SectionKind::kValidity:
    case SectionKind::kValues:
    case SectionKind::kCodes:
    case SectionKind::kDictionary:
    case SectionKind::kDictionaryHeap:
    case SectionKind::kHeapEnds:
    case SectionKind::kHeap:
    case SectionKind::kItemEnds:
    case SectionKind::kValueIds:
      break;
  }
  return index == SectionIndex::kOut ? Part::kEdgeColumns : Part::kVertexColumns;
}

double PerOne(uint64_t bytes, uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(of);
}

template <typename... Arguments>
void PrintLine(std::ostream& out, const char* format, Arguments... arguments) {
  char line[200];
  std::snprintf(line, sizeof(line), format, arguments...);
  out << line << "\n";
}

}  // namespace

void PrintSnapshotReport(const storage::SnapshotReport& report, std::ostream& out) {
  std::map<Part, uint64_t> bytes;
  for (const auto& [what, count] : report.bytes) bytes[PartOf(what.first, what.second)] += count;
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  PrintLine(out, "version %llu: %llu vertices, %llu edges", number(report.version),
            number(report.vertices), number(report.edges));
  PrintLine(out, "%-30s %15s  %s", "part", "bytes", "each");
  for (const PartRow& row : kParts) {
    const uint64_t count = bytes[row.part];
    if (row.part == Part::kFacts) {
      PrintLine(out, "%-30s %15llu", row.name, number(count));
      continue;
    }
    PrintLine(out, "%-30s %15llu  %.2f per %s", row.name, number(count),
              PerOne(count, row.of_edges ? report.edges : report.vertices),
              row.of_edges ? "edge" : "vertex");
  }
  const uint64_t adjacency = bytes[Part::kNeighbours] + bytes[Part::kLists] + bytes[Part::kEdgeIds];
  PrintLine(out, "adjacency, both directions: %.2f bytes per edge",
            PerOne(adjacency, report.edges));
  PrintLine(out, "%u files, %llu bytes, %.1f s", report.files, number(report.file_bytes),
            report.seconds);
}

StatusOr<storage::SnapshotReport> BuildSnapshotsOf(storage::DataFolder* folder,
                                                   const std::string& graph,
                                                   const storage::SnapshotOptions& options,
                                                   bool tell) {
  ASSIGN_OR_RETURN(const auto store, folder->OpenGraph(graph));
  constexpr int64_t kSecondNs = 1'000'000'000;
  int64_t told = SteadyClock::Get()->NowNanos();
  bool shown = false;
  auto report =
      storage::BuildSnapshots(store.get(), options, [&](const storage::SnapshotProgress& progress) {
        const int64_t now = SteadyClock::Get()->NowNanos();
        if (!tell || now - told < kSecondNs) return OkStatus();
        told = now;
        shown = true;
        std::cerr << "\rsnapshot of partition " << progress.partition + 1 << " of "
                  << progress.num_partitions << ", " << progress.entries << " entries read"
                  << std::flush;
        return OkStatus();
      });
  if (shown) std::cerr << "\n";
  return report;
}

Status BuildAndPrintSnapshots(const std::string& data, const std::string& graph,
                              const storage::StoreOptions& options, std::ostream& out) {
  storage::DataFolderOptions folder_options;
  folder_options.store = options;
  ASSIGN_OR_RETURN(const auto folder, storage::DataFolder::Open(data, folder_options));
  ASSIGN_OR_RETURN(const auto report,
                   BuildSnapshotsOf(folder.get(), graph, {}, isatty(STDERR_FILENO) != 0));
  PrintSnapshotReport(report, out);
  return OkStatus();
}

}  // namespace koios::app
