#include "import/load/graph_stage.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/load/bin_turns.h"
#include "import/load/record_block.h"
#include "import/sort/bin_writer.h"
#include "storage/codec/index_entry.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/snapshot/snapshot_builder.h"

namespace koios::import {
namespace {

constexpr uint64_t kNoVertex = std::numeric_limits<uint64_t>::max();

// A sorted bin with the vertex of its next record, whose key begins with it.
class Cursor {
 public:
  Status Open(BinSorter* sorter, size_t bin, KeySwap swap = {}) {
    ASSIGN_OR_RETURN(records_, sorter->Open(bin, swap));
    return Next();
  }
  Status Next() {
    ASSIGN_OR_RETURN(const bool more, records_->Next());
    vertex_ = more ? storage::GetBigEndian64(records_->key().data()) : kNoVertex;
    return OkStatus();
  }
  uint64_t vertex() const { return vertex_; }
  std::string_view key() const { return records_->key(); }
  std::string_view value() const { return records_->value(); }

 private:
  std::unique_ptr<SortedBin> records_;
  uint64_t vertex_ = kNoVertex;
};

// The snapshot of one partition in the making, or nothing: a failure is kept, the load goes on.
class PartitionSnapshotWriter {
 public:
  explicit PartitionSnapshotWriter(std::unique_ptr<storage::SnapshotBuilder> builder)
      : builder_(std::move(builder)) {}

  void AddVertex(VertexRef vertex, const storage::VertexRecord& record) {
    if (builder_ == nullptr) return;
    properties_.clear();
    storage::PropertyReader reader(record.properties);
    while (reader.Next()) {
      properties_.push_back(
          {reader.key(), reader.value_bytes(), storage::Cardinality::kSingle, {}});
    }
    Keep(reader.status());
    if (builder_ == nullptr) return;
    Keep(builder_->AddVertex({vertex.local(), {&record.label, 1}, record.id_bytes, properties_}));
  }
  void AddOut(LabelId label, VertexRef in, uint64_t edge, std::string_view payload) {
    if (builder_ != nullptr) Keep(builder_->AddOutEdge(label, in, edge, payload));
  }
  void AddIn(LabelId label, VertexRef out, uint64_t edge) {
    if (builder_ != nullptr) Keep(builder_->AddEnd(Direction::kIn, label, out, edge));
  }
  // Hands the snapshot to the writer.
  Status Finish(uint32_t partition, storage::BulkWriter* writer) {
    if (builder_ == nullptr) return status_;
    const auto built = builder_->Finish();
    RETURN_IF_ERROR(built.status());
    writer->AddSnapshot(partition, *built);
    return OkStatus();
  }

 private:
  void Keep(const Status& status) {
    if (status.ok()) return;
    status_ = status;
    builder_ = nullptr;
  }

  std::unique_ptr<storage::SnapshotBuilder> builder_;
  Status status_;
  std::vector<storage::PropertyInput> properties_;
};

// Writes what one bin has.
class BinGraph {
 public:
  BinGraph(LoadContext* context, LoadedEdges* edges, BinSorter* by_property,
           const VertexIndexes& indexes)
      : context_(context),
        edges_(edges),
        indexes_(indexes),
        vertices_(context->OpenStream(storage::Family::kVertices)),
        labels_(context->OpenStream(storage::Family::kVertexLabels)),
        ends_(context->OpenStream(storage::Family::kEdgeEnds)),
        by_property_(by_property, context->ChunkBytes()) {}

  Status Open(BinSorter* vertices, size_t bin) {
    bin_ = bin;
    RETURN_IF_ERROR(vertex_.Open(vertices, bin));
    RETURN_IF_ERROR(out_.Open(edges_->by_out.get(), bin, kByOutVertex));
    return in_.Open(edges_->by_in.get(), bin);
  }

