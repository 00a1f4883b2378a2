// ColumnType: what the text of a column means, and the conversion of a field to a Value.
// The names are those of both tools people come from (Neptune's loader, neo4j-admin), upper or
// lower case; `T[]` is a list in one value. Rule: no value is rounded, cut or guessed; what does
// not fit its type is an error that says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/value.h"
#include "import/csv/csv_options.h"

namespace koios::import {

enum class ScalarType : uint8_t {
  kBool,
  kByte,
  kShort,
  kInt,
  kLong,
  kBigInteger,
  kFloat,
  kDouble,
  kBigDecimal,
  kString,
  kChar,
  kDateTime,  // date, datetime, localdatetime: ISO 8601; without an offset it is UTC
  kTime,      // time, localtime: checked, kept as the string it is (Gremlin has no such type)
  kDuration,  // ISO 8601: PnDTnHnMn.nS
  kUuid,
};

struct ColumnType {
  ScalarType scalar = ScalarType::kString;
  bool list = false;
  bool operator==(const ColumnType&) const = default;
};

// INVALID_ARGUMENT with the known names.
StatusOr<ColumnType> ParseColumnType(std::string_view name);

// One scalar. False, and *why, when the text is no such value. Blanks around numbers, booleans and
// dates are ignored.
bool ParseScalar(ScalarType type, std::string_view text, Value* value, std::string* why);
// A field of the type: a scalar, or a list split at the array delimiter (`\;` is no split).
bool ParseField(ColumnType type, std::string_view text, const CsvOptions& options, Value* value,
                std::string* why);

}  // namespace koios::import
