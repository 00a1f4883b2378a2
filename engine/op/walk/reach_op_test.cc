// Walks from both sides against all walks one by one, on random graphs; what is kept is charged,
// and where there is no room for it the answers are the same.
#include "engine/op/walk/reach_op.h"

#include <map>
#include <numeric>
#include <set>

#include "core/path/path.h"
#include "core/random.h"
#include "core/testing/rounds.h"
#include "core/testing/step_clock.h"
#include "core/value_codec.h"
#include "engine/op/op_test_support.h"
#include "engine/op/walk/backward_walk.h"
#include "engine/op/walk/count_reaching_op.h"
#include "engine/op/walk/shortest_path_op.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// With a fifth of the seeds all takes long, so that calls do least. Counts the pairs that are asked
// for, and the vertices whose properties are read; may tell totals
// of ends.
class AskedGraph final : public storage::MemoryGraph {
 public:
  Status ReadVertexColumns(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                           storage::ReadBudget* budget,
                           std::vector<storage::PropertyColumn>* out) const override {
    read_ += vertices.size();
    return MemoryGraph::ReadVertexColumns(vertices, keys, budget, out);
  }
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              storage::ReadBudget* budget,
                              storage::PropertyRows* out) const override {
    read_ += vertices.size();
    return MemoryGraph::ReadVertexProperties(vertices, keys, budget, out);
  }
  Status CountBetween(const storage::VertexPairs& pairs, Direction direction,
                      std::span<const LabelId> labels, int64_t enough,
                      storage::BetweenCursor* cursor, size_t limit,
                      std::vector<int64_t>* out) const override {
    pairs_ += pairs.vertices.size();
    return MemoryGraph::CountBetween(pairs, direction, labels, enough, cursor, limit, out);
  }
  std::optional<int64_t> TotalEnds(uint32_t partition, std::span<const LabelId> vertex_labels,
                                   Direction direction,
                                   std::span<const LabelId> labels) const override {
    if (!tells_totals_) return std::nullopt;
    std::vector<VertexRef> vertices;
    for (storage::ScanCursor cursor; !cursor.done;) {
      EXPECT_TRUE(ScanVertices(partition, vertex_labels, &cursor, 100, &vertices).ok());
    }
    std::vector<int64_t> degrees;
    EXPECT_TRUE(Degrees(vertices, direction, labels, &degrees).ok());
    return std::accumulate(degrees.begin(), degrees.end(), int64_t{0});
  }
  bool tells_totals_ = false;
  mutable size_t pairs_ = 0;
  mutable size_t read_ = 0;
};

class WalkHost final : public TestHost {
 public:
  // Vertices n0, n1, ... whose `kind` is one of three; edges of two labels.
  WalkHost(uint64_t seed, size_t num_vertices, size_t edges)
      : rng_(seed), clock_(seed % 5 == 0 ? CallSize::kLongNanos + 1 : 0) {
    graph.tells_totals_ = seed % 2 == 1;
    for (size_t i = 0; i < num_vertices; ++i) {
      const int64_t kind = static_cast<int64_t>(rng_.Uniform(3));
      vertices.push_back(graph
                             .AddVertex(Value::Long(static_cast<int64_t>(i)),
                                        i % 4 == 0 ? "other" : "node",
                                        {{"kind", Value::Long(kind)}})
                             .value());
    }
    for (size_t i = 0; i < edges; ++i) {
      const VertexRef out = Any(), in = Any();
      EXPECT_TRUE(graph.AddEdge(out, in, rng_.Uniform(2) == 0 ? "a" : "b").ok());
    }
  }
  const storage::GraphView& view() const override { return graph; }
  const Clock& clock() const override { return clock_; }
  VertexRef Any() { return vertices[rng_.Uniform(vertices.size())]; }

  AskedGraph graph;
  std::vector<VertexRef> vertices;
  Rng rng_;
  const StepClock clock_;
};

plan::Expr KindIs(int64_t kind) {
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  expr.add_nodes()->set_constant(EncodeValue(Value::String("kind")));
  plan::Expr::Call* property = expr.add_nodes()->mutable_call();
  property->set_function("property");
  property->add_args(0);
  property->add_args(1);
  expr.add_nodes()->set_constant(EncodeValue(Value::Long(kind)));
  plan::Expr::Call* equal = expr.add_nodes()->mutable_call();
  equal->set_function("eq");
  equal->add_args(2);
  equal->add_args(3);
  return expr;
}

