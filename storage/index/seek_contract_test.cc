#include "storage/index/seek_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace koios::storage {
namespace {

TEST_P(SeekContract, GivesWhatScansFindAtAnyLimit) {
  const GraphView& view = *graph_.view;
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> choices = {
      {{"a"}, {"x"}}, {{"b", "a"}, {"x"}}, {{}, {"x"}}, {{"a"}, {"x", "y"}}, {{"b"}, {"y", "x"}}};
  size_t found_at_all = 0;
  for (int round = 0; round < 300; ++round) {
    const auto& [labels, keys] = choices[rng_.Uniform(choices.size())];
    std::vector<LabelId> label_ids;
    for (const std::string& label : labels) label_ids.push_back(view.schema().labels.Find(label));
    std::vector<KeyId> key_ids;
    for (const std::string& key : keys) key_ids.push_back(view.schema().keys.Find(key));
    std::vector<SoughtKey> sought = {AnySought()};
    if (keys.size() > 1 && sought[0].bounds.empty() && rng_.Chance(0.7)) {
      sought.push_back(AnySought());
    }
    const auto seek = MakeSeek(view.schema(), label_ids, key_ids, sought);
    ASSERT_TRUE(seek.has_value());
    std::vector<VertexRef> first;
    for (const size_t limit : {1000u, 1u, 3u}) {
      std::vector<VertexRef> found;
      for (uint32_t p = 0; p < view.num_partitions(); ++p) {
        SeekCursor cursor;
        for (int calls = 0; !cursor.done; ++calls) {
          ASSERT_LT(calls, 1000);
          const size_t before = found.size();
          ASSERT_TRUE(view.SeekVertices(p, *seek, &cursor, limit, &found).ok());
          ASSERT_LE(found.size() - before, limit);
          for (size_t i = before; i < found.size(); ++i) ASSERT_EQ(found[i].partition(), p);
        }
      }
      if (limit == 1000) first = found;
      EXPECT_EQ(found, first);
    }
    const std::set<VertexRef> distinct(first.begin(), first.end());
    EXPECT_EQ(distinct.size(), first.size());
    const std::set<VertexRef> expected = Expected(labels, keys, sought);
    EXPECT_TRUE(std::ranges::includes(distinct, expected));
    found_at_all += expected.size();
    std::vector<LabelId> labels_of;
    ASSERT_TRUE(view.VertexLabels(first, &labels_of).ok());
    for (const LabelId label : labels_of) {
      EXPECT_TRUE(label_ids.empty() || std::ranges::find(label_ids, label) != label_ids.end());
    }
  }
  EXPECT_GT(found_at_all, 500u);
}

// A seek must be worth it: short texts and date-times are found exactly, with open ends too.
TEST_P(SeekContract, IsExactWherePlacesAre) {
  const GraphView& view = *graph_.view;
  const LabelId label = view.schema().labels.Find("a");
  const KeyId key = view.schema().keys.Find("x");
  using Op = KeyBound::Op;
  const Value ab = Value::String("ab"), date = Value::Of(DateTime{-1, 0, 3600});
  const std::vector<SoughtKey> questions = {
      {{ab}, {}},
      {{ab, Value::String("ö"), date}, {}},
      {{}, {{Op::kGreater, ab}}},
      {{}, {{Op::kLess, ab}, {Op::kGreater, Value::String("a")}}},
      {{}, {{Op::kAtLeast, date}}},
      {{}, {{Op::kStartsWith, Value::String("a")}}},
      {{}, {{Op::kStartsWith, Value::String("")}}},
      {{}, {{Op::kStartsWith, Value::Int(1)}}},
      {{}, {{Op::kAtLeast, ab}, {Op::kLess, date}}},
      {{}, {}},
  };
  for (const SoughtKey& sought : questions) {
    const auto seek = MakeSeek(view.schema(), {&label, 1}, {&key, 1}, {&sought, 1});
    ASSERT_TRUE(seek.has_value());
    std::vector<VertexRef> found;
    for (uint32_t p = 0; p < view.num_partitions(); ++p) {
      SeekCursor cursor;
      while (!cursor.done) {
        ASSERT_TRUE(view.SeekVertices(p, *seek, &cursor, 1000, &found).ok());
      }
    }
    EXPECT_EQ(std::set<VertexRef>(found.begin(), found.end()), Expected({"a"}, {"x"}, {sought}));
  }
}

}  // namespace
}  // namespace koios::storage