  Status WritePartition(uint32_t partition, PartitionSnapshotWriter* snapshot) {
    const uint64_t end = VertexRef::Make(partition + 1, 0).bits;
    next_numbers_ = edges_->first_numbers[partition];
    last_number_ = nullptr;
    while (true) {
      const uint64_t vertex = std::min({vertex_.vertex(), out_.vertex(), in_.vertex()});
      if (vertex >= end) return OkStatus();
      if (vertex_.vertex() == vertex) RETURN_IF_ERROR(WriteVertex(VertexRef{vertex}, snapshot));
      // A graph that is appended to has vertices that are not of the load.
      for (; out_.vertex() == vertex;) RETURN_IF_ERROR(WriteOut(snapshot));
      for (; in_.vertex() == vertex;) RETURN_IF_ERROR(WriteIn(snapshot));
    }
  }

  Status Finish() {
    RETURN_IF_ERROR(vertices_.Close());
    RETURN_IF_ERROR(labels_.Close());
    RETURN_IF_ERROR(by_property_.Finish());
    Progressed();
    return ends_.Close();
  }

 private:
  void Progressed() {
    context_->progress->AddRows(written_);
    context_->progress->AddDone(written_);
    written_ = 0;
  }
  Status Written(Cursor* cursor) {
    constexpr uint64_t kReportEvery = 4096;
    if (++written_ == kReportEvery) Progressed();
    return cursor->Next();
  }

  Status WriteVertex(VertexRef vertex, PartitionSnapshotWriter* snapshot) {
    storage::VertexRecord record;
    RETURN_IF_ERROR(storage::ParseVertexRecord(vertex_.value(), &record));
    RETURN_IF_ERROR(vertices_.Add(vertex_.key(), vertex_.value()));
    RETURN_IF_ERROR(labels_.Add(storage::VertexLabelKey(vertex, record.label), ""));
    if (!indexes_.empty()) RETURN_IF_ERROR(AddIndexed(vertex, record));
    snapshot->AddVertex(vertex, record);
    return Written(&vertex_);
  }

  Status AddIndexed(VertexRef vertex, const storage::VertexRecord& record) {
    const VertexIndexes& indexes = IndexesOf(record.label);
    if (indexes.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const storage::KeyedProperties properties,
                     storage::IndexedProperties(indexes, record.label, record.properties));
    std::vector<std::string> keys;
    storage::AppendIndexKeys(indexes, vertex, record.label, properties, &keys);
    for (const std::string& key : keys) RETURN_IF_ERROR(by_property_.Add(bin_, key, ""));
    return OkStatus();
  }

  // There may be many of other labels, and vertices come label by label.
  const VertexIndexes& IndexesOf(LabelId label) {
    if (label == indexed_label_) return indexes_of_label_;
    indexed_label_ = label;
    indexes_of_label_.clear();
    for (const auto& index : indexes_) {
      if (index.second.label == label) indexes_of_label_.insert(index);
    }
    return indexes_of_label_;
  }

  Status WriteOut(PartitionSnapshotWriter* snapshot) {
    const EdgeKeyParts edge = ReadEdgeKeyByOutVertex(out_.key());
    if (last_number_ == nullptr || last_number_->first != edge.label) {
      const auto found = next_numbers_.find(edge.label);
      if (found == next_numbers_.end()) return DamagedRecord();
      last_number_ = &*found;
    }
    const uint64_t number = last_number_->second++;
    PutEnd(out_.key(), Direction::kOut, number);
    RETURN_IF_ERROR(ends_.Add({end_key_, sizeof(end_key_)}, ""));
    snapshot->AddOut(edge.label, edge.in, number, out_.value());
    return Written(&out_);
  }

  Status WriteIn(PartitionSnapshotWriter* snapshot) {
    const std::string_view key = in_.key();
    const uint64_t number = storage::GetBigEndian64(in_.value().data());
    PutEnd(key, Direction::kIn, number);
    RETURN_IF_ERROR(ends_.Add({end_key_, sizeof(end_key_)}, ""));
    snapshot->AddIn(storage::GetBigEndian32(key.data() + 8),
                    VertexRef{storage::GetBigEndian64(key.data() + 12)}, number);
    return Written(&in_);
  }

  // Both kinds of keys begin with vertex 8 | label 4 | neighbour 8.
  void PutEnd(std::string_view key, Direction direction, uint64_t number) {
    std::memcpy(end_key_, key.data(), 8);
    end_key_[8] = static_cast<char>(direction);
    std::memcpy(end_key_ + 9, key.data() + 8, 12);
    storage::StoreBigEndian64(number, end_key_ + 21);
  }

