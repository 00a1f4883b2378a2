// The mapping file: columns, labels and id spaces for CSV files whose headers say too little.
//   delimiter: '|'            # as the flags; all optional
//   quote: none
//   array-delimiter: ';'
//   id-type: int
//   nodes:
//     - files: 'person_[0-9]*_[0-9]*.csv'   # a pattern (*, ?, [0-9]) or a list of them; matched
//                                           # with the end of the path, .gz and .zst left out
//       label: Person
//       header: true                        # false: the first line is data
//       others: string                      # columns not named below; or ignore
//       columns: {id: ID(Person), birthday: long, 3: 'given:string'}
//   edges:
//     - files: ...                          # columns by header name, or by position from 1
//       label: knows
//       columns: {1: START_ID(Person), 2: END_ID(Person)}
// Unknown words are errors with the line. The first entry whose pattern matches a file is its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "import/header/table_plan.h"

namespace koios::import {

struct MappedTable {
  TableKind kind = TableKind::kNodes;
  std::vector<std::string> patterns;
  std::string label;
  bool has_header = true;
  bool ignore_others = false;
  // Selector (a position from 1, or a header name) and "word" or "name:word", as written.
  std::vector<std::pair<std::string, std::string>> columns;

  bool Matches(std::string_view path) const;
};

struct Mapping {
  std::optional<std::string> delimiter, quote, array_delimiter, id_type;
  std::vector<MappedTable> tables;

  // nullptr when no entry of that kind matches.
  const MappedTable* Find(TableKind kind, std::string_view path) const;
};

// `name` is for messages.
StatusOr<Mapping> ParseMapping(const std::string& text, std::string_view name);
StatusOr<Mapping> ReadMapping(const std::string& path);

// `fields` is the first row; `label` overrides the mapping's.
StatusOr<TablePlan> PlanMappedTable(const MappedTable& table,
                                    const std::vector<std::string>& fields, std::string_view label);

}  // namespace koios::import
