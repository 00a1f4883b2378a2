#include "engine/exchange/frame.h"
#include "gtest/gtest.h"
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

TEST(FrameCodecTest, CutOrChangedBytesAreRefusedOrReadNeverCrash) {
  NoViews views;
  const std::string bytes = EncodeFrame(DataFrame(), false);
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

}  // namespace
}  // namespace koios::engine
