// The independent answer: a random traversal, step by step over all of its rows.
#include <algorithm>
#include <iterator>
#include <map>

#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

constexpr size_t kMaxRows = 20'000;

// With paths each row is its path, and its value the last object.
using Rows = std::vector<Value>;

Value CurrentOf(const Value& row) {
  return row.kind() == ValueKind::kPath ? row.AsPath().object() : row;
}

Value PathTo(PathData path, Value object) {
  path.objects.push_back(std::move(object));
  path.labels.push_back({kPathLabel});
  return Made(Value::Of(std::move(path)));
}

bool IsSimple(const Value& path) {
  const ValueList objects = ObjectsOf(path);
  for (size_t a = 0; a < objects.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (Equivalent(objects[a], objects[b])) return false;
    }
  }
  return true;
}

class Evaluator {
 public:
  explicit Evaluator(GraphState graph) : graph_(std::move(graph)) {}

  Rows Run(const Traversal& steps, Rows rows) {
    for (const Step& step : steps) {
      rows = RunStep(step, rows);
      work_ += rows.size();
      if (work_ > kMaxRows) {
        too_large_ = true;
        return {};
      }
    }
    return rows;
  }

  bool too_large() const { return too_large_; }
  // Notes when the iterations of this loop are through.
  void Watch(const Step* loop) { watched_ = loop; }
  const std::vector<size_t>& iterations() const { return iterations_; }
  GraphState TakeGraph() { return std::move(graph_); }

 private:
  Rows RunStep(const Step& step, const Rows& rows) {
    Rows out;
    switch (step.kind) {
      case Kind::kOut:
        return Neighbours(rows, Direction::kOut);
      case Kind::kIn:
        return Neighbours(rows, Direction::kIn);
      case Kind::kBoth:
        return Neighbours(rows, Direction::kBoth);
      case Kind::kHasOver:
        for (const Value& row : rows) {
          for (const Value& n : Numbers({row})) {
            if (n.AsInteger() > step.number) out.push_back(row);
          }
        }
        return out;
      case Kind::kOver:
        for (const Value& row : rows) {
          if (row.AsInteger() > step.number) out.push_back(row);
        }
        return out;
      case Kind::kMerge:
        return rows;
      case Kind::kSimplePath:
        std::copy_if(rows.begin(), rows.end(), std::back_inserter(out), IsSimple);
        return out;
      case Kind::kDedup:
        return Distinct(rows, &seen_[&step]);
      case Kind::kValues:
        return Numbers(rows);
      case Kind::kCount:
        return {Value::Long(static_cast<int64_t>(rows.size()))};
      case Kind::kSum:
      case Kind::kMin:
      case Kind::kMax:
        return Reduce(step.kind, rows);
      case Kind::kLimitCount:
        return {Value::Long(std::min<int64_t>(step.number, static_cast<int64_t>(rows.size())))};
      case Kind::kGroup:
        return Groups(step.number, rows);
      case Kind::kUnion:
      case Kind::kWhere:
      case Kind::kNot:
      case Kind::kOptional:
      case Kind::kLocal:
      case Kind::kCoalesce:
        return RunChildren(step, rows);
      case Kind::kRepeat:
      case Kind::kRepeatEmit:
        return Repeat(step, rows);
      case Kind::kAggregate:
      case Kind::kWithout:
      case Kind::kCapUnfold:
        return RunEffect(step, rows);
      case Kind::kSetNumber:
      case Kind::kAddVertex:
      case Kind::kAddVertexTo:
      case Kind::kAddEdge:
      case Kind::kDrop:
        return RunChange(step, rows);
      case Kind::kCountScan:
        for (const auto& [vertex, is] : graph_.vertices()) out.push_back(Value::Of(vertex));
        return out;
    }
    return out;
  }

