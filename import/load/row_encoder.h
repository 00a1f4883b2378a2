// RowEncoder: turns the rows of one file into records, or into bad rows that say what is wrong.
// Immutable once made; any number of threads may encode chunks of the file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "import/csv/row_parser.h"
#include "import/load/bins.h"
#include "import/load/id_table.h"
#include "import/load/label_cache.h"
#include "import/load/record_block.h"
#include "import/load/source_table.h"
#include "storage/bulk_writer.h"

namespace koios::import {

// The property that keeps the original of an id in a space.
inline constexpr std::string_view kOriginalIdKey = "id";

// What records are made for.
struct EncodeTarget {
  Bins bins;
  const IdSpaces* spaces = nullptr;
  const IdTable* ids = nullptr;  // of the vertices; null: ends of edges stay ids
};

class RowEncoder {
 public:
  // Interns the file's label and property keys.
  static StatusOr<std::unique_ptr<RowEncoder>> Create(const SourceTable& table, uint32_t file,
                                                      const Sources& sources,
                                                      const EncodeTarget& target,
                                                      storage::BulkWriter* writer,
                                                      LabelCache* labels);

  // All rows of a chunk, the header left out when the chunk starts the file and has one.
  Status EncodeChunk(const Chunk& chunk, const std::function<bool()>& wait_for_turn,
                     RecordBlock* block) const;

 private:
  struct PropertyColumn {
    KeyId key;
    size_t column;
    ColumnType type;
    bool is_id;  // the original of an id: an integer or a string, as it was read
  };
  // An id as it was read, without its space.
  struct RawId {
    bool is_number = false;
    int64_t number = 0;
    std::string_view text;
  };
  // An edge whose ends are being fetched from the table of ids.
  struct WaitingEdge;
  struct RowState;  // scratch of one EncodeChunk

  RowEncoder(const TablePlan& plan, uint32_t file, const Sources& sources,
             const EncodeTarget& target, LabelCache* labels);
  Status InternNames(storage::BulkWriter* writer);
  Status EncodeRow(const Row& row, bool chunk_is_utf8, const std::function<bool()>& wait_for_turn,
                   RowState* state, RecordBlock* block) const;
  bool CheckRow(const Row& row, bool chunk_is_utf8, BadRow* bad) const;
  // False: *bad says why.
  bool ReadId(const Row& row, size_t column, RawId* id, BadRow* bad) const;
  // The label of a row that names one. False: *bad says why.
  StatusOr<bool> ReadLabel(std::string_view text, const std::function<bool()>& wait_for_turn,
                           RowState* state, LabelId* label, BadRow* bad) const;
  // The bytes of the id in its column's space.
  void AppendIdBytes(size_t column, const RawId& id, std::string* out) const;
  // The key of those bytes in the id family, and its bin.
  size_t AppendIdKey(std::string_view id_bytes, std::string* out) const;
  // Appends all properties; `original` is the id of the row, if it has one.
  bool AppendProperties(const Row& row, const RawId* original, std::string* out, BadRow* bad) const;
  bool EncodeVertexRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                       BadRow* bad) const;
  bool EncodeEdgeRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                     BadRow* bad) const;
  void AddEdge(std::string_view key, size_t bin, std::string_view value, std::string_view id_bytes,
               const RecordSource& source, RowState* state, RecordBlock* block) const;
  // Looks up the ends of the edges that wait.
  void ResolveWaiting(RowState* state, RecordBlock* block) const;
  void AddBad(BadRow bad, uint64_t line, std::string_view raw, RecordBlock* block) const;

  TablePlan plan_;
  uint32_t file_;
  CsvOptions csv_;
  IdType id_type_;
  EncodeTarget target_;
  LabelCache* labels_;
  LabelId default_label_ = kNoName;
  std::optional<size_t> id_column_, label_column_, start_column_, end_column_;
  uint32_t out_space_ = 0, in_space_ = 0;   // of the ends
  std::vector<PropertyColumn> properties_;  // ascending by key
};

}  // namespace koios::import
