// The two header dialects, read into a TablePlan.
//   Neptune:      ~id, ~label, ~from, ~to, name:type, name:type[], name:type(single)
//   neo4j-admin:  name:ID(Space), :LABEL, :START_ID(Space), :END_ID(Space), :TYPE, :IGNORE,
//                 name:type, name:type[]
// Auto picks the dialect by the header: a name with ~ is Neptune's, a :ID, :START_ID, :END_ID,
// :TYPE or :LABEL neo4j-admin's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "import/header/table_plan.h"

namespace koios::import {

// `label` is what the command line says (`Person=file.csv`), or empty. INVALID_ARGUMENT names the
// column and what it may be. Blanks around a field are not of it.
StatusOr<TablePlan> ParseHeader(std::vector<std::string> fields, Dialect dialect, TableKind kind,
                                std::string_view label);

}  // namespace koios::import