int64_t KindOf(const WalkHost& host, VertexRef vertex) {
  storage::PropertyRows found;
  const KeyId key = host.graph.schema().keys.Find("kind");
  EXPECT_TRUE(host.graph.VertexProperties({{vertex}}, {{key}}, &found).ok());
  return found.values.Get(0).AsInteger();
}

std::vector<VertexRef> NextOf(const WalkHost& host, VertexRef vertex, const plan::Hop& hop) {
  std::vector<LabelId> labels;
  for (const std::string& label : hop.labels()) {
    labels.push_back(host.graph.schema().labels.Find(label));
  }
  storage::Expansion expansion;
  storage::ExpandCursor cursor;
  while (!cursor.done) {
    EXPECT_TRUE(host.graph
                    .Expand({{vertex}}, static_cast<Direction>(hop.direction()), labels, false,
                            &cursor, 100, &expansion)
                    .ok());
  }
  return expansion.neighbours;
}

// What a hop asks of the vertex behind it: kinds[i] of the i-th; -1: nothing.
struct Case {
  plan::Reach reach;
  std::vector<int64_t> kinds;
  int64_t end_kind = -1;
  std::optional<int64_t> id;
};

// How many walks reach an end: the walks to each vertex, hop by hop.
int64_t WalksFrom(const WalkHost& host, const Case& one, VertexRef vertex, VertexRef target) {
  std::map<VertexRef, int64_t> at = {{vertex, 1}};
  for (size_t hop = 0; hop < one.kinds.size(); ++hop) {
    std::map<VertexRef, int64_t> reached;
    for (const auto& [from, walks] : at) {
      for (const VertexRef next : NextOf(host, from, one.reach.hops(static_cast<int>(hop)))) {
        if (one.kinds[hop] < 0 || KindOf(host, next) == one.kinds[hop]) reached[next] += walks;
      }
    }
    at = std::move(reached);
  }
  int64_t walks = 0;
  for (const auto& [end, count] : at) {
    if (one.reach.ends().has_at_slot() && end != target) continue;
    if (one.id && end != host.vertices[static_cast<size_t>(*one.id)]) continue;
    if (one.end_kind < 0 || KindOf(host, end) == one.end_kind) walks += count;
  }
  return walks;
}

Case RandomCase(WalkHost* host, plan::Reach::Result result) {
  Case one;
  Rng& rng = host->rng_;
  one.reach.set_result(result);
  one.reach.set_flag_slot(result == plan::Reach::FLAG ? 1 : 0);
  const size_t hops = 1 + rng.Uniform(3);
  for (size_t i = 0; i < hops; ++i) {
    plan::Hop* hop = one.reach.add_hops();
    hop->set_direction(static_cast<plan::Direction>(rng.Uniform(3)));
    if (rng.Uniform(2) == 0) hop->add_labels(rng.Uniform(8) == 0 ? "unknown" : "a");
    one.kinds.push_back(i + 1 < hops && rng.Uniform(2) == 0 ? static_cast<int64_t>(rng.Uniform(3))
                                                            : -1);
    if (one.kinds.back() >= 0) *hop->mutable_filter() = KindIs(one.kinds.back());
  }
  plan::WalkEnds* ends = one.reach.mutable_ends();
  const uint64_t kind_of_ends = result == plan::Reach::COUNT ? 0 : rng.Uniform(3);
  if (kind_of_ends == 0) ends->set_at_slot(1);
  if (kind_of_ends == 1) {
    one.id = static_cast<int64_t>(rng.Uniform(host->vertices.size()));
    ends->mutable_ids()->add_values(EncodeValue(Value::Long(*one.id)));
  }
  if (kind_of_ends == 2 || rng.Uniform(3) == 0) {
    one.end_kind = static_cast<int64_t>(rng.Uniform(3));
    *ends->mutable_filter() = KindIs(one.end_kind);
  }
  if (kind_of_ends == 2) {
    ends->mutable_scan();
    ends->add_keys("kind");
  }
  if (result == plan::Reach::FLAG && kind_of_ends == 0) one.reach.set_flag_slot(2);
  return one;
}

struct WalksRan {
  std::vector<uint32_t> origin;
  std::vector<int64_t> times;  // bulk, or a flag
};

