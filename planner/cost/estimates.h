// Estimates: what schema and statistics say of a graph, in numbers for a cost model. What they do
// not say has a default, so everything has an answer, and the same one each time. Counts are those
// of the schema, which are exact; degrees and values those of the statistics, which lag behind.
// Any thread; refers to both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"
#include "planner/cost/stream.h"
#include "planner/expression.h"
#include "planner/graph_look.h"

namespace koios::planner {

class Estimates {
 public:
  // Looks at all of it.
  explicit Estimates(const GraphLook& graph);

  bool has_statistics() const { return statistics_ != nullptr; }
  double AllVertices() const { return all_vertices_; }
  // Vertices, or edges, of these labels; empty: of all. Of vertices only of labels some of whose
  // vertices have had each of the keys.
  Stream Scan(bool of_vertices, const std::vector<std::string>& labels,
              const std::vector<std::string>& keys = {}) const;

  // The ends of edges of these labels (empty: of all) that the vertices have in the direction, and
  // then as whom: edges by their label, or the neighbours by theirs.
  Stream Ends(const Stream& vertices, Direction direction, const std::vector<std::string>& labels,
              bool neighbours) const;
  // The vertices at that end of the edges.
  Stream EndsOf(const Stream& edges, Direction direction) const;

  // The share of the rows for which the predicate of the current value is true.
  double ShareOf(const Expression& predicate, const Stream& rows) const;
  // And those rows.
  void Filter(const Expression& predicate, Stream* rows) const;

 private:
  // Rows of a class of elements, for which shares are known.
  struct LabelOf {
    bool of_vertices;
    LabelId label;
  };
  double CountOf(const GraphStatistics::Counts& counts, LabelId label) const;
  std::vector<LabelId> LabelsOf(const std::vector<std::string>& names) const;
  double DegreeOf(LabelId vertex_label, Direction direction, LabelId edge_label,
                  LabelId crossed) const;
  double DegreeOfAny(LabelId edge_label, Direction direction) const;
  void AddNeighbours(LabelId edge_label, Direction direction, double ends, Stream* to) const;
  double ShareOfLabel(const Expression& predicate, LabelOf of) const;
  std::optional<double> ShareOfDegrees(const Expression& comparison, LabelOf of) const;
  double ShareOfComparison(const Expression& comparison, LabelOf of) const;
  const PropertyStatistics* FindProperty(const Expression& read, LabelOf of) const;
  double PresenceOf(const Expression& value, LabelOf of) const;

  const Schema* const schema_;
  const GraphStatistics* const statistics_;
  double all_vertices_ = 1;
};

// A vertex found by an index, where a vertex scanned is 1.
inline constexpr double kWorkOfSeek = 8;

// What it costs to evaluate it for a row; 1 is a comparison of what is at hand.
double WorkOf(const Expression& expression);

// The share of the values of a property that a range leaves; the ends are null where it has none.
// They are looked at only where the property's range is known.
double ShareOfRange(const PropertyStatistics& property, const PlanValue* low,
                    const PlanValue* high);

}  // namespace koios::planner
