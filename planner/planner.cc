#include "planner/planner.h"

#include "core/text/text.h"
#include "core/value_codec.h"
#include "planner/cost/estimated_text.h"
#include "planner/cost/owners.h"
#include "planner/explain.h"
#include "planner/physical/lowering.h"
#include "planner/plan_error.h"
#include "planner/rules/rules.h"
#include "planner/steps/builder.h"

namespace koios::planner {
namespace {

// What the terminal method asks of the results: next() takes one, hasNext() only whether.
void AppendTerminal(const parser::Query& query, Builder* builder) {
  switch (query.terminal) {
    case parser::Terminal::kNone:
    case parser::Terminal::kToList:
    case parser::Terminal::kToBulkSet:
    case parser::Terminal::kExplain:
    case parser::Terminal::kProfile:
      return;
    case parser::Terminal::kNext:
    case parser::Terminal::kTryNext:
      builder->Emit(Limit{0, query.has_count ? std::max<int64_t>(query.count, 0) : 1});
      return;
    case parser::Terminal::kToSet:
      builder->Emit(Dedup{{""}});
      return;
    case parser::Terminal::kIterate:
      builder->Emit(Filter{Constant(Value::Bool(false))});
      return;
    case parser::Terminal::kHasNext:
      builder->Emit(Limit{0, 1});
      builder->Emit(Reduce{plan::Reduce::COUNT});
      builder->Emit(Project{CallOf("gt", {Current(), Constant(Value::Long(0))}), "",
                            plan::Project::DROP_ROW});
      return;
  }
}

Outcome OutcomeOf(const parser::Query& query) {
  if (query.terminal == parser::Terminal::kExplain) return Outcome::kExplain;
  if (query.terminal == parser::Terminal::kProfile) return Outcome::kProfile;
  return Outcome::kResults;
}

// The parameters as the planner has them, and what it did with them.
struct KnownParameters {
  KnownParameters(const PlanContext& context, bool traced) : uses(context.parameters.size()) {
    for (const auto& [name, value] : context.parameters) {
      ParameterUse* use = &uses[names.size()];
      use->index = static_cast<uint32_t>(names.size());
      parameters.by_name.emplace(name, PlanValue(value, traced ? use : nullptr));
      names.push_back(name);
    }
    parameters.drawn = &drawn;
    parameters.named = &named;
    parameters.named_again_bytes = &named_again_bytes;
    parameters.most_named_again_bytes = context.most_named_again_bytes;
  }
  KnownParameters(const KnownParameters&) = delete;
  KnownParameters& operator=(const KnownParameters&) = delete;
  std::vector<std::string> LookedAt() const {
    std::vector<std::string> looked_at;
    for (const ParameterUse& use : uses) {
      if (use.looked_at) looked_at.push_back(names[use.index]);
    }
    return looked_at;
  }

  bool drawn = false;
  std::map<std::string, uint32_t> named;
  uint64_t named_again_bytes = 0;
  std::vector<ParameterUse> uses;
  std::vector<std::string> names;
  Parameters parameters;
};

void AddInitialEffects(const SideEffectTable& effects, plan::Plan* plan) {
  for (const auto& [name, effect] : effects) {
    if (!effect.initial || !effect.used) continue;
    plan::InitialEffect* initial = plan->add_initial_effects();
    initial->set_name(name);
    initial->set_value(EncodeValue(*effect.initial));
    initial->set_operator_(effect.operator_);
  }
}

// A text of ten thousand steps is explained rule by rule: of that much nobody reads all.
constexpr size_t kMostExplained = size_t{2} << 20;

void Tell(const std::string& part, std::string* explain) {
  if (explain->size() >= kMostExplained) return;
  const std::string_view told = TruncateUtf8(part, kMostExplained - explain->size());
  explain->append(told);
  if (told.size() == part.size()) return;
  explain->resize(kMostExplained, '.');  // of a cut character
  *explain += "\n... and more than can be shown\n";
}

// `for_owners`: whether it had better be planned for isolated workers.
StatusOr<PlannedQuery> PlanOnce(const parser::Query& query, const PlanContext& context,
                                bool* for_owners) {
  PlannedQuery planned;
  planned.outcome = OutcomeOf(query);
  const bool explains = context.explains || planned.outcome == Outcome::kExplain;
  const KnownParameters known(context, /*traced=*/!explains);
  QueryState state;
  state.parameters = &known.parameters;
  state.graph = GraphLook(context.schema, context.statistics, explains ? nullptr : &planned.seen);
  Builder builder(&state, TypeEnv{});
  RETURN_IF_ERROR(builder.AppendRoot(query.root));
  AppendTerminal(query, &builder);
  Chain chain = builder.Take();

  if (explains) Tell("logical\n" + ChainText(chain, 2), &planned.explain);
  bool reads_all = false;
  RunRules(&chain, context.isolated, [&](const Rule& rule, const Chain& after) {
    reads_all = reads_all || rule.reads_all;
    if (!explains || planned.explain.size() >= kMostExplained) return;
    Tell("\nafter " + std::string(rule.name) + ": " + std::string(rule.help) + "\n" +
             ChainText(after, 2),
         &planned.explain);
  });
  RETURN_IF_ERROR(CheckEarlyStops(chain));
  *for_owners = !context.isolated && context.num_workers > 1 && !reads_all && IsForOwners(chain);
  if (explains && context.statistics != nullptr) {
    Tell("\nestimated\n" + EstimatedText(chain, 2), &planned.explain);
  }
  Isolation isolation{context.isolated, context.whole_results};
  for (const auto& [name, effect] : state.side_effects) {
    if (effect.initial) isolation.begun.insert(name);
  }
  ASSIGN_OR_RETURN(planned.plan, LowerToPlan(chain, isolation));
  AddInitialEffects(state.side_effects, &planned.plan);
  planned.changes_graph = planned.plan.mutates();
  planned.plan.set_graph(query.root.source);
  if (explains) {
    Tell("\nphysical\n" + PhysicalText(planned.plan), &planned.explain);
    return planned;
  }
  PlanConstants constants = FindConstants(planned.plan, known.names);
  planned.holes = std::move(constants.holes);
  planned.constant_bytes = constants.decoded_bytes;
  planned.looked_at = known.LookedAt();
  for (const auto& [name, times] : known.named) {
    if (times > 1) planned.named_again.emplace(name, times - 1);
  }
  planned.keeps = !known.drawn;
  return planned;
}

}  // namespace

StatusOr<PlannedQuery> PlanQuery(const parser::Query& query, const PlanContext& context) {
  if (query.root.calls.empty()) {
    return StepError("EMPTY_TRAVERSAL", query.root.span, "",
                     "a traversal begins with V(), E(), inject() or union()");
  }
  bool for_owners = false;
  ASSIGN_OR_RETURN(PlannedQuery planned, PlanOnce(query, context, &for_owners));
  if (!for_owners) return planned;
  PlanContext isolated = context;
  isolated.isolated = true;
  ASSIGN_OR_RETURN(PlannedQuery again, PlanOnce(query, isolated, &for_owners));
  // Which of the two it is was decided by what the first one looked at.
  again.seen = std::move(planned.seen);
  again.looked_at.insert(again.looked_at.end(), planned.looked_at.begin(), planned.looked_at.end());
  again.keeps = again.keeps && planned.keeps;
  return again;
}

}  // namespace koios::planner
