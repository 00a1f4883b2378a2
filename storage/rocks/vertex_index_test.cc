// The index of property values: filled by loads and commits, sought by views and transactions.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "core/value_compare.h"
#include "storage/bulk_writer.h"
#include "storage/check.h"
#include "storage/codec/element_id.h"
#include "storage/codec/value_place.h"
#include "storage/memory_graph.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

std::vector<VertexRef> SeekAll(const GraphView& view, const std::vector<std::string>& names,
                               const std::vector<Value>& values, size_t limit = 1000) {
  std::vector<LabelId> labels;
  for (const std::string& name : names) labels.push_back(view.schema().labels.Find(name));
  const KeyId key = view.schema().keys.Find("id");
  const SoughtKey sought{values, {}};
  const auto seek = MakeSeek(view.schema(), labels, {&key, 1}, {&sought, 1});
  CHECK(seek.has_value());
  std::vector<VertexRef> found = SeekOf(view, *seek, limit);
  std::sort(found.begin(), found.end());
  return found;
}

// A graph whose vertices labelled p and q are indexed by id: `count` of each, with ids 0, 1, ...
class VertexIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = BulkWriter::Create(folder_ / "graph", TestOptions()).value();
    Load(writer.get(), 3);
    writer.reset();
    store_ = GraphStore::Open(folder_ / "graph", TestOptions()).value();
  }
  static void Load(BulkWriter* writer, int count) {
    std::vector<FamilyRecord> records;
    const KeyId key = writer->InternKey("id").value();
    for (const char* name : {"p", "q"}) {
      const LabelId label = writer->InternLabel(name).value();
      CHECK(writer->IndexVertices(label, key));
      for (int i = 0; i < count; ++i) {
        const Value id = writer->AssignVertexId();
        const KeyedProperties properties = {{key, Value::Long(i)}};
        EncodeVertex(writer->AssignVertex(id), label, id, properties, writer->vertex_indexes(),
                     writer->num_partitions(), &records);
      }
    }
    std::sort(records.begin(), records.end(), [](const FamilyRecord& a, const FamilyRecord& b) {
      return std::pair(a.family, a.key) < std::pair(b.family, b.key);
    });
    std::map<Family, std::unique_ptr<BulkStream>> streams;
    for (const FamilyRecord& record : records) {
      auto& stream = streams[record.family];
      if (stream == nullptr) stream = writer->OpenStream(record.family).value();
      CHECK(stream->Add(record.key, record.value).ok());
    }
    for (auto& [family, stream] : streams) CHECK(stream->Close().ok());
    CHECK(writer->Finish().ok());
  }
  std::vector<std::string> Problems() { return Check(*store_).value().problems; }

  TempFolder folder_;
  std::unique_ptr<GraphStore> store_;
};

