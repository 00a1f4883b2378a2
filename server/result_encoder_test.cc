#include "server/result_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "core/value_proto.h"
#include "engine/result/element_resolver.h"
#include "storage/memory_graph.h"

namespace koios::server {
namespace {

using engine::VertexPropertyId;

class ResultEncoderTest : public testing::Test {
 protected:
  ResultEncoderTest() {
    marko_ = *graph_->AddVertex(Value::Long(1), "person",
                                {{"name", Value::String("marko")}, {"age", Value::Int(29)}});
    vadas_ = *graph_->AddVertex(Value::String("v"), "person", {{"name", Value::String("vadas")}});
    knows_ =
        *graph_->AddEdge(marko_, vadas_, "knows", {{"weight", Value::Double(0.5)}}, Value::Long(7));
  }

  std::vector<v1::ResultBatch> Encode(const engine::ResultBatch& batch, bool materialize = false) {
    ResultEncoder encoder(graph_, materialize);
    std::vector<v1::ResultBatch> batches;
    EncodedMessages messages;
    size_t row = 0;
    do {
      const StatusOr<bool> encoded = encoder.Encode(batch, &row, &messages);
      EXPECT_TRUE(encoded.ok()) << MessageOf(encoded.status());
      if (!encoded.ok()) break;
      if (!*encoded) continue;
      for (const EncodedMessage& message : messages) batches.push_back(message.message()->batch());
      messages.clear();
    } while (row < batch.column.size());
    return batches;
  }