WalksRan RunWalks(StreamOperator* op, const Batch& input, size_t skip_to = 0) {
  WalksRan ran;
  bool first = true;
  for (bool done = false; !done;) {
    OpOutput output;
    const Status status = op->Process(input, &output, &done);
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) return ran;
    for (size_t i = 0; i < output.rows(input); ++i) {
      ran.origin.push_back(output.identity ? static_cast<uint32_t>(i) : output.origin[i]);
      ran.times.push_back(output.has_bulk   ? output.bulk[i]
                          : output.slot > 0 ? (output.column.Get(i).AsBool() ? 1 : 0)
                                            : 1);
    }
    if (first && !done && skip_to > 0) op->SkipTo(skip_to, nullptr);
    first = false;
  }
  return ran;
}

Batch RandomRows(WalkHost* host, size_t rows) {
  Batch batch;
  batch.slots.resize(3);
  VertexRef target = host->Any();
  for (size_t i = 0; i < rows; ++i) {
    batch.slots[0].AppendVertex(host->Any());
    if (host->rng_.Uniform(7) == 0) target = host->Any();
    batch.slots[1].AppendVertex(target);
  }
  batch.rows = rows;
  batch.runs.push_back({{}, {}, static_cast<uint32_t>(rows), 0});
  return batch;
}

void Check(const WalkHost& host, const Case& one, const Batch& rows, const WalksRan& ran) {
  std::map<uint32_t, int64_t> found;
  for (size_t i = 0; i < ran.origin.size(); ++i) found[ran.origin[i]] = ran.times[i];
  EXPECT_EQ(found.size(), ran.origin.size());
  EXPECT_TRUE(std::is_sorted(ran.origin.begin(), ran.origin.end()));
  for (uint32_t row = 0; row < rows.rows; ++row) {
    const int64_t walks =
        WalksFrom(host, one, rows.slots[0].Get(row).AsVertex(), rows.slots[1].Get(row).AsVertex());
    const auto result = one.reach.result();
    const bool comes = result == plan::Reach::FLAG || (walks > 0) == (result != plan::Reach::STOP);
    ASSERT_EQ(found.contains(row), comes) << one.reach.DebugString() << " row " << row;
    if (result == plan::Reach::FLAG) {
      ASSERT_EQ(found[row], walks > 0 ? 1 : 0);
    }
    if (result == plan::Reach::COUNT && comes) {
      ASSERT_EQ(found[row], walks);
    }
  }
}

// With room, without any, and with some: the answers are the same, and all is given back.
TEST(WalkTest, BothSidesGiveWhatAllWalksGive) {
  for (uint64_t seed = 1; seed <= TestRounds(80, 20); ++seed) {
    WalkHost host(seed, 4 + seed % 40, 10 + seed * 3 % 160);
    const auto result = static_cast<plan::Reach::Result>(seed % 4);
    const Case one = RandomCase(&host, result);
    for (const int64_t room : {int64_t{0}, int64_t{3000}, INT64_MAX}) {
      if (one.id && room == 0) continue;  // not even room for the one end
      host.limit = room;
      StatusOr<OperatorBundle> bundle = MakeReach(one.reach, 3, &host);
      ASSERT_TRUE(bundle.ok()) << bundle.status();
      for (int batch = 0; batch < 3; ++batch) {
        const Batch rows = RandomRows(&host, 1 + host.rng_.Uniform(300));
        Check(host, one, rows, RunWalks(bundle->stream.get(), rows));
        if (HasFatalFailure()) return;
      }
      *bundle = OperatorBundle();
      EXPECT_EQ(host.charged, 0);
    }
  }
}

