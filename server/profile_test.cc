#include "server/profile.h"

#include <gtest/gtest.h>

namespace koios::server {
namespace {

TEST(ProfileTest, NamesOperatorsAndSharesTheTime) {
  plan::Plan plan;
  plan::Operator* scan = plan.add_operators();
  scan->set_id(0);
  scan->set_step("V()");
  scan->mutable_scan();
  plan::Operator* end = plan.add_operators();
  end->set_id(1);
  end->mutable_edge_end();
  engine::QueryResult result;
  result.rows = 5;
  result.operators.resize(2);
  result.operators[0].rows_out = 6;
  result.operators[0].time_ns = 3'000'000;
  result.operators[1].time_ns = 1'000'000;
  result.operators[1].credit_waits = 4711;
  result.operators[1].credit_wait_ns = 8'150'000;
  result.operators[1].longest_ns = 812'000;
  result.operators[1].slow_calls = 37;
  result.operators[1].slices = 2718;

  v1::Summary summary;
  summary.set_rows(result.rows);
  summary.set_slices(12);
  summary.set_queued_us(7'000);
  summary.set_spilled_bytes(555);
  summary.set_rows_dropped(66);
  summary.set_credit_waits(4711);
  FillProfile(plan, result.operators, summary.mutable_profile());
  ASSERT_EQ(summary.profile_size(), 2);
  EXPECT_EQ(summary.profile(0).name(), "Scan V()");
  EXPECT_EQ(summary.profile(1).name(), "EdgeEnd");
  EXPECT_DOUBLE_EQ(summary.profile(0).share(), 0.75);

  const std::string text = ProfileText(summary);
  EXPECT_NE(text.find("0 Scan V()"), std::string::npos) << text;
  EXPECT_NE(text.find("75.0%"), std::string::npos) << text;
  EXPECT_NE(text.find("total: 5 results, 4.000 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("in 12 slices, 7.000 ms queued before"), std::string::npos) << text;
  EXPECT_NE(text.find("spilled 555, dropped 66 rows, 4711 waits of"), std::string::npos) << text;
  EXPECT_EQ(summary.profile(1).credit_waits(), 4711u);
  EXPECT_EQ(summary.profile(1).credit_wait_ns(), 8'150'000u);
  EXPECT_NE(text.find("4711"), std::string::npos) << text;
  EXPECT_NE(text.find("8.150"), std::string::npos) << text;
  EXPECT_NE(text.find("0.812"), std::string::npos) << text;
  EXPECT_EQ(summary.profile(1).slow_calls(), 37u);
  EXPECT_EQ(summary.profile(1).slices(), 2718u);
  EXPECT_NE(text.find("2718"), std::string::npos) << text;
}

}  // namespace
}  // namespace koios::server
