// A data folder as a killed process leaves it, with one file of it changed: a bit flipped, cut
// short, cut between two records, gone, or older than the others. Whatever is opened and read
// afterwards is what was acknowledged, all of it, or DATA_LOSS; and a repair gives what some commit
// left behind. KOIOS_DAMAGE_ROUNDS and KOIOS_DAMAGE_SEED choose how many files and which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/print/value_print.h"
#include "core/random.h"
#include "core/testing/rounds.h"
#include "storage/bulk_writer.h"
#include "storage/check.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/data_folder.h"
#include "storage/repair.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

namespace fs = std::filesystem;

constexpr int kLoaded = 40;
constexpr int kCommits = 90;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

StoreOptions SmallBuffers() {
  StoreOptions options = TestOptions();
  options.write_buffer_bytes = 64 << 10;  // so that there are many tables, and several logs
  options.create = false;
  return options;
}

DataFolderOptions Options(bool create, bool read_only) {
  DataFolderOptions options;
  options.create = create;
  options.read_only = read_only;
  options.store = SmallBuffers();
  return options;
}

// A graph with an index, from a load.
void LoadGraph(DataFolder* folder) {
  const std::string staged = folder->StageGraph("g").value();
  auto writer = BulkWriter::Create(staged, SmallBuffers()).value();
  const LabelId label = writer->InternLabel("loaded").value();
  const KeyId key = writer->InternKey("n").value();
  CHECK(writer->IndexVertices(label, key));
  std::vector<FamilyRecord> records;
  for (int i = 0; i < kLoaded; ++i) {
    const Value id = writer->AssignVertexId();
    const KeyedProperties properties = {{key, Value::Long(i % 7)}};
    EncodeVertex(writer->AssignVertex(id), label, id, properties, writer->vertex_indexes(),
                 writer->num_partitions(), &records);
  }
  std::sort(records.begin(), records.end(), [](const FamilyRecord& a, const FamilyRecord& b) {
    return std::pair(a.family, a.key) < std::pair(b.family, b.key);
  });
  std::map<Family, std::unique_ptr<BulkStream>> streams;
  for (const FamilyRecord& record : records) {
    auto& stream = streams[record.family];
    if (stream == nullptr) stream = writer->OpenStream(record.family).value();
    CHECK(stream->Add(record.key, record.value).ok());
  }
  for (auto& [family, stream] : streams) CHECK(stream->Close().ok());
  CHECK(writer->Finish().ok());
  writer = nullptr;
  CHECK(folder->PublishGraph("g", staged, false).ok());
}

// A reader that stops at the first error.
class Dumper {
 public:
  explicit Dumper(const GraphView& view) : view_(view) {}

  // All of the graph by every way there is to read it, as text.
  StatusOr<std::string> Run() {
    out_ = "version " + std::to_string(view_.version()) + "\n";
    RETURN_IF_ERROR(DumpVertices());
    RETURN_IF_ERROR(DumpEdges());
    RETURN_IF_ERROR(DumpIndex());
    for (const auto& [label, count] : view_.schema().vertex_counts) {
      out_ += view_.schema().labels.Name(label) + " " + std::to_string(count) + "\n";
    }
    return std::move(out_);
  }

