#include "client/batch_decoder.h"

#include <gtest/gtest.h>

namespace koios::client {
namespace {

TEST(BatchDecoderTest, DecodesTypedColumnsWithBulk) {
  v1::ResultBatch message;
  message.mutable_longs()->add_values(5);
  message.mutable_longs()->add_values(-7);
  message.add_bulk(1);
  message.add_bulk(3);
  Batch batch;
  ASSERT_TRUE(DecodeBatch(message, &batch).ok());
  ASSERT_EQ(batch.values.size(), 2u);
  EXPECT_EQ(batch.values[1].kind(), ValueKind::kLong);
  EXPECT_EQ(batch.values[1].AsInteger(), -7);
  EXPECT_EQ(batch.BulkAt(1), 3);

  // A batch object is used again and again.
  v1::ResultBatch next;
  next.mutable_ints()->add_values(1);
  ASSERT_TRUE(DecodeBatch(next, &batch).ok());
  EXPECT_EQ(batch.values.size(), 1u);
  EXPECT_EQ(batch.values[0].kind(), ValueKind::kInt);
  EXPECT_EQ(batch.BulkAt(0), 1);
}

TEST(BatchDecoderTest, VerticesBecomeElements) {
  v1::ResultBatch message;
  v1::Vertex* vertex = message.mutable_vertices()->add_values();
  vertex->mutable_id()->set_long_value(1);
  vertex->set_label("person");
  Batch batch;
  ASSERT_TRUE(DecodeBatch(message, &batch).ok());
  ASSERT_EQ(batch.values[0].kind(), ValueKind::kElement);
  EXPECT_EQ(batch.values[0].AsElement().label, "person");
  EXPECT_EQ(batch.values[0].AsElement().id.AsInteger(), 1);
}

TEST(BatchDecoderTest, DamagedMessagesAreRefused) {
  Batch batch;
  EXPECT_EQ(DecodeBatch(v1::ResultBatch(), &batch).code(), StatusCode::kDataLoss);
  v1::ResultBatch message;
  message.mutable_bools()->add_values(true);
  message.add_bulk(1);
  message.add_bulk(1);
  EXPECT_EQ(DecodeBatch(message, &batch).code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace koios::client
