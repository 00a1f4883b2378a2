// A path is a value of its own in each row: its objects, and the labels of each. It grows by a
// copy, so that rows share nothing and a row's bytes are what its path holds.
// Rule: labels of one object are distinct; a path is never longer than its steps.
#include "engine/expr/path_functions.h"

#include <algorithm>
#include <unordered_set>

#include "core/value_compare.h"
#include "engine/expr/each_row.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// The path in a row; an empty one when there is none.
class PathAt {
 public:
  PathAt(const Operand& operand, size_t row)
      : value_(operand.Present(row) ? operand.Get(row) : Value::Null()) {}
  const PathData& operator*() const {
    static const PathData kNone;
    return value_.kind() == ValueKind::kPath ? value_.AsPath() : kNone;
  }
  const PathData* operator->() const { return &**this; }

 private:
  const Value value_;
};

// A copy with room for just so many more objects: growing would reserve twice as much.
PathData CopyOf(const PathData& path, size_t more) {
  PathData copy;
  copy.objects.reserve(path.objects.size() + more);
  copy.objects.insert(copy.objects.end(), path.objects.begin(), path.objects.end());
  copy.labels = path.labels;
  return copy;
}

StatusOr<std::optional<Value>> Finish(PathData path) { return Value::Of(std::move(path)); }

// Labels the last object with the constant arguments from `first` on.
void AddLabels(const Args& args, size_t first, PathData* path) {
  if (path->objects.empty() || first == args.size()) return;
  path->labels.resize(path->objects.size());
  std::vector<std::string>& labels = path->labels.back();
  for (size_t i = first; i < args.size(); ++i) {
    const std::string& label = args[i]->constant.AsString();
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
}

// path_append(path, object, label, ...); an absent path is an empty one.
Status AppendFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) {
    PathData path = CopyOf(*PathAt(*args[0], row), 1);
    path.objects.push_back(args[1]->Get(row));
    AddLabels(args, 2, &path);
    return Finish(std::move(path));
  });
}

// path_of(object)
Status OfFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) {
    return Finish(PathData{{args[0]->Get(row)}, {}});
  });
}

// path_label(path, label, ...)
Status LabelFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) {
    PathData path = CopyOf(*PathAt(*args[0], row), 0);
    AddLabels(args, 1, &path);
    return Finish(std::move(path));
  });
}

// The last object with the label; nullopt: none.
std::optional<size_t> LastWith(const PathData& path, const std::string& label) {
  for (size_t i = path.labels.size(); i-- > 0;) {
    const std::vector<std::string>& labels = path.labels[i];
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) return i;
  }
  return std::nullopt;
}

// path_range(path, from, to): from the last object labelled `from` to the last labelled `to`, both
// included; null: from its start, to its end.
Status RangeFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Value& from = args[1]->constant;
  const Value& to = args[2]->constant;
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const PathAt whole(*args[0], row);
    const PathData& path = *whole;
    if (path.objects.empty()) return std::optional<Value>();
    size_t begin = 0;
    size_t end = path.objects.size();
    if (!from.is_null()) {
      const std::optional<size_t> at = LastWith(path, from.AsString());
      if (!at) {
        return InvalidArgument("no step of the path is labelled \"" + from.AsString() +
                               "\", which from() names");
      }
      begin = *at;
    }
    if (!to.is_null()) {
      const std::optional<size_t> at = LastWith(path, to.AsString());
      if (!at) {
        return InvalidArgument("no step of the path is labelled \"" + to.AsString() +
                               "\", which to() names");
      }
      end = *at + 1;
    }
    if (begin >= end) {
      return InvalidArgument("in the path, from() comes after to(): \"" + from.AsString() +
                             "\" after \"" + to.AsString() + "\"");
    }
    PathData part;
    part.objects.reserve(end - begin);
    for (size_t i = begin; i < end; ++i) {
      part.objects.push_back(path.objects[i]);
      const auto labels = path.LabelsOf(i);
      part.labels.emplace_back(labels.begin(), labels.end());
    }
    return Finish(std::move(part));
  });
}

// path_entries(path): its objects by their number, as a map.
Status EntriesFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    ValueMap entries;
    const PathAt path(*args[0], row);
    for (const Value& object : path->objects) {
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
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    PathData path = CopyOf(*PathAt(*args[0], row), 0);
    if (!args[1]->Present(row)) return std::optional<Value>();
    const Value values = args[1]->Get(row);
    if (values.AsMap().size() != path.objects.size()) return std::optional<Value>();
    for (const auto& [number, value] : values.AsMap()) {
      path.objects[static_cast<size_t>(number.AsInteger())] = value;
    }
    return Finish(std::move(path));
  });
}

// Short ones are compared in pairs: a set would cost more than it saves.
bool IsSimple(const ValueList& objects) {
  constexpr size_t kShort = 32;
  if (objects.size() <= kShort) {
    for (auto object = objects.begin(); object != objects.end(); ++object) {
      const auto same = [&](const Value& other) { return Equivalent(*object, other); };
      if (std::any_of(objects.begin(), object, same)) return false;
    }
    return true;
  }
  std::unordered_set<Value, ValueHash, ValueEquivalent> seen;
  return std::all_of(objects.begin(), objects.end(),
                     [&seen](const Value& object) { return seen.insert(object).second; });
}

// is_simple(path): whether no object repeats.
Status SimpleFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    return std::optional<Value>(Value::Bool(IsSimple(PathAt(*args[0], row)->objects)));
  });
}

// path_select(path, label, pop): the objects with the label: the first, the last, all, or mixed
// (one by itself, several as a list); absent when there is none.
Status SelectFunction(const EvalContext& context, const Args& args, Operand* out) {
  const std::string& label = args[1]->constant.AsString();
  const std::string& pop = args[2]->constant.AsString();
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    const PathAt path(*args[0], row);
    ValueList found;
    for (size_t i = 0; i < path->labels.size(); ++i) {
      const std::vector<std::string>& labels = path->labels[i];
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) continue;
      found.push_back(path->objects[i]);
    }
    if (found.empty()) return std::optional<Value>();
    if (pop == "first") return std::optional<Value>(found.front());
    if (pop == "last" || (pop == "mixed" && found.size() == 1)) {
      return std::optional<Value>(found.back());
    }
    return Value::List(std::move(found));
  });
}

}  // namespace

const std::vector<ScalarKernel>& PathFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"path_append", AppendFunction},
      {"path_of", OfFunction},
      {"path_label", LabelFunction},
      {"path_range", RangeFunction},
      {"path_entries", EntriesFunction},
      {"path_by", ByFunction},
      {"path_select", SelectFunction},
      {"is_simple", SimpleFunction},
      {"turn", TurnFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