 private:
  StatusOr<std::vector<VertexRef>> Scan(std::span<const LabelId> labels) {
    std::vector<VertexRef> found;
    for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
      ScanCursor cursor;
      while (!cursor.done) RETURN_IF_ERROR(view_.ScanVertices(p, labels, &cursor, 64, &found));
    }
    return found;
  }

  void DumpProperties(const PropertyRows& rows) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      out_ += " " + std::to_string(rows.rows[i]) + "." + view_.schema().keys.Name(rows.keys[i]) +
              "=" + PrintValue(rows.values.Get(i)) + "\n";
    }
  }

  Status DumpVertices() {
    ASSIGN_OR_RETURN(const std::vector<VertexRef> vertices, Scan({}));
    Column ids;
    std::vector<LabelId> labels;
    PropertyRows properties;
    RETURN_IF_ERROR(view_.VertexIds(vertices, &ids));
    RETURN_IF_ERROR(view_.VertexLabels(vertices, &labels));
    RETURN_IF_ERROR(view_.VertexProperties(vertices, {}, &properties));
    std::vector<Value> looked_up;
    for (size_t i = 0; i < vertices.size(); ++i) {
      looked_up.push_back(ids.Get(i));
      out_ += "v " + PrintValue(ids.Get(i)) + " " + view_.schema().labels.Name(labels[i]) + "\n";
    }
    DumpProperties(properties);
    std::vector<uint32_t> rows;
    std::vector<VertexRef> found;
    RETURN_IF_ERROR(view_.LookupVertices(looked_up, &rows, &found));
    out_ += std::to_string(found.size()) + " by id\n";
    ExpandCursor cursor;
    Expansion expansion;
    while (!cursor.done) {
      RETURN_IF_ERROR(view_.Expand(vertices, Direction::kBoth, {}, true, &cursor, 64, &expansion));
    }
    for (size_t i = 0; i < expansion.rows.size(); ++i) {
      out_ += std::to_string(expansion.rows[i]) + "-" + std::to_string(expansion.edges[i].id) +
              "-" + std::to_string(expansion.neighbours[i].bits) + "\n";
    }
    return OkStatus();
  }

  Status DumpEdges() {
    std::vector<EdgeRef> edges;
    for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
      ExpandCursor cursor;
      while (!cursor.done) RETURN_IF_ERROR(view_.ScanEdges(p, {}, &cursor, 64, &edges));
    }
    Column ids;
    PropertyRows properties;
    RETURN_IF_ERROR(view_.EdgeIds(edges, &ids));
    RETURN_IF_ERROR(view_.EdgeProperties(edges, {}, &properties));
    std::vector<Value> looked_up;
    for (size_t i = 0; i < edges.size(); ++i) looked_up.push_back(ids.Get(i));
    std::vector<uint32_t> rows;
    std::vector<EdgeRef> found;
    RETURN_IF_ERROR(view_.LookupEdges(looked_up, &rows, &found));
    out_ += std::to_string(edges.size()) + " edges, " + std::to_string(found.size()) + " by id\n";
    DumpProperties(properties);
    return OkStatus();
  }

  Status DumpIndex() {
    for (const auto& [id, index] : view_.schema().vertex_indexes) {
      for (int64_t n = 0; n < 7; ++n) {
        const SoughtKey sought{{Value::Long(n)}, {}};
        const auto seek = MakeSeek(view_.schema(), {&index.label, 1}, index.keys, {&sought, 1});
        std::vector<VertexRef> found;
        for (uint32_t p = 0; p < view_.num_partitions(); ++p) {
          SeekCursor cursor;
          while (!cursor.done) {
            RETURN_IF_ERROR(view_.SeekVertices(p, *seek, &cursor, 64, &found));
          }
        }
        out_ += "n " + std::to_string(n) + ": " + std::to_string(found.size()) + "\n";
      }
    }
    for (LabelId label = 1; label <= view_.schema().labels.size(); ++label) {
      ASSIGN_OR_RETURN(const std::vector<VertexRef> found, Scan({&label, 1}));
      out_ += std::to_string(found.size()) + " of " + view_.schema().labels.Name(label) + "\n";
    }
    return OkStatus();
  }

  const GraphView& view_;
  std::string out_;
};

WriteBatch NextCommit(const GraphView& view, int64_t number, Rng* rng) {
  WriteBatch batch;
  batch.read_version = view.version();
  batch.vertices.push_back({Value::Long(1000 + 2 * number),
                            "person",
                            {{"text", Value::String(std::string(rng->Uniform(3000), 'x'))},
                             {"number", Value::Long(number)}}});
  batch.vertices.push_back(
      {Value::String("s" + std::to_string(number)), "loaded", {{"n", Value::Long(number % 7)}}});
  batch.edges.push_back({Value::Long(number), "pair", Added(0), Added(1), {}});
  batch.edges.push_back({std::nullopt, "back", Added(1), Added(0), {{"w", Value::Double(0.5)}}});
  const auto other = FindVertex(view, Value::Long(1000 + 2 * (number - 3)));
  if (other && number % 5 == 0) batch.dropped_vertices.push_back(*other);
  if (other && number % 5 == 1)
    batch.vertex_properties.push_back({*other, "number", Value::Long(0)});
  return batch;
}

