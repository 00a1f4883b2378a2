#include "planner/cost/estimates.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "proto/plan.pb.h"

namespace koios::planner {
namespace {

// What is expected where nothing is known.
constexpr double kShareOfEquals = 0.1;
constexpr double kShareOfOrdering = 0.3;
constexpr double kShareOfText = 0.1;
constexpr double kShareOfAnything = 0.5;
constexpr double kDegree = 4;
constexpr double kScanned = 1000;

std::optional<double> NumberOf(const Value& value) {
  if (value.kind() == ValueKind::kDateTime) {
    const DateTime when = value.AsDateTime();
    return static_cast<double>(when.seconds) * 1000 + when.nanos / 1'000'000;
  }
  if (value.kind() == ValueKind::kFloat || value.kind() == ValueKind::kDouble) {
    return value.AsDouble();
  }
  if (value.kind() < ValueKind::kByte || value.kind() > ValueKind::kLong) return std::nullopt;
  return static_cast<double>(value.AsInteger());
}

double Limited(double share) { return share > 0 ? std::min(share, 1.0) : 0; }

bool IsPropertyOfCurrent(const Expression& expression) {
  return IsCall(expression, "property") && IsCurrent(*expression.args[0]);
}

const PlanValue* ConstantOf(const Expression& expression) {
  return expression.kind == Expression::Kind::kConstant ? &expression.constant : nullptr;
}

// The share of those who have the property (null: not known) that have one of so many values.
double ShareThatIs(const PropertyStatistics* property, double values) {
  return Limited(property == nullptr ? kShareOfEquals * values
                                     : values / std::max(property->distinct, 1.0));
}

// The range that the parts of an and() leave of one property, of those parts that are bounds of it.
struct Range {
  const Expression* read = nullptr;
  const PlanValue* low = nullptr;
  const PlanValue* high = nullptr;

  // False: the part is no bound, or of another property.
  bool Take(const Expression& part) {
    if (!IsCallWith(part, plan::kOrdering) || !IsPropertyOfCurrent(*part.args[0])) return false;
    const PlanValue* bound = ConstantOf(*part.args[1]);
    if (bound == nullptr || (read != nullptr && !SameExpression(*read, *part.args[0]))) {
      return false;
    }
    const bool is_low = IsCall(part, "gt") || IsCall(part, "gte");
    const PlanValue*& end = is_low ? low : high;
    if (end != nullptr) return false;
    end = bound;
    read = part.args[0].get();
    return true;
  }
};

}  // namespace

double WorkOf(const Expression& expression) {
  if (expression.kind != Expression::Kind::kCall) return 0;
  double work = 1;
  if (expression.function->Has(plan::kReadsElement)) work = 2;
  if (expression.function->Has(plan::kReadsProperty)) work = 4;
  if (expression.function->Has(plan::kReadsEdges)) work = 8;
  if (expression.function->Has(plan::kReadsProperties)) work = 20;
  if (expression.function->Has(plan::kTextTest)) work = 10;
  if (IsCall(expression, "regex") || IsCall(expression, "notRegex")) work = 40;
  for (const ExpressionPtr& arg : expression.args) work += WorkOf(*arg);
  return work;
}

double ShareOfRange(const PropertyStatistics& property, const PlanValue* low,
                    const PlanValue* high) {
  const double unknown =
      (low == nullptr ? 1 : kShareOfOrdering) * (high == nullptr ? 1 : kShareOfOrdering);
  if (!property.has_range) return unknown;
  const std::optional<double> from = low == nullptr ? std::nullopt : NumberOf(*low);
  const std::optional<double> to = high == nullptr ? std::nullopt : NumberOf(*high);
  if ((low != nullptr && !from) || (high != nullptr && !to)) return unknown;
  const double least = std::max(property.least, from.value_or(property.least));
  const double largest = std::min(property.largest, to.value_or(property.largest));
  const double all = property.largest - property.least;
  // One value is there however narrow the range is.
  const double one = 1 / std::max(property.distinct, 1.0);
  if (largest < least) return one / 10;
  return Limited(all > 0 ? std::max((largest - least) / all, one) : 1);
}

Estimates::Estimates(const GraphLook& graph)
    : schema_(graph.schema()), statistics_(schema_ == nullptr ? nullptr : graph.statistics()) {
  if (schema_ == nullptr) return;
  double all = 0;
  for (const auto& [label, count] : schema_->vertex_counts) all += static_cast<double>(count);
  all_vertices_ = std::max(all, 1.0);
}

double Estimates::CountOf(const GraphStatistics::Counts& counts, LabelId label) const {
  const auto found = counts.find(label);
  return found == counts.end() ? 0 : static_cast<double>(found->second);
}

std::vector<LabelId> Estimates::LabelsOf(const std::vector<std::string>& names) const {
  std::vector<LabelId> labels;
  for (const std::string& name : names) {
    const LabelId label = schema_ == nullptr ? kNoName : schema_->labels.Find(name);
    if (label != kNoName) labels.push_back(label);
  }
  return labels;
}

Stream Estimates::Scan(bool of_vertices, const std::vector<std::string>& labels,
                       const std::vector<std::string>& keys) const {
  Stream out;
  out.kind = of_vertices ? Stream::Kind::kVertices : Stream::Kind::kEdges;
  out.known = schema_ != nullptr;
  out.rows = schema_ == nullptr ? kScanned : 0;
  if (schema_ == nullptr) return out;
  const auto& counts = of_vertices ? schema_->vertex_counts : schema_->edge_counts;
  const auto has_all = [&](LabelId label) {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return schema_->property_kinds.contains({label, schema_->keys.Find(key)});
    });
  };
  const auto add = [&](LabelId label, uint64_t count) {
    if (!has_all(label)) return;
    out.rows += static_cast<double>(count);
    if (out.by_label.size() <= Stream::kMostLabels)
      out.by_label[label] = static_cast<double>(count);
  };
  if (labels.empty()) {
    for (const auto& [label, count] : counts) add(label, count);
  }
  for (const LabelId label : LabelsOf(labels)) {
    const uint64_t count = counts.Count(label);
    if (count > 0 && !out.by_label.contains(label)) add(label, count);
  }
  out.Limit(Stream::kMostLabels);
  return out;
}

