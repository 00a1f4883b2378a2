#include "engine/sched/flow/credits.h"

#include "gtest/gtest.h"

namespace koios::engine {
namespace {

using Ask = ReceiveCredits::Ask;

// A lane of the Exchange `op` in an iteration of one loop.
Depth At(uint32_t op, uint32_t iteration) { return {1, iteration, op}; }
Ask Of(uint32_t from, uint32_t op, uint32_t iteration, bool merging = false) {
  return {from, op, {iteration}, merging};
}

bool Wait(ReceiveCredits* credits, const Ask& ask) {
  return credits->Wait(At(ask.op, ask.loops[0]), ask);
}

// "from/op/iteration" of what is granted next; "" for nothing.
std::string TextOf(const std::optional<Ask>& ask) {
  if (!ask.has_value()) return "";
  return std::to_string(ask->from) + "/" + std::to_string(ask->op) + "/" +
         std::to_string(ask->loops[0]);
}

TEST(SendCreditsTest, AnAllotmentForEachReceiver) {
  SendCredits credits(4, 4000);
  EXPECT_TRUE(credits.TryTake(1, 600));
  EXPECT_FALSE(credits.TakeWaiting(1));
  EXPECT_FALSE(credits.TryTake(1, 500));
  EXPECT_TRUE(credits.TryTake(1, 400));
  EXPECT_TRUE(credits.TryTake(2, 1000));
  EXPECT_FALSE(credits.TryTake(3, 1001));
  EXPECT_TRUE(credits.TakeWaiting(1));
  EXPECT_FALSE(credits.TakeWaiting(1));
  EXPECT_FALSE(credits.TakeWaiting(2));
  credits.GiveBack(1, 600);
  EXPECT_TRUE(credits.TryTake(1, 500));
}

TEST(SendCreditsTest, FramesAreAPartOfTheAllotment) {
  EXPECT_EQ(SendCredits(2, 2 << 20).frame_bytes(), 256u << 10);
  EXPECT_EQ(SendCredits(16, 2 << 20).frame_bytes(), 32u << 10);
  EXPECT_EQ(SendCredits(16, 200).frame_bytes(), 1024u);
}

TEST(ReceiveCreditsTest, NobodySendsMoreThanItsAllotment) {
  ReceiveCredits credits(4, 4000, 2);
  EXPECT_TRUE(credits.Receive(1, 1000));
  EXPECT_FALSE(credits.Receive(1, 1));
  EXPECT_FALSE(credits.Receive(2, UINT64_MAX));
  credits.Done(1, 1000);
  EXPECT_TRUE(credits.Receive(1, 1));
  EXPECT_FALSE(credits.Receive(1, UINT64_MAX));
}

TEST(ReceiveCreditsTest, OneFrameOfADepth) {
  ReceiveCredits credits(4, 0, 8);
  EXPECT_TRUE(Wait(&credits, Of(1, 5, 0)));
  EXPECT_TRUE(Wait(&credits, Of(2, 5, 0)));
  EXPECT_FALSE(Wait(&credits, Of(2, 5, 0)));  // asks twice
  EXPECT_EQ(TextOf(credits.Grant()), "1/5/0");
  EXPECT_EQ(TextOf(credits.Grant()), "");
  EXPECT_FALSE(credits.ReceiveGranted(At(5, 0), 2));  // that was another one's
  EXPECT_TRUE(credits.ReceiveGranted(At(5, 0), 1));
  EXPECT_FALSE(credits.ReceiveGranted(At(5, 0), 1));
  EXPECT_EQ(TextOf(credits.Grant()), "");
  credits.DoneGranted(At(5, 0), 1);
  EXPECT_EQ(TextOf(credits.Grant()), "2/5/0");
  EXPECT_FALSE(credits.ReturnGrant(At(5, 0), 1));
  EXPECT_TRUE(credits.ReturnGrant(At(5, 0), 2));
  EXPECT_FALSE(credits.ReturnGrant(At(5, 0), 2));
  EXPECT_EQ(credits.num_slots(), 0u);
  EXPECT_FALSE(credits.has_waiting());
}

TEST(ReceiveCreditsTest, DeepestFirstThenWhoAskedFirst) {
  ReceiveCredits credits(4, 0, 2);
  EXPECT_TRUE(Wait(&credits, Of(3, 5, 0)));
  EXPECT_TRUE(Wait(&credits, Of(2, 7, 1)));
  EXPECT_TRUE(Wait(&credits, Of(1, 7, 1)));
  EXPECT_TRUE(Wait(&credits, Of(1, 4, 2)));
  EXPECT_EQ(TextOf(credits.Grant()), "1/4/2");
  EXPECT_EQ(TextOf(credits.Grant()), "2/7/1");
  EXPECT_EQ(TextOf(credits.Grant()), "");  // two slots
  EXPECT_TRUE(credits.ReceiveGranted(At(7, 1), 2));
  credits.DoneGranted(At(7, 1), 2);
  EXPECT_EQ(TextOf(credits.Grant()), "1/7/1");
  EXPECT_EQ(TextOf(credits.Grant()), "");
}

TEST(ReceiveCreditsTest, WhereRowsAreMergedEachSenderHasASlot) {
  ReceiveCredits credits(4, 0, 1);
  for (const uint32_t from : {3u, 1u}) EXPECT_TRUE(Wait(&credits, Of(from, 5, 0, true)));
  EXPECT_EQ(TextOf(credits.Grant()), "3/5/0");
  EXPECT_EQ(TextOf(credits.Grant()), "1/5/0");
  EXPECT_TRUE(credits.ReceiveGranted(At(5, 0), 3));
  EXPECT_TRUE(Wait(&credits, Of(3, 5, 0, true)));
  EXPECT_TRUE(Wait(&credits, Of(2, 5, 0, true)));
  EXPECT_EQ(TextOf(credits.Grant()), "2/5/0");  // the first one's is in use
  EXPECT_EQ(TextOf(credits.Grant()), "");
  EXPECT_EQ(credits.num_slots(), 1u);
  credits.DoneGranted(At(5, 0), 3);
  EXPECT_EQ(TextOf(credits.Grant()), "3/5/0");
}

TEST(ReceiveCreditsTest, OneOverdraftAtATimeForTheDeepest) {
  const auto any = [](const Ask&) { return true; };
  ReceiveCredits credits(4, 0, 1);
  EXPECT_EQ(TextOf(credits.GrantOverdraft(any)), "");
  for (const uint32_t iteration : {0u, 2u, 1u}) {
    EXPECT_TRUE(Wait(&credits, Of(1, 5, iteration)));
    if (iteration == 0) {
      EXPECT_EQ(TextOf(credits.Grant()), "1/5/0");
    }
  }
  EXPECT_EQ(TextOf(credits.Grant()), "");
  EXPECT_EQ(TextOf(credits.GrantOverdraft(any)), "");  // a frame is still to come
  EXPECT_TRUE(credits.ReceiveGranted(At(5, 0), 1));
  EXPECT_EQ(TextOf(credits.GrantOverdraft([](const Ask&) { return false; })), "");
  EXPECT_EQ(TextOf(credits.GrantOverdraft(any)), "1/5/2");
  EXPECT_EQ(TextOf(credits.GrantOverdraft(any)), "");
  EXPECT_TRUE(credits.ReceiveGranted(At(5, 2), 1));
  EXPECT_EQ(TextOf(credits.GrantOverdraft(any)), "1/5/1");
  EXPECT_EQ(credits.num_slots(), 3u);
}

}  // namespace
}  // namespace koios::engine