class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    Rng rng(7);
    auto folder = DataFolder::Open(original_, Options(true, false)).value();
    LoadGraph(folder.get());
    const auto store = folder->OpenGraph("g").value();
    NoteVersion(*store);
    for (int i = 0; i < kCommits; ++i) {
      if (i == kCommits / 3) CHECK(store->Compact().ok());
      CHECK(store->Commit(NextCommit(*store->View(), i, &rng)).ok());
      NoteVersion(*store);
      NoteLogs();
    }
    // What it is while it runs is what it is when it is killed, once RocksDB has nothing to do.
    bool still = false;
    for (int tries = 0; !still && tries < 1000; ++tries) {
      CHECK(RemovePath(killed_).ok());
      const std::map<std::string, uint64_t> before = Sizes(original_);
      std::error_code error;
      fs::copy(original_, killed_, fs::copy_options::recursive, error);
      still = !error && Sizes(original_) == before && Sizes(killed_) == before;
    }
    CHECK(still);
    for (const auto& entry : fs::recursive_directory_iterator(killed_)) {
      if (entry.is_regular_file()) by_kind_[KindOf(entry.path())].push_back(entry.path());
    }
    for (auto& [kind, paths] : by_kind_) std::sort(paths.begin(), paths.end());
  }

  void NoteVersion(const GraphStore& store) {
    expected_ = Dumper(*store.View()).Run().value();
    dumps_.insert(expected_);
  }
  // Where a record of a log ends.
  void NoteLogs() {
    for (const auto& [path, size] : Sizes(original_)) {
      if (path.ends_with(".log")) record_ends_[fs::path(path).filename()].push_back(size);
    }
  }
  // Of the files below a folder, by their paths in it.
  static std::map<std::string, uint64_t> Sizes(const std::string& folder) {
    std::map<std::string, uint64_t> sizes;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code gone;
      sizes[entry->path().string().substr(folder.size())] =
          entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    }
    return sizes;
  }
  static std::string KindOf(const fs::path& path) {
    const std::string name = path.filename();
    if (path.extension() == ".sst" || path.extension() == ".log") return path.extension();
    const size_t dash = name.find('-');
    return path.parent_path().filename() == "db" ? "db/" + name.substr(0, dash) : name;
  }

  // Changes one file below `folder`; what was done, in words.
  std::string Damage(const std::string& folder, Rng* rng) {
    // Every other time one of those that hold the graph.
    auto kind = by_kind_.begin();
    std::advance(kind, rng->Uniform(by_kind_.size()));
    constexpr const char* kGraph[] = {".sst", ".log", "db/MANIFEST", "MARK"};
    if (rng->Chance(0.5)) kind = by_kind_.find(kGraph[rng->Uniform(std::size(kGraph))]);
    const std::string& original = kind->second[rng->Uniform(kind->second.size())];
    const std::string path = folder + original.substr(killed_.size());
    const std::string name = fs::path(path).filename();
    const uint64_t size = fs::file_size(path);
    const uint64_t how = rng->Uniform(8);
    if (how == 0 || size == 0) {
      fs::remove(path);
      return "removed " + path;
    }
    if (kind->first == ".log" && how < 5 && !record_ends_[name].empty()) {
      const std::vector<uint64_t>& ends = record_ends_[name];
      const uint64_t end = std::min(size, ends[rng->Uniform(ends.size())]);
      fs::resize_file(path, end);
      return "cut " + path + " between records at " + std::to_string(end);
    }
    if (how < 3) {
      const uint64_t end = rng->Uniform(size);
      fs::resize_file(path, end);
      return "cut " + path + " to " + std::to_string(end) + " of " + std::to_string(size);
    }
    const uint64_t at = rng->Uniform(size);
    const char bit = static_cast<char>(1 << rng->Uniform(8));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ bit);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    return "flipped a bit of " + path + " at " + std::to_string(at);
  }

  // The graph's text; or how opening or reading it failed.
  static StatusOr<std::string> Read(const std::string& path, bool read_only) {
    ASSIGN_OR_RETURN(const auto folder, DataFolder::Open(path, Options(false, read_only)));
    if (!folder->HasGraph("g")) return std::string("no graph");
    ASSIGN_OR_RETURN(const auto store, folder->OpenGraph("g"));
    return Dumper(*store->View()).Run();
  }

  void Copy(const std::string& to) {
    RemovePath(to).IgnoreError();
    fs::copy(killed_, to, fs::copy_options::recursive);
  }

  // A right answer or DATA_LOSS. A flip in a FORMAT may make it another Koios's.
  void ExpectRightOrLost(const StatusOr<std::string>& read, const std::string& what) {
    if (read.ok()) {
      EXPECT_EQ(*read, expected_) << what;
      return;
    }
    const std::string message = MessageOf(read.status());
    const bool other = what.find("FORMAT") != std::string::npos &&
                       (message.find("newer Koios") != std::string::npos ||
                        message.find("older Koios") != std::string::npos);
    EXPECT_TRUE(other || read.status().code() == StatusCode::kDataLoss) << what << ": " << message;
    if (other) return;
    EXPECT_NE(message.find("--repair"), std::string::npos) << what << ": " << message;
    // But for the data folder's own file, which is read before anybody is served.
    const bool of_folder = message.find("FORMAT'") != std::string::npos ||
                           message.find("has graphs") != std::string::npos;
    EXPECT_TRUE(of_folder || message.find(temp_.path()) == std::string::npos) << message;
  }

  TempFolder temp_;
  const std::string original_ = temp_ / "original", killed_ = temp_ / "killed";
  std::string expected_;
  std::set<std::string> dumps_;  // of all versions
  std::map<std::string, std::vector<std::string>> by_kind_;
  std::map<std::string, std::vector<uint64_t>> record_ends_;
};

