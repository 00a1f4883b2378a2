#include "storage/conflict/conflict_turns.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace koios::storage {
namespace {

// Requests by ticket, and who was told to go.
class ConflictTurnsTest : public testing::Test {
 protected:
  // Whether it may run at once.
  bool Enter(ConflictTurns::Ticket ticket, const std::vector<ClaimedKey>& keys) {
    return turns_.Enter(ticket, keys, [this, ticket] { told_ += std::to_string(ticket) + " "; });
  }

  ConflictTurns turns_;
  std::string told_;
};

TEST_F(ConflictTurnsTest, OneAfterTheOtherInTheOrderOfTickets) {
  const ClaimedKey key{7, Claim::kWrite};
  for (ConflictTurns::Ticket ticket = 1; ticket <= 4; ++ticket) {
    EXPECT_EQ(turns_.Take(), ticket);
  }
  EXPECT_TRUE(Enter(2, {key}));
  EXPECT_FALSE(Enter(3, {key}));
  EXPECT_FALSE(Enter(4, {key}));
  EXPECT_EQ(told_, "");
  turns_.Leave(2);
  EXPECT_EQ(told_, "3 ");
  turns_.Leave(2);  // it left
  EXPECT_EQ(told_, "3 ");
  turns_.Leave(4);  // it gave up
  turns_.Leave(3);
  EXPECT_EQ(told_, "3 ");
  EXPECT_FALSE(turns_.HasClaims());
}

TEST_F(ConflictTurnsTest, OtherKeysAndLooksAreInNobodysWay) {
  EXPECT_TRUE(Enter(1, {{7, Claim::kGuard}}));
  EXPECT_TRUE(Enter(2, {{8, Claim::kWrite}}));
  EXPECT_TRUE(Enter(3, {{7, Claim::kGuard}}));
  EXPECT_FALSE(Enter(4, {{7, Claim::kSet}, {8, Claim::kGuard}}));
  turns_.Leave(1);
  turns_.Leave(2);
  EXPECT_EQ(told_, "");  // 3 still guards it
  turns_.Leave(3);
  EXPECT_EQ(told_, "4 ");
}

TEST_F(ConflictTurnsTest, WhatIsGuardedAndSetIsExclusive) {
  EXPECT_TRUE(Enter(1, {{7, Claim::kGuard}, {7, Claim::kSet}}));
  EXPECT_FALSE(Enter(2, {{7, Claim::kGuard}}));
  EXPECT_FALSE(Enter(3, {{7, Claim::kSet}}));
}

// The lower ticket claims a second key that the higher one has: it goes first, and there is no
// deadlock, as nobody waits for a higher one.
TEST_F(ConflictTurnsTest, TheLowestTicketNeverWaits) {
  EXPECT_TRUE(Enter(1, {{7, Claim::kWrite}}));
  EXPECT_TRUE(Enter(2, {{8, Claim::kWrite}}));
  EXPECT_TRUE(Enter(1, {{8, Claim::kWrite}}));
  EXPECT_TRUE(turns_.IsClaimedBefore(2, 8, Claim::kWrite));
  EXPECT_FALSE(Enter(2, {{7, Claim::kWrite}}));
  turns_.Leave(1);
  EXPECT_EQ(told_, "2 ");
}

TEST_F(ConflictTurnsTest, AClaimHoldsBackWhoHasNoTicketOrAHigherOne) {
  EXPECT_TRUE(Enter(5, {{7, Claim::kGuard}}));
  EXPECT_TRUE(turns_.IsClaimedBefore(0, 7, Claim::kWrite));
  EXPECT_TRUE(turns_.IsClaimedBefore(0, 7, Claim::kSet));
  EXPECT_FALSE(turns_.IsClaimedBefore(0, 7, Claim::kGuard));
  EXPECT_TRUE(turns_.IsClaimedBefore(6, 7, Claim::kWrite));
  EXPECT_FALSE(turns_.IsClaimedBefore(5, 7, Claim::kWrite));
  EXPECT_FALSE(turns_.IsClaimedBefore(4, 7, Claim::kWrite));
  EXPECT_FALSE(turns_.IsClaimedBefore(0, 8, Claim::kWrite));
}

}  // namespace
}  // namespace koios::storage