TEST_F(VertexIndexTest, NumbersOfAnyTypeFindTheVertex) {
  const auto view = store_->View();
  const std::vector<VertexRef> found = SeekAll(*view, {"p"}, {Value::Int(1)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(PropertyOf(*view, found[0], "id")->AsInteger(), 1);
  EXPECT_EQ(SeekAll(*view, {"p"}, {Value::Double(1.0)}), found);
  EXPECT_EQ(SeekAll(*view, {"p"}, {Value::Int(1), Value::Long(1)}), found);
  EXPECT_EQ(SeekAll(*view, {"p", "q"}, {Value::Int(1), Value::Int(2)}).size(), 4u);
  EXPECT_EQ(SeekAll(*view, {"p", "q"}, {Value::Int(1), Value::Int(2)}, 1).size(), 4u);
  EXPECT_TRUE(SeekAll(*view, {"p"}, {Value::String("1")}).empty());
  EXPECT_TRUE(SeekAll(*view, {"p"}, {}).empty());
  EXPECT_TRUE(Problems().empty());
}

TEST_F(VertexIndexTest, AppendedLoadsFillWhatIsIndexedAndIndexNothingLate) {
  ASSERT_TRUE(
      store_->Commit(AddVertexBatch(store_->View()->version(), std::nullopt, {}, "r")).ok());
  {
    auto writer = BulkWriter::Append(store_.get()).value();
    EXPECT_FALSE(
        writer->IndexVertices(writer->InternLabel("r").value(), writer->InternKey("id").value()));
    Load(writer.get(), 2);
  }
  EXPECT_EQ(SeekAll(*store_->View(), {"p"}, {Value::Int(1)}).size(), 2u);
  EXPECT_EQ(SeekAll(*store_->View(), {"p"}, {Value::Int(2)}).size(), 1u);
  EXPECT_TRUE(Problems().empty());
}

TEST_F(VertexIndexTest, ALoadWithoutItsEntriesIsRefused) {
  auto writer = BulkWriter::Append(store_.get()).value();
  const KeyId key = writer->InternKey("id").value();
  const LabelId label = writer->InternLabel("p").value();
  const Value id = writer->AssignVertexId();
  const KeyedProperties properties = {{key, Value::Long(7)}};
  std::vector<FamilyRecord> records;
  EncodeVertex(writer->AssignVertex(id), label, id, properties, {}, writer->num_partitions(),
               &records);
  for (const FamilyRecord& record : records) {
    auto stream = writer->OpenStream(record.family).value();
    ASSERT_TRUE(stream->Add(record.key, record.value).ok());
    ASSERT_TRUE(stream->Close().ok());
  }
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);
}

// Random commits, each through a transaction that must see its own changes; the truth is what a
// scan of all vertices finds.
TEST_F(VertexIndexTest, SeeksFindWhatScansFind) {
  std::minstd_rand chance(7);
  const auto pick = [&chance](uint32_t n) { return static_cast<uint32_t>(chance()) % n; };
  const auto expect_truth = [](const GraphView& view) {
    const KeyId key = view.schema().keys.Find("id");
    for (const char* label : {"p", "q"}) {
      const LabelId number = view.schema().labels.Find(label);
      for (int wanted = 0; wanted < 6; ++wanted) {
        std::vector<VertexRef> expected;
        for (uint32_t p = 0; p < view.num_partitions(); ++p) {
          ScanCursor cursor;
          std::vector<VertexRef> all;
          while (!cursor.done) CHECK(view.ScanVertices(p, {&number, 1}, &cursor, 3, &all).ok());
          PropertyRows rows;
          CHECK(view.VertexProperties(all, {&key, 1}, &rows).ok());
          for (size_t i = 0; i < rows.rows.size(); ++i) {
            if (Equals(rows.values.Get(i), Value::Int(wanted))) {
              expected.push_back(all[rows.rows[i]]);
            }
          }
        }
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(SeekAll(view, {label}, {Value::Int(wanted)}, 2), expected);
      }
    }
  };
  std::vector<VertexRef> all;
  for (int round = 0; round < 60; ++round) {
    auto transaction = store_->Begin();
    for (int change = 0; change < 4; ++change) {
      const VertexRef one =
          all.empty() ? VertexRef() : all[pick(static_cast<uint32_t>(all.size()))];
      const Value value = pick(2) == 0 ? Value::Int(static_cast<int32_t>(pick(6)))
                                       : Value::Double(static_cast<double>(pick(6)));
      switch (all.empty() ? 0 : pick(5)) {
        case 0:
        case 1:
          all.push_back(transaction
                            ->AddVertex(pick(2) == 0 ? "p" : "q", std::nullopt,
                                        {{"id", value}, {"other", value}})
                            .value());
          break;
        case 2:
          transaction->SetProperty(one, "id", value).IgnoreError();
          break;
        case 3:
          transaction->SetProperty(one, "id", Value::Null()).IgnoreError();
          break;
        default:
          for (Transaction::DropCursor drop; !drop.done;) {
            ASSERT_TRUE(transaction->DropVertex(one, &drop).ok());
          }
          std::erase(all, one);
          break;
      }
    }
    expect_truth(*transaction);
    ASSERT_TRUE(store_->Commit(transaction->TakeBatch()).ok());
    expect_truth(*store_->View());
    transaction.reset();
    if (round % 20 == 0) {
      store_.reset();
      store_ = GraphStore::Open(folder_ / "graph", TestOptions()).value();
    }
  }
  EXPECT_GT(all.size(), 5u);
  EXPECT_TRUE(Problems().empty());
}

TEST_F(VertexIndexTest, CheckSeesWhatIsMissingAndWhatIsTooMuch) {
  const auto view = store_->View();
  const LabelId label = view->schema().labels.Find("p");
  const KeyId key = view->schema().keys.Find("id");
  const VertexRef vertex = SeekAll(*view, {"p"}, {Value::Int(1)})[0];
  Database& database = *StoreAccess::Of(store_.get()).CurrentDatabase();
  rocksdb::ColumnFamilyHandle* family = database.family(Family::kVertexIndex);
  const IndexId index = view->schema().FindIndex(label, {&key, 1}).value();
  const auto key_of = [&](const Value& value) {
    std::string place;
    AppendPlace(value, &place);
    return VertexIndexKey(vertex, index, place);
  };
  const std::string wrong = key_of(Value::Int(42));
  ASSERT_TRUE(database.db()->Put({}, family, wrong, "").ok());
  const auto publish = [this] {
    CHECK(store_->Commit(AddVertexBatch(store_->View()->version(), std::nullopt)).ok());
  };
  publish();
  ASSERT_EQ(Problems().size(), 1u);
  EXPECT_NE(Problems()[0].find("contradicts"), std::string::npos);
  ASSERT_TRUE(database.db()->Delete({}, family, wrong).ok());
  const std::string of_none = VertexIndexKey(vertex, index + 9, "x");
  ASSERT_TRUE(database.db()->Put({}, family, of_none, "").ok());
  publish();
  ASSERT_EQ(Problems().size(), 1u);
  EXPECT_NE(Problems()[0].find("does not exist"), std::string::npos);
  ASSERT_TRUE(database.db()->Delete({}, family, of_none).ok());
  const std::string right = key_of(Value::Int(1));
  ASSERT_TRUE(database.db()->Delete({}, family, right).ok());
  publish();
  ASSERT_EQ(Problems().size(), 1u);
  EXPECT_NE(Problems()[0].find("lacks its entry in 'vertex_index'"), std::string::npos);
}

// A folder of the format before has no such family.
TEST_F(VertexIndexTest, AnOlderGraphGetsTheFamilyWhenItIsOpenedForWriting) {
  Database& database = *StoreAccess::Of(store_.get()).CurrentDatabase();
  ASSERT_TRUE(database.db()->DropColumnFamily(database.family(Family::kVertexIndex)).ok());
  store_.reset();
  StoreOptions options = TestOptions();
  EXPECT_EQ(GraphStore::Open(folder_ / "graph", options).status().code(), StatusCode::kDataLoss);
  std::ofstream(folder_ / "graph/FORMAT") << "koios graph 1\n";
  options.read_only = true;
  EXPECT_EQ(GraphStore::Open(folder_ / "graph", options).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_TRUE(GraphStore::Open(folder_ / "graph", TestOptions()).ok());
  options.read_only = true;
  EXPECT_TRUE(GraphStore::Open(folder_ / "graph", options).ok());
}

TEST(VertexIndexOfMemory, IsTheSame) {
  MemoryGraph graph(4);
  graph.IndexVertices("p", {"id"});
  std::vector<VertexRef> ones;
  for (int i = 0; i < 6; ++i) {
    const VertexRef added =
        graph.AddVertex(std::nullopt, i % 2 == 0 ? "p" : "q", {{"id", Value::Int(i / 4)}}).value();
    if (i == 4) ones.push_back(added);
  }
  EXPECT_EQ(SeekAll(graph, {"p"}, {Value::Double(1.0)}), ones);
  EXPECT_EQ(SeekAll(graph, {"p"}, {Value::Long(0)}, 1).size(), 2u);
}

}  // namespace
}  // namespace koios::storage