TEST_F(DamageTest, ARightAnswerOrDataLoss) {
  const uint64_t rounds = FromEnvironment("KOIOS_DAMAGE_ROUNDS", TestRounds(60, 30));
  const uint64_t seed = FromEnvironment("KOIOS_DAMAGE_SEED", 1);
  for (const char* kind : {".sst", ".log", "db/MANIFEST", "db/CURRENT", "db/OPTIONS", "db/IDENTITY",
                           "FORMAT", "MARK", "CURRENT", "LOCK", "HOLDER"}) {
    EXPECT_TRUE(by_kind_.contains(kind)) << kind;
  }
  EXPECT_GT(by_kind_[".log"].size(), 1u);
  EXPECT_GE(by_kind_[".sst"].size(), 8u);  // each family has one: more, where compactions are late
  uint64_t right = 0, lost = 0, repaired = 0;
  const std::string damaged = temp_ / "damaged", second = temp_ / "second";
  for (uint64_t round = 0; round < rounds; ++round) {
    Rng rng(seed * 1'000'003 + round);
    Copy(damaged);
    const std::string what = "KOIOS_DAMAGE_SEED=" + std::to_string(seed) + " round " +
                             std::to_string(round) + ": " + Damage(damaged, &rng);
    RemovePath(second).IgnoreError();
    fs::copy(damaged, second, fs::copy_options::recursive);
    const auto read_only = Read(second, true);
    ExpectRightOrLost(read_only, what + " (read only)");
    const auto read = Read(damaged, false);
    ExpectRightOrLost(read, what);
    // Opening it did not make good the damage by forgetting it.
    ExpectRightOrLost(Read(damaged, false), what + " (opened again)");
    if (read.ok()) {
      ++right;
      continue;
    }
    ++lost;
    const auto report = Repair(damaged, "g", SmallBuffers());
    if (!report.ok()) {
      EXPECT_NE(MessageOf(report.status()).find("backup"), std::string::npos)
          << what << ": " << MessageOf(report.status());
      continue;
    }
    ++repaired;
    const auto after = Read(damaged, false);
    ASSERT_TRUE(after.ok()) << what << ": " << MessageOf(after.status());
    const bool mended = std::any_of(
        report->done.begin(), report->done.end(),
        [](const std::string& line) { return line.find("mended") != std::string::npos; });
    EXPECT_TRUE(mended || dumps_.contains(*after)) << what << " was repaired to something else";
  }
  std::printf(
      "%llu damaged files: %llu right answers, %llu times DATA_LOSS, of which %llu could "
      "be repaired\n",
      static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(right),
      static_cast<unsigned long long>(lost), static_cast<unsigned long long>(repaired));
  if (rounds >= 60) {
    EXPECT_GT(right, 0u);
    EXPECT_GT(repaired, 0u);
    EXPECT_GT(lost, repaired);
  }
}

