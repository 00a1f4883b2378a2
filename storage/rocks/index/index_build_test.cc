// Indexes made, kept and dropped while the graph is read and written.
#include "storage/index_build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "core/random.h"
#include "core/value_compare.h"
#include "storage/bulk_writer.h"
#include "storage/check.h"
#include "storage/codec/equality_hash.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

const IndexSpec kByName{"person", {"name"}};
const IndexSpec kByCityAndAge{"person", {"city", "age"}};

class IndexBuildTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    store_ = GraphStore::Open(path(), TestOptions()).value();
  }
  std::string path() const { return folder_ / "graph"; }

  void AddPersons(int count) {
    auto transaction = store_->Begin();
    for (int i = 0; i < count; ++i) {
      const int number = next_++;
      persons_.push_back(transaction
                             ->AddVertex("person", std::nullopt,
                                         {{"name", Value::String("n" + std::to_string(number))},
                                          {"city", Value::String("c" + std::to_string(number % 5))},
                                          {"age", Value::Int(number % 50)}})
                             .value());
    }
    CHECK(store_->Commit(transaction->TakeBatch()).ok());
  }

  // Adds, changes and drops some.
  void ChangeSome() {
    AddPersons(3);
    auto transaction = store_->Begin();
    for (int i = 0; i < 20 && persons_.size() > 20; ++i) {
      const size_t at = rng_.Uniform(persons_.size());
      if (i % 4 == 0) {
        for (Transaction::DropCursor drop; !drop.done;) {
          CHECK(transaction->DropVertex(persons_[at], &drop).ok());
        }
        persons_.erase(persons_.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        const Value age = i % 3 == 0 ? Value::Null() : Value::Int(static_cast<int32_t>(i));
        CHECK(transaction->SetProperty(persons_[at], i % 2 == 0 ? "age" : "city", age).ok());
      }
    }
    if (SeekFor(*transaction, kByCityAndAge, {{{Value::Int(0)}, {}}})) {
      ExpectSeeksAreRight(*transaction);
    }
    CHECK(store_->Commit(transaction->TakeBatch()).ok());
  }

  uint64_t Entries(GraphStore* store) const {
    const auto view = StoreAccess::Of(store).NewestView();
    auto entries =
        view->snapshot().NewIterator(Family::kVertexIndex, view->snapshot().ReadOptions());
    uint64_t count = 0;
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) ++count;
    return count;
  }
  uint64_t Entries() const { return Entries(store_.get()); }

  static std::optional<VertexSeek> SeekFor(const GraphView& view, const IndexSpec& spec,
                                           std::vector<SoughtKey> sought) {
    const LabelId label = view.schema().labels.Find(spec.label);
    std::vector<KeyId> keys;
    for (const std::string& key : spec.keys) keys.push_back(view.schema().keys.Find(key));
    return MakeSeek(view.schema(), {&label, 1}, keys, sought);
  }

  // The composite index gives exactly the persons of a city and a range of ages.
  void ExpectSeeksAreRight(const GraphView& view) const {
    for (int city = 0; city < 5; ++city) {
      const Value name = Value::String("c" + std::to_string(city));
      const auto seek = SeekFor(view, kByCityAndAge,
                                {{{name}, {}},
                                 {{},
                                  {{KeyBound::Op::kAtLeast, Value::Double(7.5)},
                                   {KeyBound::Op::kLess, Value::Long(30)}}}});
      ASSERT_TRUE(seek.has_value());
      std::vector<VertexRef> found = SeekOf(view, *seek, 7);
      std::sort(found.begin(), found.end());
      std::vector<VertexRef> expected;
      for (const VertexRef person : persons_) {
        const auto of = PropertyOf(view, person, "city"), age = PropertyOf(view, person, "age");
        if (of && Equals(*of, name) && age && age->AsInteger() > 7 && age->AsInteger() < 30) {
          expected.push_back(person);
        }
      }
      std::sort(expected.begin(), expected.end());
      EXPECT_EQ(found, expected);
    }
  }

  void ExpectWhole() {
    const CheckReport report = Check(*store_).value();
    EXPECT_TRUE(report.ok()) << report.problems[0];
  }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
  std::vector<VertexRef> persons_;
  int next_ = 0;
  Rng rng_{3};
};

TEST_F(IndexBuildTest, WhatIsThereAndWhatComesIsFound) {
  AddPersons(100);
  ASSERT_TRUE(
      store_->Commit(AddVertexBatch(store_->View()->version(), std::nullopt, {}, "city")).ok());
  const uint64_t version = store_->View()->version();
  const IndexReport report = CreateIndex(store_.get(), kByCityAndAge).value();
  EXPECT_EQ(report.vertices, 100u);
  EXPECT_EQ(report.entries, 100u);
  EXPECT_EQ(store_->View()->version(), version);  // no commit
  ExpectSeeksAreRight(*store_->View());
  for (int i = 0; i < 10; ++i) ChangeSome();
  ExpectSeeksAreRight(*store_->View());
  ExpectWhole();
  Open();
  ExpectSeeksAreRight(*store_->View());
  ExpectWhole();
}

