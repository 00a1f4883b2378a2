#include "storage/rocks/opening.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "core/log.h"
#include "storage/codec/element_id.h"
#include "storage/disk/disk_room.h"
#include "storage/rocks/snapshots/named_snapshots.h"

namespace koios::storage {
namespace {

constexpr std::string_view kGraphFormatWords = "koios graph ";
// All that there are. Of what later formats changed in them FinishIndexes takes care.
constexpr uint32_t kFormatWithAllFamilies = 2;
constexpr uint32_t kFormatWithMark = 3;

StatusOr<uint32_t> ReadFormat(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(path + "/" + kFormatFile));
  std::string_view text = content;
  uint32_t format = 0;
  if (text.starts_with(kGraphFormatWords)) {
    text.remove_prefix(kGraphFormatWords.size());
    std::from_chars(text.data(), text.data() + text.size(), format);
  }
  if (content != std::string(kGraphFormatWords) + std::to_string(format) + "\n" || format == 0) {
    return DataLoss("The graph's file FORMAT is damaged.");
  }
  if (format > kFormatVersion) {
    return FailedPrecondition("The graph was written by a newer Koios (format " +
                              std::to_string(format) + "; this one reads up to " +
                              std::to_string(kFormatVersion) + ").");
  }
  return format;
}

Status WriteMeta(Database* database, MetaState* meta) {
  rocksdb::WriteBatch batch;
  meta->TakeChanges([&](std::string_view key, std::string_view value) {
    batch.Put(database->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  });
  rocksdb::WriteOptions options;
  options.sync = true;
  return FromRocks(database->db()->Write(options, &batch), "Writing the graph");
}

// nullopt: a graph of an older format, which has none.
StatusOr<std::optional<MarkContent>> LoadMark(const std::string& path, uint32_t format) {
  StatusOr<MarkContent> content = ReadMark(path + "/" + kMarkFile);
  if (content.ok()) return std::optional(*std::move(content));
  if (content.status().code() != StatusCode::kNotFound) return content.status();
  if (format < kFormatWithMark) return std::optional<MarkContent>();
  return DataLoss("The graph's file MARK is gone.");
}

uint64_t LogBytes(const std::string& db_path) {
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(db_path, error)) {
    if (entry.path().extension() != ".log") continue;
    const uint64_t bytes = entry.file_size(error);
    if (!error) total += bytes;
  }
  return total;
}

std::string DatabasePath(const StoreState& state) { return state.path + "/" + kDatabaseFolder; }

Status OpenForReading(StoreState* state) {
  StoreOptions options = state->options;
  options.read_only = true;
  ASSIGN_OR_RETURN(auto database, Database::Open(DatabasePath(*state), OpenMode::kAsItIs, options,
                                                 /*mark=*/nullptr));
  database->Keep(state->holder);
  state->SetDatabase(std::move(database));
  return state->LoadMeta();
}

StatusOr<std::shared_ptr<HighWaterMark>> MarkForWriting(const StoreState& state) {
  const std::string path = state.path + "/" + (state.options.repair ? kNewMarkFile : kMarkFile);
  if (PathExists(path) && !state.options.repair) return HighWaterMark::Open(path);
  return HighWaterMark::Create(path, MarkContent{});
}

Status OpenForWriting(uint32_t format, StoreState* state) {
  RETURN_IF_ERROR(CheckRoomToOpen(state->path, LogBytes(DatabasePath(*state))));
  ASSIGN_OR_RETURN(auto mark, MarkForWriting(*state));
  const OpenMode mode =
      format < kFormatWithAllFamilies ? OpenMode::kAddFamilies : OpenMode::kAsItIs;
  ASSIGN_OR_RETURN(auto database, Database::Open(DatabasePath(*state), mode, state->options, mark));
  RETURN_IF_ERROR(RemovePath(state->path + "/" + kIngestFolder));
  database->Keep(state->holder);
  state->mark = std::move(mark);
  state->SetDatabase(std::move(database));
  RETURN_IF_ERROR(state->LoadMeta());
  {
    // Those that are being built have no name yet.
    MutexLock lock(&state->queue_mutex);
    if (state->building_snapshots) return OkStatus();
  }
  // They take room but no answer rests on them: the next fold or open tries again.
  const Status removed = RemoveUnnamedSnapshots(state->snapshot_folder(), state->meta.snapshots(),
                                                state->options.disk->files);
  if (!removed.ok()) KLOG_WARNING("{}: old snapshots stay: {}", state->path, MessageOf(removed));
  return OkStatus();
}

Status CheckVersion(const StoreState& state, uint64_t marked) {
  if (state.meta.version() >= marked) return OkStatus();
  return DataLoss("The graph's files have lost commits that were acknowledged: they hold version " +
                  std::to_string(state.meta.version()) + " of " + std::to_string(marked) + ".");
}

}  // namespace