  LoadContext* const context_;
  LoadedEdges* const edges_;
  const VertexIndexes& indexes_;
  LabelId indexed_label_ = kNoName;
  VertexIndexes indexes_of_label_;
  RollingStream vertices_, labels_, ends_;
  BinWriter by_property_;
  size_t bin_ = 0;
  Cursor vertex_, out_, in_;
  std::map<LabelId, uint64_t> next_numbers_;  // of the partition
  std::pair<const LabelId, uint64_t>* last_number_ = nullptr;
  char end_key_[storage::kEdgeEndKeySize];
  uint64_t written_ = 0;
};

class GraphStage {
 public:
  GraphStage(LoadContext* context, LoadedVertices vertices, LoadedEdges edges)
      : context_(context),
        vertices_(std::move(vertices)),
        edges_(std::move(edges)),
        indexes_(context->writer->vertex_indexes()),
        by_property_(context->room, context->target.bins.size(),
                     context->room->record_bytes() / 4) {
    written_.has_snapshot = context->options->snapshot && context->existing == nullptr;
  }

  StatusOr<WrittenGraph> Run() {
    context_->progress->StartStage(
        "write graph", vertices_.records->num_records() + 2 * edges_.by_out->num_records());
    BinTurns turns;
    RETURN_IF_ERROR(turns.Run(context_->num_threads(), context_->target.bins.size(),
                              [this](size_t bin) { return WriteBin(bin); }));
    for (const BinSorter* sorter :
         {vertices_.records.get(), edges_.by_out.get(), edges_.by_in.get(), &by_property_}) {
      context_->spilled_bytes += sorter->spilled_bytes();
    }
    return written_;
  }

 private:
  Status WriteBin(size_t bin) {
    {
      BinGraph graph(context_, &edges_, &by_property_, indexes_);
      RETURN_IF_ERROR(graph.Open(vertices_.records.get(), bin));
      const Bins& bins = context_->target.bins;
      for (uint32_t p = bins.Begin(bin); p < bins.Begin(bin + 1); ++p) {
        PartitionSnapshotWriter snapshot(NewBuilder(p));
        RETURN_IF_ERROR(graph.WritePartition(p, &snapshot));
        SnapshotDone(snapshot.Finish(p, context_->writer));
      }
      RETURN_IF_ERROR(graph.Finish());
    }
    vertices_.records->Drop(bin);
    edges_.by_out->Drop(bin);
    edges_.by_in->Drop(bin);
    return WriteIndex(bin);
  }

  std::unique_ptr<storage::SnapshotBuilder> NewBuilder(uint32_t partition) {
    {
      MutexLock lock(&mutex_);
      if (!written_.has_snapshot) return nullptr;
    }
    const size_t budget = context_->Eighths(1) / context_->num_threads();
    auto builder = context_->writer->OpenSnapshot(partition, budget);
    SnapshotDone(builder.status());
    return builder.ok() ? *std::move(builder) : nullptr;
  }
  void SnapshotDone(const Status& status) {
    if (status.ok()) return;
    MutexLock lock(&mutex_);
    if (written_.has_snapshot) written_.snapshot_failed = status;
    written_.has_snapshot = false;
  }

  Status WriteIndex(size_t bin) {
    RETURN_IF_ERROR(WriteIndexOf(bin));
    by_property_.Drop(bin);
    return OkStatus();
  }

  Status WriteIndexOf(size_t bin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, by_property_.Open(bin));
    RollingStream stream = context_->OpenStream(storage::Family::kVertexIndex);
    while (true) {
      ASSIGN_OR_RETURN(const bool more, records->Next());
      if (!more) return stream.Close();
      RETURN_IF_ERROR(stream.Add(records->key(), ""));
    }
  }

  LoadContext* const context_;
  LoadedVertices vertices_;
  LoadedEdges edges_;
  const VertexIndexes indexes_;
  BinSorter by_property_;
  Mutex mutex_;
  WrittenGraph written_;
};

}  // namespace

StatusOr<WrittenGraph> WriteGraph(LoadContext* context, LoadedVertices vertices,
                                  LoadedEdges edges) {
  return GraphStage(context, std::move(vertices), std::move(edges)).Run();
}

}  // namespace koios::import