// Who was reached by such an edge has more of them than others: their mean weighted by degree.
double Estimates::DegreeOf(LabelId vertex_label, Direction direction, LabelId edge_label,
                           LabelId crossed) const {
  const auto found = statistics_->degrees.find({edge_label, direction, vertex_label});
  if (found == statistics_->degrees.end() || found->second.edges == 0) return 0;
  const DegreeStatistics& degrees = found->second;
  const double edges = static_cast<double>(degrees.edges);
  const double mean = crossed == edge_label ? degrees.sum_of_squares / edges : degrees.Mean();
  // Edges that came or went since are thought to be where the others are.
  const double then = CountOf(statistics_->edges, edge_label);
  const double now = static_cast<double>(schema_->edge_counts.Count(edge_label));
  return then > 0 ? mean * now / then : mean;
}

// Of a vertex that may have any label: of one that may have such edges.
double Estimates::DegreeOfAny(LabelId edge_label, Direction direction) const {
  double vertices = 0;
  if (statistics_ != nullptr) {
    for (auto it = statistics_->degrees.lower_bound({edge_label, direction, 0});
         it != statistics_->degrees.end() && it->first.edge_label == edge_label &&
         it->first.direction == direction;
         ++it) {
      vertices += static_cast<double>(it->second.vertices);
    }
  }
  return static_cast<double>(schema_->edge_counts.Count(edge_label)) /
         (vertices > 0 ? vertices : all_vertices_);
}

// `direction`: at which end of the edges the neighbours are.
void Estimates::AddNeighbours(LabelId edge_label, Direction direction, double ends,
                              Stream* to) const {
  const auto begin = statistics_->degrees.lower_bound({edge_label, direction, 0});
  const double all = CountOf(statistics_->edges, edge_label);
  for (auto it = begin; it != statistics_->degrees.end() && all > 0; ++it) {
    const DegreesOf& of = it->first;
    if (of.edge_label != edge_label || of.direction != direction) return;
    const double share = static_cast<double>(it->second.edges) / all;
    if (share > 0) to->by_label[of.vertex_label] += ends * share;
  }
}

Stream Estimates::Ends(const Stream& vertices, Direction direction,
                       const std::vector<std::string>& labels, bool neighbours) const {
  Stream out;
  out.kind = neighbours ? Stream::Kind::kVertices : Stream::Kind::kEdges;
  out.known = vertices.known;
  out.rows = 0;
  if (schema_ == nullptr) {
    out.rows = vertices.rows * kDegree;
    return out;
  }
  std::vector<LabelId> wanted = LabelsOf(labels);
  if (labels.empty()) {
    for (const auto& [label, count] : schema_->edge_counts) wanted.push_back(label);
  }
  out.crossed = wanted.size() == 1 ? wanted[0] : kNoName;
  const bool tells = statistics_ != nullptr && wanted.size() <= 4 * Stream::kMostLabels;
  for (const LabelId label : wanted) {
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (direction != Direction::kBoth && direction != one) continue;
      double ends = 0;
      if (!tells || vertices.by_label.empty()) {
        ends = vertices.rows * DegreeOfAny(label, one);
      } else {
        for (const auto& [of, rows] : vertices.by_label) {
          ends += rows * DegreeOf(of, one, label, vertices.crossed);
        }
      }
      out.rows += ends;
      if (!tells || ends <= 0) continue;
      if (!neighbours) out.by_label[label] += ends;
      const Direction other = one == Direction::kOut ? Direction::kIn : Direction::kOut;
      if (neighbours) AddNeighbours(label, other, ends, &out);
    }
  }
  out.Limit(Stream::kMostLabels);
  return out;
}

