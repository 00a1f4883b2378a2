#include "server/query_registry.h"

#include <gtest/gtest.h>

#include <utility>

namespace koios::server {
namespace {

QueryControl NoControl() { return {}; }

TEST(QueryRegistryTest, RefusesWhatIsBeyondItsLimitAndNamesTheSetting) {
  QueryRegistry registry(2, 3);
  std::vector<QueryRegistry::Ticket> tickets;
  for (size_t i = 0; i < 2 + 3 + QueryRegistry::kBeside; ++i) {
    auto ticket = registry.Add("g.V()", "g", "", NoControl());
    ASSERT_TRUE(ticket.ok());
    tickets.push_back(*std::move(ticket));
  }
  const auto refused = registry.Add("g.V()", "g", "", NoControl());
  ASSERT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  const auto detail = DetailOf(refused.status());
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->setting, "max-queued");

  tickets.pop_back();
  EXPECT_TRUE(registry.Add("g.V()", "g", "", NoControl()).ok());
}

// One host's plans and unread results do not keep out another one.
TEST(QueryRegistryTest, AHostHasItsShareBesideThoseThatRunAndWait) {
  QueryRegistry registry(2, 3);
  std::vector<QueryRegistry::Ticket> tickets;
  const auto add = [&](const std::string& host) {
    auto ticket = registry.Add("g.V()", "g", host, NoControl());
    if (ticket.ok()) tickets.push_back(*std::move(ticket));
    return ticket.ok();
  };
  for (size_t i = 0; i < QueryRegistry::kBesideOfHost; ++i) ASSERT_TRUE(add("many"));
  EXPECT_FALSE(add("many"));
  EXPECT_TRUE(add("few"));
  tickets[0].SetHasPlace(true);
  EXPECT_TRUE(add("many"));
  tickets[0].SetHasPlace(false);
  EXPECT_FALSE(add("many"));
  tickets[0].End();
  tickets[1].Release();
  EXPECT_TRUE(add("many"));
  EXPECT_FALSE(add("many"));
}

TEST(QueryRegistryTest, ListsWhatRunsUntilItsTicketIsGone) {
  QueryRegistry registry(10, 10);
  QueryControl control;
  control.measure = [](RunningQuery* query) {
    query->rows = 7;
    query->numbers.memory_bytes = 9;
  };
  {
    const auto ticket = registry.Add(std::string(5000, 'x'), "money", "", control);
    ASSERT_TRUE(ticket.ok());
    const std::vector<RunningQuery> list = registry.List();
    ASSERT_EQ(list.size(), 1u);
    EXPECT_EQ(list[0].id, ticket->id());
    EXPECT_EQ(list[0].graph, "money");
    EXPECT_EQ(list[0].text.size(), QueryRegistry::kMaxListedText);
    EXPECT_EQ(list[0].rows, 7u);
    EXPECT_EQ(list[0].numbers.memory_bytes, 9u);
  }
  EXPECT_EQ(registry.num_tickets(), 0u);
  {
    auto ticket = registry.Add("g.V()", "g", "", control);
    ASSERT_TRUE(ticket.ok());
    ticket->End();  // runs no more; a shutdown still waits for its ticket
    EXPECT_TRUE(registry.List().empty());
    EXPECT_EQ(registry.num_tickets(), 1u);
  }
  EXPECT_EQ(registry.num_tickets(), 0u);
}

TEST(QueryRegistryTest, CancelReachesTheOneQuery) {
  QueryRegistry registry(10, 10);
  int cancelled_a = 0;
  int cancelled_b = 0;
  QueryControl a, b;
  a.cancel = [&](const Status&) { ++cancelled_a; };
  b.cancel = [&](const Status& why) {
    ++cancelled_b;
    EXPECT_EQ(why.code(), StatusCode::kCancelled);
  };
  const auto ticket_a = registry.Add("a", "g", "", a);
  const auto ticket_b = registry.Add("b", "g", "", b);
  EXPECT_TRUE(registry.Cancel(ticket_b->id(), Cancelled("why")).ok());
  EXPECT_EQ(cancelled_a, 0);
  EXPECT_EQ(cancelled_b, 1);
  EXPECT_EQ(registry.Cancel("q999", Cancelled("why")).code(), StatusCode::kNotFound);
}

TEST(QueryRegistryTest, AdmitsNothingOnceClosed) {
  QueryRegistry registry(10, 10);
  registry.Close();
  EXPECT_EQ(registry.Add("g.V()", "g", "", NoControl()).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace koios::server
