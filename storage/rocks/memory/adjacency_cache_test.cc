#include "storage/rocks/memory/adjacency_cache.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace koios::storage {
namespace {

std::shared_ptr<const Adjacency> MakeEnds(size_t count) {
  auto adjacency = std::make_shared<Adjacency>();
  for (size_t i = 0; i < count; ++i) adjacency->Append(1, VertexRef{i}, i);
  return adjacency;
}

TEST(Adjacency, FindsWhereToGoOn) {
  Adjacency ends;
  ends.Append(1, VertexRef{5}, 1);
  ends.Append(1, VertexRef{5}, 4);
  ends.Append(1, VertexRef{6}, 2);
  ends.Append(3, VertexRef{1}, 3);
  EXPECT_EQ(ends.runs.size(), 2u);
  EXPECT_EQ(ends.After(1, VertexRef{5}, 1), 1u);
  EXPECT_EQ(ends.After(1, VertexRef{5}, 3), 1u);
  EXPECT_EQ(ends.After(1, VertexRef{5}, 4), 2u);
  EXPECT_EQ(ends.After(1, VertexRef{9}, 0), 3u);
  EXPECT_EQ(ends.After(2, VertexRef{9}, 0), 3u);
  EXPECT_EQ(ends.After(3, VertexRef{1}, 3), 4u);
  EXPECT_EQ(ends.After(4, VertexRef{0}, 0), 4u);
  EXPECT_EQ(ends.After(0, VertexRef{0}, 0), 0u);
}

TEST(AdjacencyCache, FindsManyInTheirOrder) {
  AdjacencyCache cache(std::make_shared<AdjacencyPool>(1 << 20));
  std::vector<VertexRef> vertices;
  for (uint64_t i = 0; i < 100; ++i) {
    vertices.push_back({i * 7919 % 100});
    if (i % 3 != 0) cache.Insert({{i}, Direction::kOut, 2}, 1, MakeEnds(i));
  }
  vertices.push_back(vertices[50]);
  cache.Touch({11}, 2);
  std::vector<std::shared_ptr<const Adjacency>> found;
  cache.FindAll(vertices, Direction::kOut, 2, 1, &found);
  ASSERT_EQ(found.size(), vertices.size());
  for (size_t row = 0; row < found.size(); ++row) {
    const uint64_t vertex = vertices[row].bits;
    ASSERT_EQ(found[row] != nullptr, vertex % 3 != 0 && vertex != 11) << vertex;
    if (found[row] != nullptr) {
      EXPECT_EQ(found[row]->neighbours.size(), vertex);
    }
  }
  cache.FindAll(vertices, Direction::kIn, 2, 1, &found);
  EXPECT_EQ(std::count(found.begin(), found.end(), nullptr), 101);
}

TEST(AdjacencyCache, ServesTheVersionsBetweenChanges) {
  AdjacencyCache cache(std::make_shared<AdjacencyPool>(1 << 20));
  const AdjacencyKey key{VertexRef{7}, Direction::kOut, kNoName};
  cache.Touch(key.vertex, 5);
  cache.Insert(key, 8, MakeEnds(3));
  EXPECT_NE(cache.Find(key, 5), nullptr);
  EXPECT_NE(cache.Find(key, 8), nullptr);
  EXPECT_NE(cache.Find(key, 20), nullptr);
  EXPECT_EQ(cache.Find(key, 4), nullptr);  // before the change
  EXPECT_EQ(cache.Find({key.vertex, Direction::kIn, kNoName}, 8), nullptr);
  EXPECT_EQ(cache.Find({key.vertex, Direction::kOut, 1}, 8), nullptr);
  cache.Touch(key.vertex, 21);
  EXPECT_EQ(cache.Find(key, 20), nullptr);
  EXPECT_EQ(cache.Find(key, 21), nullptr);
  cache.Insert(key, 20, MakeEnds(3));  // by a reader of an old view: too late
  EXPECT_EQ(cache.Find(key, 21), nullptr);
  cache.Insert(key, 21, MakeEnds(4));
  EXPECT_EQ(cache.Find(key, 22)->neighbours.size(), 4u);
  cache.TouchAll(30);
  EXPECT_EQ(cache.Find(key, 30), nullptr);
}

TEST(AdjacencyCache, StaysWithinItsBytes) {
  constexpr size_t kBytes = 256 << 10;
  AdjacencyCache cache(std::make_shared<AdjacencyPool>(kBytes));
  for (uint64_t v = 0; v < 5000; ++v) {
    cache.Insert({VertexRef{v}, Direction::kOut, kNoName}, 1, MakeEnds(v % 40));
    ASSERT_LE(cache.ByteSize(), kBytes);
  }
  EXPECT_NE(cache.Find({VertexRef{4999}, Direction::kOut, kNoName}, 1), nullptr);
  EXPECT_EQ(cache.Find({VertexRef{0}, Direction::kOut, kNoName}, 1), nullptr);
  cache.Insert({VertexRef{9999}, Direction::kOut, kNoName}, 1, MakeEnds(100'000));
  EXPECT_EQ(cache.Find({VertexRef{9999}, Direction::kOut, kNoName}, 1), nullptr);
}

TEST(AdjacencyCache, GraphsShareOnePoolAndSeeTheirOwn) {
  constexpr size_t kBytes = 1 << 20;
  const auto pool = std::make_shared<AdjacencyPool>(kBytes);
  auto one = std::make_unique<AdjacencyCache>(pool);
  AdjacencyCache two(pool);
  const AdjacencyKey key{VertexRef{7}, Direction::kOut, kNoName};
  one->Insert(key, 1, MakeEnds(3));
  EXPECT_EQ(two.Find(key, 1), nullptr);
  two.Insert(key, 1, MakeEnds(5));
  one->Touch(key.vertex, 2);  // versions are each graph's own
  EXPECT_EQ(one->Find(key, 2), nullptr);
  EXPECT_EQ(two.Find(key, 2)->neighbours.size(), 5u);
  for (uint64_t v = 0; v < 5000; ++v) {
    (v % 2 == 0 ? *one : two).Insert({VertexRef{v}, Direction::kIn, 1}, 1, MakeEnds(v % 40));
    ASSERT_LE(pool->ByteSize(), kBytes);
  }
  EXPECT_EQ(one->ByteSize() + two.ByteSize(), pool->ByteSize());
  EXPECT_GT(one->ByteSize(), 0u);
  one = nullptr;  // what it held is free for others
  EXPECT_EQ(two.ByteSize(), pool->ByteSize());
}

}  // namespace
}  // namespace koios::storage
