#include "core/value_proto.h"

#include <gtest/gtest.h>

#include "core/print/value_print.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"
#include "core/value_codec.h"
#include "proto/value.pb.h"

namespace koios {
namespace {

Status Refused(const v1::Value& message) { return FromProto(message).status(); }

TEST(ValueProtoTest, RandomValuesRoundTrip) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Value v = testing::RandomValues(seed).Next(3, /*references=*/false);
    v1::Value message;
    ASSERT_TRUE(ToProto(v, &message).ok());
    v1::Value received;
    ASSERT_TRUE(received.ParseFromString(message.SerializeAsString()));
    const auto back = FromProto(received);
    ASSERT_TRUE(back.ok()) << MessageOf(back.status());
    ASSERT_EQ(EncodeValue(*back), EncodeValue(v)) << PrintValue(v);
  }
}

TEST(ValueProtoTest, FieldsAreWhatClientsExpect) {
  v1::Value message;
  ASSERT_TRUE(ToProto(Value::Of(Uuid{0x0102030405060708, 0x090A0B0C0D0E0F10}), &message).ok());
  EXPECT_EQ(message.uuid_value(),
            "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C\x0D\x0E\x0F\x10");
  ASSERT_TRUE(ToProto(Value::Of(*BigNumber::ParseDecimal("1.50")), &message).ok());
  EXPECT_EQ(message.bigdecimal_value(), "1.50");
  ElementData property;
  property.type = ElementData::Type::kVertexProperty;
  property.id = Value::Long(9);
  property.label = "name";
  property.value = Value::String("marko");
  ElementData vertex;
  vertex.id = Value::Long(1);
  vertex.label = "person";
  vertex.properties = {{Value::String("name"), Made(Value::Of(property))}};
  ASSERT_TRUE(ToProto(Made(Value::Of(vertex)), &message).ok());
  ASSERT_EQ(message.vertex_value().properties_size(), 1);
  EXPECT_EQ(message.vertex_value().properties(0).id().long_value(), 9);
  EXPECT_EQ(message.vertex_value().properties(0).value().string_value(), "marko");
  EXPECT_EQ(EncodeValue(*FromProto(message)), EncodeValue(Made(Value::Of(vertex))));
}

TEST(ValueProtoTest, IllFormedTextIsRepaired) {
  v1::Value message;
  ASSERT_TRUE(ToProto(Value::String("a\xFF"), &message).ok());
  EXPECT_EQ(message.string_value(), "a\uFFFD");
}

TEST(ValueProtoTest, WhatIsOutOfRangeIsRefused) {
  v1::Value message;
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);  // no kind
  message.set_byte_value(128);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_short_value(-32'769);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_bigint_value("1.5");
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_bigdecimal_value("1e2000000000");
  EXPECT_EQ(Refused(message).code(), StatusCode::kResourceExhausted);
  message.set_char_value(0x110000);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_uuid_value("short");
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.mutable_datetime_value()->set_nanos(1'000'000'000);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.mutable_duration_value()->set_nanos(-1);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_token_value(static_cast<v1::Token>(4));
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.set_direction_value(static_cast<v1::Direction>(3));
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  message.mutable_path_value()->add_objects()->set_int_value(1);
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
  for (int i = 0; i < 2; ++i) {
    v1::MapEntry* entry = message.mutable_map_value()->add_entries();
    entry->mutable_key()->set_int_value(1);
    entry->mutable_value()->set_int_value(i);
  }
  EXPECT_EQ(Refused(message).code(), StatusCode::kInvalidArgument);
}

TEST(ValueProtoTest, SetsDropDuplicates) {
  v1::Value message;
  for (int i = 0; i < 2; ++i) message.mutable_set_value()->add_items()->set_int_value(1);
  EXPECT_EQ(FromProto(message)->AsList().size(), 1u);
}

TEST(ValueProtoTest, NestingIsBounded) {
  v1::Value message;
  v1::Value* innermost = &message;
  for (int i = 0; i < kMaxValueDepth; ++i) innermost = innermost->mutable_list_value()->add_items();
  innermost->set_int_value(1);
  EXPECT_EQ(FromProto(message)->depth(), kMaxValueDepth);
  innermost->mutable_list_value();
  EXPECT_EQ(Refused(message).code(), StatusCode::kResourceExhausted);
}

TEST(ValueProtoTest, InternalReferencesDoNotLeave) {
  v1::Value message;
  EXPECT_EQ(ToProto(ListOf({Value::Of(VertexRef{1})}), &message).code(), StatusCode::kInternal);
}

// A long value asks on its way whether to go on, and is not written any further when not.
TEST(ValueProtoTest, WritingCanBeStopped) {
  const Value list = ListOf(ValueList(10'000, Value::Int(1)));
  uint64_t asked = 0, seen = 0;
  WorkCheck work(1000, [&](uint64_t done) {
    ++asked;
    seen = done;
    return done > 20'000 ? Cancelled("by the test") : OkStatus();
  });
  v1::Value message;
  EXPECT_EQ(ToProto(list, &message, &work).code(), StatusCode::kCancelled);
  EXPECT_EQ(asked, 21u);
  EXPECT_LT(seen, message.ByteSizeLong() + 4);  // of the member that was not written
  EXPECT_LT(message.list_value().items_size(), 6000);
}

}  // namespace
}  // namespace koios
