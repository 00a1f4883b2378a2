// FileStream: one BulkStream into files of one family, and what it learned from the records that
// passed. Belongs to one thread until it is closed.
#pragma once

#include <rocksdb/sst_file_writer.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/bulk_writer.h"
#include "storage/rocks/database.h"
#include "storage/rocks/tables/table_file.h"

namespace koios::storage {

struct IngestFile {
  std::string path;
  std::string first_key, last_key;
};

// What the streams of a load add up to.
struct LoadFacts {
  std::array<std::vector<IngestFile>, kNumFamilies> files;
  std::array<uint64_t, kNumFamilies> records = {};
  uint64_t indexed = 0;  // entries that vertex_index must have
  std::map<LabelId, uint64_t> vertices, edges;
  std::map<std::pair<LabelId, KeyId>, ValueKind> kinds;  // kNull: mixed
  std::set<LabelId> edges_with_properties;
  bool has_given_edge_number = false;  // a given edge id is a number that the load assigned
  int64_t given_edge_number = 0;

  void Add(LoadFacts&& other);
  void NoteKind(LabelId label, KeyId key, ValueKind kind);
};

class FileStream final : public BulkStream {
 public:
  // `new_path` names the next file; `is_assigned` tells whether the load took an edge number;
  // `close` gets the facts, or nothing when the stream is destroyed without Close.
  FileStream(const Database& database, SnapshotDisk* disk, Family family, VertexIndexes indexes,
             std::function<std::string()> new_path, std::function<bool(uint64_t)> is_assigned,
             std::function<void(LoadFacts*)> close)
      : disk_(disk),
        family_(family),
        options_(database.FileOptions(family)),
        indexes_(std::move(indexes)),
        new_path_(std::move(new_path)),
        is_assigned_(std::move(is_assigned)),
        close_(std::move(close)) {}
  ~FileStream() override;

  Status Add(std::string_view key, std::string_view value) override;
  Status Close() override;

 private:
  Status Learn(std::string_view key, std::string_view value);
  Status LearnProperties(LabelId label, std::string_view properties);
  // What is to know of a property with a value of that kind; notes it.
  struct Learned {
    LabelId label = kNoName;
    KeyId key = kNoName;
    ValueKind kind = ValueKind::kNull;
    uint64_t index_entries = 0;  // that it makes
  };
  Learned NoteProperty(LabelId label, KeyId key, ValueKind kind);
  // Of the record before; a file of ours keeps it itself.
  std::string_view LastKey() const {
    return table_ != nullptr ? table_->last_key() : std::string_view(last_key_);
  }
  Status WrongOrder(std::string_view key) const;
  // A file is made by RocksDB's own writer, or, without a filter, by ours.
  Status OpenFile(std::string_view key);
  Status Put(std::string_view key, std::string_view value);
  Status FinishFile();

  SnapshotDisk* const disk_;
  Family family_;
  rocksdb::Options options_;
  VertexIndexes indexes_;
  std::function<std::string()> new_path_;
  std::function<bool(uint64_t)> is_assigned_;
  std::function<void(LoadFacts*)> close_;
  std::unique_ptr<rocksdb::SstFileWriter> file_;
  std::unique_ptr<TableFile> table_;
  IngestFile current_;
  LoadFacts facts_;
  std::unordered_map<uint64_t, ValueKind> seen_kinds_;  // label << 32 | key
  std::vector<Learned> learned_;  // of the last records, by the property's place in its record
  std::string last_key_;
  Status failed_;
  bool closed_ = false;
};

}  // namespace koios::storage
