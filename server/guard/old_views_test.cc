#include "server/guard/old_views.h"

#include <gtest/gtest.h>

#include <vector>

#include "server/fake_graphs.h"

namespace koios::server {
namespace {

// Whose graphs are at version 9 now.
class ChangedGraphs : public MemoryGraphs {
 public:
  StatusOr<std::shared_ptr<const storage::GraphView>> View(std::string_view) const override {
    return std::make_shared<NewerGraph>();
  }
  bool OldViewsKeepTooMuch() const override { return keep_too_much; }

  bool keep_too_much = false;

 private:
  struct NewerGraph : storage::MemoryGraph {
    NewerGraph() : storage::MemoryGraph(1) {}
    uint64_t version() const override { return 9; }
  };
};

class OldViewsTest : public testing::Test {
 protected:
  void Add(uint64_t version, uint64_t reads_us) {
    QueryControl control;
    control.cancel = [this, index = tickets_.size()](const Status& why) {
      ended_.push_back(index);
      why_ = why;
    };
    control.measure = [version, reads_us](RunningQuery* query) {
      query->version = version;
      query->reads_us = reads_us;
    };
    tickets_.push_back(*registry_.Add("g.V()", "g", "", std::move(control)));
  }

  ChangedGraphs graphs_;
  QueryRegistry registry_{10, 0};
  ManualClock clock_;
  OldViews old_views_{&graphs_, &registry_, &clock_};
  std::vector<QueryRegistry::Ticket> tickets_;
  std::vector<size_t> ended_;
  Status why_;
};

TEST_F(OldViewsTest, TheOldestThatKeepsSomethingEndsThenTheNext) {
  Add(0, 0);    // does not read yet
  Add(9, 500);  // keeps nothing
  Add(3, 100);
  Add(2, 300);
  clock_.Advance(1);
  old_views_.Look();
  EXPECT_TRUE(ended_.empty());
  graphs_.keep_too_much = true;
  old_views_.Look();
  EXPECT_EQ(ended_, (std::vector<size_t>{3}));
  EXPECT_EQ(why_.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(why_)->setting, "delta-mb");
  old_views_.Look();  // it has not let go yet
  EXPECT_EQ(ended_.size(), 1u);
  clock_.Advance(OldViews::kBetweenNanos);
  old_views_.Look();
  EXPECT_EQ(ended_, (std::vector<size_t>{3, 2}));
}

}  // namespace
}  // namespace koios::server
