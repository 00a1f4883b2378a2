// Stream: what is expected to flow between two operations. An estimate: a number of rows, and of
// vertices and edges how many of them have which label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "core/types.h"

namespace koios::planner {

struct Stream {
  enum class Kind : uint8_t { kVertices, kEdges, kOther };
  // More labels than these are not told apart.
  static constexpr size_t kMostLabels = 16;

  Kind kind = Kind::kOther;
  bool known = true;  // else nothing is: a loop was passed, say
  double rows = 1;
  std::map<LabelId, double> by_label;  // rows; empty: of any label
  LabelId crossed = kNoName;  // the vertices were reached by edges of this label, and no others
  // What an index was asked is asked again by filters behind: the share that it left already.
  double sought = 1;

  void Scale(double share) {
    rows *= share;
    for (auto& [label, of_label] : by_label) of_label *= share;
  }
  // The share that a filter leaves of these rows, when it leaves `share` of all.
  double NotSought(double share) {
    if (sought >= 1) return share;
    const double left = std::min(share / sought, 1.0);
    sought = share > 0 ? std::min(sought / share, 1.0) : 1;
    return left;
  }
  void Limit(size_t labels) {
    if (by_label.size() > labels) by_label.clear();
  }
};

// A single one of the rows.
inline Stream OneOf(Stream rows) {
  if (rows.rows > 0) rows.Scale(1 / rows.rows);
  rows.rows = 1;
  rows.sought = 1;
  return rows;
}

}  // namespace koios::planner
