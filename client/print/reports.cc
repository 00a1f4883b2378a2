#include "client/print/reports.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

#include "client/print/column_printer.h"
#include "core/value.h"

namespace koios::client {
namespace {

// A table row from (column, value) pairs.
using Row = std::vector<std::pair<std::string, Value>>;

Value MapOf(Row row) {
  ValueMap map;
  for (auto& [key, value] : row) map.emplace_back(Value::String(key), std::move(value));
  return Value::Map(std::move(map)).value_or(Value());  // a map of scalars
}

Value Seconds(uint64_t us) { return Value::Double(static_cast<double>(us / 1000) / 1e3); }

Value Count(uint64_t count) { return Value::Long(static_cast<int64_t>(count)); }

void AddLabels(const char* kind, const google::protobuf::RepeatedPtrField<v1::LabelSchema>& labels,
               ResultPrinter* table) {
  for (const v1::LabelSchema& label : labels) {
    std::string properties;
    for (const v1::PropertySchema& property : label.properties()) {
      if (!properties.empty()) properties += ", ";
      properties += property.key() + ": " + property.type();
      if (property.indexed()) properties += " (indexed)";
    }
    table->Row(MapOf({{"kind", Value::String(kind)},
                      {"label", Value::String(label.label())},
                      {"count", Count(label.count())},
                      {"properties", Value::String(properties)}}));
  }
}

// With one decimal.
std::string MeanText(double mean) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << mean;
  return text.str();
}

using Labels = google::protobuf::RepeatedPtrField<v1::LabelStats>;

void AddCounts(const char* kind, const Labels& labels, ResultPrinter* table) {
  for (const v1::LabelStats& label : labels) {
    std::string keys;
    for (const v1::KeyStats& key : label.keys()) {
      if (!keys.empty()) keys += ", ";
      keys += key.key() + " " + std::to_string(key.distinct());
      if (key.elements() < label.count()) keys += " in " + std::to_string(key.elements());
    }
    table->Row(MapOf({{"kind", Value::String(kind)},
                      {"label", Value::String(label.label())},
                      {"count", Count(label.count())},
                      {"distinct values", Value::String(keys)}}));
  }
}

void PrintDegrees(const Labels& labels, std::ostream& out) {
  auto table = MakeTablePrinter(out);
  for (const v1::LabelStats& label : labels) {
    for (const v1::DegreeStats& one : label.degrees()) {
      table->Row(
          MapOf({{"vertices", Value::String(label.label())},
                 {"edges", Value::String((one.incoming() ? "in " : "out ") + one.edge_label())},
                 {"count", Count(one.edges())},
                 {"vertices with any", Count(one.vertices_with_any())},
                 {"mean degree", Value::String(MeanText(one.mean()))},
                 {"largest", Count(one.largest())}}));
    }
  }
  table->Finish();
}

}  // namespace

void PrintSchema(const v1::GetSchemaResponse& schema, std::ostream& out) {
  if (schema.vertex_labels().empty() && schema.edge_labels().empty()) {
    out << "The graph is empty.\n";
    return;
  }
  auto table = MakeTablePrinter(out);
  AddLabels("vertex", schema.vertex_labels(), table.get());
  AddLabels("edge", schema.edge_labels(), table.get());
  table->Finish();
}

void PrintStats(const v1::GetStatsResponse& stats, std::ostream& out) {
  out << "vertices     " << stats.vertices() << "\n"
      << "edges        " << stats.edges() << "\n"
      << "version      " << stats.version() << "\n"
      << "partitions   " << stats.partitions() << "\n"
      << "workers      " << stats.workers() << "\n"
      << "disk bytes   " << stats.disk_bytes() << "\n"
      << "memory bytes " << stats.memory_bytes() << "\n"
      << "plans kept   " << stats.plan_cache().texts() << " texts, " << stats.plan_cache().bytes()
      << " of these bytes; " << stats.plan_cache().hits() << " hits, "
      << stats.plan_cache().misses() << " misses, " << stats.plan_cache().evictions()
      << " evicted\n";
  if (stats.vertex_labels().empty() && stats.edge_labels().empty()) return;
  out << "\n";
  auto table = MakeTablePrinter(out);
  AddCounts("vertex", stats.vertex_labels(), table.get());
  AddCounts("edge", stats.edge_labels(), table.get());
  table->Finish();
  if (stats.statistics_version() == 0) {
    out << "Values and degrees are not known: there is no snapshot yet.\n";
    return;
  }
  out << "\n";
  PrintDegrees(stats.vertex_labels(), out);
  out << "Values and degrees are about those of version " << stats.statistics_version() << ".\n";
}

void PrintGraphs(const v1::ListGraphsResponse& graphs, std::ostream& out) {
  if (graphs.graphs().empty()) {
    out << "There are no graphs.\n";
    return;
  }
  auto table = MakeTablePrinter(out);
  for (const v1::GraphInfo& graph : graphs.graphs()) {
    table->Row(MapOf({{"graph", Value::String(graph.name())},
                      {"vertices", Count(graph.vertices())},
                      {"edges", Count(graph.edges())}}));
  }
  table->Finish();
}