Status WriteFormat(const std::string& path) {
  return WriteFileDurably(path + "/" + kFormatFile,
                          std::string(kGraphFormatWords) + std::to_string(kFormatVersion) + "\n");
}

Status CreateGraphFiles(StoreState* state) {
  const uint32_t num_partitions = state->options.num_partitions;
  if (num_partitions == 0 || num_partitions > kMaxPartitions) {
    return InvalidArgument("A graph has 1 to " + std::to_string(kMaxPartitions) +
                           " partitions, not " + std::to_string(num_partitions) + ".");
  }
  if (PathExists(DatabasePath(*state))) {
    return DataLoss(
        "The graph has a database but no file FORMAT; it was not created whole or is "
        "damaged.");
  }
  ASSIGN_OR_RETURN(state->mark,
                   HighWaterMark::Create(state->path + "/" + kMarkFile, MarkContent{}));
  ASSIGN_OR_RETURN(auto database, Database::Open(DatabasePath(*state), OpenMode::kCreate,
                                                 state->options, state->mark));
  database->Keep(state->holder);
  MetaState meta(num_partitions);
  RETURN_IF_ERROR(WriteMeta(database.get(), &meta));
  RETURN_IF_ERROR(state->mark->SetVersion(meta.version()));
  RETURN_IF_ERROR(WriteFormat(state->path));
  state->SetDatabase(std::move(database));
  return state->LoadMeta();
}

Status OpenGraphFiles(StoreState* state) {
  const bool repair = state->options.repair;
  StatusOr<uint32_t> format = ReadFormat(state->path);
  if (repair && format.status().code() == StatusCode::kDataLoss) format = kFormatVersion;
  if (repair && format.status().code() == StatusCode::kNotFound) format = kFormatVersion;
  RETURN_IF_ERROR(format.status());
  if (*format < kFormatWithAllFamilies && state->options.read_only) {
    return FailedPrecondition("The graph was written by an older Koios (format " +
                              std::to_string(*format) + "); open it once for writing.");
  }
  uint64_t marked_version = 0;
  if (!repair) {
    ASSIGN_OR_RETURN(const std::optional<MarkContent> marked, LoadMark(state->path, *format));
    if (marked) {
      RETURN_IF_ERROR(CheckMarkedFiles(*marked, DatabasePath(*state)));
      marked_version = marked->version;
    }
  }
  if (state->options.read_only) {
    RETURN_IF_ERROR(OpenForReading(state));
    return CheckVersion(*state, marked_version);
  }
  const Status opened = OpenForWriting(*format, state);
  if (opened.code() == StatusCode::kResourceExhausted && !repair) {
    KLOG_WARNING("{} is open for reading only: {}", state->path, MessageOf(opened));
    RETURN_IF_ERROR(OpenForReading(state));
    state->waits_for_room = true;
    return CheckVersion(*state, marked_version);
  }
  RETURN_IF_ERROR(opened);
  RETURN_IF_ERROR(CheckVersion(*state, marked_version));
  RETURN_IF_ERROR(state->mark->SetVersion(state->meta.version()));
  return *format < kFormatVersion ? WriteFormat(state->path) : OkStatus();
}

Status OpenGraphFilesForWriting(StoreState* state) {
  const std::shared_ptr<Database> before = state->CurrentDatabase();
  ASSIGN_OR_RETURN(const uint32_t format, ReadFormat(state->path));
  RETURN_IF_ERROR(OpenForWriting(format, state));
  state->waits_for_room = false;
  // Views of the graph as it was read so far go on reading its files.
  const std::shared_ptr<Database> after = state->CurrentDatabase();
  RETURN_IF_ERROR(after->KeepOldFiles());
  before->Keep(std::shared_ptr<void>(nullptr, [to = std::weak_ptr(after)](void*) {
    if (const auto database = to.lock()) database->RemoveOldFiles().IgnoreError();
  }));
  KLOG_INFO("{} is open for writing again", state->path);
  return format < kFormatVersion ? WriteFormat(state->path) : OkStatus();
}

}  // namespace koios::storage