  Rows RunChildren(const Step& step, const Rows& rows) {
    Rows out;
    if (step.kind == Kind::kUnion) {
      for (const Traversal& child : step.children) {
        if (rows.empty()) break;  // a branch that nobody enters is silent
        for (Value& value : Run(child, rows)) out.push_back(std::move(value));
      }
      return out;
    }
    for (const Value& row : rows) {
      if (step.kind == Kind::kWhere || step.kind == Kind::kNot) {
        const bool empty = RunInstance(step.children[0], row).empty();
        if (empty == (step.kind == Kind::kNot)) out.push_back(row);
        continue;
      }
      for (Value& value : FirstResults(step, row)) out.push_back(std::move(value));
    }
    return out;
  }

  // All that is read is read before anything of it is changed.
  Rows RunChange(const Step& step, const Rows& rows) {
    if (step.kind == Kind::kAddEdge) return AddEdges(step.number, rows);
    if (step.kind == Kind::kDrop && step.number % 3 != 0) CountEdges(rows);
    Rows out;
    for (const Value& row : rows) {
      if (step.kind == Kind::kSetNumber) {
        const auto number = step.number == 0 ? std::nullopt : std::optional(step.number);
        graph_.SetNumber(row.AsVertex(), number);
        out.push_back(row);
      } else if (step.kind == Kind::kDrop) {
        Drop(step.number, row.AsVertex());
      } else {
        const bool itself = step.number == kRowItself;
        const VertexRef added = graph_.AddVertex(itself ? row.AsInteger() : step.number);
        const bool links = step.kind == Kind::kAddVertex && !itself && step.number % 2 == 1;
        if (links) graph_.AddEdge(row.AsVertex(), added);
        out.push_back(step.kind == Kind::kAddVertex ? Value::Of(added) : row);
      }
    }
    return out;
  }

  Rows AddEdges(int64_t number, const Rows& rows) {
    std::vector<std::pair<VertexRef, VertexRef>> edges;
    for (const Value& row : rows) {
      if (edges.size() > kMaxRows) break;
      const VertexRef from = row.AsVertex();
      if (number % 3 == 0) {
        edges.emplace_back(from, from);
        continue;
      }
      const GraphState::Vertex& vertex = graph_.At(from);
      for (const VertexRef to : number % 3 == 1 ? vertex.out : vertex.in) {
        edges.emplace_back(from, to);
      }
    }
    Rows out;
    for (const auto& [from, to] : edges) {
      graph_.AddEdge(from, to);
      out.push_back(Value::Of(to));
    }
    return out;
  }

  // The edges of each row are rows before they are dropped.
  void CountEdges(const Rows& rows) {
    for (const Value& row : rows) {
      const GraphState::Vertex& vertex = graph_.At(row.AsVertex());
      work_ += vertex.out.size() + vertex.in.size();
    }
  }

  void Drop(int64_t number, VertexRef vertex) {
    if (number % 3 == 0) return graph_.DropVertex(vertex);
    graph_.DropEdges(vertex, number % 3 == 1 ? Direction::kOut : Direction::kBoth);
  }

  // Of the first child that gives any.
  Rows FirstResults(const Step& step, const Value& row) {
    for (const Traversal& child : step.children) {
      Rows results = RunInstance(child, row);
      if (!results.empty()) return results;
    }
    return step.kind == Kind::kOptional ? Rows{row} : Rows{};
  }

  Rows RunEffect(const Step& step, const Rows& rows) {
    Rows& bag = bags_[step.number];
    if (step.kind == Kind::kCapUnfold) return bag;
    if (step.kind == Kind::kAggregate) {
      bag.insert(bag.end(), rows.begin(), rows.end());
      return rows;
    }
    Rows out;
    for (const Value& row : rows) {
      if (!IsIn(bag, row)) out.push_back(row);
    }
    return out;
  }

  static bool IsIn(const Rows& bag, const Value& row) {
    return std::any_of(bag.begin(), bag.end(),
                       [&row](const Value& member) { return Equals(member, row); });
  }

  // A local child has state of its own.
  Rows RunInstance(const Traversal& child, const Value& row) {
    Seen outer;
    outer.swap(seen_);
    Rows results = Run(child, {row});
    outer.swap(seen_);
    return results;
  }

