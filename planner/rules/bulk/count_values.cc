// V().groupCount().by('x'), V().values('x').max(): of vertices of which only a property is read the
// source gives what they have there, and how many have it, which columns tell without a look at a
// vertex. Where it must not be: where the query changes the graph.
#include "planner/op_table.h"
#include "planner/rules/bulk/repeats.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// The key of `name = property(_, key)`, of which only `name` is read by the count of groups behind.
std::string KeyOfGroups(const Op& op, const Op& behind) {
  const Project* project = As<Project>(op);
  const Group* group = As<Group>(behind);
  if (project == nullptr || group == nullptr || project->absent != plan::Project::DROP_ROW ||
      project->target.empty() || group->key != project->target ||
      group->kind != plan::Group::COUNT || !group->side_effect.empty()) {
    return "";
  }
  const Expression& value = *project->value;
  if (!IsCall(value, "property") || !IsCurrent(*value.args[0])) return "";
  const Value* key = PropertyRead(value);
  return key != nullptr && key->kind() == ValueKind::kString ? key->AsString() : "";
}

// The key of values(key).
std::string KeyOfValues(const Op& op) {
  const Fetch* fetch = As<Fetch>(op);
  return fetch != nullptr && !fetch->as_properties && fetch->keys.size() == 1 ? fetch->keys[0] : "";
}

}  // namespace

bool CountValues(Chain* root) {
  if (root->ops.size() < 3 || ChangesGraph(*root) || !MayComeAsBulk(*root, 2)) return false;
  Source* source = As<Source>(&root->ops[0]);
  if (source == nullptr || source->element != plan::VERTEX || source->ids || source->seek ||
      source->counted) {
    return false;
  }
  Op& read = root->ops[1];
  if (source->value_key = KeyOfValues(read); !source->value_key.empty()) {
    root->ops.erase(root->ops.begin() + 1);
    return true;
  }
  source->value_key = KeyOfGroups(read, root->ops[2]);
  if (source->value_key.empty()) return false;
  As<Project>(&read)->value = Current();
  return true;
}

}  // namespace koios::planner
