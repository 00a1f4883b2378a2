#include "storage/snapshot/snapshot_builder.h"

#include <algorithm>

#include "core/value_codec.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

// As EncodeValue does of what DecodeIdBytes gives.
Status EncodeId(std::string_view id_bytes, std::string* out) {
  out->clear();
  if (const auto number = NumberOfIdBytes(id_bytes)) {
    out->push_back(static_cast<char>(ValueKind::kLong));
    PutSigned(*number, out);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string_view text, TextOfIdBytes(id_bytes));
  out->push_back(static_cast<char>(ValueKind::kString));
  PutBytes(text, out);
  return OkStatus();
}

Status EdgeWithoutEnds() { return DataLoss("An edge of the graph lacks one of its ends."); }

}  // namespace

SnapshotBuilder::SnapshotBuilder(const SnapshotBuildOptions& options)
    : options_(options),
      space_(options.folder, options.budget_bytes),
      context_{&space_, NarrowRefs(options.num_partitions, options.most_narrow_local),
               options.most_narrow},
      edges_(&space_),
      rows_(context_),
      ids_(context_) {}

SnapshotBuilder::~SnapshotBuilder() = default;

uint32_t SnapshotBuilder::SetOf(std::span<const LabelId> labels) {
  // Mostly that of the vertex before.
  if (set_ < sets_.size() && std::ranges::equal(sets_[set_], labels)) return set_;
  std::vector<LabelId> key(labels.begin(), labels.end());
  const auto [found, added] =
      set_numbers_.try_emplace(key, static_cast<uint32_t>(set_numbers_.size()));
  if (added) sets_.push_back(std::move(key));
  return found->second;
}

AdjacencyWriter* SnapshotBuilder::AdjacencyOf(Direction direction, LabelId label) {
  auto& found = adjacency_[{set_, direction, label}];
  if (found == nullptr) {
    const bool is_out = direction == Direction::kOut;
    const SectionIndex index = is_out ? SectionIndex::kOut : SectionIndex::kIn;
    const bool keeps_ids =
        is_out || std::ranges::binary_search(options_.labels_with_properties, label);
    found = std::make_unique<AdjacencyWriter>(
        SectionName{SectionKind::kAdjacency, index, set_, label, 0}, keeps_ids, context_);
  }
  return found.get();
}

ColumnWriter* SnapshotBuilder::ColumnOf(SectionIndex index, uint32_t set, LabelId parent,
                                        KeyId key) {
  const ColumnName name(index, set, parent, key);
  // Mostly elements have the properties of the one before.
  LastColumn& last = last_columns_[key % last_columns_.size()];
  if (last.column != nullptr && last.name == name) return last.column;
  auto& found = columns_[name];
  if (found == nullptr) {
    found = std::make_unique<ColumnWriter>(
        SectionName{SectionKind::kColumn, index, set, parent, key}, context_);
  }
  last = {name, found.get()};
  return found.get();
}

Status SnapshotBuilder::AddEdge(const EdgeInput& edge) {
  if (edges_sorted_) return Internal("Edges come before vertices.");
  if (edge.edge.out.partition() != options_.partition) return EdgeWithoutEnds();
  std::string record;
  PutBytes(edge.id_bytes, &record);
  for (const auto& [key, value] : edge.properties) {
    PutVarint(key, &record);
    PutBytes(value, &record);
  }
  edges_.Add(EdgeEndKey(OutEnd(edge.edge)), record);
  return space_.status();
}

Status SnapshotBuilder::AddVertex(const VertexInput& vertex) {
  if (!edges_sorted_) {
    edges_.Sort();
    edges_sorted_ = true;
  }
  if (vertex.local < rows_.end_local()) return DataLoss("Two vertices are in the wrong order.");
  set_ = SetOf(vertex.labels);
  row_ = rows_.Add(vertex.local, set_);
  vertex_ = VertexRef::Make(options_.partition, vertex.local);
  last_end_.reset();
  ++built_.vertices;
  ids_.Add(vertex.id_bytes, vertex.local);
  RETURN_IF_ERROR(EncodeId(vertex.id_bytes, &id_));
  ColumnOf(SectionIndex::kVertex, set_, 0, kNoName)->Add(row_, id_);
  for (const PropertyInput& property : vertex.properties) {
    ColumnWriter* const column = ColumnOf(SectionIndex::kVertex, set_, 0, property.key);
    if (property.items.empty()) {
      column->Add(row_, property.value);
    } else {
      column->AddItems(row_, property.cardinality, property.items);
    }
  }
  RETURN_IF_ERROR(CheckColumns());
  return space_.status();
}

Status SnapshotBuilder::CheckColumns() const {
  const size_t columns = columns_.size() + adjacency_.size();
  if (columns <= options_.most_columns) return OkStatus();
  ErrorDetail detail;
  detail.reason = "SNAPSHOT_COLUMNS";
  detail.limit = "columns of a snapshot " + std::to_string(options_.most_columns);
  detail.used = std::to_string(columns);
  return ResourceExhausted(
      "A partition's snapshot has at most " + std::to_string(options_.most_columns) +
          " columns: one per label and property key, and per label, edge label and direction.",
      detail);
}

StatusOr<AdjacencyWriter*> SnapshotBuilder::NextEnd(Direction direction, LabelId label,
                                                    VertexRef neighbour, uint64_t edge_id) {
  const EndOrder order{direction, label, neighbour.bits, edge_id};
  if (built_.vertices == 0 || (last_end_ && *last_end_ >= order) ||
      neighbour.partition() >= options_.num_partitions) {
    return DataLoss("The ends of an edge are in the wrong order.");
  }
  last_end_ = order;
  // Mostly that of the end before.
  const std::tuple name(set_, direction, label);
  if (last_adjacency_ == nullptr || last_adjacency_name_ != name) {
    RETURN_IF_ERROR(CheckColumns());
    last_adjacency_ = AdjacencyOf(direction, label);
    last_adjacency_name_ = name;
  }
  return last_adjacency_;
}

