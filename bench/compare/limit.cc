// koios_limit EDGES_CSV BUCKETS VERTICES: the limit that the engines are measured against, a
// program written by hand for one graph. Both directions of the edges in sorted arrays; vertices
// are 0 to n - 1, and vertex v has the bucket v * 7919 % BUCKETS. Reads "WORKLOAD THREADS [SEED
// [SEED]]" a line and answers each with "SECONDS NUMBER...". The time is that of the loops alone.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace koios::bench {
namespace {

using Numbers = std::vector<int64_t>;

constexpr size_t kTop = 10;
constexpr size_t kFewRows = 10;
constexpr uint64_t kBucketStep = 7919;
constexpr uint32_t kChunk = 1024;  // vertices that a thread takes at once

// Neighbours of every vertex in one direction, each list in order.
struct Lists {
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> targets;

  Lists(const std::vector<std::pair<uint32_t, uint32_t>>& edges, uint32_t num_vertices,
        bool reversed) {
    offsets.assign(num_vertices + 1, 0);
    targets.resize(edges.size());
    for (const auto& [from, to] : edges) ++offsets[(reversed ? to : from) + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<uint64_t> next(offsets.begin(), offsets.end() - 1);
    for (const auto& [from, to] : edges) {
      targets[next[reversed ? to : from]++] = reversed ? from : to;
    }
    for (uint32_t v = 0; v < num_vertices; ++v) {
      std::sort(targets.begin() + static_cast<int64_t>(offsets[v]),
                targets.begin() + static_cast<int64_t>(offsets[v + 1]));
    }
  }
  std::span<const uint32_t> Of(uint32_t v) const {
    return {targets.data() + offsets[v], targets.data() + offsets[v + 1]};
  }
  uint64_t Degree(uint32_t v) const { return offsets[v + 1] - offsets[v]; }
  size_t ByteSize() const { return offsets.size() * 8 + targets.size() * 4; }
};

// Which vertices were seen in this run; forgetting costs nothing.
struct Seen {
  std::vector<uint32_t> runs;
  uint32_t run = 0;

