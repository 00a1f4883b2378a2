#include "engine/effect/fold_list.h"

#include <gtest/gtest.h>

#include "core/value_compare.h"
#include "engine/op/op_test_support.h"

namespace koios::engine {
namespace {

constexpr int64_t kLongList = 100'000;

Value Member(int64_t i) {
  return i % 3 == 0 ? Value::String("a text that is not stored in place " + std::to_string(i))
                    : Value::Long(i);
}

// Takes what is there, in as many calls as it needs.
Value Finish(FoldList* list, ChargeAhead* charge, int* calls) {
  for (*calls = 1;; ++*calls) {
    const StatusOr<bool> done = list->Gather(charge);
    EXPECT_TRUE(done.ok());
    if (!done.ok() || *done) break;
  }
  StatusOr<Value> value = list->Take();
  EXPECT_TRUE(value.ok());
  return *std::move(value);
}

// Members 0 to `size`, which are returned, too.
ValueList AddMembers(int64_t size, FoldList* list, ChargeAhead* charge) {
  ValueList members;
  for (int64_t i = 0; i < size; ++i) {
    members.push_back(Member(i));
    EXPECT_TRUE(list->Add(members.back(), 1, charge).ok());
  }
  return members;
}

TEST(FoldListTest, IsTheListOfWhatWasAddedWhateverItsLength) {
  for (const int64_t size : {int64_t{0}, int64_t{1}, int64_t{4095}, int64_t{4096}, int64_t{4097},
                             int64_t{8192}, kLongList}) {
    TestHost host;
    int64_t bytes = 0;
    {
      ChargeAhead charge(&host, &bytes);
      FoldList list;
      ValueList expected = AddMembers(size, &list, &charge);
      int calls = 0;
      const Value value = Finish(&list, &charge, &calls);
      EXPECT_TRUE(Equals(value, *Value::List(expected)));
      EXPECT_EQ(calls > 2, size == kLongList) << size;
      // As if it had been made at once, but for room that is not used.
      const Value whole = *Value::List(expected);
      EXPECT_EQ(value.depth(), whole.depth());
      expected.shrink_to_fit();
      if (size > 4096) {
        EXPECT_EQ(value.ByteSize(), Value::List(expected)->ByteSize());
      }
      // What is charged is what is there.
      EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(value.ByteSize()),
                  0.05 * static_cast<double>(bytes) + 512);
    }
    EXPECT_EQ(host.charged, bytes);
  }
}

TEST(FoldListTest, BulksGoOnWhereTheFirstPartEnds) {
  TestHost host;
  int64_t bytes = 0;
  ChargeAhead charge(&host, &bytes);
  FoldList list;
  ASSERT_TRUE(list.Add(Value::Int(1), 4000, &charge).ok());
  ASSERT_TRUE(list.Add(Value::Int(2), 5000, &charge).ok());
  ASSERT_TRUE(list.Add(Value::Int(3), 1, &charge).ok());
  int calls = 0;
  const Value value = Finish(&list, &charge, &calls);
  ValueList expected(4000, Value::Int(1));
  expected.insert(expected.end(), 5000, Value::Int(2));
  expected.push_back(Value::Int(3));
  EXPECT_TRUE(Equals(value, *Value::List(expected)));
}

// Copied, and taken page by page, it is the same list.
TEST(FoldListTest, IsCopiedAndTakenInPages) {
  for (const int64_t size : {int64_t{0}, int64_t{7}, int64_t{4096}, int64_t{4097}, kLongList}) {
    TestHost host;
    int64_t bytes = 0;
    ChargeAhead charge(&host, &bytes);
    FoldList list;
    const Value whole = *Value::List(AddMembers(size, &list, &charge));
    ValueList taken;
    const Value copy = *list.Copy();
    EXPECT_TRUE(Equals(copy, whole));
    EXPECT_EQ(copy.FlatBytes(), whole.FlatBytes());
    EXPECT_EQ(copy.depth(), whole.depth());
    for (bool more = true; more;) {
      ValueList page;
      more = list.TakePage(&page);
      EXPECT_EQ(page.empty(), size == 0);
      taken.insert(taken.end(), page.begin(), page.end());
    }
    EXPECT_TRUE(Equals(*Value::List(taken), whole));
  }
}

// A refused addition may come again: it has added nothing.
TEST(FoldListTest, WhatIsRefusedAddsNothing) {
  TestHost host;
  int64_t bytes = 0;
  ChargeAhead charge(&host, &bytes);
  FoldList list;
  ASSERT_TRUE(list.Add(Value::Int(1), 4000, &charge).ok());
  host.limit = host.charged + 40'000;
  const int64_t before = bytes;
  EXPECT_FALSE(list.Add(Value::String("a text that is not stored in place"), 9000, &charge).ok());
  EXPECT_LE(bytes, before + 40'000);
  host.limit = INT64_MAX;
  ASSERT_TRUE(list.Add(Value::Int(2), 9000, &charge).ok());
  int calls = 0;
  ValueList expected(4000, Value::Int(1));
  expected.insert(expected.end(), 9000, Value::Int(2));
  EXPECT_TRUE(Equals(Finish(&list, &charge, &calls), *Value::List(expected)));
}

// No page is there of what was refused at its first one.
TEST(FoldListTest, WhatBeginsToBeLongAndIsRefusedIsShort) {
  TestHost host;
  host.limit = 100'000;  // 4,096 of them fit, 8,192 don't
  int64_t bytes = 0;
  ChargeAhead charge(&host, &bytes);
  FoldList list;
  EXPECT_FALSE(list.Add(Value::Int(1), 8000, &charge).ok());
  EXPECT_FALSE(list.is_long());
  ValueList page;
  EXPECT_FALSE(list.TakePage(&page));
  EXPECT_TRUE(page.empty());
}

TEST(FoldListTest, WhatIsRefusedOnTheWayIsGivenBack) {
  for (int64_t limit = 1'000; limit < 8'000'000; limit = limit * 3 / 2) {
    TestHost host;
    host.limit = limit;
    int64_t bytes = 0;
    {
      ChargeAhead charge(&host, &bytes);
      FoldList list;
      Status status;
      for (int64_t i = 0; i < kLongList && status.ok(); ++i)
        status = list.Add(Member(i), 1, &charge);
      while (status.ok()) {
        const StatusOr<bool> done = list.Gather(&charge);
        status = done.status();
        if (done.ok() && *done) break;
      }
      EXPECT_LE(host.charged, limit);
    }
    EXPECT_EQ(host.charged, bytes);
  }
}

}  // namespace
}  // namespace koios::engine