  // All rows of an iteration together; an iteration that nobody enters is silent.
  Rows Repeat(const Step& step, Rows rows) {
    Rows out;
    for (int64_t i = 0; i < step.number && !rows.empty(); ++i) {
      rows = Run(step.children[0], std::move(rows));
      if (step.kind == Kind::kRepeatEmit) out.insert(out.end(), rows.begin(), rows.end());
      if (&step == watched_) iterations_.push_back(out.size());
    }
    return step.kind == Kind::kRepeatEmit ? out : rows;
  }

  // dedup() remembers over the iterations of a loop.
  static Rows Distinct(const Rows& rows, Rows* seen) {
    Rows out;
    for (const Value& row : rows) {
      if (std::any_of(seen->begin(), seen->end(),
                      [&](const Value& other) { return Equivalent(other, row); })) {
        continue;
      }
      seen->push_back(row);
      out.push_back(row);
    }
    return out;
  }

  Rows Neighbours(const Rows& rows, Direction direction) const {
    Rows out;
    const auto put = [&out](const Value& row, VertexRef other) {
      const Value next = Value::Of(other);
      out.push_back(row.kind() == ValueKind::kPath ? PathTo(Flattened(row), next) : next);
    };
    for (const Value& row : rows) {
      if (out.size() > kMaxRows) break;
      const GraphState::Vertex& vertex = graph_.At(CurrentOf(row).AsVertex());
      if (direction != Direction::kIn) {
        for (const VertexRef other : vertex.out) put(row, other);
      }
      if (direction != Direction::kOut) {
        for (const VertexRef other : vertex.in) put(row, other);
      }
    }
    return out;
  }

  Rows Numbers(const Rows& rows) const {
    Rows out;
    for (const Value& row : rows) {
      const GraphState::Vertex& vertex = graph_.At(CurrentOf(row).AsVertex());
      if (vertex.number.has_value()) out.push_back(Value::Long(*vertex.number));
    }
    return out;
  }

  static Rows Groups(int64_t number, const Rows& rows) {
    Rows out, keys;
    for (const Value& key : Distinct(rows, &keys)) {
      Rows same;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(same),
                   [&key](const Value& row) { return Equivalent(row, key); });
      const auto count = static_cast<int64_t>(same.size());
      out.push_back(number % 3 == 0   ? Value::Long(count)
                    : number % 3 == 1 ? Reduce(Kind::kSum, same)[0]
                                      : key);
    }
    return out;
  }

  // In plain 64-bit arithmetic: the numbers are small.
  static Rows Reduce(Kind kind, const Rows& rows) {
    if (rows.empty()) return {};
    int64_t result = kind == Kind::kSum ? 0 : rows[0].AsInteger();
    for (const Value& row : rows) {
      const int64_t n = row.AsInteger();
      if (kind == Kind::kSum) result += n;
      if (kind == Kind::kMin) result = std::min(result, n);
      if (kind == Kind::kMax) result = std::max(result, n);
    }
    return {Value::Long(result)};
  }

  using Seen = std::map<const Step*, Rows>;
  const Step* watched_ = nullptr;
  std::vector<size_t> iterations_;
  Seen seen_;
  std::map<int64_t, Rows> bags_;  // side-effects
  GraphState graph_;
  size_t work_ = 0;
  bool too_large_ = false;
};

}  // namespace

std::optional<Answer> Evaluate(const RandomQuery& query, const storage::GraphView& view) {
  GraphState graph = GraphState::Read(view);
  Rows vertices;
  for (const auto& [vertex, is] : graph.vertices()) {
    const Value value = Value::Of(vertex);
    vertices.push_back(query.paths ? PathTo({}, value) : value);
  }
  Evaluator evaluator(std::move(graph));
  if (!query.steps.empty()) {
    const Step& last = query.steps.back();
    if (last.kind == Kind::kRepeatEmit && last.lock_step != LockStep::kNone) evaluator.Watch(&last);
  }
  Answer answer;
  answer.rows = evaluator.Run(query.steps, std::move(vertices));
  if (evaluator.too_large()) return std::nullopt;
  answer.iterations = evaluator.iterations();
  answer.graph = evaluator.TakeGraph();
  return answer;
}

}  // namespace koios::simulation
