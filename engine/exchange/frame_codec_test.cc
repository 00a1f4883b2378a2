#include <set>

#include "core/path/path.h"
#include "core/random.h"
#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "engine/exchange/frame.h"
#include "gtest/gtest.h"
#include "proto/frame.pb.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

class NoViews : public ViewProvider {
 public:
  StatusOr<std::shared_ptr<const storage::GraphView>> View(const std::string&, uint64_t) override {
    return std::shared_ptr<const storage::GraphView>(std::make_shared<storage::MemoryGraph>());
  }
};

Frame DataFrame() {
  Frame frame;
  frame.query = {2, 77, 5};
  frame.from = 3;
  frame.op = 9;
  frame.batch.slots.resize(3);
  frame.batch.slots[0].AppendVertex(VertexRef::Make(1, 2));
  frame.batch.slots[0].AppendVertex(VertexRef::Make(3, 4));
  frame.batch.slots[2].Append(Value::String("a"));
  frame.batch.slots[2].AppendAbsent();
  frame.batch.rows = 2;
  frame.batch.bulk = {1, 7};
  frame.batch.runs.push_back({{2, 0}, {}, 1, 4});
  frame.batch.runs.push_back({{1, 8}, {3, 0}, 1, 70});
  return frame;
}

TEST(FrameCodecTest, DataSurvives) {
  NoViews views;
  const auto decoded = DecodeFrame(EncodeFrame(DataFrame(), false), &views);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->query, (QueryId{2, 77, 5}));
  EXPECT_EQ(decoded->op, 9u);
  EXPECT_EQ(decoded->batch.rows, 2u);
  EXPECT_EQ(decoded->batch.slots[0].vertices()[1], VertexRef::Make(3, 4));
  EXPECT_TRUE(decoded->batch.slots[1].empty());
  EXPECT_FALSE(decoded->batch.slots[2].IsAbsent(0));
  EXPECT_TRUE(decoded->batch.slots[2].IsAbsent(1));
  EXPECT_EQ(decoded->batch.bulk, (std::vector<int64_t>{1, 7}));
  ASSERT_EQ(decoded->batch.runs.size(), 2u);
  EXPECT_EQ(decoded->batch.runs[1].instance, (InstanceId{1, 8}));
  EXPECT_EQ(decoded->batch.runs[1].loops, (Loops{3, 0}));
  EXPECT_EQ(decoded->batch.runs[1].k, 70u);
}

TEST(FrameCodecTest, CreditSurvives) {
  NoViews views;
  Frame data = DataFrame();
  data.credit = {uint64_t{1} << 40, true};
  auto decoded = DecodeFrame(EncodeFrame(data, false), &views);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->credit.bytes, uint64_t{1} << 40);
  EXPECT_TRUE(decoded->credit.granted);
  for (const FrameKind kind :
       {FrameKind::kAck, FrameKind::kAsk, FrameKind::kGrant, FrameKind::kReturn}) {
    Frame word;
    word.kind = kind;
    word.from = 2;
    word.op = 7;
    word.loops = {3, 1};
    decoded = DecodeFrame(EncodeFrame(word, false), &views);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(decoded->kind, kind);
    EXPECT_EQ(decoded->from, 2u);
    EXPECT_EQ(decoded->op, 7u);
    EXPECT_EQ(decoded->loops, (Loops{3, 1}));
    EXPECT_TRUE(decoded->is_control());
  }
  Frame none;
  none.kind = static_cast<FrameKind>(16);
  EXPECT_EQ(DecodeFrame(EncodeFrame(none, false), &views).status().code(), StatusCode::kDataLoss);
}

