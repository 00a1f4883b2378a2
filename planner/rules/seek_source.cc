// V().has('Person','id',7) seeks, where the store has an index of that property: the source gives
// what may have the value, the filter stays and compares.
#include <algorithm>

#include "planner/rules/equals_property.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// More values than this are rather scanned for.
constexpr size_t kMaxSought = 1000;

bool IsIndexed(const Source& source, const std::string& key) {
  if (source.schema == nullptr || source.labels.empty()) return false;
  const Schema& schema = *source.schema;
  return std::all_of(source.labels.begin(), source.labels.end(), [&](const std::string& label) {
    return schema.vertex_indexes.contains({schema.labels.Find(label), schema.keys.Find(key)});
  });
}

std::optional<Seek> SeekOf(const Source& source, const Filter& filter) {
  ExpressionPtr key, value;
  ValueList any_of;
  if (!EqualsProperty(*filter.predicate, &key, &value, &any_of)) return std::nullopt;
  const std::string& name = key->constant.AsString();
  if (!IsIndexed(source, name)) return std::nullopt;
  if (value == nullptr) {
    if (any_of.size() > kMaxSought) return std::nullopt;
    return Seek{name, std::move(any_of)};
  }
  if (value->kind != Expression::Kind::kConstant) return std::nullopt;
  return Seek{name, {value->constant}};
}

}  // namespace

bool SeekSource(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      Source* source = As<Source>(&chain->ops[i]);
      if (source == nullptr || source->element != plan::VERTEX || source->ids) continue;
      for (size_t k = i + 1; k < chain->ops.size() && !source->seek; ++k) {
        const Filter* filter = As<Filter>(chain->ops[k]);
        if (filter == nullptr) break;
        source->seek = SeekOf(*source, *filter);
      }
      changed = changed || source->seek.has_value();
    }
    return changed;
  });
}

}  // namespace koios::planner
