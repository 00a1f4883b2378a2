#include "engine/op/state/vertex_set.h"

#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

struct KeptSet {
  bool Insert(VertexRef vertex) {
    ChargeAhead charge(&host, &bytes);
    const StatusOr<bool> fresh = set.Insert(vertex, &charge);
    EXPECT_TRUE(fresh.ok());
    return fresh.value_or(false);
  }

  TestHost host;
  int64_t bytes = 0;
  VertexSet set;
};

TEST(VertexSetTest, ANumberIsFoundOnceItIsThereAsListAndAsBits) {
  KeptSet kept;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const VertexRef vertex = VertexRef::Make(i % 3, i / 3 * 2);
    EXPECT_FALSE(kept.set.Contains(vertex));
    EXPECT_TRUE(kept.Insert(vertex));
    EXPECT_FALSE(kept.Insert(vertex));
    EXPECT_TRUE(kept.set.Contains(vertex));
    EXPECT_FALSE(kept.set.Contains(VertexRef::Make(i % 3, i / 3 * 2 + 1)));
    EXPECT_FALSE(kept.set.Contains(VertexRef::Make(7, i)));
  }
  EXPECT_TRUE(kept.set.is_dense());
  EXPECT_EQ(kept.host.charged, kept.bytes);
  EXPECT_LT(kept.bytes, 20'000);  // less than a byte each: the list is let go
}

// A bit for each of these would be gigabytes.
TEST(VertexSetTest, NumbersFarApartStayAList) {
  KeptSet kept;
  for (uint64_t i = 1; i <= 5'000; ++i) EXPECT_TRUE(kept.Insert(VertexRef::Make(0, i << 20)));
  for (uint64_t i = 1; i <= 5'000; ++i) EXPECT_FALSE(kept.Insert(VertexRef::Make(0, i << 20)));
  EXPECT_FALSE(kept.set.is_dense());
  EXPECT_LT(kept.bytes, 100'000);
}

TEST(VertexSetTest, BitsComeEarlyWhereManyAreExpected) {
  KeptSet kept;
  kept.set.ExpectMany();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_TRUE(kept.Insert(VertexRef::Make(i % 8, i * 40)));
  EXPECT_TRUE(kept.set.is_dense());
  for (uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(kept.Insert(VertexRef::Make(i % 8, i * 40)));
  EXPECT_LT(kept.bytes, 10'000);
}

TEST(VertexSetTest, WithoutRoomForBitsTheListGoesOn) {
  KeptSet kept;
  kept.host.limit = 20'000;
  uint64_t inserted = 0;
  while (true) {
    ChargeAhead charge(&kept.host, &kept.bytes);
    const StatusOr<bool> fresh = kept.set.Insert(VertexRef::Make(inserted % 64, inserted), &charge);
    if (!fresh.ok()) break;
    ASSERT_TRUE(*fresh);
    ++inserted;
  }
  EXPECT_GT(inserted, 1'000);
  EXPECT_FALSE(kept.set.Contains(VertexRef::Make(inserted % 64, inserted)));
  for (uint64_t i = 0; i < inserted; ++i) {
    EXPECT_TRUE(kept.set.Contains(VertexRef::Make(i % 64, i)));
  }
}

TEST(VertexSetTest, OfManyThoseAreFreshThatNeitherSetHas) {
  KeptSet kept, passed;
  std::vector<VertexRef> vertices;
  for (uint64_t i = 0; i < 10'000; ++i) vertices.push_back(VertexRef::Make(0, i % 4'000));
  for (uint64_t i = 0; i < 4'000; i += 4) passed.Insert(VertexRef::Make(0, i));
  std::vector<uint32_t> fresh;
  ChargeAhead charge(&kept.host, &kept.bytes);
  ASSERT_TRUE(kept.set.InsertAll(vertices, 5, vertices.size(), &passed.set, &charge, &fresh).ok());
  ASSERT_EQ(fresh.size(), 3'000);
  EXPECT_EQ(fresh.front(), 5);
  EXPECT_EQ(fresh.back(), 4'003);
  for (const uint32_t row : fresh) EXPECT_NE(row % 4, 0);
}

}  // namespace
}  // namespace koios::engine
