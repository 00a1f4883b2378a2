// A path grows by a node per row, whatever its length (core/path/path.h): rows of one batch that go
// on from the same path share it. Nodes are charged before they are made.
// Rule: labels of one object are distinct; a path is never longer than its steps.
#include "engine/expr/path_functions.h"

#include <algorithm>
#include <unordered_set>

#include "absl/container/flat_hash_map.h"
#include "core/path/path.h"
#include "core/value_compare.h"
#include "engine/expr/each_row.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// The path in a row, not copied; null when there is none, or no operand.
const Value& PathAt(const Operand* paths, size_t row) {
  static const Value kNone;
  if (paths == nullptr || !paths->Present(row)) return kNone;
  const Operand& operand = *paths;
  if (!operand.is_constant && operand.column->kind() != Column::Kind::kValue) return kNone;
  const Value& value = operand.is_constant ? operand.constant : operand.column->ValueAt(row);
  return value.kind() == ValueKind::kPath ? value : kNone;
}

// Where a path ends for those who walk back; nullptr: there is no object.
const PathNode* LastOf(const Value& path) {
  return path.is_null() || path.AsPath().length() == 0 ? nullptr : &path.AsPath();
}

size_t PathLength(const Value& path) { return path.is_null() ? 0 : path.AsPath().length(); }

bool HasLabel(const PathNode& node, const std::string& label) {
  const auto labels = node.labels();
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The label lists of one call, by those of the paths it reads: no text is copied for a row.
class Relabelling {
 public:
  // Each list as it is, followed by the constant arguments from `first` on that it lacks.
  Relabelling(PathMaker* maker, const Args& args, size_t first) : maker_(maker) {
    for (size_t i = first; i < args.size(); ++i) more_.push_back(args[i]->constant.AsString());
  }

  const PathLabels* Of(const PathLabels* labels) {
    if (labels == nullptr && more_.empty()) return nullptr;
    const auto [found, fresh] = lists_.try_emplace(labels);
    if (fresh) {
      PathLabels all = labels == nullptr ? PathLabels() : *labels;
      for (const std::string& label : more_) {
        if (std::find(all.begin(), all.end(), label) == all.end()) all.push_back(label);
      }
      found->second = maker_->Labels(std::move(all));
    }
    return found->second;
  }

 private:
  PathMaker* const maker_;
  PathLabels more_;
  absl::flat_hash_map<const PathLabels*, const PathLabels*> lists_;
};

template <typename List>
Status TakeFor(const List& objects, PathMaker* maker) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t bytes = 0;
  for (const Value& object : objects) bytes = std::min(kMost, bytes + PathMaker::BytesFor(object));
  return maker->Take(bytes);
}

// For each row its path of one object more; `paths` nullptr: a path of this object.
Status Grow(const EvalContext& context, const Operand* paths, const Args& args, size_t object,
            Operand* out) {
  PathMaker maker(context.paths);
  const PathLabels* labels = Relabelling(&maker, args, object + 1).Of(nullptr);
  ValueList objects;
  objects.reserve(context.rows);
  for (size_t row = 0; row < context.rows; ++row) objects.push_back(args[object]->Get(row));
  RETURN_IF_ERROR(TakeFor(objects, &maker));
  for (size_t row = 0; row < context.rows; ++row) {
    ASSIGN_OR_RETURN(objects[row],
                     maker.Append(PathAt(paths, row), std::move(objects[row]), labels));
  }
  out->Own(Column::Of(std::move(objects)));
  return OkStatus();
}

// path_append(path, object, label, ...); an absent path is an empty one.
Status AppendFunction(const EvalContext& context, const Args& args, Operand* out) {
  return Grow(context, args[0], args, 1, out);
}

// path_of(object)
Status OfFunction(const EvalContext& context, const Args& args, Operand* out) {
  return Grow(context, nullptr, args, 0, out);
}

