// Ordinals: where rows stand in the traversal's order. An ordinal is a sequence of numbers: what
// order() gave the row, then a number for each operator that made several rows of one. In
// `V().order().out().out()` it is 17, 3, 0 for the first neighbour of the fourth neighbour of
// row 17. They sort as sequences do: by the first number that differs, and what is a beginning of
// another one first.
//
// Each number is a code of bits; the codes sort as the numbers do and none begins another one, so
// that their bits, one code behind the other, sort as the sequence:
//   0 and 2 bits           0 .. 2, as 01, 10, 11: 000 is the end
//   10 and 4, 110 and 8, 1110 and 14, 11110 and 22, 111110 and 39 bits: the numbers that follow
//   111111, then 0 and 5, 10 and 12, or 11 and 39 bits: the counter of a loop, while the row is in
//   it
// Up to 63 bits are a long, from its second highest bit on; more are a string of bytes. A column
// has longs while all its rows fit, else strings, the short ones of 8 bytes. Batches of one query
// may have either, and what is joined of them both: CompareOrdinals() knows.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "core/column.h"

namespace koios::engine {

// Every number is below; a counter stops there.
inline constexpr uint64_t kOrdinalEnd = uint64_t{1} << 39;

// Each row's number behind its ordinal; a column without rows gets one for each number.
// REQUIRES: as many numbers as rows; each below kOrdinalEnd.
void AppendOrdinals(std::span<const uint64_t> numbers, Column* ordinals);
// The same number behind all.
void AppendOrdinal(uint64_t number, Column* ordinals);
// Appends the ordinal of a row of `from` to `to`, with the number behind it.
void AppendOrdinalOf(const Column& from, size_t row, uint64_t number, Column* to);

// A loop's counter stands in the ordinal where the loop was entered, before what its body appends:
// earlier iterations sort first. It is marked as long as the row is in the loop; the last mark is
// the innermost loop's. Rows that a barrier in the loop has numbered anew have none.
void EnterLoops(Column* ordinals);
void CountLoops(Column* ordinals);
void LeaveLoops(Column* ordinals);

// Of two rows' entries, from columns of either kind.
std::strong_ordering CompareOrdinals(const Value& a, const Value& b);
// Whether all entries can be ordinals: for columns that nobody trusts. All longs and strings can,
// as the functions here read any bits.
bool AreOrdinals(const Column& column);

}  // namespace koios::engine
