// TablePlan: what each column of a CSV file is, whichever way it was said (Neptune header,
// neo4j-admin header, mapping file). Everything behind the headers reads only this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "import/header/column_type.h"

namespace koios::import {

enum class TableKind : uint8_t { kNodes, kEdges };
enum class Dialect : uint8_t { kAuto, kNeptune, kNeo4j };
// kAuto: an id that is a canonical decimal is an integer, any other a string.
enum class IdType : uint8_t { kAuto, kInt, kString };
enum class ColumnRole : uint8_t { kProperty, kId, kLabel, kStart, kEnd, kIgnore };

inline constexpr size_t kMaxColumns = 16'384;

struct ColumnPlan {
  ColumnRole role = ColumnRole::kProperty;
  std::string name;   // of the property; an id column with a name is kept as a property, too
  ColumnType type;    // of the property
  std::string space;  // of kId, kStart, kEnd; empty: the ids are the graph's own
  std::optional<IdType> id_type;  // when the header says one
};

struct TablePlan {
  TableKind kind = TableKind::kNodes;
  std::string label;  // of rows without one of their own
  std::vector<ColumnPlan> columns;

  // Index of the first column of the role.
  std::optional<size_t> Find(ColumnRole role) const;
};

// Ids are unique in a plan: one id column, both ends for edges, no property twice; names the
// column.
Status CheckPlan(const TablePlan& plan);

// The words of neo4j-admin's headers, which mapping files share: "ID(Space)", "START_ID", "END_ID",
// "LABEL", "TYPE", "IGNORE", else a type. `name` is the property's.
StatusOr<ColumnPlan> ParseColumnWord(std::string_view name, std::string_view word, TableKind kind);

}  // namespace koios::import
