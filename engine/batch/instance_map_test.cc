#include "engine/batch/instance_map.h"

#include <map>
#include <memory>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// Dense and sparse, of several homes.
TEST(InstanceMapTest, IsAMap) {
  for (const uint64_t spread : {1u, 50u, 1000u}) {
    Rng rng(spread);
    InstanceMap<int> map;
    std::map<InstanceId, int> model;
    for (int step = 0; step < 20'000; ++step) {
      const InstanceId instance{static_cast<uint32_t>(rng.Uniform(2)), rng.Uniform(300) * spread};
      const auto known = model.find(instance);
      if (rng.Uniform(2) == 0) {
        const auto [value, fresh] = map.FindOrMake(instance, step);
        ASSERT_EQ(fresh, known == model.end());
        model.try_emplace(instance, step);
        ASSERT_EQ(*value, model[instance]);
      } else {
        const int* value = map.Find(instance);
        ASSERT_EQ(value != nullptr, known != model.end());
        if (value != nullptr) {
          ASSERT_EQ(*value, known->second);
        }
        map.Erase(instance);
        model.erase(instance);
      }
      ASSERT_EQ(map.empty(), model.empty());
    }
    std::vector<int> values, wanted;
    map.ForEach([&values](int value) { values.push_back(value); });
    for (const auto& [instance, value] : model) wanted.push_back(value);
    EXPECT_EQ(values, wanted);
    map.Clear();
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.Find({0, 0}), nullptr);
  }
}

TEST(InstanceMapTest, ValuesEndWhenTheyAreErasedAndWithTheMap) {
  const auto value = std::make_shared<int>(1);
  {
    InstanceMap<std::shared_ptr<int>> map;
    for (uint64_t serial = 0; serial < 200; ++serial) map.FindOrMake({0, serial}, value);
    EXPECT_EQ(value.use_count(), 201);
    for (uint64_t serial = 0; serial < 150; ++serial) map.Erase({0, serial});
    EXPECT_EQ(value.use_count(), 51);
  }
  EXPECT_EQ(value.use_count(), 1);
}

// A value stays where it is while others come and go.
TEST(InstanceMapTest, PlacesAreKept) {
  InstanceMap<uint64_t> map;
  uint64_t* kept = map.FindOrMake({0, 70}, uint64_t{70}).first;
  for (uint64_t serial = 0; serial < 2'000; ++serial) map.FindOrMake({1, serial}, serial);
  for (uint64_t serial = 0; serial < 2'000; ++serial) map.Erase({1, serial});
  EXPECT_EQ(map.Find({0, 70}), kept);
  EXPECT_EQ(*kept, 70u);
}

}  // namespace
}  // namespace koios::engine