// Of how many neighbours the walk of the other hops leads to the row's end, whether there is room
// to walk back from there or not.
TEST(WalkTest, CountsEndsThatReach) {
  for (uint64_t seed = 1; seed <= TestRounds(80, 20); ++seed) {
    WalkHost host(seed, 4 + seed % 40, 10 + seed * 3 % 160);
    Case others = RandomCase(&host, plan::Reach::COUNT);  // which have a slot
    plan::Reach reach = others.reach;
    reach.set_result(plan::Reach::NUMBER);
    reach.mutable_hops()->Clear();
    plan::Hop* first = reach.add_hops();
    first->set_direction(static_cast<plan::Direction>(seed % 3));
    if (seed % 4 == 0) first->add_labels(seed % 8 == 0 ? "unknown" : "b");
    reach.mutable_hops()->MergeFrom(others.reach.hops());
    std::map<std::pair<VertexRef, VertexRef>, bool> reaches;
    for (const int64_t room : {int64_t{0}, int64_t{3000}, INT64_MAX}) {
      host.limit = room;
      StatusOr<OperatorBundle> bundle = MakeCountReaching(reach, 3, &host);
      ASSERT_TRUE(bundle.ok()) << bundle.status();
      for (int batch = 0; batch < 3; ++batch) {
        const Batch rows = RandomRows(&host, 1 + host.rng_.Uniform(300));
        std::vector<int64_t> numbers;
        for (bool done = false; !done;) {
          OpOutput output;
          const Status status = bundle->stream->Process(rows, &output, &done);
          ASSERT_TRUE(status.ok()) << status;
          for (size_t i = 0; i < output.rows(rows); ++i) {
            ASSERT_EQ(output.identity ? i : output.origin[i], numbers.size());
            numbers.push_back(output.column.longs()[i]);
          }
        }
        ASSERT_EQ(numbers.size(), rows.rows);
        for (uint32_t row = 0; row < rows.rows; ++row) {
          int64_t expected = 0;
          for (const VertexRef next : NextOf(host, rows.slots[0].Get(row).AsVertex(), *first)) {
            const VertexRef target = rows.slots[1].Get(row).AsVertex();
            const auto [pair, fresh] = reaches.try_emplace({next, target});
            if (fresh) pair->second = WalksFrom(host, others, next, target) > 0;
            expected += pair->second ? 1 : 0;
          }
          ASSERT_EQ(numbers[row], expected) << reach.DebugString() << " row " << row;
        }
      }
      *bundle = OperatorBundle();
      EXPECT_EQ(host.charged, 0);
    }
  }
}

// Rows whose ends differ and that have many edges are searched as pairs.
TEST(WalkTest, PairsAreSearched) {
  for (uint64_t seed = 1; seed <= TestRounds(24, 8); ++seed) {
    WalkHost host(seed, 12, 1200);
    Case one{{}, {-1}, -1, std::nullopt};
    one.reach.set_result(static_cast<plan::Reach::Result>(seed % 4));
    one.reach.set_flag_slot(2);
    plan::Hop* hop = one.reach.add_hops();
    hop->set_direction(static_cast<plan::Direction>(seed % 3));
    if (seed % 5 < 3) hop->add_labels(seed % 5 == 0 ? "unknown" : "a");
    one.reach.mutable_ends()->set_at_slot(1);
    if (seed % 2 == 0) {
      one.end_kind = 1;
      *one.reach.mutable_ends()->mutable_filter() = KindIs(1);
    }
    StatusOr<OperatorBundle> bundle = MakeReach(one.reach, 3, &host);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    Batch rows = RandomRows(&host, 700);
    rows.slots[1] = Column();
    for (size_t i = 0; i < rows.rows; ++i) rows.slots[1].AppendVertex(host.Any());
    host.graph.pairs_ = 0;
    const WalksRan all = RunWalks(bundle->stream.get(), rows);
    Check(host, one, rows, all);
    if (HasFatalFailure()) return;
    EXPECT_EQ(host.graph.pairs_ > 600, seed % 5 != 0);
    const WalksRan some = RunWalks(bundle->stream.get(), rows, /*skip_to=*/650);
    EXPECT_TRUE(std::equal(
        std::lower_bound(all.origin.begin(), all.origin.end(), 650u), all.origin.end(),
        std::lower_bound(some.origin.begin(), some.origin.end(), 650u), some.origin.end()));
  }
}

// Rows that are passed over give nothing, the others what they give anyway.
TEST(WalkTest, SkippedRowsGiveNothing) {
  WalkHost host(5, 300, 6000);
  plan::Reach reach;
  reach.add_hops();
  reach.add_hops();
  reach.mutable_ends()->set_at_slot(1);
  StatusOr<OperatorBundle> bundle = MakeReach(reach, 3, &host);
  ASSERT_TRUE(bundle.ok());
  const Batch rows = RandomRows(&host, 900);
  const WalksRan all = RunWalks(bundle->stream.get(), rows);
  const WalksRan some = RunWalks(bundle->stream.get(), rows, /*skip_to=*/700);
  std::vector<uint32_t> last_of_all, last_of_some;
  for (const uint32_t row : all.origin) {
    if (row >= 700) last_of_all.push_back(row);
  }
  for (const uint32_t row : some.origin) {
    if (row >= 700) last_of_some.push_back(row);
  }
  EXPECT_EQ(last_of_all, last_of_some);
  EXPECT_LT(some.origin.size(), all.origin.size());
}

