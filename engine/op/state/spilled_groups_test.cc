// Groups that go to disk give what they would give from memory.
#include "engine/op/state/spilled_groups.h"

#include <map>
#include <string>

#include "core/random.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "engine/op/group_op.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Groups = std::map<std::string, std::string>;  // by key

plan::Group GroupsAsRows(plan::Group::Value kind) {
  plan::Group group;
  group.set_key_slot(1);
  group.set_value_slot(0);
  group.set_value(kind);
  group.set_rows(true);
  return group;
}

Value KeyOfGroup(Rng* rng, uint64_t keys) {
  const auto number = static_cast<int64_t>(rng->Uniform(keys));
  switch (rng->Uniform(4)) {
    case 0:
      return Value::Int(static_cast<int32_t>(number));
    case 1:
      return Value::String("key " + std::to_string(number));
    case 2:
      return Value::List({Value::Long(number)}).value();
    default:
      return Value::Of(VertexRef{static_cast<uint64_t>(number)});
  }
}

// Numbers of several types, null, and none at all.
Batch GroupedBatch(Rng* rng, uint64_t keys) {
  std::vector<Value> values, by;
  std::vector<int64_t> bulk;
  const bool has_values = !rng->Chance(0.2);
  for (uint64_t i = 1 + rng->Uniform(50); i > 0; --i) {
    const auto number = static_cast<int32_t>(rng->Uniform(1000));
    values.push_back(rng->Chance(0.1)   ? Value::Null()
                     : rng->Chance(0.3) ? Value::Double(number)
                                        : Value::Int(number));
    by.push_back(KeyOfGroup(rng, keys));
    bulk.push_back(static_cast<int64_t>(1 + rng->Uniform(3)));
  }
  Batch batch = Rows(values, by, bulk);
  if (!has_values) batch.slots[0].Clear();
  return batch;
}

Status SpillGroups(BarrierOperator* op) {
  while (op->SpillableBytes() > 0) RETURN_IF_ERROR(op->Spill().status());
  return OkStatus();
}

Status FireGroups(BarrierOperator* op, Groups* given) {
  for (bool done = false; !done;) {
    Batch out;
    RETURN_IF_ERROR(op->Fire({}, &out, &done));
    EXPECT_EQ(op->SpillableBytes(), 0);
    for (size_t row = 0; row < out.rows; ++row) {
      const bool is_new =
          given->emplace(EncodeValue(out.slots[1].Get(row)), EncodeValue(out.slots[0].Get(row)))
              .second;
      EXPECT_TRUE(is_new) << "a group comes twice";
    }
  }
  return OkStatus();
}

Status Gather(plan::Group::Value kind, bool spills, size_t batches, TestHost* host, Groups* given) {
  Rng rng(static_cast<uint64_t>(kind) + 11);
  const OperatorBundle group = *MakeGroup(GroupsAsRows(kind), 2, host);
  for (size_t b = 0; b < batches; ++b) {
    RETURN_IF_ERROR(AbsorbAll(group.barrier.get(), GroupedBatch(&rng, 400)));
    if (spills && b % 9 == 8) RETURN_IF_ERROR(SpillGroups(group.barrier.get()));
  }
  return FireGroups(group.barrier.get(), given);
}

// As the driver does: groups go to disk only when there is no room for what comes. Returns how
// often.
StatusOr<size_t> GatherWhereRoomIs(plan::Group::Value kind, size_t batches, TestHost* host,
                                   Groups* given) {
  Rng rng(static_cast<uint64_t>(kind) + 11);
  const OperatorBundle group = *MakeGroup(GroupsAsRows(kind), 2, host);
  size_t times = 0;
  for (size_t b = 0; b < batches; ++b) {
    const Batch batch = GroupedBatch(&rng, 400);
    RETURN_IF_ERROR(group.barrier->Absorb(batch));
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, group.barrier->Proceed(batch));
      EXPECT_EQ(more, group.barrier->must_spill());
      for (bool gone = !more; !gone;) {
        ASSIGN_OR_RETURN(gone, group.barrier->Spill());
        times += gone ? 1 : 0;
      }
    }
  }
  RETURN_IF_ERROR(FireGroups(group.barrier.get(), given));
  return times;
}

constexpr plan::Group::Value kKinds[] = {plan::Group::COUNT, plan::Group::LIST, plan::Group::LAST,
                                         plan::Group::SUM,   plan::Group::MIN,  plan::Group::MAX,
                                         plan::Group::MEAN};

