#include "server/guard/old_views.h"

#include <gtest/gtest.h>

#include <vector>

#include "server/fake_graphs.h"

namespace koios::server {
namespace {

class FoldedGraphs : public MemoryGraphs {
 public:
  bool OldViewsKeepTooMuch() const override { return keep_too_much; }
  uint64_t NumReleases() const override { return releases; }
  uint64_t FoldedVersion(std::string_view name) const override { return name == "g" ? 9 : 2; }

  bool keep_too_much = false;
  uint64_t releases = 5;
};

class OldViewsTest : public testing::Test {
 protected:
  void Add(uint64_t version, uint64_t reads_us, const std::string& graph = "g") {
    QueryControl control;
    control.cancel = [this, index = tickets_.size()](const Status& why) {
      ended_.push_back(index);
      why_ = why;
    };
    control.measure = [version, reads_us, graph](RunningQuery* query) {
      query->graph = graph;
      query->version = version;
      query->reads_us = reads_us;
    };
    tickets_.push_back(*registry_.Add("g.V()", "g", "", std::move(control)));
  }

  FoldedGraphs graphs_;
  QueryRegistry registry_{10, 0};
  ManualClock clock_;
  OldViews old_views_{&graphs_, &registry_, &clock_};
  std::vector<QueryRegistry::Ticket> tickets_;
  std::vector<size_t> ended_;
  Status why_;
};

TEST_F(OldViewsTest, TheOldestThatKeepsSomethingEndsThenTheNext) {
  Add(0, 0);             // does not read yet
  Add(9, 500);           // keeps nothing
  Add(2, 700, "other");  // likewise
  Add(3, 100);
  Add(2, 300);
  clock_.Advance(1);
  old_views_.Look();
  EXPECT_TRUE(ended_.empty());
  graphs_.keep_too_much = true;
  old_views_.Look();
  EXPECT_EQ(ended_, (std::vector<size_t>{4}));
  EXPECT_EQ(why_.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(why_)->setting, "delta-mb");
  old_views_.Look();  // it has not let go yet
  EXPECT_EQ(ended_.size(), 1u);
  ++graphs_.releases;
  old_views_.Look();
  EXPECT_EQ(ended_, (std::vector<size_t>{4, 3}));
  clock_.Advance(OldViews::kWaitNanos);  // both are listed, and nobody else is to end
  old_views_.Look();
  EXPECT_EQ(ended_.size(), 2u);
  Add(1, 1);
  old_views_.Look();
  EXPECT_EQ(ended_, (std::vector<size_t>{4, 3, 5}));
}

}  // namespace
}  // namespace koios::server
