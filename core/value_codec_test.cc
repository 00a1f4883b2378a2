#include "core/value_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/big_number.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"
#include "core/value_compare.h"

namespace koios {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

void ExpectDamaged(std::string_view bytes) {
  const auto decoded = DecodeWholeValue(bytes);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.status().code(), StatusCode::kDataLoss);
}

TEST(ValueCodecTest, FormatIsStable) {
  EXPECT_EQ(EncodeValue(Value::Null()), Bytes({0}));
  EXPECT_EQ(EncodeValue(Value::Bool(true)), Bytes({1, 1}));
  EXPECT_EQ(EncodeValue(Value::Int(-2)), Bytes({4, 3}));
  EXPECT_EQ(EncodeValue(Value::Long(150)), Bytes({5, 0xAC, 2}));
  EXPECT_EQ(EncodeValue(Value::Of(BigNumber{-256, 0, false})), Bytes({6, 3, 1, 1, 0}));
  EXPECT_EQ(EncodeValue(Value::Float(1.0f)), Bytes({7, 0, 0, 0x80, 0x3F}));
  EXPECT_EQ(EncodeValue(Value::Of(BigNumber{15, 1, true})), Bytes({9, 2, 2, 0, 15}));
  EXPECT_EQ(EncodeValue(Value::String("ab")), Bytes({10, 2, 'a', 'b'}));
  EXPECT_EQ(EncodeValue(ListOf({Value::Null()})), Bytes({16, 1, 0}));
  EXPECT_EQ(EncodeValue(Value::Of(Token::kLabel)), Bytes({30, 1}));
}