  void Begin(uint32_t num_vertices) {
    runs.resize(num_vertices, 0);
    ++run;
  }
  bool Has(uint32_t v) const { return runs[v] == run; }
  bool Add(uint32_t v) {
    if (Has(v)) return false;
    runs[v] = run;
    return true;
  }
};

// use(thread, begin, end) for stretches of [0, size).
template <typename Use>
void Share(int num_threads, uint32_t size, uint32_t chunk, const Use& use) {
  std::atomic<uint32_t> next{0};
  const auto work = [&](int thread) {
    while (true) {
      const uint32_t begin = next.fetch_add(chunk);
      if (begin >= size) return;
      use(thread, begin, std::min(size, begin + chunk));
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < num_threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

class Limit {
 public:
  Limit(const std::vector<std::pair<uint32_t, uint32_t>>& edges, uint32_t num_vertices,
        uint32_t num_buckets)
      : out_(edges, num_vertices, false),
        in_(edges, num_vertices, true),
        num_vertices_(num_vertices),
        num_buckets_(num_buckets) {
    for (uint64_t v = 0; v < num_vertices; ++v) {
      buckets_.push_back(static_cast<uint32_t>(v * kBucketStep % num_buckets));
      names_.push_back(std::string(1, 'n').append(std::to_string(v)));
    }
  }

  size_t ByteSize() const { return out_.ByteSize() + in_.ByteSize(); }
  size_t num_edges() const { return out_.targets.size(); }

  // Sums of count(vertex) over all vertices.
  template <typename Count>
  int64_t SumOfAll(int threads, const Count& count) const {
    std::atomic<int64_t> total{0};
    Share(threads, num_vertices_, kChunk, [&](int, uint32_t begin, uint32_t end) {
      int64_t sum = 0;
      for (uint32_t v = begin; v < end; ++v) sum += count(v);
      total += sum;
    });
    return total;
  }
  // Sums of count(neighbour) over the out neighbours of the seed.
  template <typename Count>
  int64_t SumOfOut(int threads, uint32_t seed, const Count& count) const {
    const std::span<const uint32_t> first = out_.Of(seed);
    std::atomic<int64_t> total{0};
    Share(threads, static_cast<uint32_t>(first.size()), 1, [&](int, uint32_t begin, uint32_t end) {
      int64_t sum = 0;
      for (uint32_t i = begin; i < end; ++i) sum += count(first[i]);
      total += sum;
    });
    return total;
  }
  // Calls use(end) for each walk's end.
  template <typename Use>
  void Walk(uint32_t from, int hops, const Use& use) const {
    if (hops == 0) return use(from);
    for (const uint32_t to : out_.Of(from)) Walk(to, hops - 1, use);
  }

  int64_t CountEdges(int threads) const {
    return SumOfAll(threads, [&](uint32_t v) { return out_.Degree(v); });
  }
  int64_t EachEdge(int threads) const {
    return SumOfAll(threads, [&](uint32_t v) {
      int64_t sum = 0;
      for (const uint32_t to : out_.Of(v)) sum += to != v ? 1 : 0;
      return sum;
    });
  }
  int64_t TwoPaths(int threads) const {
    return SumOfAll(threads, [&](uint32_t v) {
      int64_t sum = 0;
      for (const uint32_t to : out_.Of(v)) sum += static_cast<int64_t>(out_.Degree(to));
      return sum;
    });
  }
  int64_t Hops(int threads, uint32_t seed, int hops) const {
    if (hops == 1) return static_cast<int64_t>(out_.Degree(seed));
    return SumOfOut(threads, seed, [&](uint32_t v) {
      int64_t sum = 0;
      Walk(v, hops - 2, [&](uint32_t end) { sum += static_cast<int64_t>(out_.Degree(end)); });
      return sum;
    });
  }
  int64_t EachWalk(int threads, uint32_t seed, int hops) const {
    return SumOfOut(threads, seed, [&](uint32_t v) {
      int64_t sum = 0;
      Walk(v, hops - 1, [&](uint32_t end) { sum += end != seed ? 1 : 0; });
      return sum;
    });
  }
  // Walks of so many edges that end where they began.
  int64_t ClosedWalks(int threads, uint32_t seed, int hops) {
    ends_[0].Begin(num_vertices_);
    for (const uint32_t v : in_.Of(seed)) ends_[0].Add(v);
    return SumOfOut(threads, seed, [&](uint32_t v) {
      int64_t sum = 0;
      Walk(v, hops - 2, [&](uint32_t end) { sum += ends_[0].Has(end) ? 1 : 0; });
      return sum;
    });
  }
  int64_t Distinct(int threads, uint32_t seed) {
    std::vector<std::vector<uint32_t>> found(static_cast<size_t>(threads));
    for (int thread = 0; thread < threads; ++thread) ends_[thread].Begin(num_vertices_);
    const std::span<const uint32_t> first = out_.Of(seed);
    Share(threads, static_cast<uint32_t>(first.size()), 1,
          [&](int thread, uint32_t begin, uint32_t end) {
            auto& mine = found[static_cast<size_t>(thread)];
            for (uint32_t i = begin; i < end; ++i) {
              for (const uint32_t to : out_.Of(first[i])) {
                if (ends_[thread].Add(to)) mine.push_back(to);
              }
            }
          });
    size_t total = found[0].size();
    for (size_t other = 1; other < found.size(); ++other) {
      for (const uint32_t v : found[other]) total += ends_[0].Add(v) ? 1 : 0;
    }
    return static_cast<int64_t>(total);
  }
  // The ends themselves, in an array; how many, and their sum.
  Numbers Rows(uint32_t seed) const {
    std::vector<int64_t> rows;
    Walk(seed, 2, [&](uint32_t end) { rows.push_back(end); });
    return {static_cast<int64_t>(rows.size()),
            std::accumulate(rows.begin(), rows.end(), int64_t{0})};
  }
  // Vertices by their bucket, or the ends of all edges.
  Numbers Group(int threads, bool edges) const {
    std::vector<Numbers> counts(static_cast<size_t>(threads), Numbers(num_buckets_, 0));
    Share(threads, num_vertices_, kChunk, [&](int thread, uint32_t begin, uint32_t end) {
      Numbers& mine = counts[static_cast<size_t>(thread)];
      for (uint32_t v = begin; v < end; ++v) {
        if (!edges) ++mine[buckets_[v]];
        if (!edges) continue;
        for (const uint32_t to : out_.Of(v)) ++mine[buckets_[to]];
      }
    });
    for (size_t other = 1; other < counts.size(); ++other) {
      for (uint32_t b = 0; b < num_buckets_; ++b) counts[0][b] += counts[other][b];
    }
    return counts[0];
  }
  Numbers TopDegrees() const {
    std::vector<uint64_t> top;  // a heap, the least in front
    for (uint32_t v = 0; v < num_vertices_; ++v) {
      const uint64_t degree = out_.Degree(v);
      if (top.size() == kTop && degree <= top.front()) continue;
      if (top.size() == kTop) {
        std::pop_heap(top.begin(), top.end(), std::greater<>());
        top.pop_back();
      }
      top.push_back(degree);
      std::push_heap(top.begin(), top.end(), std::greater<>());
    }
    std::sort(top.begin(), top.end(), std::greater<>());
    return {top.begin(), top.end()};
  }
  // How many of the first few ends of walks of four edges there are.
  int64_t FewRows(uint32_t seed) const {
    size_t rows = 0;
    for (const uint32_t a : out_.Of(seed)) {
      for (const uint32_t b : out_.Of(a)) {
        for (const uint32_t c : out_.Of(b)) {
          rows += std::min(kFewRows - rows, out_.Of(c).size());
          if (rows == kFewRows) return kFewRows;
        }
      }
    }
    return static_cast<int64_t>(rows);
  }
  // Edges of a shortest path, whatever their direction, or -1: a breadth-first search from both
  // ends, always a level further from the smaller side.
  int64_t Shortest(uint32_t from, uint32_t to) {
    if (from == to) return 0;
    std::vector<uint32_t> front[2] = {{from}, {to}};
    for (int side : {0, 1}) {
      ends_[side].Begin(num_vertices_);
      ends_[side].Add(front[side][0]);
    }
    for (int64_t length = 1; !front[0].empty() && !front[1].empty(); ++length) {
      const int side = front[0].size() <= front[1].size() ? 0 : 1;
      std::vector<uint32_t> next;
      for (const uint32_t v : front[side]) {
        for (const Lists* lists : {&out_, &in_}) {
          for (const uint32_t end : lists->Of(v)) {
            if (ends_[1 - side].Has(end)) return length;
            if (ends_[side].Add(end)) next.push_back(end);
          }
        }
      }
      front[side] = std::move(next);
    }
    return -1;
  }

  // What answers a workload, from its seeds.
  using Answer = std::function<Numbers(int threads, uint32_t a, uint32_t b)>;
  std::map<std::string, Answer> Workloads() {
    const auto shortest = [this](int, uint32_t a, uint32_t b) { return Numbers{Shortest(a, b)}; };
    return {
        {"count-edges", [this](int t, uint32_t, uint32_t) { return Numbers{CountEdges(t)}; }},
        {"each-edge", [this](int t, uint32_t, uint32_t) { return Numbers{EachEdge(t)}; }},
        {"two-paths", [this](int t, uint32_t, uint32_t) { return Numbers{TwoPaths(t)}; }},
        {"hop-1", [this](int t, uint32_t a, uint32_t) { return Numbers{Hops(t, a, 1)}; }},
        {"hop-2", [this](int t, uint32_t a, uint32_t) { return Numbers{Hops(t, a, 2)}; }},
        {"hop-3", [this](int t, uint32_t a, uint32_t) { return Numbers{Hops(t, a, 3)}; }},
        {"each-2", [this](int t, uint32_t a, uint32_t) { return Numbers{EachWalk(t, a, 2)}; }},
        {"each-3", [this](int t, uint32_t a, uint32_t) { return Numbers{EachWalk(t, a, 3)}; }},
        {"rows-2", [this](int, uint32_t a, uint32_t) { return Rows(a); }},
        {"distinct-2", [this](int t, uint32_t a, uint32_t) { return Numbers{Distinct(t, a)}; }},
        {"group", [this](int t, uint32_t, uint32_t) { return Group(t, false); }},
        {"group-edges", [this](int t, uint32_t, uint32_t) { return Group(t, true); }},
        {"triangles",
         [this](int t, uint32_t a, uint32_t) { return Numbers{ClosedWalks(t, a, 3)}; }},
        {"four-walks",
         [this](int t, uint32_t a, uint32_t) { return Numbers{ClosedWalks(t, a, 4)}; }},
        {"shortest", shortest},
        {"shortest-simple", shortest},
        {"four-hop-limit", [this](int, uint32_t a, uint32_t) { return Numbers{FewRows(a)}; }},
        {"top-k", [this](int, uint32_t, uint32_t) { return TopDegrees(); }},
        {"point",
         [this](int, uint32_t a, uint32_t) { return Numbers{std::stoll(names_[a].substr(1))}; }},
    };
  }

 private:
  Lists out_, in_;
  uint32_t num_vertices_, num_buckets_;
  std::vector<uint32_t> buckets_;
  std::vector<std::string> names_;
  Seen ends_[2];
};

std::vector<std::pair<uint32_t, uint32_t>> ReadEdges(const char* path, uint32_t* num_vertices) {
  std::ifstream file(path);
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::string line;
  std::getline(file, line);  // the header
  while (std::getline(file, line)) {
    uint32_t from = 0;
    uint32_t to = 0;
    const char* end = line.data() + line.size();
    const char* comma = std::from_chars(line.data(), end, from).ptr;
    if (comma == end || std::from_chars(comma + 1, end, to).ec != std::errc()) continue;
    edges.emplace_back(from, to);
    *num_vertices = std::max({*num_vertices, from + 1, to + 1});
  }
  return edges;
}

int Main(const char* path, uint32_t num_buckets, uint32_t num_vertices) {
  const auto begin = std::chrono::steady_clock::now();
  const auto edges = ReadEdges(path, &num_vertices);
  Limit limit(edges, num_vertices, num_buckets);
  const std::chrono::duration<double> load = std::chrono::steady_clock::now() - begin;
  std::printf("%.9f %zu %zu\n", load.count(), limit.num_edges(), limit.ByteSize());
  std::fflush(stdout);
  const std::map<std::string, Limit::Answer> workloads = limit.Workloads();
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string workload;
    int threads = 1;
    uint32_t a = 0;
    uint32_t b = 0;
    words >> workload >> threads >> a >> b;
    const auto found = workloads.find(workload);
    if (found == workloads.end() || a >= num_vertices || b >= num_vertices) return 2;
    const auto start = std::chrono::steady_clock::now();
    const Numbers answer = found->second(std::clamp(threads, 1, 2), a, b);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.9f", took.count());
    for (const int64_t number : answer) std::printf(" %lld", static_cast<long long>(number));
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "koios_limit EDGES_CSV BUCKETS VERTICES\n");
    return 2;
  }
  return koios::bench::Main(argv[1], static_cast<uint32_t>(std::stoul(argv[2])),
                            static_cast<uint32_t>(std::stoul(argv[3])));
}