TEST_F(IndexBuildTest, WrongOnesAreRefused) {
  AddPersons(1);
  const auto create = [&](const IndexSpec& spec) {
    return CreateIndex(store_.get(), spec).status().code();
  };
  EXPECT_EQ(create({"person", {}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(create({"", {"name"}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(create({"person", {"name", "name"}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(create({"person", {"a", "b", "c", "d", "e", "f", "g", "h", "i"}}),
            StatusCode::kResourceExhausted);
  ASSERT_TRUE(CreateIndex(store_.get(), kByName).ok());
  const Status again = CreateIndex(store_.get(), kByName).status();
  EXPECT_EQ(again.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(again.message().find("person(name)"), std::string::npos) << again;
  EXPECT_EQ(create({"person", {"name", "age"}}), StatusCode::kOk);
  EXPECT_EQ(DropIndex(store_.get(), kByCityAndAge).code(), StatusCode::kNotFound);
  EXPECT_EQ(DropIndex(store_.get(), {"nobody", {"name"}}).code(), StatusCode::kNotFound);
  store_.reset();
  StoreOptions options = TestOptions();
  options.create = false;
  options.read_only = true;
  store_ = GraphStore::Open(path(), options).value();
  EXPECT_EQ(create({"more", {"k"}}), StatusCode::kFailedPrecondition);
  EXPECT_EQ(DropIndex(store_.get(), kByName).code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(SeekFor(*store_->View(), kByName, {{{Value::String("n0")}, {}}}).has_value());
}

TEST_F(IndexBuildTest, ADroppedOneLeavesNothing) {
  AddPersons(50);
  ASSERT_TRUE(CreateIndex(store_.get(), kByName).ok());
  ASSERT_TRUE(CreateIndex(store_.get(), kByCityAndAge).ok());
  EXPECT_EQ(Entries(), 100u);
  auto before = store_->View();
  const auto seek = SeekFor(*before, kByName, {{{Value::String("n7")}, {}}});
  ASSERT_TRUE(DropIndex(store_.get(), kByName).ok());
  EXPECT_EQ(Entries(), 50u);
  EXPECT_EQ(DropIndex(store_.get(), kByName).code(), StatusCode::kNotFound);
  EXPECT_FALSE(SeekFor(*store_->View(), kByName, {{{Value::String("n7")}, {}}}).has_value());
  EXPECT_EQ(SeekOf(*before, *seek).size(), 1u);  // who had it then has it still
  before.reset();
  ExpectSeeksAreRight(*store_->View());
  ASSERT_TRUE(CreateIndex(store_.get(), kByName).ok());
  EXPECT_EQ(
      SeekOf(*store_->View(), *SeekFor(*store_->View(), kByName, {{{Value::String("n7")}, {}}}))
          .size(),
      1u);
  ExpectWhole();
  Open();
  EXPECT_EQ(store_->View()->schema().vertex_indexes.size(), 2u);
  ExpectWhole();
}

// Enough vertices for several turns; between two of them commits change what was read and what was
// not yet.
TEST_F(IndexBuildTest, CommitsGoOnWhileItIsBuilt) {
  for (int i = 0; i < 9; ++i) AddPersons(1000);
  int turns = 0;
  uint64_t seen = 0;
  const IndexReport report =
      CreateIndex(store_.get(), kByCityAndAge, [&](uint64_t vertices) {
        ++turns;
        EXPECT_GE(vertices, seen);
        seen = vertices;
        ChangeSome();
        EXPECT_FALSE(
            SeekFor(*store_->View(), kByCityAndAge, {{{Value::String("c1")}, {}}}).has_value());
        ExpectWhole();
        return OkStatus();
      }).value();
  EXPECT_GE(turns, 5);
  EXPECT_GE(report.vertices, 8900u);
  ExpectSeeksAreRight(*store_->View());
  ExpectWhole();
}

TEST_F(IndexBuildTest, ACancelledOneLeavesNothing) {
  for (int i = 0; i < 5; ++i) AddPersons(1000);
  const Status status = CreateIndex(store_.get(), kByName, [&](uint64_t vertices) {
                          return vertices > 0 ? Cancelled("enough") : OkStatus();
                        }).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(Entries(), 0u);
  EXPECT_TRUE(store_->View()->schema().vertex_indexes.empty());
  EXPECT_EQ(CreateIndex(store_.get(), kByName)->entries, 5000u);
}

TEST_F(IndexBuildTest, ItMayBeDroppedWhileItIsBuilt) {
  for (int i = 0; i < 5; ++i) AddPersons(1000);
  const Status status =
      CreateIndex(store_.get(), kByName, [&](uint64_t vertices) {
        if (vertices == 0) return OkStatus();
        EXPECT_EQ(CreateIndex(store_.get(), kByName).status().code(), StatusCode::kAlreadyExists);
        return DropIndex(store_.get(), kByName);
      }).status();
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_EQ(Entries(), 0u);
  ExpectWhole();
}

// What is on disk in the middle of it is what a crash leaves.
TEST_F(IndexBuildTest, ACrashLeavesNoHalfOne) {
  for (int i = 0; i < 5; ++i) AddPersons(1000);
  const std::string image = folder_ / "image";
  ASSERT_TRUE(CreateIndex(store_.get(), kByName, [&](uint64_t vertices) {
                if (vertices > 0 && !std::filesystem::exists(image)) {
                  std::filesystem::copy(path(), image, std::filesystem::copy_options::recursive);
                }
                return OkStatus();
              }).ok());
  store_.reset();
  StoreOptions options = TestOptions();
  options.create = false;
  options.read_only = true;
  {
    const auto read_only = GraphStore::Open(image, options).value();
    EXPECT_GT(Entries(read_only.get()), 0u);
    EXPECT_FALSE(SeekFor(*read_only->View(), kByName, {{{Value::String("n7")}, {}}}).has_value());
  }
  store_ = GraphStore::Open(image, TestOptions()).value();
  EXPECT_EQ(Entries(), 0u);
  EXPECT_TRUE(store_->View()->schema().vertex_indexes.empty());
  ExpectWhole();
  EXPECT_EQ(CreateIndex(store_.get(), kByName)->entries, 5000u);
  ExpectWhole();
}

TEST_F(IndexBuildTest, ItWaitsForALoadAndALoadKeepsIt) {
  AddPersons(10);
  auto writer = BulkWriter::Append(store_.get()).value();
  int asked = 0;
  const auto report = CreateIndex(store_.get(), kByName, [&](uint64_t) {
    if (++asked == 3) writer.reset();
    return OkStatus();
  });
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(asked, 3);
  EXPECT_EQ(report->entries, 10u);

  writer = BulkWriter::Append(store_.get()).value();
  const LabelId label = writer->InternLabel("person").value();
  const KeyId name = writer->InternKey("name").value();
  const Value id = writer->AssignVertexId();
  std::vector<FamilyRecord> records;
  const KeyedProperties properties = {{name, Value::String("loaded")}};
  EncodeVertex(writer->AssignVertex(id), label, id, properties, writer->vertex_indexes(),
               writer->num_partitions(), &records);
  for (const FamilyRecord& record : records) {
    auto stream = writer->OpenStream(record.family).value();
    ASSERT_TRUE(stream->Add(record.key, record.value).ok());
    ASSERT_TRUE(stream->Close().ok());
  }
  ASSERT_TRUE(writer->Finish().ok());
  writer.reset();
  const auto view = store_->View();
  EXPECT_EQ(SeekOf(*view, *SeekFor(*view, kByName, {{{Value::String("loaded")}, {}}})).size(), 1u);
  ExpectWhole();
}

// Up to format 4 an index was of hashes: it is built anew when the graph is opened for writing, and
// until then all is found by scans.
TEST_F(IndexBuildTest, IndexesOfAnOlderFormatAreBuiltAnew) {
  AddPersons(30);
  {
    const auto view = StoreAccess::Of(store_.get()).NewestView();
    const LabelId label = view->schema().labels.Find("person");
    const KeyId key = view->schema().keys.Find("name");
    const auto database = StoreAccess::Of(store_.get()).CurrentDatabase();
    rocksdb::ColumnFamilyHandle* const meta = database->family(Family::kMeta);
    ASSERT_TRUE(database->db()
                    ->Put({}, meta, EncodeMetaKey({MetaKind::kHashedIndex, label, key}), "")
                    .ok());
    for (const VertexRef person : persons_) {
      std::string entry = VertexLabelPrefix(person.partition(), label);
      PutBigEndian32(key, &entry);
      PutBigEndian64(EqualityHash(*PropertyOf(*view, person, "name")), &entry);
      PutBigEndian48(person.local(), &entry);
      ASSERT_TRUE(database->db()->Put({}, database->family(Family::kVertexIndex), entry, "").ok());
    }
  }
  const std::string format = path() + "/FORMAT";
  const auto age = [&] {
    store_.reset();
    std::ofstream(format) << "koios graph 4\n";
  };
  age();
  StoreOptions options = TestOptions();
  options.create = false;
  options.read_only = true;
  store_ = GraphStore::Open(path(), options).value();
  EXPECT_TRUE(store_->View()->schema().vertex_indexes.empty());
  ExpectWhole();
  age();
  Open();
  EXPECT_EQ(Entries(), 30u);
  const auto seek = SeekFor(*store_->View(), kByName, {{{Value::String("n7")}, {}}});
  ASSERT_TRUE(seek.has_value());
  EXPECT_EQ(SeekOf(*store_->View(), *seek), (std::vector<VertexRef>{persons_[7]}));
  ExpectWhole();
  Open();
  EXPECT_EQ(store_->View()->schema().vertex_indexes.size(), 1u);
  EXPECT_EQ(Entries(), 30u);
}

}  // namespace
}  // namespace koios::storage