// Hops that repeat: any number of them, also none, on a ring that has no end.
TEST(WalkTest, AHopThatRepeats) {
  WalkHost host(1, 12, 0);
  for (size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(host.graph.AddEdge(host.vertices[i], host.vertices[(i + 1) % 8], "a").ok());
  }
  plan::Reach reach;
  reach.add_hops()->set_direction(plan::OUT);
  plan::Hop* repeated = reach.add_hops();
  repeated->set_direction(plan::OUT);
  repeated->set_repeat(true);
  reach.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(3)));
  Batch rows;
  rows.slots.resize(3);
  for (int again = 0; again < 40; ++again) {
    for (const VertexRef vertex : host.vertices) rows.slots[0].AppendVertex(vertex);
  }
  rows.rows = 40 * host.vertices.size();
  StatusOr<OperatorBundle> bundle = MakeReach(reach, 3, &host);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const WalksRan ran = RunWalks(bundle->stream.get(), rows);
  EXPECT_EQ(ran.origin.size(), 40u * 8);
  for (const uint32_t row : ran.origin) EXPECT_LT(row % 12, 8u);
  *bundle = OperatorBundle();
  EXPECT_EQ(host.charged, 0);
}

// Many rows with few ends are looked up: the edges of the rows are not walked along.
TEST(WalkTest, ManyRowsAreLookedUp) {
  WalkHost host(3, 200, 4000);
  plan::Reach reach;
  reach.add_hops();
  reach.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(7)));
  StatusOr<Walk> walk = Walk::Bind(reach, 3, &host);
  ASSERT_TRUE(walk.ok());
  BackwardWalk back(&*walk, /*counts=*/false, &host);
  back.BeginWithEnds();
  while (!back.is_over()) ASSERT_TRUE(back.Proceed().ok());
  EXPECT_EQ(back.depth(), 1u);
  EXPECT_LT(back.work(), 100u);
  Case one{reach, {-1}, -1, 7};
  for (const VertexRef vertex : host.vertices) {
    EXPECT_EQ(back.Contains(vertex), WalksFrom(host, one, vertex, {}) > 0);
  }
}

// Ends are not looked for among vertices that no last hop comes to: those of the label "other", to
// which edges of the first hop alone lead.
TEST(WalkTest, LabelsThatNoEdgeComesToAreNotLookedAt) {
  WalkHost host(2, 80, 0);
  std::vector<VertexRef> nodes;
  for (size_t i = 0; i < host.vertices.size(); ++i) {
    if (i % 4 != 0) nodes.push_back(host.vertices[i]);
    ASSERT_TRUE(host.graph.AddEdge(host.vertices[i], host.vertices[i / 4 * 4], "b").ok());
  }
  for (size_t i = 1; i < nodes.size(); ++i) {
    ASSERT_TRUE(host.graph.AddEdge(nodes[i - 1], nodes[i], "a").ok());
  }
  const auto read_for = [&](const std::vector<std::pair<std::string, bool>>& hops, bool tells) {
    plan::Reach reach;
    for (const auto& [label, repeats] : hops) {
      plan::Hop* hop = reach.add_hops();
      hop->add_labels(label);
      hop->set_repeat(repeats);
    }
    reach.mutable_ends()->mutable_scan();
    reach.mutable_ends()->add_keys("kind");
    *reach.mutable_ends()->mutable_filter() = KindIs(1);
    host.graph.tells_totals_ = tells;
    StatusOr<Walk> walk = Walk::Bind(reach, 3, &host);
    EXPECT_TRUE(walk.ok());
    host.graph.read_ = 0;
    std::vector<VertexRef> ends;
    size_t work = 0;
    for (bool done = false; !done;) EXPECT_TRUE(walk->ends.Find(&ends, &work, &done).ok());
    return host.graph.read_;
  };
  EXPECT_EQ(read_for({{"b", false}, {"a", false}}, false), 80u);
  EXPECT_EQ(read_for({{"b", false}, {"a", false}}, true), 60u);
  EXPECT_EQ(read_for({{"a", false}, {"b", false}}, true), 20u);
  // The hop that repeats may be none.
  EXPECT_EQ(read_for({{"b", false}, {"a", true}}, true), 80u);
  EXPECT_EQ(read_for({{"a", false}, {"a", true}}, true), 60u);
  EXPECT_EQ(read_for({{"b", false}, {"nobody's", false}}, true), 0u);
}

