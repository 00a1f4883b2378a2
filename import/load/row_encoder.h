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
#include "import/load/label_cache.h"
#include "import/load/record_block.h"
#include "import/load/source_table.h"
#include "storage/bulk_writer.h"

namespace koios::import {

// The property that keeps the original of an id in a space.
inline constexpr std::string_view kOriginalIdKey = "id";

class RowEncoder {
 public:
  // Interns the file's label and property keys.
  static StatusOr<std::unique_ptr<RowEncoder>> Create(const SourceTable& table, uint32_t file,
                                                      const Sources& sources,
                                                      storage::BulkWriter* writer,
                                                      LabelCache* labels);

  // All rows of a chunk, the header left out when the chunk starts the file and has one.
  Status EncodeChunk(const Chunk& chunk, const std::function<bool()>& wait_for_turn,
                     RecordBlock* block) const;

  // The column (from 1) of the edge's start or end, for reports of missing ends.
  uint32_t ColumnOfEnd(ColumnRole role) const;

 private:
  struct PropertyColumn {
    KeyId key;
    size_t column;
    ColumnType type;
    bool is_id;  // the original of an id: an integer or a string, as it was read
  };
  struct RowState;  // scratch of one EncodeChunk

  RowEncoder(const TablePlan& plan, uint32_t file, const Sources& sources, uint32_t num_partitions,
             LabelCache* labels);
  Status InternNames(storage::BulkWriter* writer);
  Status EncodeRow(const Row& row, bool chunk_is_utf8, const std::function<bool()>& wait_for_turn,
                   RowState* state, RecordBlock* block) const;
  bool CheckRow(const Row& row, bool chunk_is_utf8, BadRow* bad) const;
  // The id in the column with its space, normalised, and as it was read. False: *bad says why.
  bool ReadId(const Row& row, size_t column, Value* id, Value* original, BadRow* bad) const;
  std::string ReadLabel(std::string_view text) const;  // "": the row has none
  bool ReadProperties(const Row& row, const Value& original, RowState* state, BadRow* bad) const;
  bool EncodeVertexRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                       BadRow* bad) const;
  bool EncodeEdgeRow(const Row& row, LabelId label, RowState* state, RecordBlock* block,
                     BadRow* bad) const;

  TablePlan plan_;
  uint32_t file_;
  CsvOptions csv_;
  IdType id_type_;
  uint32_t num_partitions_;
  LabelCache* labels_;
  LabelId default_label_ = kNoName;
  std::optional<size_t> id_column_, label_column_, start_column_, end_column_;
  std::vector<PropertyColumn> properties_;  // ascending by key
};

}  // namespace koios::import