TEST(FrameCodecTest, ReportsAndErrorsSurvive) {
  NoViews views;
  Frame frame;
  frame.kind = FrameKind::kReport;
  Report report;
  report.instance = {1, 4};
  report.weight.Add(3);
  report.weight.Add(90);
  report.pending.push_back({6, {2}});
  frame.reports.push_back(report);
  auto decoded = DecodeFrame(EncodeFrame(frame, false), &views);
  ASSERT_TRUE(decoded.ok());
  ASSERT_EQ(decoded->reports.size(), 1u);
  EXPECT_EQ(decoded->reports[0].weight.Pieces(), (std::vector<uint32_t>{3, 90}));
  EXPECT_EQ(decoded->reports[0].pending[0], (BarrierKey{6, {2}}));

  Frame end;
  end.kind = FrameKind::kEnd;
  end.wants_stats = true;
  end.over_before = 77;
  decoded = DecodeFrame(EncodeFrame(end, false), &views);
  ASSERT_TRUE(decoded.ok());
  EXPECT_TRUE(decoded->wants_stats);
  EXPECT_EQ(decoded->over_before, 77u);

  Frame fail;
  fail.kind = FrameKind::kFail;
  ErrorDetail detail;
  detail.step = "order()";
  detail.span = {1, 5, 7};
  fail.status = ResourceExhausted("Too much.", detail);
  decoded = DecodeFrame(EncodeFrame(fail, false), &views);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(decoded->status)->step, "order()");
  EXPECT_EQ(DetailOf(decoded->status)->span, (SourceSpan{1, 5, 7}));
}

void ExpectRefusedOrRead(const std::string& bytes) {
  NoViews views;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeFrame(std::string_view(bytes).substr(0, size), &views).ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto decoded = DecodeFrame(changed, &views);
      if (decoded.ok()) {
        for (const Column& slot : decoded->batch.slots) {
          EXPECT_TRUE(slot.empty() || slot.size() == decoded->batch.rows);
        }
      }
    }
  }
}

// Rows of which each path is two objects more than the trunk; other values between them.
Frame PathFrame(size_t rows, int64_t trunk_length) {
  PathMaker maker(nullptr);
  const PathLabels* labels[] = {nullptr, maker.Labels({"a"}), maker.Labels({"b", "c"})};
  const auto grown = [&](const Value& path, Value object, int64_t i) {
    return Made(maker.Append(path, std::move(object), labels[i % 3]));
  };
  Value trunk;
  for (int64_t i = 0; i < trunk_length; ++i) {
    trunk = grown(trunk, Value::Of(VertexRef::Make(0, static_cast<uint64_t>(i))), i);
  }
  Frame frame;
  frame.batch.slots.resize(3);
  for (size_t row = 0; row < rows; ++row) {
    const auto number = static_cast<int64_t>(row);
    const Value path = grown(grown(trunk, Value::Long(number), 0), Value::String("end"), number);
    frame.batch.slots[0].Append(row % 5 == 4 ? Value::Int(7) : path);
    frame.batch.slots[1].Append(row % 7 == 6 ? PathMaker::Empty() : path);
    if (row % 3 == 2) {
      frame.batch.slots[2].AppendAbsent();
    } else {
      frame.batch.slots[2].Append(row % 3 == 0 ? trunk : ListOf({path}));
    }
  }
  frame.batch.rows = rows;
  frame.batch.runs.push_back({{2, 0}, {}, static_cast<uint32_t>(rows), 4});
  return frame;
}

size_t NumNodes(const Batch& batch) {
  std::set<const PathNode*> nodes;
  for (const Column& column : batch.slots) {
    for (const Value& value : column.values()) {
      if (value.kind() != ValueKind::kPath) continue;
      for (const PathNode* at = &value.AsPath(); at != nullptr; at = at->parent()) nodes.insert(at);
    }
  }
  return nodes.size();
}