// path_label(path, label, ...)
Status PathLabelFunction(const EvalContext& context, const Args& args, Operand* out) {
  PathMaker maker(context.paths);
  Relabelling labels(&maker, args, 1);
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const Value& path = PathAt(args[0], row);
    const PathNode* last = LastOf(path);
    if (last == nullptr) return std::optional<Value>(PathMaker::Empty());
    RETURN_IF_ERROR(maker.Take(PathMaker::BytesFor(last->object())));
    return maker.Relabel(path, labels.Of(last->label_list()));
  });
}

// The last node with the label; null: there is none that `step` could mean.
StatusOr<const PathNode*> LastWith(const PathNode* path, const std::string& label,
                                   std::string_view step) {
  while (path != nullptr && !HasLabel(*path, label)) path = path->parent();
  if (path != nullptr) return path;
  return InvalidArgument("no step of the path is labelled \"" + label + "\", which " +
                         std::string(step) + " names");
}

// path_range(path, from, to): from the last object labelled `from` to the last labelled `to`, both
// included; null: from its start, to its end.
Status PathRangeFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Value& from = args[1]->constant;
  const Value& to = args[2]->constant;
  PathMaker maker(context.paths);
  Relabelling labels(&maker, args, args.size());
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const PathNode* last = LastOf(PathAt(args[0], row));
    if (last == nullptr) return std::optional<Value>();
    const PathNode* first = nullptr;
    if (!from.is_null()) {
      ASSIGN_OR_RETURN(first, LastWith(last, from.AsString(), "from()"));
    }
    if (!to.is_null()) {
      ASSIGN_OR_RETURN(last, LastWith(last, to.AsString(), "to()"));
    }
    const PathNode* before = first == nullptr ? nullptr : first->parent();
    if (before == nullptr) return std::optional<Value>(PathMaker::Shared(*last));
    if (before->length() >= last->length()) {
      return InvalidArgument("in the path, from() comes after to(): \"" + from.AsString() +
                             "\" after \"" + to.AsString() + "\"");
    }
    Value part;
    const PathObjects objects(last, before);
    RETURN_IF_ERROR(TakeFor(objects, &maker));
    for (size_t i = 0; i < objects.size(); ++i) {
      ASSIGN_OR_RETURN(part,
                       maker.Append(part, objects[i], labels.Of(objects.node(i).label_list())));
    }
    return std::optional<Value>(std::move(part));
  });
}

// path_entries(path): its objects by their number, as a map.
Status EntriesFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    ValueMap entries;
    const PathNode* last = LastOf(PathAt(args[0], row));
    if (last == nullptr) return Value::Map(std::move(entries));
    entries.reserve(last->length());
    for (const Value& object : PathObjects(*last)) {
      entries.emplace_back(Value::Long(static_cast<int64_t>(entries.size())), object);
    }
    return Value::Map(std::move(entries));
  });
}

// turn(i, n): whose turn it is at number i when n take turns.
Status TurnFunction(const EvalContext& context, const Args& args, Operand* out) {
  const int64_t count = args[1]->constant.AsInteger();
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    return std::optional<Value>(Value::Long(args[0]->Get(row).AsInteger() % count));
  });
}

// path_by(path, values): the path with the value of each number in place of its object; absent
// when one is missing.
Status ByFunction(const EvalContext& context, const Args& args, Operand* out) {
  PathMaker maker(context.paths);
  Relabelling labels(&maker, args, args.size());
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const Value& path = PathAt(args[0], row);
    if (!args[1]->Present(row)) return std::optional<Value>();
    const Value values = args[1]->Get(row);
    if (values.AsMap().size() != PathLength(path)) return std::optional<Value>();
    if (LastOf(path) == nullptr) return std::optional<Value>(PathMaker::Empty());
    ValueList objects = ObjectsOf(path);
    for (const auto& [number, value] : values.AsMap()) {
      objects[static_cast<size_t>(number.AsInteger())] = value;
    }
    RETURN_IF_ERROR(TakeFor(objects, &maker));
    Value seen;
    const PathObjects nodes(path.AsPath());
    for (size_t i = 0; i < objects.size(); ++i) {
      ASSIGN_OR_RETURN(
          seen, maker.Append(seen, std::move(objects[i]), labels.Of(nodes.node(i).label_list())));
    }
    return std::optional<Value>(std::move(seen));
  });
}