// A call reads as many vertices as it can, by the bytes of what is asked about them.
TEST(WalkTest, LargeValuesAreFewInACall) {
  WalkHost host(1, 0, 0);
  constexpr size_t kVertices = 48;
  for (size_t i = 0; i < kVertices; ++i) {
    const Value text = Value::String(std::string(size_t{1} << 20, 'x'));
    host.vertices.push_back(
        host.graph.AddVertex(Value::Long(static_cast<int64_t>(i)), "node", {{"kind", text}})
            .value());
    ASSERT_TRUE(host.graph.AddEdge(host.vertices[0], host.vertices[i], "a").ok());
  }
  Batch rows;
  rows.slots.resize(3);
  rows.slots[0].AppendVertex(host.vertices[0]);
  rows.rows = 1;
  rows.runs.push_back({{}, {}, 1, 0});
  plan::Reach first_hop, ends;
  *first_hop.add_hops()->mutable_filter() = KindIs(7);
  first_hop.add_hops();
  first_hop.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(5)));
  first_hop.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(6)));
  ends.add_hops();
  ends.mutable_ends()->mutable_scan();
  *ends.mutable_ends()->mutable_filter() = KindIs(7);
  plan::ShortestPath path;
  *path.mutable_hop()->mutable_filter() = KindIs(7);
  *path.mutable_ends() = ends.ends();
  StatusOr<OperatorBundle> bundles[] = {MakeReach(first_hop, 3, &host), MakeReach(ends, 3, &host),
                                        MakeShortestPath(path, 3, &host)};
  for (StatusOr<OperatorBundle>& bundle : bundles) {
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    host.graph.read_ = 0;
    size_t most = 0;
    for (bool done = false; !done;) {
      const size_t before = host.graph.read_;
      OpOutput output;
      ASSERT_TRUE(bundle->stream->Process(rows, &output, &done).ok());
      EXPECT_EQ(output.rows(rows), 0u);
      most = std::max(most, host.graph.read_ - before);
    }
    EXPECT_GE(host.graph.read_, 1u);
    EXPECT_LE(most, kVertices / 2);
  }
}

// Where the account refuses the set, what was gathered for it is given back at once.
TEST(WalkTest, ARefusedSetIsNotCharged) {
  WalkHost host(3, 200, 4000);
  plan::Reach reach;
  reach.add_hops();
  reach.add_hops();
  reach.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(7)));
  StatusOr<Walk> walk = Walk::Bind(reach, 3, &host);
  ASSERT_TRUE(walk.ok());
  int64_t kept = 0;
  {
    BackwardWalk back(&*walk, /*counts=*/false, &host);
    host.limit = 3000;
    back.BeginWithEnds();
    while (!back.is_over()) ASSERT_TRUE(back.Proceed().ok());
    EXPECT_FALSE(back.refused().ok());
    EXPECT_LT(back.depth(), 2u);
    kept = host.charged;
  }
  EXPECT_EQ(host.charged, 0);
  // The set as deep as it is, the one end, and no list beside it.
  VertexBag bag(false);
  ASSERT_TRUE(bag.Add(host.vertices[7], 1, &host).ok());
  EXPECT_EQ(kept, bag.bytes());
}

// Breadth-first by itself: the length of a shortest walk; -1: none.
int64_t DistanceOf(const WalkHost& host, const plan::Hop& hop, VertexRef start, VertexRef end,
                   bool may_stay) {
  if (may_stay && start == end) return 0;
  std::vector<VertexRef> level = {start};
  std::set<uint64_t> met;
  for (int64_t hops = 1; !level.empty(); ++hops) {
    std::vector<VertexRef> next;
    for (const VertexRef vertex : level) {
      for (const VertexRef other : NextOf(host, vertex, hop)) {
        if (other == end) return hops;
        if (met.insert(other.bits).second) next.push_back(other);
      }
    }
    level = std::move(next);
  }
  return -1;
}

