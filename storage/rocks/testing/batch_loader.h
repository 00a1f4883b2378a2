// BatchLoader: gathers the records of a batch and sorts them, as an import does with files.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/bulk_writer.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/write_batch.h"

namespace koios::storage {

class BatchLoader {
 public:
  explicit BatchLoader(BulkWriter* writer) : writer_(*writer) {}

  KeyedProperties Properties(const PropertyList& properties) {
    KeyedProperties keyed;
    for (const auto& [name, value] : properties) {
      if (!value.is_null()) keyed.emplace_back(writer_.InternKey(name).value(), value);
    }
    SortProperties(&keyed);
    return keyed;
  }
  void AddVertices(const WriteBatch& batch) {
    refs.resize(batch.vertices.size());
    ids.resize(batch.vertices.size());
    for (const bool given : {true, false}) {
      for (size_t i = 0; i < batch.vertices.size(); ++i) {
        const AddedVertex& vertex = batch.vertices[i];
        if (vertex.id.has_value() != given) continue;
        ids[i] = given ? NormaliseId(*vertex.id).value() : writer_.AssignVertexId();
        refs[i] = writer_.AssignVertex(ids[i]);
        EncodeVertex(refs[i], writer_.InternLabel(vertex.label).value(), ids[i],
                     Properties(vertex.properties), writer_.vertex_indexes(),
                     writer_.num_partitions(), &records);
      }
    }
  }
  void AddEdges(const WriteBatch& batch) {
    for (const AddedEdge& added : batch.edges) {
      EdgeRef edge;
      edge.out = added.out.added ? refs[*added.out.added] : added.out.existing;
      edge.in = added.in.added ? refs[*added.in.added] : added.in.existing;
      edge.label = writer_.InternLabel(added.label).value();
      std::optional<Value> id;
      if (added.id) id = NormaliseId(*added.id).value();
      edge.id = writer_.AssignEdge(edge.out, id.has_value());
      edges.push_back(edge);
      edge_ids.push_back(id ? *id : Value::Long(static_cast<int64_t>(edge.id)));
      EncodeEdge(edge, id, Properties(added.properties), writer_.num_partitions(), &records);
    }
  }
  Status Write() {
    std::sort(records.begin(), records.end(), [](const FamilyRecord& a, const FamilyRecord& b) {
      return std::pair(a.family, a.key) < std::pair(b.family, b.key);
    });
    for (size_t i = 0; i < records.size();) {
      const Family family = records[i].family;
      ASSIGN_OR_RETURN(std::unique_ptr<BulkStream> stream, writer_.OpenStream(family));
      for (; i < records.size() && records[i].family == family; ++i) {
        RETURN_IF_ERROR(stream->Add(records[i].key, records[i].value));
      }
      RETURN_IF_ERROR(stream->Close());
    }
    return OkStatus();
  }
  // Of all partitions, behind Write.
  Status WriteSnapshots() {
    for (uint32_t p = 0; p < writer_.num_partitions(); ++p) {
      ASSIGN_OR_RETURN(const auto builder, writer_.OpenSnapshot(p, size_t{1} << 20));
      RETURN_IF_ERROR(FillSnapshot(p, builder.get()));
      ASSIGN_OR_RETURN(const BuiltSnapshot built, builder->Finish());
      writer_.AddSnapshot(p, built);
    }
    return OkStatus();
  }
  StatusOr<BulkSummary> Load(const WriteBatch& batch) {
    AddVertices(batch);
    AddEdges(batch);
    RETURN_IF_ERROR(Write());
    return writer_.Finish();
  }

  BulkWriter& writer_;
  std::vector<FamilyRecord> records;
  std::vector<VertexRef> refs;
  std::vector<Value> ids, edge_ids;
  std::vector<EdgeRef> edges;

 private:
  Status FillSnapshot(uint32_t partition, SnapshotBuilder* builder) {
    std::vector<std::pair<KeyId, std::string_view>> keyed;
    for (const FamilyRecord* record : RecordsOf(Family::kEdges, partition)) {
      EdgeRecord edge;
      ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(record->key));
      RETURN_IF_ERROR(ParseEdgeRecord(id, record->value, &edge));
      keyed.clear();
      for (PropertyReader reader(edge.properties); reader.Next();) {
        keyed.emplace_back(reader.key(), reader.value_bytes());
      }
      RETURN_IF_ERROR(builder->AddEdge({edge.edge, edge.id_bytes, keyed}));
    }
    const auto ends = RecordsOf(Family::kEdgeEnds, partition);
    auto next = ends.begin();
    std::vector<PropertyInput> properties;
    for (const FamilyRecord* record : RecordsOf(Family::kVertices, partition)) {
      VertexRecord vertex;
      ASSIGN_OR_RETURN(const VertexRef ref, DecodeVertexKey(record->key));
      RETURN_IF_ERROR(ParseVertexRecord(record->value, &vertex));
      properties.clear();
      for (PropertyReader reader(vertex.properties); reader.Next();) {
        properties.push_back({reader.key(), reader.value_bytes(), Cardinality::kSingle, {}});
      }
      RETURN_IF_ERROR(
          builder->AddVertex({ref.local(), {&vertex.label, 1}, vertex.id_bytes, properties}));
      for (EdgeEnd end; next != ends.end(); ++next) {
        RETURN_IF_ERROR(DecodeEdgeEndKey((*next)->key, &end));
        if (end.vertex != ref) break;
        RETURN_IF_ERROR(builder->AddEnd(end.direction, end.label, end.neighbour, end.edge_id));
      }
    }
    return OkStatus();
  }
  std::vector<const FamilyRecord*> RecordsOf(Family family, uint32_t partition) const {
    std::vector<const FamilyRecord*> found;
    for (const FamilyRecord& record : records) {
      if (record.family == family && record.key.starts_with(PartitionKey(partition))) {
        found.push_back(&record);
      }
    }
    return found;
  }
};

}  // namespace koios::storage