TEST(FrameCodecTest, PathsShareWhatTheyBeginWithOnTheWayToo) {
  NoViews views;
  const Frame frame = PathFrame(100, 1000);
  const std::string bytes = EncodeFrame(frame, false);
  EXPECT_LT(bytes.size(), 500'000u);  // the lists' 33 paths in full, of the others none
  auto decoded = DecodeFrame(bytes, &views);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  for (size_t slot = 0; slot < 3; ++slot) {
    const Column& sent = frame.batch.slots[slot];
    const Column& found = decoded->batch.slots[slot];
    ASSERT_EQ(found.size(), sent.size());
    for (size_t row = 0; row < sent.size(); ++row) {
      ASSERT_EQ(found.IsAbsent(row), sent.IsAbsent(row)) << slot << ", " << row;
      ASSERT_TRUE(Equivalent(found.Get(row), sent.Get(row))) << slot << ", " << row;
    }
  }
  EXPECT_EQ(NumNodes(frame.batch), NumNodes(decoded->batch));  // the empty ones included
  const size_t empty = 100 / 7;
  EXPECT_EQ(NumNodes(decoded->batch), 1000 + 2 * 98 + empty);  // rows 34 and 69 have none
  // Who receives the frame is charged for each node once.
  const auto account = std::make_shared<MemoryAccount>("test");
  ASSERT_NE(decoded->paths, nullptr);
  ASSERT_TRUE(decoded->paths->Bind(account).ok());
  EXPECT_GE(account->used(), static_cast<int64_t>(1196 * sizeof(PathNode)));
  EXPECT_LT(account->used(), static_cast<int64_t>(1200 * sizeof(PathNode) + 200 * 100));
  EXPECT_LT(decoded->batch.slots[0].ByteSize(), 100 * 4 * sizeof(Value));
  decoded = Frame();
  EXPECT_EQ(account->used(), 0);
}

// The table of one slot's paths with these numbers; a frame of it.
std::string FrameOfTable(const std::string& table, const std::string& column, uint32_t rows,
                         uint64_t path_bytes) {
  frame::Header header;
  header.set_rows(rows);
  header.add_runs()->set_count(rows);
  header.set_num_slots(1);
  header.add_column_slots(0);
  header.add_column_bytes(column.size());
  header.add_path_slots(0);
  header.set_path_bytes(path_bytes);
  std::string bytes;
  PutBytes(header.SerializeAsString(), &bytes);
  return bytes + table + column;
}

std::string Varints(std::initializer_list<uint64_t> numbers) {
  std::string bytes;
  for (const uint64_t number : numbers) PutVarint(number, &bytes);
  return bytes;
}

TEST(FrameCodecTest, PathsThatAreNoneAreRefused) {
  NoViews views;
  Column objects, none;
  for (int64_t i = 0; i < 3; ++i) objects.AppendLong(i);
  std::string tail, rest;
  objects.EncodeTo(&tail);
  none.EncodeTo(&rest);
  const auto decode = [&](const std::string& table, const std::string& column, uint32_t rows = 2) {
    const auto decoded = DecodeFrame(FrameOfTable(table, column, rows, table.size()), &views);
    return decoded.status().code();
  };
  // No labels; three nodes: 0, 0-1, 0-2.
  const std::string table = Varints({0, 3, 0, 0, 1, 0, 2, 0}) + tail;
  const std::string column = Varints({3, 4}) + rest;
  EXPECT_EQ(decode(table, column), StatusCode::kOk);
  EXPECT_EQ(decode(table, Varints({1, 4}) + rest), StatusCode::kOk);
  EXPECT_EQ(decode(table, Varints({3, 5}) + rest), StatusCode::kDataLoss);  // no such node
  EXPECT_EQ(decode(table, Varints({3, UINT64_MAX}) + rest), StatusCode::kDataLoss);
  EXPECT_EQ(decode(table, Varints({3, 0}) + rest), StatusCode::kDataLoss);  // no such row
  EXPECT_EQ(decode(table, column, 3), StatusCode::kDataLoss);
  EXPECT_EQ(decode(table, Varints({3})), StatusCode::kDataLoss);
  const std::string bad_tables[] = {
      Varints({0, 3, 0, 0, 2, 0, 2, 0}) + tail,           // a parent before the first node
      Varints({0, 3, 1, 0, 1, 0, 2, 0}) + tail,           // itself
      Varints({0, 3, 0, 0, UINT64_MAX, 0, 2, 0}) + tail,  // far before
      Varints({0, 3, 0, 0, 1, 1, 2, 0}) + tail,           // no such labels
      Varints({0, 2, 0, 0, 1, 0}) + tail,                 // an object too many
      Varints({0, 4, 0, 0, 1, 0, 2, 0, 1, 0}) + tail,     // one too few
      Varints({0, UINT64_MAX}) + tail,
      Varints({UINT64_MAX}) + tail,
      Varints({1, 1, 9}) + tail,  // labels that are cut
      Varints({0, 3, 0, 0, 1, 0, 2, 0}),
      "",
  };
  for (const std::string& bad : bad_tables) EXPECT_EQ(decode(bad, column), StatusCode::kDataLoss);
  const std::string longer = FrameOfTable(table, column, 2, UINT64_MAX);
  EXPECT_EQ(DecodeFrame(longer, &views).status().code(), StatusCode::kDataLoss);
}

TEST(FrameCodecTest, APathTooDeepIsDamage) {
  NoViews views;
  Column objects, none;
  objects.Append(Nested(kMaxValueDepth));
  std::string table = Varints({0, 1, 0, 0}), column = Varints({2});
  objects.EncodeTo(&table);
  none.EncodeTo(&column);
  const auto decoded = DecodeFrame(FrameOfTable(table, column, 1, table.size()), &views);
  EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss);
}