TEST(WalkTest, AShortestPathIsAWalkOfThatLength) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    WalkHost host(seed, 2 + seed % 30, seed * 5 % 60);
    plan::ShortestPath path;
    path.mutable_hop()->set_direction(static_cast<plan::Direction>(seed % 3));
    path.set_may_stay(seed % 2 == 0);
    path.mutable_ends()->set_at_slot(1);
    path.set_path_slot(2);
    StatusOr<OperatorBundle> bundle = MakeShortestPath(path, 3, &host);
    ASSERT_TRUE(bundle.ok());
    const Batch rows = RandomRows(&host, 20);
    std::map<uint32_t, Value> paths;
    for (bool done = false; !done;) {
      OpOutput output;
      ASSERT_TRUE(bundle->stream->Process(rows, &output, &done).ok());
      for (size_t i = 0; i < output.origin.size(); ++i) {
        paths[output.origin[i]] = output.column.Get(i);
      }
    }
    for (uint32_t row = 0; row < rows.rows; ++row) {
      VertexRef at = rows.slots[0].Get(row).AsVertex();
      const VertexRef end = rows.slots[1].Get(row).AsVertex();
      const int64_t distance = DistanceOf(host, path.hop(), at, end, path.may_stay());
      ASSERT_EQ(paths.contains(row), distance >= 0) << "seed " << seed << " row " << row;
      if (distance < 0) continue;
      const ValueList objects = ObjectsOf(paths[row]);
      ASSERT_EQ(static_cast<int64_t>(objects.size()), distance) << "seed " << seed;
      for (const Value& object : objects) {
        const std::vector<VertexRef> next = NextOf(host, at, path.hop());
        ASSERT_NE(std::find(next.begin(), next.end(), object.AsVertex()), next.end());
        at = object.AsVertex();
      }
      EXPECT_EQ(at, end);
    }
    *bundle = OperatorBundle();
    EXPECT_EQ(host.charged, 0);
  }
}

// Most of a level lead nowhere, and a call looks at few of it.
TEST(WalkTest, ALevelOfLeavesMayLeadOn) {
  WalkHost host(5, 2, 0);
  const VertexRef start = host.vertices[0], end = host.vertices[1];
  const auto add = [&] { return host.graph.AddVertex(std::nullopt, "node").value(); };
  const auto lead = [&](VertexRef from, VertexRef to) {
    EXPECT_TRUE(host.graph.AddEdge(from, to, "a").ok());
  };
  for (int i = 0; i < 1000; ++i) lead(start, add());
  for (int i = 0; i < 2000; ++i) lead(add(), end);
  const VertexRef middle = add();
  lead(start, middle);
  lead(middle, end);
  plan::ShortestPath path;
  path.mutable_hop()->set_direction(plan::OUT);
  path.mutable_ends()->set_at_slot(1);
  StatusOr<OperatorBundle> bundle = MakeShortestPath(path, 2, &host);
  ASSERT_TRUE(bundle.ok());
  size_t given = 0;
  for (bool done = false; !done;) {
    OpOutput output;
    ASSERT_TRUE(
        bundle->stream->Process(Rows({Value::Of(start)}, {Value::Of(end)}), &output, &done).ok());
    given += output.origin.size();
  }
  EXPECT_EQ(given, 1u);
}

TEST(WalkTest, ASearchEndsWithTheAccount) {
  WalkHost host(2, 400, 900);
  plan::ShortestPath path;
  path.mutable_hop()->set_direction(plan::BOTH);
  path.mutable_ends()->mutable_ids()->add_values(EncodeValue(Value::Long(399)));
  host.limit = 400;
  StatusOr<OperatorBundle> bundle = MakeShortestPath(path, 3, &host);
  ASSERT_TRUE(bundle.ok());
  Status status;
  const Batch rows = RandomRows(&host, 50);
  for (bool done = false; !done && status.ok();) {
    OpOutput output;
    status = bundle->stream->Process(rows, &output, &done);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  *bundle = OperatorBundle();
  EXPECT_EQ(host.charged, 0);
}

TEST(WalkTest, WhatIsNoVertexHasNoEdges) {
  WalkHost host(1, 3, 3);
  plan::Reach reach;
  reach.add_hops();
  reach.mutable_ends()->set_at_slot(1);
  StatusOr<OperatorBundle> bundle = MakeReach(reach, 3, &host);
  ASSERT_TRUE(bundle.ok());
  Batch rows;
  rows.slots.resize(3);
  rows.slots[0].AppendLong(1);
  rows.rows = 1;
  OpOutput output;
  bool done = false;
  EXPECT_EQ(bundle->stream->Process(rows, &output, &done).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace koios::engine
