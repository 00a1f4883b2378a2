#include "engine/batch/loops.h"

#include <vector>

#include "absl/hash/hash.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

static_assert(sizeof(Loops) == 16);

// As a vector does it, through all depths.
TEST(LoopsTest, IsAVectorOfCounters) {
  Rng rng(3);
  Loops loops;
  std::vector<uint32_t> model;
  Loops before;
  std::vector<uint32_t> model_before;
  for (int step = 0; step < 20'000; ++step) {
    switch (rng.Uniform(7)) {
      case 0:
      case 1:
        if (model.size() < 9) {
          model.push_back(static_cast<uint32_t>(rng.Uniform(3)));
          loops.push_back(model.back());
        }
        break;
      case 2:
        if (!model.empty()) {
          model.pop_back();
          loops.pop_back();
        }
        break;
      case 3:
        if (!model.empty()) {
          ++model.back();
          ++loops.back();
        }
        break;
      case 4:
        before = loops;
        model_before = model;
        break;
      case 5: {
        Loops copy = loops;
        loops = std::move(copy);
        break;
      }
      default:
        std::swap(loops, before);
        std::swap(model, model_before);
    }
    ASSERT_TRUE(std::equal(loops.begin(), loops.end(), model.begin(), model.end()));
    ASSERT_EQ(loops == before, model == model_before);
    ASSERT_EQ(loops < before, model < model_before);
    ASSERT_EQ(absl::HashOf(loops) == absl::HashOf(before), model == model_before);
  }
}

// Runs are as many as rows where instances are small: few of them may allocate.
TEST(LoopsTest, AFewCountersStandInTheObject) {
  Loops loops;
  for (uint32_t depth = 1; depth <= Loops::kInPlace + 1; ++depth) {
    loops.push_back(depth);
    const auto* object = reinterpret_cast<const uint32_t*>(&loops);
    const bool inside = loops.begin() >= object && loops.end() <= object + sizeof(loops) / 4;
    EXPECT_EQ(inside, depth <= Loops::kInPlace) << depth;
  }
}

TEST(LoopsTest, IsMadeOfWhatIsIterated) {
  const std::vector<uint64_t> counters = {4, 3, 2, 1};
  EXPECT_EQ(Loops(counters.begin(), counters.end()), (Loops{4, 3, 2, 1}));
  Loops loops = {9, 9, 9, 9, 9};
  loops.assign(counters.begin(), counters.begin() + 1);
  EXPECT_EQ(loops, Loops{4});
  EXPECT_LT(Loops{}, Loops{0});
  EXPECT_LT((Loops{1, 7}), Loops{2});
}

}  // namespace
}  // namespace koios::engine