  std::shared_ptr<storage::MemoryGraph> graph_ = std::make_shared<storage::MemoryGraph>(4);
  VertexRef marko_, vadas_;
  EdgeRef knows_;
};

TEST_F(ResultEncoderTest, UniformColumnsStayTyped) {
  engine::ResultBatch batch;
  batch.column.AppendLong(5);
  batch.column.AppendLong(-6);
  const auto messages = Encode(batch);
  ASSERT_EQ(messages.size(), 1u);
  ASSERT_TRUE(messages[0].has_longs());
  EXPECT_EQ(messages[0].longs().values(1), -6);
  EXPECT_EQ(messages[0].bulk_size(), 0);
}

TEST_F(ResultEncoderTest, BulkIsSentOnlyWhereItIsNotOne) {
  engine::ResultBatch batch;
  batch.column.AppendString("a");
  batch.column.AppendString("b");
  batch.bulk = {1, 1};
  EXPECT_EQ(Encode(batch)[0].bulk_size(), 0);
  batch.bulk = {1, 3};
  const auto messages = Encode(batch);
  ASSERT_EQ(messages[0].bulk_size(), 2);
  EXPECT_EQ(messages[0].bulk(1), 3);
}

TEST_F(ResultEncoderTest, VerticesHaveTheUsersIdAndLabel) {
  engine::ResultBatch batch;
  batch.column.AppendVertex(vadas_);
  batch.column.AppendVertex(marko_);
  batch.column.AppendVertex(vadas_);
  const auto messages = Encode(batch);
  ASSERT_EQ(messages[0].vertices().values_size(), 3);
  EXPECT_EQ(messages[0].vertices().values(0).id().string_value(), "v");
  EXPECT_EQ(messages[0].vertices().values(1).id().long_value(), 1);
  EXPECT_EQ(messages[0].vertices().values(1).label(), "person");
  EXPECT_EQ(messages[0].vertices().values(1).properties_size(), 0);
  EXPECT_EQ(Encode(batch, true)[0].vertices().values(1).properties_size(), 2);
}

// A batch has references; what they stand for may be any number of times as large.
TEST_F(ResultEncoderTest, ElementsWithTheirPropertiesComeByTheMessage) {
  constexpr size_t kBytes = 100 << 10;
  constexpr size_t kRows = 300;
  const VertexRef wide = *graph_->AddVertex(Value::Long(2), "page",
                                            {{"text", Value::String(std::string(kBytes, 'x'))}});
  engine::ResultBatch batch;
  for (size_t row = 0; row < kRows; ++row) batch.column.AppendVertex(wide);
  ResultEncoder encoder(graph_, true);
  size_t row = 0;
  size_t num_sent = 0;
  while (row < kRows) {
    EncodedMessages messages;
    ASSERT_TRUE(encoder.Encode(batch, &row, &messages).ok());
    size_t bytes = 0;
    for (const EncodedMessage& encoded : messages) {
      const v1::ResultBatch& message = encoded.message()->batch();
      bytes += message.ByteSizeLong();
      EXPECT_GE(encoded.bytes(), message.ByteSizeLong());
      num_sent += static_cast<size_t>(message.vertices().values_size());
    }
    EXPECT_LT(bytes, 16 * kBytes);
    EXPECT_EQ(num_sent, row);
  }
}

// They share their objects here, but each is sent in full.
TEST_F(ResultEncoderTest, LongPathsComeByTheMessage) {
  constexpr size_t kRows = 1000;
  PathMaker maker(nullptr);
  Value path;
  for (int i = 0; i < 1000; ++i) path = *maker.Append(path, Value::Of(marko_), nullptr);
  engine::ResultBatch batch;
  for (size_t row = 0; row < kRows; ++row) {
    batch.column.Append(*maker.Append(path, Value::Of(vadas_), nullptr));
  }
  ResultEncoder encoder(graph_, false);
  size_t num_sent = 0;
  for (size_t row = 0; row < kRows;) {
    EncodedMessages messages;
    ASSERT_TRUE(encoder.Encode(batch, &row, &messages).ok());
    size_t bytes = 0;
    for (const EncodedMessage& encoded : messages) {
      const v1::ResultBatch& message = encoded.message()->batch();
      bytes += message.ByteSizeLong();
      EXPECT_GE(encoded.bytes(), message.ByteSizeLong());
      num_sent += static_cast<size_t>(message.values().items_size());
      EXPECT_EQ(message.values().items(0).path_value().objects_size(), 1001);
    }
    EXPECT_LT(bytes, 3 * kMaxMessageBytes);
    EXPECT_EQ(num_sent, row);
  }
}

TEST_F(ResultEncoderTest, EdgesHaveBothEnds) {
  engine::ResultBatch batch;
  batch.column.AppendEdge(knows_);
  const auto messages = Encode(batch, true);
  ASSERT_EQ(messages[0].values().items_size(), 1);
  const v1::Edge& edge = messages[0].values().items(0).edge_value();
  EXPECT_EQ(edge.id().long_value(), 7);
  EXPECT_EQ(edge.label(), "knows");
  EXPECT_EQ(edge.out_id().long_value(), 1);
  EXPECT_EQ(edge.in_id().string_value(), "v");
  EXPECT_EQ(edge.in_label(), "person");
  ASSERT_EQ(edge.properties_size(), 1);
  EXPECT_EQ(edge.properties(0).key(), "weight");
}

TEST_F(ResultEncoderTest, ReferencesInsideValuesAreResolvedToo) {
  PathData path;
  path.objects = {Value::Of(marko_), Value::Of(knows_), Value::String("x")};
  path.labels = {{"a"}, {}, {}};
  engine::ResultBatch batch;
  batch.column.Append(ListOf({Made(Value::Of(std::move(path)))}));
  batch.column.Append(MapOf({{Value::Of(vadas_), Value::Int(1)}}));
  const auto messages = Encode(batch);
  const v1::ValueList& values = messages[0].values();
  ASSERT_EQ(values.items_size(), 2);
  const v1::Path& found = values.items(0).list_value().items(0).path_value();
  EXPECT_EQ(found.objects(0).vertex_value().id().long_value(), 1);
  EXPECT_EQ(found.objects(1).edge_value().label(), "knows");
  EXPECT_EQ(found.labels(0).labels(0), "a");
  EXPECT_EQ(values.items(1).map_value().entries(0).key().vertex_value().id().string_value(), "v");
}

TEST_F(ResultEncoderTest, AVertexPropertysIdIsTheSameEachTime) {
  VertexPropertyData name{marko_, "name", Value::String("marko")};
  VertexPropertyData age{marko_, "age", Value::Int(29)};
  VertexPropertyData other{vadas_, "name", Value::String("vadas")};
  EXPECT_EQ(engine::VertexPropertyId(graph_->schema(), name),
            engine::VertexPropertyId(graph_->schema(), name));
  EXPECT_NE(engine::VertexPropertyId(graph_->schema(), name),
            engine::VertexPropertyId(graph_->schema(), age));
  EXPECT_NE(engine::VertexPropertyId(graph_->schema(), name),
            engine::VertexPropertyId(graph_->schema(), other));
  EXPECT_GE(engine::VertexPropertyId(graph_->schema(), name), 0);
}

TEST_F(ResultEncoderTest, MessagesStayBelowTheirSizeAndKeepTheOrder) {
  engine::ResultBatch batch;
  for (int i = 0; i < 100; ++i) {
    batch.column.AppendString(std::to_string(i) + std::string(10'000, 'x'));
    batch.bulk.push_back(i + 1);
  }
  const auto messages = Encode(batch);
  ASSERT_GT(messages.size(), 3u);
  int row = 0;
  for (const v1::ResultBatch& message : messages) {
    EXPECT_LE(message.ByteSizeLong(), kMaxMessageBytes);
    ASSERT_EQ(message.bulk_size(), message.strings().values_size());
    for (int i = 0; i < message.strings().values_size(); ++i, ++row) {
      EXPECT_EQ(message.strings().values(i).substr(0, 2), (std::to_string(row) + "x").substr(0, 2));
      EXPECT_EQ(message.bulk(i), row + 1);
    }
  }
  EXPECT_EQ(row, 100);
}

TEST_F(ResultEncoderTest, ALargerRowTravelsAlone) {
  engine::ResultBatch batch;
  batch.column.AppendString("small");
  batch.column.AppendString(std::string(2 * kMaxMessageBytes, 'x'));
  batch.column.AppendString("small");
  const auto messages = Encode(batch);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1].strings().values_size(), 1);
}

TEST_F(ResultEncoderTest, ARowBeyondItsBoundIsRefused) {
  engine::ResultBatch batch;
  batch.column.AppendString(std::string(kMaxRowBytes + 1, 'x'));
  EncodedMessages messages;
  size_t row = 0;
  const Status status = ResultEncoder(graph_, false).Encode(batch, &row, &messages).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
}

TEST_F(ResultEncoderTest, WhatIsSentCanBeParsedAndWhatNestsDeeperIsRefused) {
  Value deep = MapOf({{Value::String("k"), Value::Int(1)}});
  while (deep.depth() < kMaxSentDepth) deep = MapOf({{Value::String("k"), deep}});
  engine::ResultBatch batch;
  batch.column.Append(deep);
  const auto messages = Encode(batch);
  ASSERT_EQ(messages.size(), 1u);
  v1::SubmitResponse sent, received;
  *sent.mutable_batch() = messages[0];
  EXPECT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  engine::ResultBatch deeper;
  deeper.column.Append(ListOf({deep}));
  EncodedMessages none;
  size_t row = 0;
  EXPECT_EQ(ResultEncoder(graph_, false).Encode(deeper, &row, &none).status().code(),
            StatusCode::kResourceExhausted);
}

// A row that is long to write asks on its way whether to go on; so do elements with properties.
TEST_F(ResultEncoderTest, EncodingCanBeStopped) {
  const ManualClock clock;  // slices have no end
  int asked = 0;
  const auto ask = [&asked](size_t) {
    return ++asked == 3 ? Cancelled("by the test") : OkStatus();
  };
  engine::ResultBatch one_list;
  one_list.column.Append(ListOf(ValueList(2'000'000, Value::Int(1))));
  EncodedMessages messages;
  size_t row = 0;
  ResultEncoder encoder(graph_, false, &clock);
  EXPECT_EQ(encoder.Encode(one_list, &row, &messages, ask).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  asked = 0;
  engine::ResultBatch elements;
  for (int i = 0; i < 1000; ++i) elements.column.AppendVertex(marko_);
  row = 0;
  ResultEncoder whole(graph_, true, &clock);
  EXPECT_EQ(whole.Encode(elements, &row, &messages, ask).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
}

// What no row may have is known before all of it is written.
TEST_F(ResultEncoderTest, ARowThatIsTooLargeIsNotWrittenWhole) {
  engine::ResultBatch batch;
  batch.column.Append(ListOf(ValueList(1000, Value::String(std::string(kMaxRowBytes / 10, 'x')))));
  uint64_t asked = 0;
  EncodedMessages messages;
  size_t row = 0;
  const auto ask = [&asked](size_t) {
    ++asked;
    return OkStatus();
  };
  const Status status = ResultEncoder(graph_, false).Encode(batch, &row, &messages, ask).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->reason, "ROW_TOO_LARGE");
  EXPECT_LE(asked, 11u);
}

// What a slice leaves goes on where it was, in the same messages.
TEST_F(ResultEncoderTest, SlicesEndByTheClockAndMakeTheSameMessages) {
  ManualClock clock;
  const auto takes_long = [&clock](size_t) {
    clock.Advance(kEncodeSliceNanos);
    return OkStatus();
  };
  engine::ResultBatch batch;
  for (int i = 0; i < 300; ++i) batch.column.AppendVertex(i % 3 == 0 ? marko_ : vadas_);
  for (int i = 0; i < 300; ++i) batch.bulk.push_back(i + 1);
  ResultEncoder encoder(graph_, false, &clock);
  EncodedMessages messages;
  size_t slices = 0;
  for (size_t row = 0; row < batch.column.size(); ++slices) {
    const size_t before = row;
    const StatusOr<bool> encoded = encoder.Encode(batch, &row, &messages, takes_long);
    ASSERT_TRUE(encoded.ok());
    EXPECT_LE(row - before, 8U);
    EXPECT_GT(row, before);
    EXPECT_EQ(*encoded, row == batch.column.size());
  }
  EXPECT_GE(slices, 300U / 8);
  ASSERT_EQ(messages.size(), 1U);
  const std::vector<v1::ResultBatch> at_once = Encode(batch);
  ASSERT_EQ(at_once.size(), 1U);
  EXPECT_EQ(messages[0].message()->batch().SerializeAsString(), at_once[0].SerializeAsString());
}

// Counts what is read of it.
class CountingGraph final : public storage::MemoryGraph {
 public:
  using MemoryGraph::MemoryGraph;
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              storage::ReadBudget* budget,
                              storage::PropertyRows* out) const override {
    most_at_once = std::max(most_at_once, vertices.size());
    num_read += vertices.size();
    return MemoryGraph::ReadVertexProperties(vertices, keys, budget, out);
  }
  mutable size_t most_at_once = 0;
  mutable size_t num_read = 0;
};

// Vertices with wide properties, far more than the memory has room for.
class WideResultsTest : public testing::Test {
 protected:
  static constexpr size_t kWide = 400 << 10;
  static constexpr int64_t kLimit = 2 << 20;