Stream Estimates::EndsOf(const Stream& edges, Direction direction) const {
  Stream out;
  out.kind = Stream::Kind::kVertices;
  out.known = edges.known;
  out.rows = edges.rows * (direction == Direction::kBoth ? 2 : 1);
  if (statistics_ == nullptr) return out;
  if (edges.by_label.size() == 1) out.crossed = edges.by_label.begin()->first;
  for (const auto& [label, rows] : edges.by_label) {
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (direction == Direction::kBoth || direction == one) AddNeighbours(label, one, rows, &out);
    }
  }
  out.Limit(Stream::kMostLabels);
  return out;
}

const PropertyStatistics* Estimates::FindProperty(const Expression& read, LabelOf of) const {
  if (statistics_ == nullptr || of.label == kNoName || !IsPropertyOfCurrent(read)) return nullptr;
  const KeyId key = schema_->keys.Find(read.args[1]->constant.AsString());
  const auto& properties =
      of.of_vertices ? statistics_->vertex_properties : statistics_->edge_properties;
  const auto found = properties.find({of.label, key});
  static const PropertyStatistics kNobody;
  // What was there when they were taken, and had no such property.
  const auto& counts = of.of_vertices ? statistics_->vertices : statistics_->edges;
  if (found == properties.end()) return counts.contains(of.label) ? &kNobody : nullptr;
  return &found->second;
}

// How many of the elements have the value that is read.
double Estimates::PresenceOf(const Expression& value, LabelOf of) const {
  const PropertyStatistics* property = FindProperty(value, of);
  if (property == nullptr) return 1;
  const double elements =
      CountOf(of.of_vertices ? statistics_->vertices : statistics_->edges, of.label);
  return elements > 0 ? Limited(static_cast<double>(property->elements) / elements) : 0;
}

// degree(_, direction, label) compared with a constant: of the classes of degrees those count whose
// middle compares so. nullopt: it is something else, or not known.
std::optional<double> Estimates::ShareOfDegrees(const Expression& comparison, LabelOf of) const {
  const Expression& degree = *comparison.args[0];
  const PlanValue* bound = ConstantOf(*comparison.args[1]);
  if (statistics_ == nullptr || bound == nullptr || of.label == kNoName ||
      !IsCall(degree, "degree") || degree.args.size() != 3 || !IsCurrent(*degree.args[0])) {
    return std::nullopt;
  }
  const std::optional<double> with = NumberOf(*bound);
  if (!with) return std::nullopt;
  const int64_t direction = degree.args[1]->constant.AsInteger();
  if (direction != plan::OUT && direction != plan::IN) return std::nullopt;
  const auto found = statistics_->degrees.find(
      {schema_->labels.Find(degree.args[2]->constant.AsString()),
       direction == plan::OUT ? Direction::kOut : Direction::kIn, of.label});
  const bool counted = found != statistics_->degrees.end() && found->second.vertices > 0;
  const auto holds = [&comparison, with](double middle) {
    if (IsCall(comparison, "gt")) return middle > *with;
    if (IsCall(comparison, "gte")) return middle >= *with;
    if (IsCall(comparison, "lt")) return middle < *with;
    return IsCall(comparison, "lte") && middle <= *with;
  };
  if (!counted) return holds(0) ? 1 : 0;  // none of the label has any
  double vertices = 0;
  for (size_t i = 0; i < kNumDegreeClasses; ++i) {
    // 0, 1, 3 where they are below 4, 6 where they are below 8, and so on.
    const double middle = i < 2 ? static_cast<double>(i) : std::ldexp(0.75, static_cast<int>(i));
    if (holds(middle)) vertices += static_cast<double>(found->second.classes[i]);
  }
  return Limited(vertices / static_cast<double>(found->second.vertices));
}