void PrintCheck(const v1::CheckGraphResponse& report, std::ostream& out) {
  out << "version " << report.version() << ": " << report.vertices() << " vertices, "
      << report.edges() << " edges, " << report.problems_found() << " problems\n";
  for (const std::string& problem : report.problems()) out << "  " << problem << "\n";
  const uint64_t listed = static_cast<uint64_t>(report.problems_size());
  if (report.problems_found() > listed) {
    out << "  and " << report.problems_found() - listed << " more\n";
  }
}

void PrintIndexes(const v1::ListIndexesResponse& indexes, std::ostream& out) {
  if (indexes.indexes().empty()) {
    out << "There are no indexes.\n";
    return;
  }
  auto table = MakeTablePrinter(out);
  for (const v1::IndexInfo& index : indexes.indexes()) {
    std::string keys;
    for (const std::string& key : index.keys()) keys += (keys.empty() ? "" : ", ") + key;
    const Value distinct =
        index.distinct() > 0 ? Count(index.distinct()) : Value::String("unknown");
    table->Row(MapOf({{"label", Value::String(index.label())},
                      {"keys", Value::String(keys)},
                      {"state", Value::String(index.ready() ? "ready" : "being built")},
                      {"vertices", Count(index.vertices())},
                      {"distinct", distinct},
                      {"bytes", Count(index.bytes())}}));
  }
  table->Finish();
}

void PrintSnapshots(const v1::BuildSnapshotsResponse& report, std::ostream& out) {
  out << "version " << report.version() << ": " << report.vertices() << " vertices, "
      << report.edges() << " edges, " << report.files() << " files, " << report.file_bytes()
      << " bytes\n";
}

void PrintQueries(const v1::ListQueriesResponse& queries, std::ostream& out) {
  if (queries.queries().empty()) {
    out << "No query is running.\n";
    return;
  }
  auto table = MakeTablePrinter(out);
  for (const v1::RunningQuery& query : queries.queries()) {
    table->Row(MapOf({{"id", Value::String(query.id())},
                      {"state", Value::String(query.waits() ? "waits" : "runs")},
                      {"seconds", Seconds(query.elapsed_us())},
                      {"queued", Seconds(query.queued_us())},
                      {"results", Count(query.rows())},
                      {"memory", Count(query.memory_bytes())},
                      {"peak", Count(query.peak_bytes())},
                      {"spilled", Count(query.spilled_bytes())},
                      {"slices", Count(query.slices())},
                      {"credit waits", Count(query.credit_waits())},
                      {"waited for credit", Seconds(query.credit_wait_us())},
                      {"dropped", Count(query.rows_dropped())},
                      {"graph", Value::String(query.graph())},
                      {"query", Value::String(query.query())}}));
  }
  table->Finish();
}

void PrintQuery(const v1::RunningQuery& query, std::ostream& out) {
  v1::ListQueriesResponse one;
  *one.add_queries() = query;
  PrintQueries(one, out);
  if (query.operators().empty()) {
    out << (query.waits() ? "It waits to be run.\n" : "It runs no operators now.\n");
    return;
  }
  auto table = MakeTablePrinter(out);
  uint64_t kept = 0;
  for (const v1::OperatorProfile& op : query.operators()) {
    kept += op.kept_bytes();
    table->Row(
        MapOf({{"operator", Value::String(std::to_string(op.id()) + " " + op.name())},
               {"rows in", Count(op.rows_in())},
               {"rows out", Count(op.rows_out())},
               {"seconds", Seconds(op.time_ns() / 1000)},
               {"share", Value::String(std::to_string(std::lround(op.share() * 100)) + "%")},
               {"slices", Count(op.slices())},
               {"longest ms", Value::Double(static_cast<double>(op.longest_ns() / 1000) / 1e3)},
               {"memory", Count(op.kept_bytes())},
               {"peak", Count(op.peak_bytes())},
               {"spilled", Count(op.spilled_bytes())},
               {"sent", Count(op.bytes_sent())},
               {"credit waits", Count(op.credit_waits())},
               {"waited for credit", Seconds(op.credit_wait_ns() / 1000)},
               {"dropped", Count(op.rows_dropped())}}));
  }
  table->Finish();
  const uint64_t beside = query.memory_bytes() - std::min(query.memory_bytes(), kept);
  out << "Beside its operators: " << beside << " bytes of paths, queues and frames on their way.\n";
}

std::vector<std::string> SchemaWords(const v1::GetSchemaResponse& schema) {
  std::vector<std::string> words;
  for (const auto* labels : {&schema.vertex_labels(), &schema.edge_labels()}) {
    for (const v1::LabelSchema& label : *labels) {
      words.push_back(label.label());
      for (const v1::PropertySchema& property : label.properties()) words.push_back(property.key());
    }
  }
  return words;
}

}  // namespace koios::client