Status SnapshotBuilder::AddOutEdge(LabelId label, VertexRef neighbour, uint64_t edge_id,
                                   std::string_view payload) {
  ASSIGN_OR_RETURN(AdjacencyWriter* const adjacency,
                   NextEnd(Direction::kOut, label, neighbour, edge_id));
  ++built_.out_edges;
  const uint64_t position = adjacency->next_position();
  adjacency->Add(row_, neighbour, edge_id);
  // No id and no property: one byte, the id's length.
  return payload.size() > 1 ? AddEdgeProperties(label, position, payload) : OkStatus();
}

Status SnapshotBuilder::AddEnd(Direction direction, LabelId label, VertexRef neighbour,
                               uint64_t edge_id) {
  ASSIGN_OR_RETURN(AdjacencyWriter* const adjacency, NextEnd(direction, label, neighbour, edge_id));
  if (direction == Direction::kIn) {
    ++built_.in_edges;
    adjacency->Add(row_, neighbour, edge_id);
    return OkStatus();
  }
  ++built_.out_edges;
  const uint64_t position = adjacency->next_position();
  adjacency->Add(row_, neighbour, edge_id);
  if (!edges_.Valid()) return OkStatus();
  const std::string key = EdgeEndKey({vertex_, direction, label, neighbour, edge_id});
  if (edges_.key() > key) return OkStatus();
  if (edges_.key() < key) return EdgeWithoutEnds();
  RETURN_IF_ERROR(AddEdgeProperties(label, position, edges_.value()));
  edges_.Next();
  return OkStatus();
}

Status SnapshotBuilder::AddEdgeProperties(LabelId label, uint64_t position,
                                          std::string_view record) {
  std::string_view id_bytes, value;
  uint64_t key = 0;
  if (!GetBytes(&record, &id_bytes)) return DataLoss("The properties of an edge are damaged.");
  if (!id_bytes.empty()) {
    RETURN_IF_ERROR(EncodeId(id_bytes, &id_));
    ColumnOf(SectionIndex::kOut, set_, label, kNoName)->Add(position, id_);
  }
  while (GetVarint(&record, &key) && GetBytes(&record, &value)) {
    ColumnOf(SectionIndex::kOut, set_, label, static_cast<KeyId>(key))->Add(position, value);
  }
  return OkStatus();
}

uint64_t SnapshotBuilder::ByteEstimate() const {
  uint64_t bytes = kSnapshotHeaderBytes + 7 * built_.vertices;
  for (const auto& [key, adjacency] : adjacency_) bytes += adjacency->ByteEstimate();
  for (const auto& [key, column] : columns_) bytes += column->ByteEstimate();
  return bytes;
}

Status SnapshotBuilder::WriteAll(SnapshotWriter* writer) {
  RETURN_IF_ERROR(rows_.Write(sets_, writer));
  RETURN_IF_ERROR(ids_.Write(writer));
  // In order, so that the same graph gives the same file.
  last_columns_ = {};
  std::vector<ColumnName> columns;
  std::vector<std::tuple<uint32_t, Direction, LabelId>> adjacency;
  for (const auto& [key, column] : columns_) columns.push_back(key);
  for (const auto& [key, lists] : adjacency_) adjacency.push_back(key);
  std::sort(columns.begin(), columns.end());
  std::sort(adjacency.begin(), adjacency.end());
  absl::flat_hash_map<std::pair<uint32_t, LabelId>, uint64_t> positions;
  for (const auto& key : adjacency) {
    AdjacencyWriter* const lists = adjacency_[key].get();
    const auto& [set, direction, label] = key;
    if (direction == Direction::kOut) positions[{set, label}] = lists->next_position();
    RETURN_IF_ERROR(lists->Write(rows_.rows(set), writer));
    adjacency_.erase(key);
  }
  for (const auto& key : columns) {
    const auto& [index, set, parent, property] = key;
    const uint64_t rows =
        index == SectionIndex::kVertex ? rows_.rows(set) : positions[{set, parent}];
    RETURN_IF_ERROR(columns_[key]->Write(rows, writer));
    columns_.erase(key);
  }
  return OkStatus();
}

StatusOr<BuiltSnapshot> SnapshotBuilder::Finish() {
  if (!edges_sorted_) edges_.Sort();
  edges_sorted_ = true;
  RETURN_IF_ERROR(edges_.status());
  if (edges_.Valid()) return EdgeWithoutEnds();
  SnapshotHeader header;
  header.number = options_.number;
  header.version = options_.version;
  header.partition = options_.partition;
  header.num_partitions = options_.num_partitions;
  ASSIGN_OR_RETURN(const auto writer,
                   SnapshotWriter::Create(options_.disk, options_.folder, header, ByteEstimate()));
  RETURN_IF_ERROR(WriteAll(writer.get()));
  header.end_local = rows_.end_local();
  header.num_vertices = built_.vertices;
  header.num_out_edges = built_.out_edges;
  header.num_in_edges = built_.in_edges;
  ASSIGN_OR_RETURN(built_.file, writer->Finish(header));
  built_.bytes_by_kind = writer->bytes_by_kind();
  built_.spilled_bytes = space_.spilled_bytes();
  return built_;
}

}  // namespace koios::storage
