#include "bench/workload.h"

#include <numeric>

#include "core/mutex.h"
#include "core/random.h"
#include "parser/parser.h"
#include "planner/planner.h"

namespace koios::bench {
namespace {

constexpr uint64_t kSeed = 20'240'601;
constexpr size_t kTop = 10;

class AnswerSink : public engine::ResultSink {
 public:
  size_t Room() override { return 1000; }

  void Push(engine::ResultBatch batch) override {
    const bool vertices = batch.column.kind() == Column::Kind::kVertex;
    for (size_t row = 0; row < batch.column.size(); ++row) {
      const auto bulk = batch.bulk.empty() ? 1 : static_cast<uint64_t>(batch.bulk[row]);
      if (vertices) {
        answer_.Add(batch.column.vertices()[row].bits, bulk);
      } else {
        AddValue(batch.column.Get(row), bulk);
      }
    }
  }

  void Done(engine::QueryResult result) override {
    MutexLock lock(&mutex_);
    status_ = result.status;
    done_ = true;
    changed_.NotifyAll();
  }

  StatusOr<Answer> Wait() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    RETURN_IF_ERROR(status_);
    return answer_;
  }

 private:
  // A number is itself, a map one row per entry.
  void AddValue(const Value& value, uint64_t bulk) {
    if (value.kind() != ValueKind::kMap) {
      return answer_.Add(static_cast<uint64_t>(value.AsInteger()), bulk);
    }
    for (const auto& [key, count] : value.AsMap()) {
      answer_.Add(MixSeeds(static_cast<uint64_t>(key.AsInteger()),
                           static_cast<uint64_t>(count.AsInteger())));
    }
  }

  Answer answer_;  // the worker's until Done
  Mutex mutex_;
  CondVar changed_;
  bool done_ KOIOS_GUARDED_BY(mutex_) = false;
  Status status_ KOIOS_GUARDED_BY(mutex_);
};

// Vertices whose walks of `hops` edges are about `rows` together; none has more than a quarter.
std::vector<uint32_t> PickStarts(const Csr& csr, int hops, uint64_t rows) {
  const std::vector<uint64_t> walks = csr.NumWalks(hops);
  std::vector<uint32_t> starts;
  std::vector<uint8_t> taken(csr.num_vertices(), 0);
  Rng rng(kSeed);
  uint64_t total = 0;
  for (uint32_t draws = 0; total < rows && draws < csr.num_vertices(); ++draws) {
    const uint32_t vertex = static_cast<uint32_t>(rng.Uniform(csr.num_vertices()));
    if (taken[vertex] != 0 || walks[vertex] == 0 || walks[vertex] > rows / 4) continue;
    taken[vertex] = 1;
    starts.push_back(vertex);
    total += walks[vertex];
  }
  return starts;
}

StatusOr<std::string> SourceText(const Csr& csr, const storage::GraphView& view,
                                 const std::vector<uint32_t>& starts) {
  std::vector<VertexRef> refs;
  refs.reserve(starts.size());
  for (const uint32_t start : starts) refs.push_back(csr.ref(start));
  Column ids;
  RETURN_IF_ERROR(view.VertexIds(refs, &ids));
  std::string text = "g.V(";
  for (size_t i = 0; i < refs.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(ids.Get(i).AsInteger()) + "L";
  }
  return text + ")";
}

std::string Outs(int hops) {
  std::string text;
  for (int hop = 0; hop < hops; ++hop) text += ".out()";
  return text;
}

Answer Number(uint64_t number) {
  Answer answer;
  answer.Add(number);
  return answer;
}

}  // namespace

StatusOr<std::vector<Case>> MakeCases(const Csr& csr, const storage::GraphView& view,
                                      const WorkloadSize& size) {
  std::vector<uint32_t> all(csr.num_vertices());
  std::iota(all.begin(), all.end(), 0);
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name, const std::string& shown_source,
                            const std::string& source, const std::string& steps,
                            std::function<Answer(const Csr&)> walk) {
    cases.push_back({name, shown_source + steps, source + steps, std::move(walk)});
  };
  for (const int hops : {1, 2, 3}) {
    const std::vector<uint32_t> starts = hops == 1 ? all : PickStarts(csr, hops, size.rows);
    std::string source = "g.V()";
    if (hops > 1) {
      ASSIGN_OR_RETURN(source, SourceText(csr, view, starts));
    }
    const std::string shown = hops == 1 ? "V()" : "V(" + std::to_string(starts.size()) + " ids)";
    const std::string name = std::to_string(hops) + "-hop ";
    add(name + "count", shown, source, Outs(hops) + ".count()",
        [starts, hops](const Csr& c) { return Number(c.Count(starts, hops)); });
    add(name + "enumeration", shown, source, Outs(hops),
        [starts, hops](const Csr& c) { return c.Enumerate(starts, hops); });
    if (hops > 1) {  // each row remembers where it began, so that none can be merged
      add(name + "enumeration, each row", shown, source,
          ".as('s')" + Outs(hops) + ".where(neq('s'))",
          [starts, hops](const Csr& c) { return c.EnumerateOthers(starts, hops); });
    }
    if (hops != 2) continue;
    add("dedup", shown, source, ".out().out().dedup()",
        [starts](const Csr& c) { return c.Dedup(starts, 2); });
    add("top-k", shown, source,
        ".out().order().by(out().count(),desc).limit(10).map(out().count())",
        [starts](const Csr& c) { return c.TopDegrees(starts, 1, kTop); });
    add("group", shown, source, ".out().groupCount().by(out().count())",
        [starts](const Csr& c) { return c.GroupByDegree(starts, 1); });
  }
  for (const int hops : {2, 3}) {
    add(std::to_string(hops) + "-hop count of all", "V()", "g.V()", Outs(hops) + ".count()",
        [all, hops](const Csr& c) { return Number(c.Count(all, hops)); });
  }
  add("3-hop count, repeat", "V()", "g.V()", ".repeat(out()).times(3).count()",
      [all](const Csr& c) { return Number(c.Count(all, 3)); });
  return cases;
}

StatusOr<plan::Plan> PlanText(const std::string& query, const storage::GraphView& view) {
  ASSIGN_OR_RETURN(const parser::Query parsed, parser::Parse(query));
  planner::PlanContext context;
  context.schema = &view.schema();
  ASSIGN_OR_RETURN(planner::PlannedQuery planned, planner::PlanQuery(parsed, context));
  return std::move(planned.plan);
}

StatusOr<Answer> RunPlan(engine::Engine* engine, std::shared_ptr<const storage::GraphView> view,
                         const plan::Plan& plan) {
  auto sink = std::make_shared<AnswerSink>();
  engine->Submit(plan, std::move(view), {}, sink);
  return sink->Wait();
}

}  // namespace koios::bench