bool Repeats(const PathNode& node) {
  const Value& object = node.object();
  const bool vertex = object.kind() == ValueKind::kVertex;
  for (const PathNode* other = node.parent(); other != nullptr; other = other->parent()) {
    if (other->object().kind() != object.kind()) continue;
    if (vertex ? other->object().AsVertex() == object.AsVertex()
               : Equivalent(other->object(), object)) {
      return true;
    }
  }
  return false;
}

// Whether no object repeats. A few fresh ones are compared with all before them; where there are
// many, all objects go into a set, which costs too much for a few.
// REQUIRES: none repeats before the last `fresh` objects.
bool HasNoneTwice(const PathNode& path, size_t fresh) {
  constexpr size_t kFew = 4;
  constexpr size_t kShort = 32;
  if (fresh <= kFew || path.length() <= kShort) {
    const PathNode* node = &path;
    for (; fresh > 0; --fresh, node = node->parent()) {
      if (Repeats(*node)) return false;
    }
    return true;
  }
  std::unordered_set<Value, ValueHash, ValueEquivalent> seen;
  const PathNode* node = &path;
  while (node != nullptr && seen.insert(node->object()).second) node = node->parent();
  return node == nullptr;
}

// What is found is kept with the path: what goes on from here begins with it.
bool IsSimple(const PathNode& path) {
  const PathNode* known = &path;
  size_t fresh = 0;
  for (; known != nullptr && !known->Is(PathMark::kSimple); known = known->parent(), ++fresh) {
    if (!known->Is(PathMark::kCyclic)) continue;
    path.Mark(PathMark::kCyclic);
    return false;
  }
  if (!HasNoneTwice(path, fresh)) {
    path.Mark(PathMark::kCyclic);
    return false;
  }
  for (const PathNode* node = &path; node != known; node = node->parent()) {
    node->Mark(PathMark::kSimple);
  }
  return true;
}

// is_simple(path): whether no object repeats.
Status SimpleFunction(const EvalContext& context, const Args& args, Operand* out) {
  std::vector<uint8_t> simple(context.rows, 1);
  for (size_t row = 0; row < context.rows; ++row) {
    const PathNode* last = LastOf(PathAt(args[0], row));
    if (last != nullptr && !IsSimple(*last)) simple[row] = 0;
  }
  out->Own(Column::OfBools(std::move(simple)));
  return OkStatus();
}

// path_select(path, label, pop): the objects with the label: the first, the last, all, or mixed
// (one by itself, several as a list); absent when there is none.
Status SelectFunction(const EvalContext& context, const Args& args, Operand* out) {
  const std::string& label = args[1]->constant.AsString();
  const std::string& pop = args[2]->constant.AsString();
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    ValueList found;  // the last one first
    const PathNode* node = LastOf(PathAt(args[0], row));
    for (; node != nullptr; node = node->parent()) {
      if (!HasLabel(*node, label)) continue;
      found.push_back(node->object());
      if (pop == "last") break;
    }
    if (found.empty()) return std::optional<Value>();
    if (pop == "first") return std::optional<Value>(found.back());
    if (pop == "last" || (pop == "mixed" && found.size() == 1)) {
      return std::optional<Value>(found.front());
    }
    std::reverse(found.begin(), found.end());
    return Value::List(std::move(found));
  });
}

}  // namespace

const std::vector<ScalarKernel>& PathFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"path_append", AppendFunction},
      {"path_of", OfFunction},
      {"path_label", PathLabelFunction},
      {"path_range", PathRangeFunction},
      {"path_entries", EntriesFunction},
      {"path_by", ByFunction},
      {"path_select", SelectFunction},
      {"is_simple", SimpleFunction},
      {"turn", TurnFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