TEST(FrameCodecTest, CutOrChangedBytesAreRefusedOrReadNeverCrash) {
  ExpectRefusedOrRead(EncodeFrame(DataFrame(), false));
  ExpectRefusedOrRead(EncodeFrame(PathFrame(7, 5), false));
}

Frame ReportFrame() {
  Frame frame;
  frame.kind = FrameKind::kReport;
  for (uint32_t i = 0; i < 3; ++i) {
    Report report;
    report.instance = {i, 4};
    report.weight.Add(3 + i);
    report.weight.Add(90);
    report.pending.push_back({6, {2, i}});
    frame.reports.push_back(report);
  }
  frame.status = ResourceExhausted("Too much.", {});
  return frame;
}

// A frame of this header alone.
std::string Encoded(const frame::Header& header) {
  std::string bytes;
  PutBytes(header.SerializeAsString(), &bytes);
  return bytes;
}

// Not logged, not refused: an error may quote what a user gave. It comes out as text.
TEST(FrameCodecTest, TextsThatAreNoUtf8AreMended) {
  NoViews views;
  frame::Header header;
  header.set_kind(frame::Header::FAIL);
  header.set_code(static_cast<uint32_t>(StatusCode::kInvalidArgument));
  header.set_message("no '\xe2\x82'");
  header.mutable_error()->set_step("V('\xff')");
  ::testing::internal::CaptureStderr();
  const auto decoded = DecodeFrame(Encoded(header), &views);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(MessageOf(decoded->status), "no '\xef\xbf\xbd\xef\xbf\xbd'");
  EXPECT_EQ(DetailOf(decoded->status)->step, "V('\xef\xbf\xbd')");
}