// The log's last record, which nobody was told of, may be forgotten: of any length that is left.
TEST_F(DamageTest, WhatWasNotAcknowledgedMayBeForgotten) {
  std::string last_log;
  for (const std::string& log : by_kind_[".log"]) last_log = std::max(last_log, log);
  std::ifstream source(last_log, std::ios::binary);
  std::string record(500, '\0');
  source.read(record.data(), static_cast<std::streamsize>(record.size()));
  // Less than one record: a header of 7 bytes has its length from the fifth byte on.
  constexpr size_t kHeader = 7;
  const size_t length = static_cast<uint8_t>(record[4]) + 256u * static_cast<uint8_t>(record[5]);
  record.resize(std::min<size_t>(static_cast<size_t>(source.gcount()), kHeader + length - 1));
  for (const size_t torn : {size_t{1}, kHeader - 1, kHeader, record.size()}) {
    const std::string folder = temp_ / "torn";
    Copy(folder);
    // The beginning of a record, as a process leaves it that dies while it writes.
    std::ofstream log(folder + last_log.substr(killed_.size()), std::ios::app | std::ios::binary);
    log << record.substr(0, torn);
    log.close();
    const auto read = Read(folder, false);
    ASSERT_TRUE(read.ok()) << torn << ": " << MessageOf(read.status());
    EXPECT_EQ(*read, expected_) << torn;
  }
}

// A whole database of an earlier moment in the place of the newest is noticed too.
TEST_F(DamageTest, AnOlderDatabaseIsNoticed) {
  TempFolder temp;
  const std::string path = temp / "g";
  auto store = GraphStore::Open(path, TestOptions()).value();
  ASSERT_TRUE(store->Commit(AddVertexBatch(0, Value::Long(1))).ok());
  fs::copy(path + "/db", temp / "older", fs::copy_options::recursive);
  ASSERT_TRUE(store->Commit(AddVertexBatch(1, Value::Long(2))).ok());
  store = nullptr;
  ASSERT_TRUE(RemovePath(path + "/db").ok());
  fs::copy(temp / "older", path + "/db", fs::copy_options::recursive);
  EXPECT_EQ(GraphStore::Open(path, SmallBuffers()).status().code(), StatusCode::kDataLoss);
}

// Graphs of a Koios that kept no mark open, and get one.
TEST_F(DamageTest, AGraphWithoutAMarkOfAnOlderFormatGetsOne) {
  const fs::path mark = by_kind_["MARK"].at(0);
  ASSERT_TRUE(fs::remove(mark));
  EXPECT_EQ(Read(killed_, false).status().code(), StatusCode::kDataLoss);
  ASSERT_TRUE(WriteFileDurably(mark.parent_path() / "FORMAT", "koios graph 2\n").ok());
  EXPECT_EQ(Read(killed_, true).value(), expected_);
  EXPECT_FALSE(fs::exists(mark));
  EXPECT_EQ(Read(killed_, false).value(), expected_);
  EXPECT_TRUE(fs::exists(mark));
  for (const auto& entry : fs::directory_iterator(mark.parent_path() / "db")) {
    if (entry.path().extension() == ".log") fs::remove(entry.path());
  }
  // What was replayed is in tables now, so nothing is lost with the new log, which is empty.
  EXPECT_EQ(Read(killed_, false).value(), expected_);
}

}  // namespace
}  // namespace koios::storage