  VertexRef Add(size_t bytes) {
    return *graph_->AddVertex(std::nullopt, "page",
                              {{"text", Value::String(std::string(bytes, 'x'))}});
  }
  // The rows that have been sent until the end, or an error. Nothing is sent before it is whole.
  StatusOr<size_t> Send(const engine::ResultBatch& batch) {
    ResultEncoder encoder(graph_, true, &clock_);
    EncodedMessages messages;
    MemoryCharge charge(&account_);
    size_t sent = 0;
    for (size_t row = 0; row < batch.column.size();) {
      ASSIGN_OR_RETURN(const bool whole, encoder.Encode(batch, &row, &messages, [&](size_t bytes) {
        if (charge.TryResize(static_cast<int64_t>(bytes))) return OkStatus();
        return account_.OverLimit(static_cast<int64_t>(bytes) - charge.bytes());
      }));
      if (!whole) continue;
      EXPECT_FALSE(messages.empty());
      for (const EncodedMessage& message : messages) {
        const v1::ResultBatch& made = message.message()->batch();
        sent += static_cast<size_t>(made.vertices().values_size() + made.values().items_size());
      }
      messages.clear();
      charge.Reset();
    }
    return sent;
  }

  ManualClock clock_;
  MemoryAccount account_{"all queries", kLimit, nullptr, {"PROCESS_MEMORY", "memory-mb", ""}};
  std::shared_ptr<CountingGraph> graph_ = std::make_shared<CountingGraph>(4);
};

TEST_F(WideResultsTest, GoInPartsWithinTheirMemory) {
  engine::ResultBatch batch;
  for (int i = 0; i < 500; ++i) batch.column.AppendVertex(Add(1));  // small ones first
  for (int i = 0; i < 200; ++i) batch.column.AppendVertex(Add(kWide));
  for (int i = 0; i < 324; ++i) batch.column.AppendVertex(Add(1));
  ASSERT_GT(200 * kWide, 30 * kLimit);
  const StatusOr<size_t> sent = Send(batch);
  ASSERT_TRUE(sent.ok()) << MessageOf(sent.status());
  EXPECT_EQ(*sent, 1024U);
  EXPECT_EQ(account_.used(), 0);
  // One row, as it is read and as it is written.
  EXPECT_LT(account_.peak(), static_cast<int64_t>(3 * kWide));
  EXPECT_LE(graph_->most_at_once, 16U);
  EXPECT_LT(graph_->num_read, 1024U + 3 * 64);  // a few twice, where it gets wide
}

TEST_F(WideResultsTest, OneRowOfManyIsRefusedBeforeAllOfItIsRead) {
  ValueList pages;
  for (int i = 0; i < 1000; ++i) pages.push_back(Value::Of(Add(kWide)));
  engine::ResultBatch batch;
  batch.column.Append(Value::Of(Add(1)));
  batch.column.Append(ListOf(std::move(pages)));
  const StatusOr<size_t> sent = Send(batch);
  EXPECT_EQ(sent.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(sent.status())->setting, "memory-mb");
  EXPECT_LE(account_.peak(), kLimit);
  EXPECT_EQ(account_.used(), 0);
  EXPECT_LE(graph_->num_read, 64U);
}

TEST_F(WideResultsTest, WhatRepeatsInARowIsRefusedBeforeAllOfItIsWritten) {
  engine::ResultBatch batch;
  batch.column.Append(ListOf(ValueList(1000, Value::Of(Add(kWide)))));
  const StatusOr<size_t> sent = Send(batch);
  EXPECT_EQ(sent.status().code(), StatusCode::kResourceExhausted);
  EXPECT_LE(account_.peak(), kLimit);
  EXPECT_EQ(graph_->num_read, 1U);
}

// A small value that is written in full: what its message takes counts, not what is sent of it.
TEST_F(WideResultsTest, ValuesInValuesAskForTheirMessages) {
  Value nested = Value::Int(1);
  for (int depth = 0; depth < 21; ++depth) nested = ListOf({nested, nested});
  engine::ResultBatch batch;
  batch.column.Append(nested);
  EncodedMessages messages;
  MemoryCharge charge(&account_);
  size_t row = 0;
  const auto ask = [&](size_t bytes) {
    return charge.TryResize(static_cast<int64_t>(bytes)) ? OkStatus() : account_.OverLimit(1);
  };
  const Status status =
      ResultEncoder(graph_, true, &clock_).Encode(batch, &row, &messages, ask).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_LT(BytesOf(messages), size_t{2 * kLimit});
}

TEST_F(WideResultsTest, AWideTextAsksForItsMemory) {
  engine::ResultBatch batch;
  batch.column.AppendString("small");
  batch.column.AppendString(std::string(kLimit + 1, 'x'));
  const StatusOr<size_t> sent = Send(batch);
  EXPECT_EQ(sent.status().code(), StatusCode::kResourceExhausted);
  EXPECT_LE(account_.peak(), kLimit);
}

}  // namespace
}  // namespace koios::server