TEST(FrameCodecTest, WeightsThatAreNoneAreRefused) {
  NoViews views;
  const auto decode = [&](std::vector<std::pair<uint32_t, uint32_t>> weights, int reports = 1) {
    frame::Header header;
    header.set_kind(frame::Header::REPORT);
    for (int i = 0; i < reports; ++i) {
      frame::Report* report = header.add_reports();
      for (const auto& [k, count] : weights) {
        frame::Weight* weight = report->add_weights();
        weight->set_k(k);
        weight->set_count(count);
      }
    }
    return DecodeFrame(Encoded(header), &views).status().code();
  };
  EXPECT_EQ(decode({{0, 1}}), StatusCode::kOk);
  EXPECT_EQ(decode({{1, 1}, {2, 2}}), StatusCode::kOk);
  EXPECT_EQ(decode({{0, 1}, {9, 1}}), StatusCode::kOk);  // the home sees that it is too much
  EXPECT_EQ(decode({{0, 2}}), StatusCode::kDataLoss);
  EXPECT_EQ(decode({{1, 3}, {1, 1}}), StatusCode::kDataLoss);
  EXPECT_EQ(decode({{3, UINT32_MAX}}), StatusCode::kDataLoss);
  EXPECT_EQ(decode({{UINT32_MAX, 1}}), StatusCode::kDataLoss);
  EXPECT_EQ(decode({{1 << 24, 1}}, 2), StatusCode::kOk);
  EXPECT_EQ(decode({{1 << 24, 1}}, 5), StatusCode::kDataLoss);  // each alone would do
}

TEST(FrameCodecTest, RowsThatAreNoneAreRefused) {
  NoViews views;
  const auto decode = [&](uint32_t rows, std::vector<uint32_t> counts, uint32_t k, int64_t bulk) {
    frame::Header header;
    header.set_rows(rows);
    for (uint32_t count : counts) {
      header.add_runs()->set_count(count);
      header.mutable_runs()->rbegin()->set_k(k);
    }
    for (uint32_t row = 0; bulk != 1 && row < rows; ++row) header.add_bulk(bulk);
    return DecodeFrame(Encoded(header), &views).status().code();
  };
  EXPECT_EQ(decode(3, {1, 2}, 5, 7), StatusCode::kOk);
  EXPECT_EQ(decode(3, {1, 1}, 5, 1), StatusCode::kDataLoss);
  EXPECT_EQ(decode(3, {3, 0}, 5, 1), StatusCode::kDataLoss);
  EXPECT_EQ(decode(3, {3}, UINT32_MAX, 1), StatusCode::kDataLoss);
  EXPECT_EQ(decode(3, {3}, 5, 0), StatusCode::kDataLoss);
  EXPECT_EQ(decode(3, {3}, 5, -1), StatusCode::kDataLoss);
  EXPECT_EQ(decode(UINT32_MAX, {UINT32_MAX}, 5, 1), StatusCode::kDataLoss);
}

TEST(FrameCodecTest, MutatedBytesAreReadOrDataLoss) {
  NoViews views;
  const std::string sources[] = {EncodeFrame(DataFrame(), false), EncodeFrame(ReportFrame(), false),
                                 EncodeFrame(PathFrame(7, 5), false)};
  Rng rng(11);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string bytes = sources[i % 3];
    for (uint64_t changes = 1 + rng.Uniform(4); changes > 0 && !bytes.empty(); --changes) {
      const size_t at = rng.Uniform(bytes.size());
      switch (rng.Uniform(4)) {
        case 0:
          bytes.erase(at, 1 + rng.Uniform(4));
          break;
        case 1:
          bytes.insert(at, 1, static_cast<char>(rng.Uniform(256)));
          break;
        case 2:
          bytes.insert(at, bytes.substr(rng.Uniform(bytes.size()), rng.Uniform(12)));
          break;
        default:
          bytes[at] = static_cast<char>(rng.Uniform(256));
      }
    }
    const auto decoded = DecodeFrame(bytes, &views);
    if (!decoded.ok()) {
      ++refused;
      ASSERT_EQ(decoded.status().code(), StatusCode::kDataLoss) << "mutation " << i;
      continue;
    }
    ++read;
    for (const Column& slot : decoded->batch.slots) {
      ASSERT_TRUE(slot.empty() || slot.size() == decoded->batch.rows) << "mutation " << i;
    }
    (void)EncodeFrame(*decoded, false);  // what was read can be used
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace koios::engine
