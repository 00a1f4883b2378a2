// Who runs and who waits, without sessions: a query is a place and a word when it is let run.
#include "server/admission/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "core/random.h"

namespace koios::server {
namespace {

constexpr int64_t kAllBytes = 1 << 20;
constexpr QueryCost kShort{CostClass::kShort, 1'000};
constexpr QueryCost kMedium{CostClass::kMedium, 10'000};
constexpr QueryCost kLong{CostClass::kLong, 100'000};

// Queries of a test by name, in the order in which they were let run.
class AdmissionTest : public testing::Test {
 protected:
  struct Query {
    std::string name;
    Admission::Place place;
    Mutex mutex;
    StatusOr<std::shared_ptr<MemoryAccount>> account = std::shared_ptr<MemoryAccount>();
  };

  void Open(size_t max_queries, size_t max_queued) {
    AdmissionLimits limits;
    limits.max_queries = max_queries;
    limits.max_queued = max_queued;
    limits.query_bytes = kAllBytes / 2;
    admission_ = std::make_unique<Admission>(limits, &all_, &clock_, &pool_);
  }
  // Null: refused at once.
  Query* Enter(const std::string& name, const QueryCost& cost, const std::string& host = "c",
               const std::string& client = "") {
    Query& query = queries_.emplace_back();
    query.name = name;
    std::shared_ptr<MemoryAccount> account;
    last_ = admission_->Enter(
        cost, {host, client},
        [this, &query](StatusOr<std::shared_ptr<MemoryAccount>> granted) {
          Note(&query, std::move(granted));
        },
        &query.place, &account);
    if (!last_.ok()) return nullptr;
    if (account != nullptr) Note(&query, std::move(account));
    return &query;
  }
  void Note(Query* query, StatusOr<std::shared_ptr<MemoryAccount>> account) {
    MutexLock lock(&mutex_);
    if (account.ok()) order_ += (order_.empty() ? "" : " ") + query->name;
    query->account = std::move(account);
    changed_.NotifyAll();
  }
  void End(Query* query) {
    {
      MutexLock lock(&mutex_);
      query->account = nullptr;
    }
    query->place.Leave();
    admission_->Look();
  }
  // Ends the one that runs, then the next, and so on.
  void EndInTurn(Query* running, int count) {
    for (int i = 0; i < count; ++i) {
      End(running);
      for (Query& query : queries_) {
        MutexLock lock(&mutex_);
        if (query.account.ok() && *query.account != nullptr) running = &query;
      }
    }
  }
  std::string order() {
    MutexLock lock(&mutex_);
    return order_;
  }
  // Refusals, and what waits for memory, come from the pool.
  void WaitUntil(const std::function<bool()>& done) {
    MutexLock lock(&mutex_);
    while (!done()) changed_.Wait(&mutex_);
  }
  void TearDown() override {
    for (auto query = queries_.rbegin(); query != queries_.rend(); ++query) query->place.Leave();
    for (Query& query : queries_) {
      MutexLock lock(&mutex_);
      query.account = nullptr;
    }
    EXPECT_EQ(admission_->num_running(), 0u);
    EXPECT_EQ(admission_->num_waiting(), 0u);
    EXPECT_EQ(all_.used(), 0);
  }

  ManualClock clock_;
  MemoryAccount all_{"all queries", kAllBytes};
  Mutex mutex_;
  CondVar changed_;
  std::string order_;
  std::deque<Query> queries_;
  Status last_;
  std::unique_ptr<Admission> admission_;
  TaskPool pool_{1};  // gone first
};

TEST_F(AdmissionTest, LongOnesBeginWhileThoseThatRunLeaveHalfOfTheMemory) {
  Open(100, 100);
  constexpr QueryCost kExplosive{CostClass::kLong, 1'000};
  std::vector<Query*> longs;
  for (int i = 0; i < 12; ++i) longs.push_back(Enter("l", kExplosive));
  // The young count for a 16th each.
  EXPECT_EQ(admission_->num_running(), 8u);
  EXPECT_EQ(admission_->num_waiting(), 4u);
  // Others do not wait behind them.
  Query* medium = Enter("m", kMedium);
  Query* brief = Enter("s", kShort);
  EXPECT_EQ(admission_->num_running(), 10u);
  End(medium);
  End(brief);
  // One that has ended makes room for one.
  End(longs[0]);
  EXPECT_EQ(admission_->num_running(), 8u);
  // Later they count for what they have.
  ASSERT_TRUE((*longs[1]->account)->TryCharge(kAllBytes / 2));
  clock_.Advance(600'000'000);
  admission_->Look();
  EXPECT_EQ(admission_->num_running(), 8u);
  // Whatever they have, one begins each second.
  clock_.Advance(1'000'000'000);
  admission_->Look();
  EXPECT_EQ(admission_->num_running(), 9u);
  admission_->Look();
  EXPECT_EQ(admission_->num_running(), 9u);
  (*longs[1]->account)->Release(kAllBytes / 2);
  admission_->Look();
  EXPECT_EQ(admission_->num_running(), 11u);
  EXPECT_EQ(admission_->num_waiting(), 0u);
}

TEST_F(AdmissionTest, WhatFitsRunsAtOnceWithItsReserve) {
  Open(4, 4);
  Query* query = Enter("a", kLong);
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(order(), "a");
  EXPECT_EQ((*query->account)->reserved(), kLong.reserve_bytes);
  EXPECT_EQ((*query->account)->limit(), kAllBytes / 2);
  EXPECT_EQ(all_.used(), kLong.reserve_bytes);
  EXPECT_EQ(admission_->num_running(), 1u);
  End(query);
  EXPECT_EQ(all_.used(), 0);
  EXPECT_EQ(admission_->num_running(), 0u);
}

TEST_F(AdmissionTest, TheShortAreBeforeTheLong) {
  Open(1, 10);
  Query* first = Enter("first", kLong);
  Enter("long", kLong);
  Enter("medium", kMedium);
  Query* brief = Enter("short", kShort);
  EXPECT_EQ(order(), "first");
  End(first);
  EXPECT_EQ(order(), "first short");
  End(brief);
  EXPECT_EQ(order(), "first short medium");
}

// A client with many queries does not keep out another one with few.
TEST_F(AdmissionTest, ClientsTakeTurns) {
  Open(1, 3000);
  Query* running = Enter("a", kLong, "many");
  for (int i = 0; i < 2000; ++i) Enter("a", kLong, "many");
  Enter("b", kLong, "few");
  Enter("c", kLong, "other");
  for (int i = 0; i < 4; ++i) {
    const size_t next = order().size() / 2 + 1;
    End(running);
    ASSERT_EQ(order().size() / 2 + 1, next + 1);
    for (Query& query : queries_) {
      MutexLock lock(&mutex_);
      if (query.account.ok() && *query.account != nullptr) running = &query;
    }
  }
  EXPECT_EQ(order().substr(0, 2), "a ");
  EXPECT_NE(order().find('b'), std::string::npos) << order();
  EXPECT_NE(order().find('c'), std::string::npos) << order();
}

// Of four turns one is the oldest's, however many shorter ones there are.
TEST_F(AdmissionTest, TheLongAreNotPassedOverForEver) {
  Open(1, 100);
  Query* running = Enter("m", kMedium);
  Enter("L", kLong);
  for (int i = 0; i < 20; ++i) Enter("m", kMedium);
  for (int i = 0; i < 5 && order().find('L') == std::string::npos; ++i) {
    End(running);
    for (Query& query : queries_) {
      MutexLock lock(&mutex_);
      if (query.account.ok() && *query.account != nullptr) running = &query;
    }
  }
  EXPECT_NE(order().find('L'), std::string::npos) << order();
}

TEST_F(AdmissionTest, ManyShortQueriesDoNotKeepOutTheLong) {
  Open(2, 100);
  Query* running = Enter("s", kShort);
  Enter("s", kShort);
  for (int i = 0; i < 8; ++i) Enter("s", kShort, std::to_string(i));
  Enter("L", kLong);
  Enter("m", kMedium);
  EndInTurn(running, 4);
  EXPECT_EQ(order(), "s s s s s L");
}

// It has its turn when there is room for it, and look-ups go on meanwhile.
TEST_F(AdmissionTest, WhoseTurnWaitsForMemoryKeepsItsTurn) {
  Open(2, 100);
  MemoryAccount loan("loan", kAllBytes, &all_);
  ASSERT_TRUE(loan.TryCharge(kAllBytes - kLong.reserve_bytes));
  Query* running = Enter("s", kShort);
  Enter("s", kShort);
  Enter("L", kLong);
  for (int i = 0; i < 10; ++i) Enter("s", kShort, std::to_string(i));
  EndInTurn(running, 6);
  EXPECT_EQ(order(), "s s s s s s s s");
  loan.Release(kAllBytes - kLong.reserve_bytes);
  EndInTurn(&queries_[8], 1);
  EXPECT_EQ(order(), "s s s s s s s s L");
}

// Invented names take turns with one another, not with other hosts.
TEST_F(AdmissionTest, HostsTakeTurnsThenTheirClients) {
  Open(1, 100);
  Query* running = Enter("x", kMedium, "x", "0");
  for (int i = 0; i < 20; ++i) Enter("a", kMedium, "a", "name" + std::to_string(i));
  for (int i = 0; i < 3; ++i) Enter("p", kMedium, "b", "p");
  Enter("q", kMedium, "b", "q");
  EndInTurn(running, 10);
  EXPECT_EQ(
      std::count(order_.begin(), order_.end(), 'p') + std::count(order_.begin(), order_.end(), 'q'),
      4)
      << order();
  EXPECT_LT(order().find('q'), order().rfind('p')) << order();
}

TEST_F(AdmissionTest, InAFullQueueTheHostWithMostGivesWay) {
  Open(1, 6);
  Enter("x", kLong, "x");
  std::vector<Query*> many;
  for (int i = 0; i < 6; ++i) many.push_back(Enter("a", kLong, "a", std::to_string(i)));
  ASSERT_NE(Enter("b", kLong, "b"), nullptr);
  ASSERT_NE(Enter("b", kLong, "b"), nullptr);
  EXPECT_EQ(Enter("a", kLong, "a", "another"), nullptr);  // no name of its host has more
  ASSERT_NE(Enter("b", kLong, "b"), nullptr);             // three each
  EXPECT_EQ(Enter("b", kLong, "b"), nullptr);
  ASSERT_NE(Enter("c", kLong, "b", "c"), nullptr);  // its host's other client has three
  EXPECT_EQ(admission_->num_waiting(), 6u);
}

TEST_F(AdmissionTest, AMediumQueryDoesNotOvertakeALongOneThatWaitsForMemory) {
  Open(100, 10);
  MemoryAccount loan("loan", kAllBytes, &all_);
  ASSERT_TRUE(loan.TryCharge(kAllBytes - kLong.reserve_bytes + 1));
  Enter("long", kLong);
  Enter("medium", kMedium);
  EXPECT_EQ(order(), "");
  loan.Release(kAllBytes - kLong.reserve_bytes + 1);
  WaitUntil([this] { return order_.size() == std::string("medium long").size(); });
}

TEST_F(AdmissionTest, TimeWithoutQueriesIsNoReasonToWait) {
  Open(1, 0);
  Query* running = Enter("a", kShort);
  clock_.Advance(int64_t{3600} * 1'000'000'000);
  End(running);
  Enter("b", kShort);
  EXPECT_EQ(Enter("c", kShort), nullptr);
  EXPECT_EQ(DetailOf(last_)->hint.substr(0, 20), "Try again in 1000 ms");
}

TEST_F(AdmissionTest, OfFewPlacesOneIsForShortQueriesToo) {
  Open(2, 10);
  Enter("L", kLong);
  Query* waits = Enter("L", kLong);
  Enter("s", kShort);
  EXPECT_EQ(order(), "L s");
  EXPECT_EQ(admission_->UnusedReserves(), kLong.reserve_bytes + kShort.reserve_bytes);
  waits->place.Leave();
}

TEST_F(AdmissionTest, AnEighthOfThePlacesIsForShortQueries) {
  Open(8, 10);
  for (int i = 0; i < 8; ++i) Enter("L", kLong);
  EXPECT_EQ(admission_->num_running(), 7u);
  Enter("s", kShort);
  EXPECT_EQ(order(), "L L L L L L L s");
  EXPECT_EQ(admission_->num_waiting(), 1u);
}

// One whose clients do not read may keep what it has for long.
TEST_F(AdmissionTest, NoHostHasAllPlaces) {
  Open(64, 100);  // eight are for the short
  std::vector<Query*> many;
  for (int i = 0; i < 60; ++i) many.push_back(Enter("m", kMedium, "many"));
  EXPECT_EQ(admission_->num_running(), 49u);
  for (int i = 0; i < 20; ++i) Enter("s", kShort, "many");
  EXPECT_EQ(admission_->num_running(), 63u);
  Query* other = Enter("o", kShort, "other");
  EXPECT_EQ(admission_->num_running(), 64u);
  Enter("p", kMedium, "other");
  const std::string before = order();
  End(other);
  EXPECT_EQ(order(), before + " p");
  End(many[0]);
  EXPECT_EQ(order(), before + " p s");
}

// Who waits as its host has its share keeps nobody else waiting, however old it is.
TEST_F(AdmissionTest, TheOldestTurnPassesThoseWhoseHostHasItsShare) {
  Open(16, 100);  // two are for the short
  for (int i = 0; i < 14; ++i) Enter("m", kMedium, "many");
  EXPECT_EQ(admission_->num_running(), 13u);
  Query* running = Enter("o", kLong, "other");
  Enter("l", kLong, "third");
  for (int i = 0; i < 4; ++i) Enter("s", kMedium, "fourth");
  std::string before = order();
  for (int i = 0; i < 4; ++i) {
    Query* next = nullptr;
    End(running);
    for (Query& query : queries_) {
      MutexLock lock(&mutex_);
      if (query.name != "m" && query.account.ok() && *query.account != nullptr) next = &query;
    }
    ASSERT_NE(next, nullptr);
    running = next;
  }
  EXPECT_NE(order().substr(before.size()).find('l'), std::string::npos) << order();
}

TEST_F(AdmissionTest, NoHostHasAllTheMemoryOfReserves) {
  Open(100, 100);
  const QueryCost large{CostClass::kMedium, kAllBytes / 16};
  for (int i = 0; i < 16; ++i) Enter("m", large, "many");
  EXPECT_EQ(admission_->num_running(), 12u);
  Enter("o", large, "other");
  EXPECT_EQ(admission_->num_running(), 13u);
}

TEST_F(AdmissionTest, AFullQueueRefusesAndSaysWhenToTryAgain) {
  Open(1, 2);
  Query* running = Enter("a", kLong);
  for (int i = 0; i < 8; ++i) {
    clock_.Advance(50'000'000);  // a query ends each 50 ms
    End(running);
    running = Enter("a", kLong);
  }
  Enter("b", kLong);
  Enter("c", kLong);
  EXPECT_EQ(Enter("d", kLong), nullptr);
  ASSERT_EQ(last_.code(), StatusCode::kResourceExhausted);
  const auto detail = DetailOf(last_);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason, "TOO_MANY_QUERIES");
  EXPECT_EQ(detail->limit, "1 running and 2 waiting queries");
  EXPECT_EQ(detail->setting, "max-queued");
  EXPECT_EQ(detail->hint, "Try again in 150 ms, or raise max-queries or max-queued.");
  EXPECT_EQ(admission_->num_waiting(), 2u);
}

TEST_F(AdmissionTest, InAFullQueueWhoHasMostGivesWay) {
  Open(1, 3);
  Enter("a", kLong, "many");
  Query* first = Enter("a", kMedium, "many");
  Query* last = Enter("a", kLong, "many");
  Query* second = Enter("a", kMedium, "many");
  Query* other = Enter("b", kLong, "few");
  ASSERT_NE(other, nullptr);
  WaitUntil([last] { return !last->account.ok(); });  // of the long the last
  EXPECT_EQ(last->account.status().code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(first->account.ok() && second->account.ok());
  EXPECT_EQ(Enter("b", kLong, "few"), nullptr);  // two each would be no gain
  EXPECT_EQ(admission_->num_waiting(), 3u);
  last->place.Leave();
  EXPECT_EQ(admission_->num_running(), 1u);
  EXPECT_EQ(admission_->num_waiting(), 3u);
}

TEST_F(AdmissionTest, WhoLeavesWaitsNoMore) {
  Open(1, 10);
  Query* running = Enter("a", kLong);
  Query* gone = Enter("b", kLong);
  Enter("c", kLong);
  End(gone);
  EXPECT_EQ(admission_->num_waiting(), 1u);
  EXPECT_EQ(admission_->num_running(), 1u);
  End(running);
  EXPECT_EQ(order(), "a c");
}

// Nobody overtakes one that waits for memory, but for short queries that have room all the same.
TEST_F(AdmissionTest, AReserveIsWaitedFor) {
  Open(100, 10);
  MemoryAccount loan("loan", kAllBytes, &all_);
  ASSERT_TRUE(loan.TryCharge(kAllBytes - kLong.reserve_bytes + 1));
  Enter("long", kLong);
  Enter("also", kLong);
  EXPECT_EQ(order(), "");
  Enter("short", kShort);
  EXPECT_EQ(order(), "short");
  loan.Release(kAllBytes - kLong.reserve_bytes + 1);
  // Nobody says so: it is looked at now and then.
  WaitUntil([this] { return order_ == "short long also"; });
}

TEST_F(AdmissionTest, WithoutAQueueWhatCantRunIsRefused) {
  Open(1, 0);
  Enter("a", kLong);
  EXPECT_EQ(Enter("b", kShort), nullptr);
  EXPECT_EQ(DetailOf(last_)->setting, "max-queries");
  EXPECT_EQ(DetailOf(admission_->WaitedTooLong())->setting, "queue-timeout");
}

// Many threads whose queries come, run or leave at random: no more run than may, and in the end
// nobody runs or waits, and no byte is reserved.
TEST_F(AdmissionTest, NothingIsLeftWhateverTheOrder) {
  Open(4, 16);
  std::vector<std::thread> threads;
  std::atomic<int> ran{0};
  std::atomic<int> refused{0};
  for (uint64_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Rng rng(t + 1);
      for (int i = 0; i < 2000; ++i) {
        struct Slot {
          Mutex mutex;
          CondVar changed;
          std::optional<StatusOr<std::shared_ptr<MemoryAccount>>> account;
        };
        auto slot = std::make_shared<Slot>();
        Admission::Place place;
        std::shared_ptr<MemoryAccount> account;
        const QueryCost costs[] = {kShort, kMedium, kLong};
        const Status entered = admission_->Enter(
            costs[rng.Uniform(3)], {std::to_string(t % 2), std::to_string(t % 3)},
            [slot](StatusOr<std::shared_ptr<MemoryAccount>> granted) {
              MutexLock lock(&slot->mutex);
              slot->account = std::move(granted);
              slot->changed.NotifyAll();
            },
            &place, &account);
        if (!entered.ok()) {
          ++refused;
          continue;
        }
        if (account == nullptr && rng.Uniform(2) == 0) continue;  // leaves, whatever comes
        if (account == nullptr) {
          MutexLock lock(&slot->mutex);
          while (!slot->account.has_value()) slot->changed.Wait(&slot->mutex);
          if (!slot->account->ok()) continue;
          account = **slot->account;
        }
        ++ran;
        EXPECT_LE(admission_->num_running(), 4u);
        if (account->TryCharge(500)) account->Release(500);
        slot->account.reset();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(ran, 1000);
  EXPECT_EQ(admission_->num_running(), 0u);
  EXPECT_EQ(admission_->num_waiting(), 0u);
}

}  // namespace
}  // namespace koios::server
