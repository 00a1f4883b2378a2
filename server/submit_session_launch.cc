// Of a session: how its request becomes a running query.
#include <atomic>
#include <random>
#include <utility>

#include "core/random.h"
#include "core/value_proto.h"
#include "server/submit_session.h"
#include "storage/view/owned_view.h"
#include "storage/view/snapshot_statistics.h"

namespace koios::server {
namespace {

// Another one for each query. The device is asked once: that takes longer than a point query.
uint64_t NextSeed() {
  static const uint64_t kFirst = uint64_t{std::random_device()()} << 32 | std::random_device()();
  static std::atomic<uint64_t> next{0};
  return MixSeeds(kFirst, next.fetch_add(1, std::memory_order_relaxed));
}

// Of a profile's table and its text.
constexpr size_t kProfileBytesOfOperator = 1024;

// Where the first word of the traversal stands: what an error about the graph points at.
ErrorDetail SourceWord(const parser::Query& query) {
  ErrorDetail detail;
  detail.span = query.root.span;
  detail.span.length = static_cast<uint32_t>(query.root.source.size());
  return detail;
}

Status ReadParameters(const v1::SubmitRequest& request, std::map<std::string, Value>* parameters) {
  for (const auto& [name, value] : request.parameters()) {
    ASSIGN_OR_RETURN((*parameters)[name], FromProto(value));
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<engine::QueryHandle>> SubmitSession::PlanAndLaunch(bool* waits) {
  RETURN_IF_ERROR(MayGoOn());
  view_ = nullptr;
  planner::PlanContext context;
  context.isolated = environment_.engine->options().isolated;
  context.num_workers = environment_.engine->options().num_workers;
  context.whole_results = request_->materialize();
  context.most_named_again_bytes = MostNamedAgain();
  RETURN_IF_ERROR(WithTime(ChargeRequest(request_bytes_)));
  const Status told = ReadParameters(*request_, &context.parameters);
  const bool keeps = request_->mode() != v1::EXPLAIN && told.ok();
  PlanCache* plans = keeps ? environment_.plans : nullptr;
  const std::string key = plans == nullptr
                              ? ""
                              : plans->KeyOf(request_->graph(), request_->query(),
                                             context.parameters, context.whole_results);
  planner::PlannedQuery planned;
  size_t plan_bytes = 0;
  if (!key.empty() && TakeKept(plans, key, context.parameters, &planned, &plan_bytes)) {
    return Launch(std::move(planned), context.parameters, plan_bytes, waits);
  }
  // Past the limit if need be: no more are planned at once than there are threads.
  MemoryCharge trees(&environment_.engine->memory());
  trees.Resize(static_cast<int64_t>(parser::TreeBytes(request_->query())));
  ASSIGN_OR_RETURN(const parser::Query query,
                   parser::Parse(request_->query(), environment_.limits.parser));
  if (Status viewed = LookAt(query.root.source); !viewed.ok()) {
    return WithDetail(viewed, SourceWord(query));
  }
  RETURN_IF_ERROR(told);
  context.schema = &view_->schema();
  context.statistics = storage::StatisticsOf(*view_);
  context.explains = request_->mode() == v1::EXPLAIN;
  ASSIGN_OR_RETURN(planned, planner::PlanQuery(query, context));
  if (!key.empty()) plans->Keep(key, query.root.source, context, planned);
  plan_bytes = planned.plan.SpaceUsedLong();
  trees.Reset();
  return Launch(std::move(planned), context.parameters, plan_bytes, waits);
}

// The newest view of the graph that the first word of the traversal means.
Status SubmitSession::LookAt(const std::string& source) {
  graph_ = GraphOfSource(source, request_->graph());
  ASSIGN_OR_RETURN(view_, environment_.graphs->View(graph_));
  return OkStatus();
}

bool SubmitSession::TakeKept(PlanCache* plans, const std::string& key,
                             const std::map<std::string, Value>& parameters,
                             planner::PlannedQuery* planned, size_t* plan_bytes) {
  // Those of one text have one source.
  const auto fits = [&](const KeptPlan& plan) {
    return (view_ != nullptr || LookAt(plan.source).ok()) &&
           plan.BytesNamedAgain(parameters) <= MostNamedAgain() &&  // else refused where it is
           plan.Fits(view_->schema(), storage::StatisticsOf(*view_), parameters);
  };
  const std::shared_ptr<const KeptPlan> kept = plans->Find(key, fits);
  if (kept == nullptr) return false;
  planned->plan = kept->planned.plan;
  planned->outcome = kept->planned.outcome;
  planned->changes_graph = kept->planned.changes_graph;
  planned->holes = kept->planned.holes;
  planned->constant_bytes = kept->planned.constant_bytes;
  *plan_bytes = kept->plan_bytes;
  return true;
}

StatusOr<std::shared_ptr<engine::QueryHandle>> SubmitSession::Launch(
    planner::PlannedQuery planned, const std::map<std::string, Value>& parameters,
    size_t plan_bytes, bool* waits) {
  mode_ = request_->mode();
  if (planned.outcome == planner::Outcome::kExplain) mode_ = v1::EXPLAIN;
  if (planned.outcome == planner::Outcome::kProfile && mode_ == v1::RUN) mode_ = v1::PROFILE;
  if (mode_ == v1::EXPLAIN) {
    // Once more in the message.
    RETURN_IF_ERROR(WithTime(ChargeRequest(2 * planned.explain.size())));
    explain_ = std::move(planned.explain);
    return std::shared_ptr<engine::QueryHandle>();
  }
  RETURN_IF_ERROR(WhyStop("it was being planned"));
  RETURN_IF_ERROR(AskToRun(planned.plan, waits));
  if (*waits) return std::shared_ptr<engine::QueryHandle>();
  if (planned.changes_graph) {
    ASSIGN_OR_RETURN(transaction_, environment_.graphs->Begin(graph_));
    if (request_id_.is_null()) request_id_ = storage::NewRequestId();
    transaction_->SetRequest(request_id_, ++num_transactions_);
    view_ = transaction_;
    // Its results come behind the commit: whoever wants to cancel it must know its id before.
    if (!std::exchange(is_announced_, true)) stream_->SendQueryId();
  }
  planned.plan.set_graph(graph_);
  const size_t named = planner::BytesInHoles(planned.holes, parameters);
  plan_bytes += named;
  const size_t standing = environment_.engine->StandingBytes(planned.plan);
  if (mode_ == v1::PROFILE) {
    plan_bytes += plan_bytes + planned.plan.operators_size() * kProfileBytesOfOperator;
  }
  RETURN_IF_ERROR(WithTime(ChargeRequest(plan_bytes)));
  RETURN_IF_ERROR(ChargeStanding(standing));
  planner::PutValues(planned.holes, parameters, &planned.plan);
  if (mode_ == v1::PROFILE) plan_ = planned.plan;
  encoder_.emplace(ViewOfResults(planned.plan), request_->materialize(),
                   &environment_.engine->clock());
  engine::QueryOptions options = Options();
  options.constant_bytes = named + planned.constant_bytes;
  return environment_.engine->Submit(std::move(planned.plan), view_, std::move(options),
                                     shared_from_this());
}

// Of a plan for owners the results come as clients see them: nothing is read for them here.
std::shared_ptr<const storage::GraphView> SubmitSession::ViewOfResults(
    const plan::Plan& plan) const {
  if (!plan.at_owners()) return view_;
  constexpr uint32_t kNobody = 1;  // of one worker, which owns all
  return std::make_shared<storage::OwnedView>(view_, kNobody, /*num_workers=*/1);
}

engine::QueryOptions SubmitSession::Options() {
  engine::QueryOptions options;
  options.seed = NextSeed();
  options.profile = mode_ == v1::PROFILE;
  options.transaction = transaction_;
  options.begins_here = transaction_ == nullptr;
  options.deadline_ns = deadline_ns_.value_or(0);
  options.asked_ns = asked_ns_;
  if (transaction_ != nullptr && disk_bytes_ == nullptr) {
    disk_bytes_ = std::make_shared<std::atomic<uint64_t>>(0);
  }
  options.disk_bytes = disk_bytes_;
  MutexLock lock(&mutex_);
  reads_graph_ = graph_;
  reads_version_ = view_->version();
  reads_since_ = environment_.engine->clock().NowNanos();
  if (account_.ok()) options.account = *account_;
  return options;
}

}  // namespace koios::server