TEST(SpilledGroupsTest, FromDiskGroupsAreThoseFromMemory) {
  for (const plan::Group::Value kind : kKinds) {
    TestHost plain_host, host;
    Groups expected, given;
    ASSERT_TRUE(Gather(kind, false, 120, &plain_host, &expected).ok());
    const Status status = Gather(kind, true, 120, &host, &given);
    ASSERT_TRUE(status.ok()) << MessageOf(status);
    EXPECT_GT(expected.size(), 500u);
    EXPECT_EQ(given, expected) << plan::Group::Value_Name(kind);
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(SpilledGroupsTest, APartThatDoesNotFitIsDivided) {
  for (const plan::Group::Value kind : kKinds) {
    TestHost plain_host, host;
    Groups expected, given;
    ASSERT_TRUE(Gather(kind, false, 900, &plain_host, &expected).ok());
    host.limit = 400'000;
    const Status status = Gather(kind, true, 900, &host, &given);
    ASSERT_TRUE(status.ok()) << plan::Group::Value_Name(kind) << ": " << MessageOf(status);
    EXPECT_EQ(given, expected) << plan::Group::Value_Name(kind);
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

TEST(SpilledGroupsTest, WhatHasNoRoomWaitsUntilGroupsAreOnDisk) {
  for (const plan::Group::Value kind : kKinds) {
    TestHost plain_host, host;
    Groups expected, given;
    ASSERT_TRUE(Gather(kind, false, 900, &plain_host, &expected).ok());
    host.limit = 180'000;
    const StatusOr<size_t> times = GatherWhereRoomIs(kind, 900, &host, &given);
    ASSERT_TRUE(times.ok()) << plan::Group::Value_Name(kind) << ": " << MessageOf(times.status());
    EXPECT_GT(*times, 1u) << plan::Group::Value_Name(kind);
    EXPECT_EQ(given, expected) << plan::Group::Value_Name(kind);
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
}

// Its key has room and its value beside that not, though all groups are on disk.
TEST(SpilledGroupsTest, ARowThatHasNoRoomByItselfEndsIt) {
  TestHost host;
  host.limit = 180'000;
  const OperatorBundle group = *MakeGroup(GroupsAsRows(plan::Group::LIST), 2, &host);
  const Value wide = Value::String(std::string(100'000, 'x'));
  const Batch batch = Rows({Value::Int(1), wide}, {Value::Int(1), wide});
  ASSERT_TRUE(group.barrier->Absorb(batch).ok());
  StatusOr<bool> more = true;
  for (int i = 0; i < 5 && more.ok() && *more; ++i) {
    ASSERT_TRUE(SpillGroups(group.barrier.get()).ok());
    more = group.barrier->Proceed(batch);
  }
  EXPECT_EQ(more.status().code(), StatusCode::kResourceExhausted);
  group.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledGroupsTest, WhatHasNoRoomAndNoDiskEndsIt) {
  TestHost host;
  host.limit = 180'000;
  host.spills = false;
  Groups given;
  EXPECT_EQ(GatherWhereRoomIs(plan::Group::LIST, 900, &host, &given).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(host.charged, 0);
}

TEST(SpilledGroupsTest, EachChargeMayBeRefused) {
  size_t failed = 0;
  for (int64_t limit = 1000; limit < 300'000; limit = limit * TestRounds(5, 7) / 4) {
    TestHost host;
    host.limit = limit;
    Groups given;
    const StatusOr<size_t> times = GatherWhereRoomIs(plan::Group::LIST, 300, &host, &given);
    failed += WentWell(times.status(), host) ? 0 : 1;
  }
  EXPECT_GT(failed, 3u);
}

// However long one group's list is, a call does its share of it, and the list comes again as it
// was.
TEST(SpilledGroupsTest, AListGoesInPieces) {
  constexpr int64_t kMembers = 60'000;
  TestHost host;
  {
    const OperatorBundle group = *MakeGroup(GroupsAsRows(plan::Group::LIST), 2, &host);
    ValueList expected;
    for (int64_t begin = 0; begin < kMembers; begin += 1000) {
      ValueList values;
      for (int64_t i = begin; i < begin + 1000; ++i) values.push_back(Value::Long(i));
      expected.insert(expected.end(), values.begin(), values.end());
      const ValueList keys(values.size(), Value::Int(1));
      ASSERT_TRUE(AbsorbAll(group.barrier.get(), Rows(values, keys)).ok());
    }
    int calls = 0;
    for (; group.barrier->SpillableBytes() > 0; ++calls) {
      ASSERT_TRUE(group.barrier->Spill().ok());
    }
    EXPECT_GT(calls, 3);
    Batch out;
    for (bool done = false; !done;) ASSERT_TRUE(group.barrier->Fire({}, &out, &done).ok());
    ASSERT_EQ(out.rows, 1u);
    EXPECT_TRUE(Equivalent(out.slots[0].Get(0), Value::List(std::move(expected)).value()));
  }
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledGroupsTest, OneGroupThatIsLargerThanMemoryEndsIt) {
  TestHost host;
  {
    const OperatorBundle group = *MakeGroup(GroupsAsRows(plan::Group::LIST), 2, &host);
    const std::vector<Value> values(100, Value::String(std::string(100, 'x')));
    const std::vector<Value> keys(100, Value::Int(1));
    for (int b = 0; b < 100; ++b) {
      ASSERT_TRUE(AbsorbAll(group.barrier.get(), Rows(values, keys)).ok());
      ASSERT_TRUE(SpillGroups(group.barrier.get()).ok());
    }
    host.limit = 500'000;
    Status status;
    Batch out;
    for (bool done = false; status.ok() && !done;) status = group.barrier->Fire({}, &out, &done);
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

TEST(SpilledGroupsTest, AFullDiskEndsIt) {
  size_t failed = 0;
  for (uint64_t write = 1; write < 400; write = write * 3 / 2 + 1) {
    TestHost host;
    host.space.FailFromWrite(write);
    Groups given;
    const Status status = Gather(plan::Group::SUM, true, 60, &host, &given);
    failed += status.ok() ? 0 : 1;
    if (!status.ok()) {
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    }
    EXPECT_EQ(host.charged, 0);
    EXPECT_EQ(host.space.used(), 0u);
  }
  EXPECT_GT(failed, 3u);
}

TEST(SpilledGroupsTest, WhatIsReleasedLeavesNothing) {
  TestHost host;
  const OperatorBundle group = *MakeGroup(GroupsAsRows(plan::Group::COUNT), 2, &host);
  Rng rng(2);
  for (int b = 0; b < 20; ++b) {
    ASSERT_TRUE(AbsorbAll(group.barrier.get(), GroupedBatch(&rng, 50)).ok());
    if (b % 3 == 2) {
      ASSERT_TRUE(SpillGroups(group.barrier.get()).ok());
    }
  }
  EXPECT_GT(host.space.used(), 0u);
  group.barrier->Release({});
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
}

}  // namespace
}  // namespace koios::engine
