#include "planner/traverser.h"

#include <algorithm>

namespace koios::planner {
namespace {

constexpr char kPathName[] = "~path";
constexpr char kFromName[] = "~from";
constexpr char kSackName[] = "~sack";

constexpr CarriedThing kThings[] = {
    // Grows by what the child as a whole gives: the builder stores that behind the scope.
    {.name = kPathName, .grows = true},
    // An edge that the child gives was come to from the vertex that entered.
    {.name = kFromName, .behind_closed = Current},
    // What map() or by() put into it stays inside: the traverser that entered goes on.
    {.name = kSackName, .grows = true, .changes = true},
};

const CarriedThing* Find(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kThings), std::end(kThings),
                   [name](const CarriedThing& thing) { return thing.name == name; });
  return found == std::end(kThings) ? nullptr : found;
}

}  // namespace

std::span<const CarriedThing> CarriedThings() { return kThings; }

bool IsLabel(std::string_view name) { return !name.starts_with('~'); }

bool IsOfHistory(std::string_view name) { return IsLabel(name) || Find(name) != nullptr; }

bool StoresCarried(const Op& op) {
  const Project* project = As<Project>(op);
  return project != nullptr && Find(project->target) != nullptr &&
         (project->absent != plan::Project::DROP_ROW || IsAlwaysThere(*project->value, {}));
}

bool Changes(std::string_view name) {
  const CarriedThing* thing = Find(name);
  return thing != nullptr && thing->changes;
}

bool GrowsInChild(std::string_view name) {
  const CarriedThing* thing = Find(name);
  return thing != nullptr && thing->grows;
}

bool MayMerge(const std::set<std::string>& read_behind) { return read_behind.empty(); }

std::vector<Project> StoresBefore(const Scope& scope) {
  std::vector<Project> stores;
  if (scope.keeps_labels) return stores;
  std::set<std::string> written;
  for (const Chain& body : scope.bodies) CollectStores(body, &written);
  for (const CarriedThing& thing : kThings) {
    const std::string name(thing.name);
    if (thing.behind_closed == nullptr || !written.contains(name)) continue;
    stores.push_back({thing.behind_closed(), name, plan::Project::DROP_ROW});
  }
  return stores;
}

ExpressionPtr CarriedPath() { return Named(kPathName); }

Project NewPath() {
  return Project{CallOf("path_of", {Current()}), kPathName, plan::Project::LEAVE_ABSENT};
}

std::optional<Project> GrownPath(bool new_value, const std::vector<std::string>& labels) {
  if (!new_value && labels.empty()) return std::nullopt;
  std::vector<ExpressionPtr> args = {CarriedPath()};
  if (new_value) args.push_back(Current());
  for (const std::string& label : labels) args.push_back(StringConstant(label));
  ExpressionPtr path =
      new_value ? CallOf("path_append", std::move(args)) : CallOf("path_label", std::move(args));
  return Project{std::move(path), kPathName, plan::Project::LEAVE_ABSENT};
}

Project StoreFrom() { return Project{Current(), kFromName, plan::Project::DROP_ROW}; }

const std::string& FromName() {
  static const std::string kName = kFromName;
  return kName;
}

ExpressionPtr CarriedSack(const PlanValue& initial, const TypeEnv& env) {
  ExpressionPtr sack = Named(kSackName);
  return IsAlwaysThere(*sack, env) ? sack : CallOf("sack_or", {std::move(sack), Constant(initial)});
}

Project StoreSack(ExpressionPtr value) {
  return Project{std::move(value), kSackName, plan::Project::DROP_ROW};
}

const std::string& SackName() {
  static const std::string kName = kSackName;
  return kName;
}

bool HasFrom(const TypeEnv& env) { return env.names.contains(kFromName); }

}  // namespace koios::planner