TEST(ValueCodecTest, ExtremesRoundTrip) {
  const std::vector<Value> values = {Value::Byte(-128),
                                     Value::Short(INT16_MIN),
                                     Value::Int(INT32_MIN),
                                     Value::Long(INT64_MIN),
                                     Value::Long(INT64_MAX),
                                     Value::Double(std::numeric_limits<double>::denorm_min()),
                                     Value::Double(std::numeric_limits<double>::quiet_NaN()),
                                     Value::Char(0x10FFFF),
                                     Value::Of(DateTime{INT64_MIN, 999'999'999, -64'800}),
                                     Value::Of(Duration{INT64_MAX, 0}),
                                     Value::Of(Uuid{UINT64_MAX, 1}),
                                     Value::Of(BigNumber{0, -10'000, true})};
  for (const Value& v : values) {
    const auto decoded = DecodeWholeValue(EncodeValue(v));
    ASSERT_TRUE(decoded.ok()) << KindName(v.kind());
    EXPECT_TRUE(Equivalent(*decoded, v)) << KindName(v.kind());
  }
}

TEST(ValueCodecTest, RandomValuesRoundTripAndEveryPrefixFails) {
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Value v = testing::RandomValues(seed).Next();
    const std::string bytes = EncodeValue(v);
    const auto decoded = DecodeWholeValue(bytes);
    ASSERT_TRUE(decoded.ok()) << MessageOf(decoded.status());
    ASSERT_TRUE(Equivalent(*decoded, v));
    ASSERT_EQ(decoded->depth(), v.depth());
    ASSERT_EQ(EncodeValue(*decoded), bytes);  // also what Equivalent leaves out
    for (size_t length = 0; length < bytes.size(); ++length) {
      const auto cut = DecodeWholeValue(std::string_view(bytes).substr(0, length));
      ASSERT_EQ(cut.status().code(), StatusCode::kDataLoss) << "prefix of " << length;
    }
    ExpectDamaged(bytes + "x");
  }
}

TEST(ValueCodecTest, RandomDamageNeverCrashes) {
  for (uint64_t seed = 0; seed < 5'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomValues values(seed);
    std::string bytes = EncodeValue(values.Next());
    for (uint64_t i = 1 + values.rng().Uniform(3); i > 0; --i) {
      bytes[values.rng().Uniform(bytes.size())] = static_cast<char>(values.rng().Next());
    }
    const auto decoded = DecodeWholeValue(bytes);
    if (!decoded.ok()) {
      ASSERT_EQ(decoded.status().code(), StatusCode::kDataLoss);
    } else {
      ASSERT_TRUE(DecodeWholeValue(EncodeValue(*decoded)).ok());
    }
  }
}

TEST(ValueCodecTest, DecodeTakesOneValueOffTheFront) {
  const std::string bytes = EncodeValue(Value::Int(1)) + EncodeValue(Value::String("two"));
  std::string_view input = bytes;
  EXPECT_EQ(DecodeValue(&input)->AsInteger(), 1);
  EXPECT_EQ(DecodeValue(&input)->AsString(), "two");
  EXPECT_TRUE(input.empty());
}

TEST(ValueCodecTest, OutOfRangeIsDamage) {
  ExpectDamaged(Bytes({200}));                               // no such tag
  ExpectDamaged(Bytes({19}));                                // a gap between the tags
  ExpectDamaged(Bytes({1, 2}));                              // bool
  ExpectDamaged(Bytes({30, 4}));                             // token
  ExpectDamaged(Bytes({31, 3}));                             // direction
  ExpectDamaged(Bytes({2, 0x80, 2}));                        // byte 128
  ExpectDamaged(Bytes({11, 0x80, 0x80, 0x44}));              // char past U+10FFFF
  ExpectDamaged(Bytes({13, 0, 0x80, 0x94, 0xEB, 0xDC, 3}));  // a whole second of nanos
  ExpectDamaged(Bytes({6, 1, 1}));                           // minus zero
  ExpectDamaged(Bytes({6, 2, 0, 0}));                        // leading zero
  ExpectDamaged(Bytes({17, 2, 4, 2, 4, 2}));                 // a set with 1 twice
  ExpectDamaged(Bytes({18, 2, 4, 2, 0, 4, 2, 0}));           // a map with key 1 twice
  ExpectDamaged(Bytes({16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}));
  ExpectDamaged(Bytes({25, 4}));  // element type
}

TEST(ValueCodecTest, NestingIsBounded) {
  std::string deepest;
  for (int i = 0; i < kMaxValueDepth; ++i) deepest += Bytes({16, 1});
  EXPECT_TRUE(DecodeWholeValue(deepest + Bytes({0})).ok());
  ExpectDamaged(Bytes({16, 1}) + deepest + Bytes({0}));
  std::string far_deeper;
  for (int i = 0; i < 1'000'000; ++i) far_deeper += Bytes({16, 1});
  ExpectDamaged(far_deeper);
}

TEST(ValueCodecTest, MoreThanIsReservedComesBack) {
  ValueList list;
  ValueMap map;
  for (int i = 0; i < 3000; ++i) {
    list.push_back(Value::Int(i));
    map.emplace_back(Value::Int(i), Value::Int(-i));
  }
  for (const Value& value : {Value::List(list).value(), Value::Map(map).value()}) {
    std::string bytes;
    EncodeValue(value, &bytes);
    const StatusOr<Value> decoded = DecodeWholeValue(bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_TRUE(Equivalent(*decoded, value));
  }
}

TEST(ValueCodecTest, BigNumbersAreBounded) {
  std::string bytes = Bytes({9});
  PutSigned(kMaxBigNumberDigits + 1, &bytes);
  PutBytes(Bytes({0, 1}), &bytes);
  ExpectDamaged(bytes);
  bytes = Bytes({6});
  PutBytes(Bytes({0}) + std::string(5'000, '\x01'), &bytes);
  ExpectDamaged(bytes);
}

TEST(VarintTest, RoundTripsAndRefusesOverflow) {
  for (const uint64_t v : {uint64_t{0}, uint64_t{127}, uint64_t{128}, UINT64_MAX}) {
    std::string bytes;
    PutVarint(v, &bytes);
    std::string_view input = bytes;
    uint64_t read = 1;
    ASSERT_TRUE(GetVarint(&input, &read));
    EXPECT_EQ(read, v);
    EXPECT_TRUE(input.empty());
  }
  for (const int64_t v : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    std::string bytes;
    PutSigned(v, &bytes);
    std::string_view input = bytes;
    int64_t read = 1;
    ASSERT_TRUE(GetSigned(&input, &read));
    EXPECT_EQ(read, v);
  }
  uint64_t v = 0;
  const std::string too_large = std::string(9, '\xFF') + "\x02";
  std::string_view input = too_large;
  EXPECT_FALSE(GetVarint(&input, &v));
  const std::string endless(20, '\x80');
  input = endless;
  EXPECT_FALSE(GetVarint(&input, &v));
  std::string fixed;
  PutFixed64(0x0102030405060708, &fixed);
  EXPECT_EQ(fixed[0], 8);
  input = fixed;
  ASSERT_TRUE(GetFixed64(&input, &v));
  EXPECT_EQ(v, 0x0102030405060708u);
  EXPECT_FALSE(GetFixed64(&input, &v));
}

}  // namespace
}  // namespace koios
