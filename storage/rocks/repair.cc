#include "storage/repair.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "storage/data_folder.h"
#include "storage/disk/high_water_mark.h"
#include "storage/rocks/mends.h"
#include "storage/rocks/opening.h"
#include "storage/rocks/snapshots/commit_log.h"
#include "storage/rocks/store_state.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

constexpr char kLostFolder[] = "lost";
// What is mended may show what else is wrong: edges go, then their ends.
constexpr int kMostPasses = 64;

uint64_t LogNumberOf(const std::string& name) {
  constexpr size_t kDigits = 6;
  uint64_t number = 0;
  if (name.size() < kDigits + 4 || !name.ends_with(".log")) return 0;
  std::from_chars(name.data(), name.data() + name.size() - 4, number);
  return number;
}

// Behind a log that is not whole nothing may be replayed: what is kept are the commits before.
Status SetAsideLogsBehindDamage(const std::string& path, const MarkContent& mark,
                                std::vector<std::string>* done) {
  const std::string db_path = path + "/" + kDatabaseFolder;
  uint64_t damaged = 0;
  for (const auto& [number, log] : mark.logs) {
    Status status = CheckMarkedLog(log, db_path);
    if (status.ok()) continue;
    if (status.code() != StatusCode::kDataLoss) return status;
    damaged = number;
    break;
  }
  if (damaged == 0) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(db_path));
  for (const std::string& name : names) {
    if (LogNumberOf(name) <= damaged) continue;
    RETURN_IF_ERROR(MakeFolder(path + "/" + kLostFolder));
    RETURN_IF_ERROR(RenameDurably(db_path + "/" + name, path + "/" + kLostFolder + "/" + name));
    done->push_back("The file " + name + " is behind that one: it was moved to " + kLostFolder +
                    "/.");
  }
  return OkStatus();
}

Status WriteMends(const Mends& mends, GraphStore* store) {
  StoreAccess::State& state = StoreAccess::Of(store);
  const std::shared_ptr<Database> database = state.CurrentDatabase();
  rocksdb::WriteBatch batch;
  const auto put = [&](Family family, std::string_view key, std::string_view value) {
    batch.Put(database->family(family), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  };
  for (const Mend& mend : mends.records) {
    if (mend.value) {
      put(mend.family, mend.key, *mend.value);
    } else {
      batch.Delete(database->family(mend.family), AsSlice(mend.key)).PermitUncheckedError();
    }
  }
  MetaState meta = state.meta;
  for (const auto& [label, delta] : mends.vertices) meta.AddVertices(label, delta);
  for (const auto& [label, delta] : mends.edges) meta.AddEdges(label, delta);
  for (const auto& [partition, next] : mends.next_locals) {
    meta.SetNextLocals(partition, std::max(next.first, meta.next_vertex_local(partition)),
                       std::max(next.second, meta.next_edge_local(partition)));
  }
  meta.SetVersion(meta.version() + 1);
  meta.RestartLog(meta.version());
  TrimLog(*database, meta.version(), &batch);
  meta.TakeChanges(
      [&](std::string_view key, std::string_view value) { put(Family::kMeta, key, value); });
  rocksdb::WriteOptions options;
  options.sync = true;
  RETURN_IF_ERROR(FromRocks(database->db()->Write(options, &batch), "Mending the graph"));
  RETURN_IF_ERROR(state.mark->SetVersion(meta.version()));
  state.log_bytes = 0;
  state.Publish(std::move(meta), {});
  return OkStatus();
}

// Until the graph agrees with itself, or nothing more can be done.
StatusOr<CheckReport> MendRecords(GraphStore* store, const CheckWatch& watch,
                                  std::vector<std::string>* done) {
  for (int pass = 0;; ++pass) {
    Mends mends;
    ASSIGN_OR_RETURN(CheckReport report, CheckForMends(*store, watch, &mends));
    const bool can_mend = !mends.empty() && !mends.unreadable && pass < kMostPasses;
    if (report.ok() || !can_mend) return report;
    done->push_back("Problems that were mended: " + std::to_string(report.problems_found) +
                    ", such as: " + report.problems[0] + ".");
    RETURN_IF_ERROR(WriteMends(mends, store));
  }
}

Status MendStore(GraphStore* store, const CheckWatch& watch, RepairReport* report) {
  StoreAccess::State& state = StoreAccess::Of(store);
  if (state.waits_for_room) RETURN_IF_ERROR(OpenGraphFilesForWriting(&state));
  ASSIGN_OR_RETURN(report->check, MendRecords(store, watch, &report->done));
  if (report->check.ok()) return OkStatus();
  return DataLoss("What is left of the graph contradicts itself, in " +
                  std::to_string(report->check.problems_found) + " places that can't be mended (" +
                  DamageIn(DataLoss(report->check.problems[0])) + "); restore it from a backup.");
}

Status RepairStore(const std::string& path, const StoreOptions& options, const CheckWatch& watch,
                   RepairReport* report) {
  auto opened = GraphStore::Open(path, options);
  if (opened.ok()) return MendStore(opened->get(), watch, report);
  if (opened.status().code() != StatusCode::kDataLoss) return opened.status();
  report->done.push_back(DamageIn(opened.status()));
  const StatusOr<MarkContent> mark = ReadMark(path + "/" + kMarkFile);
  if (mark.ok()) RETURN_IF_ERROR(SetAsideLogsBehindDamage(path, *mark, &report->done));
  StoreOptions repair = options;
  repair.repair = true;
  opened = GraphStore::Open(path, repair);
  if (opened.status().code() == StatusCode::kDataLoss) {
    return DataLoss("The graph can't be repaired; restore it from a backup. " +
                    DamageIn(opened.status()));
  }
  RETURN_IF_ERROR(opened.status());
  const uint64_t version = (*opened)->View()->version();
  if (mark.ok() && version < mark->version) {
    report->done.push_back("Of the commits that were acknowledged the last " +
                           std::to_string(mark->version - version) + " are lost.");
  }
  RETURN_IF_ERROR(MendStore(opened->get(), watch, report));
  RETURN_IF_ERROR(RenameDurably(path + "/" + kNewMarkFile, path + "/" + kMarkFile));
  return WriteFormat(path);
}

Status RepairFormat(const std::string& path, std::vector<std::string>* done) {
  Status found = CheckDataFormat(path);
  if (found.code() != StatusCode::kDataLoss) return found;
  ASSIGN_OR_RETURN(const auto lock, FileLock::Acquire(path + "/LOCK", /*shared=*/false,
                                                      "The data folder '" + path + "'"));
  done->push_back(DamageIn(found));
  return WriteDataFormat(path);
}

}  // namespace

StatusOr<RepairReport> Repair(const std::string& data_folder, const std::string& graph,
                              const StoreOptions& options, const CheckWatch& watch) {
  RepairReport report;
  RETURN_IF_ERROR(RepairFormat(data_folder, &report.done));
  DataFolderOptions folder_options;
  folder_options.store = options;
  ASSIGN_OR_RETURN(const auto folder, DataFolder::Open(data_folder, folder_options));
  bool restored = false;
  ASSIGN_OR_RETURN(const std::string path, folder->RestoreCurrent(graph, &restored));
  if (restored) {
    report.done.push_back("The file CURRENT of the graph was made anew; it names " +
                          path.substr(path.rfind('/') + 1) + ".");
  }
  RETURN_IF_ERROR(RepairStore(path, options, watch, &report));
  return report;
}

}  // namespace koios::storage
