// Persons in communities who know each other, write posts and like them. Vertex ids: persons 1..N,
// then posts in the order of their authors.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "import/generate/csv_file.h"
#include "import/generate/draw.h"
#include "import/generate/generate.h"
#include "import/generate/people.h"

namespace koios::import {
namespace {

enum SocialThing : uint64_t { kPerson, kKnows, kPosts, kLikes };

constexpr uint64_t kCommunity = 64;
constexpr double kInCommunity = 0.7;
constexpr double kPostsPerPerson = 3;
constexpr double kLikesPerPerson = 6;
constexpr std::array<std::string_view, 12> kSubjects = {
    "The harbour", "My garden",  "That film",   "The tram",     "Our team",     "The market",
    "This bridge", "The museum", "Her lecture", "The old town", "The new song", "The weather"};
constexpr std::array<std::string_view, 12> kVerdicts = {
    "is lovely today",   "was a surprise",  "needs some care", "never disappoints",
    "is worth the trip", "could be better", "made my day",     "keeps me busy",
    "has changed a lot", "is hard to beat", "was too short",   "is quiet again"};

class Social {
 public:
  explicit Social(const GenerateOptions& options)
      : options_(options), num_persons_(options.scale), spread_(options.scale, options.seed) {}

  StatusOr<GeneratedGraph> Run() {
    GeneratedGraph graph;
    const auto path = [&](const char* name) { return options_.out + "/" + name; };
    CsvFile persons(path("persons.csv"), "~id,~label,name:string,city:string,born:date");
    CsvFile posts(path("posts.csv"), "~id,~label,text:string,time:datetime");
    CsvFile knows(path("knows.csv"), "~from,~to,~label,since:date");
    CsvFile wrote(path("wrote.csv"), "~from,~to,~label");
    CsvFile likes(path("likes.csv"), "~from,~to,~label,time:datetime");
    for (uint64_t i = 0; i < num_persons_; ++i) {
      WritePerson(i, &persons);
      WriteKnows(i, &knows);
      WritePosts(i, &posts, &wrote);
    }
    for (uint64_t i = 0; i < num_persons_ && posts.num_rows() > 0; ++i) {
      WriteLikes(i, posts.num_rows(), &likes);
    }
    for (CsvFile* file : {&persons, &posts, &knows, &wrote, &likes}) RETURN_IF_ERROR(file->Close());
    graph.nodes = {path("persons.csv"), path("posts.csv")};
    graph.edges = {path("knows.csv"), path("wrote.csv"), path("likes.csv")};
    graph.num_vertices = persons.num_rows() + posts.num_rows();
    graph.num_edges = knows.num_rows() + wrote.num_rows() + likes.num_rows();
    return graph;
  }

 private:
  void WritePerson(uint64_t i, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kPerson, i);
    file->Number(i + 1).Text("person").Text(PickName(&rng)).Text(Pick(&rng, kCities));
    constexpr uint64_t kBornSpan = 40 * kYearSeconds;
    file->Date(static_cast<int64_t>(rng.Uniform(kBornSpan))).EndRow();
  }

  // A pair is drawn from both of its ends but written by the lower one only, hence the full factor.
  void WriteKnows(uint64_t i, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kKnows, i);
    const uint64_t most = std::min<uint64_t>(num_persons_, 10'000);
    const uint64_t count = DrawPowerLaw(&rng, static_cast<double>(options_.edge_factor), most);
    const uint64_t first = i / kCommunity * kCommunity;
    const uint64_t size = std::min(kCommunity, num_persons_ - first);
    std::set<uint64_t> others;
    for (uint64_t k = 0; k < count; ++k) {
      const uint64_t other = rng.Chance(kInCommunity) ? first + rng.Uniform(size)
                                                      : spread_.At(DrawPopular(&rng, num_persons_));
      if (other > i) others.insert(other);
    }
    for (uint64_t other : others) {
      file->Number(i + 1).Number(other + 1).Text("knows");
      file->Date(kYear2020 + static_cast<int64_t>(rng.Uniform(4 * kYearSeconds))).EndRow();
    }
  }

  void WritePosts(uint64_t i, CsvFile* posts, CsvFile* wrote) {
    Rng rng = DrawsOf(options_.seed, kPosts, i);
    constexpr uint64_t kMostPosts = 10'000;
    const uint64_t count = DrawPowerLaw(&rng, kPostsPerPerson, kMostPosts);
    for (uint64_t k = 0; k < count; ++k) {
      const uint64_t id = num_persons_ + posts->num_rows() + 1;
      std::string text(Pick(&rng, kSubjects));
      text.append(" ").append(Pick(&rng, kVerdicts)).append(".");
      posts->Number(id).Text("post").Text(text);
      posts->Instant(kYear2024 + static_cast<int64_t>(rng.Uniform(kYearSeconds))).EndRow();
      wrote->Number(i + 1).Number(id).Text("wrote").EndRow();
    }
  }

  void WriteLikes(uint64_t i, uint64_t num_posts, CsvFile* file) {
    Rng rng = DrawsOf(options_.seed, kLikes, i);
    constexpr uint64_t kMostLikes = 10'000;
    const uint64_t count = DrawPowerLaw(&rng, kLikesPerPerson, std::min(kMostLikes, num_posts));
    std::set<uint64_t> liked;
    for (uint64_t k = 0; k < count; ++k) liked.insert(DrawPopular(&rng, num_posts));
    for (uint64_t post : liked) {
      file->Number(i + 1).Number(num_persons_ + post + 1).Text("likes");
      file->Instant(kYear2024 + static_cast<int64_t>(rng.Uniform(kYearSeconds))).EndRow();
    }
  }

  const GenerateOptions& options_;
  const uint64_t num_persons_;
  const Spread spread_;
};

}  // namespace

StatusOr<GeneratedGraph> GenerateSocial(const GenerateOptions& options) {
  return Social(options).Run();
}

}  // namespace koios::import