double Estimates::ShareOfComparison(const Expression& comparison, LabelOf of) const {
  const PropertyStatistics* property = FindProperty(*comparison.args[0], of);
  const double presence = PresenceOf(*comparison.args[0], of);
  const PlanValue* constant = ConstantOf(*comparison.args[1]);
  if (IsCallWith(comparison, plan::kTextTest)) {
    const bool is_not = comparison.function->name.starts_with("not");
    return presence * (is_not ? 1 - kShareOfText : kShareOfText);
  }
  if (IsCallWith(comparison, plan::kMembership)) {
    const double values = constant != nullptr && constant->is_collection()
                              ? static_cast<double>(constant->AsList().size())
                              : 1;
    const double share = ShareThatIs(property, values);
    return presence * (IsCall(comparison, "without") ? 1 - share : share);
  }
  if (IsCallWith(comparison, plan::kOrdering)) {
    if (const auto share = ShareOfDegrees(comparison, of)) return *share;
    Range range;
    if (property == nullptr || !range.Take(comparison)) return presence * kShareOfOrdering;
    return presence * ShareOfRange(*property, range.low, range.high);
  }
  const bool is_vertex = of.of_vertices && IsCurrent(*comparison.args[0]);
  const double share = is_vertex ? 1 / all_vertices_ : ShareThatIs(property, 1);
  return presence * (IsCall(comparison, "neq") ? 1 - share : share);
}

double Estimates::ShareOfLabel(const Expression& predicate, LabelOf of) const {
  if (predicate.kind == Expression::Kind::kConstant) return IsTrue(predicate) ? 1 : 0;
  if (predicate.kind != Expression::Kind::kCall) return kShareOfAnything;
  if (IsCall(predicate, "and")) {
    double share = 1;
    Range range;
    for (const ExpressionPtr& part : predicate.args) {
      if (!range.Take(*part)) share *= ShareOfLabel(*part, of);
    }
    if (range.read == nullptr) return share;
    const PropertyStatistics* property = FindProperty(*range.read, of);
    const double in_range =
        ShareOfRange(property == nullptr ? PropertyStatistics() : *property, range.low, range.high);
    return share * PresenceOf(*range.read, of) * in_range;
  }
  if (IsCall(predicate, "or")) {
    double none = 1;
    for (const ExpressionPtr& part : predicate.args) none *= 1 - ShareOfLabel(*part, of);
    return 1 - none;
  }
  if (IsCall(predicate, "not")) return 1 - ShareOfLabel(*predicate.args[0], of);
  if (IsCall(predicate, "present")) {
    const Expression& value = *predicate.args[0];
    return FindProperty(value, of) == nullptr ? kShareOfAnything : PresenceOf(value, of);
  }
  if (IsCall(predicate, "has_id")) {
    const double ids = static_cast<double>(predicate.args[1]->constant.AsList().size());
    return Limited(ids / all_vertices_);
  }
  if (IsCall(predicate, "label_in")) {
    if (of.label == kNoName || !IsCurrent(*predicate.args[0])) return kShareOfAnything;
    const std::string& name = schema_->labels.Name(of.label);
    const auto is_it = [&name](const ExpressionPtr& arg) {
      const PlanValue* wanted = ConstantOf(*arg);
      return wanted != nullptr && wanted->kind() == ValueKind::kString &&
             wanted->AsString() == name;
    };
    return std::any_of(predicate.args.begin() + 1, predicate.args.end(), is_it) ? 1 : 0;
  }
  const uint32_t compares =
      plan::kComparison | plan::kMembership | plan::kTextTest | plan::kOrdering;
  return IsCallWith(predicate, compares) ? ShareOfComparison(predicate, of) : kShareOfAnything;
}

double Estimates::ShareOf(const Expression& predicate, const Stream& rows) const {
  const bool of_vertices = rows.kind == Stream::Kind::kVertices;
  if (rows.by_label.empty() || rows.rows <= 0 || rows.kind == Stream::Kind::kOther) {
    return ShareOfLabel(predicate, {of_vertices, kNoName});
  }
  Stream left = rows;
  Filter(predicate, &left);
  return Limited(left.rows / rows.rows);
}

void Estimates::Filter(const Expression& predicate, Stream* rows) const {
  const bool of_vertices = rows->kind == Stream::Kind::kVertices;
  if (rows->by_label.empty() || rows->kind == Stream::Kind::kOther) {
    rows->Scale(ShareOfLabel(predicate, {of_vertices, kNoName}));
    return;
  }
  rows->rows = 0;
  for (auto& [label, of_label] : rows->by_label) {
    of_label *= ShareOfLabel(predicate, {of_vertices, label});
    rows->rows += of_label;
  }
  std::erase_if(rows->by_label, [](const auto& one) { return one.second <= 0; });
}

}  // namespace koios::planner
