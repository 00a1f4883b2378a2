#include "server/result_encoder.h"

#include <gtest/gtest.h>

#include <string>

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
    std::vector<EncodedMessage> messages;
    Status status;
    size_t row = 0;
    do {
      status.Update(ResultEncoder(graph_, materialize).Encode(batch, &row, &messages));
    } while (status.ok() && row < batch.column.size());
    EXPECT_TRUE(status.ok()) << MessageOf(status);
    std::vector<v1::ResultBatch> batches;
    for (const EncodedMessage& message : messages) batches.push_back(message.message()->batch());
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
  const ResultEncoder encoder(graph_, true);
  size_t row = 0;
  size_t num_sent = 0;
  while (row < kRows) {
    std::vector<EncodedMessage> messages;
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
  const ResultEncoder encoder(graph_, false);
  size_t num_sent = 0;
  for (size_t row = 0; row < kRows;) {
    std::vector<EncodedMessage> messages;
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
  std::vector<EncodedMessage> messages;
  size_t row = 0;
  const Status status = ResultEncoder(graph_, false).Encode(batch, &row, &messages);
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
  std::vector<EncodedMessage> none;
  size_t row = 0;
  EXPECT_EQ(ResultEncoder(graph_, false).Encode(deeper, &row, &none).code(),
            StatusCode::kResourceExhausted);
}

// A row that is long to write asks on its way whether to go on; so do elements with properties.
TEST_F(ResultEncoderTest, EncodingCanBeStopped) {
  int asked = 0;
  const auto ask = [&asked] { return ++asked == 3 ? Cancelled("by the test") : OkStatus(); };
  engine::ResultBatch one_list;
  one_list.column.Append(ListOf(ValueList(2'000'000, Value::Int(1))));
  std::vector<EncodedMessage> messages;
  size_t row = 0;
  EXPECT_EQ(ResultEncoder(graph_, false).Encode(one_list, &row, &messages, ask).code(),
            StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
  asked = 0;
  engine::ResultBatch elements;
  for (int i = 0; i < 1000; ++i) elements.column.AppendVertex(marko_);
  row = 0;
  EXPECT_EQ(ResultEncoder(graph_, true).Encode(elements, &row, &messages, ask).code(),
            StatusCode::kCancelled);
  EXPECT_EQ(asked, 3);
}

// What no row may have is known before all of it is written.
TEST_F(ResultEncoderTest, ARowThatIsTooLargeIsNotWrittenWhole) {
  engine::ResultBatch batch;
  batch.column.Append(ListOf(ValueList(1000, Value::String(std::string(kMaxRowBytes / 10, 'x')))));
  uint64_t asked = 0;
  std::vector<EncodedMessage> messages;
  size_t row = 0;
  const Status status = ResultEncoder(graph_, false).Encode(batch, &row, &messages, [&asked] {
    ++asked;
    return OkStatus();
  });
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->reason, "ROW_TOO_LARGE");
  EXPECT_LE(asked, 11u);
}

}  // namespace
}  // namespace koios::server
