// Ids and properties of SnapshotView: columns are gathered key by key; where several keys are asked
// for, their rows are put together element by element.
#include <algorithm>
#include <map>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/codec/records.h"
#include "storage/view/column_gather.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

// Elements of one table, and where they are in its columns.
struct TableRows {
  uint32_t partition = 0;
  uint32_t set = 0;
  LabelId label = kNoName;       // of edges
  std::vector<uint32_t> inputs;  // ascending
  std::vector<uint64_t> entries;
};

// What one key gave.
struct KeyRows {
  KeyId key = kNoName;
  std::vector<uint32_t> rows;
  Column values;
};

// Without those that do not exist.
std::vector<KeyId> SortedKeys(std::vector<KeyId> keys) {
  std::erase(keys, kNoName);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Rows by element, and for one element by key.
void AppendByElement(std::vector<KeyRows> found, size_t num_elements, PropertyRows* out) {
  std::erase_if(found, [](const KeyRows& one) { return one.rows.empty(); });
  if (found.empty()) return;
  if (found.size() == 1 && out->rows.empty()) {
    out->keys.assign(found[0].rows.size(), found[0].key);
    out->rows = std::move(found[0].rows);
    out->values = std::move(found[0].values);
    return;
  }
  std::vector<size_t> next(found.size(), 0);
  for (uint32_t row = 0; row < num_elements; ++row) {
    for (size_t k = 0; k < found.size(); ++k) {
      if (next[k] == found[k].rows.size() || found[k].rows[next[k]] != row) continue;
      out->rows.push_back(row);
      out->keys.push_back(found[k].key);
      out->values.AppendFrom(found[k].values, next[k]++);
    }
  }
}

// Gathers each of the keys; `column_of` gives a table's column of a key, null: it has none.
template <typename ColumnOf>
Status GatherKeys(const std::vector<TableRows>& tables, std::span<const KeyId> keys,
                  size_t num_elements, const ColumnOf& column_of, PropertyRows* out) {
  std::vector<KeyRows> found;
  std::vector<ColumnGather::Part> parts;
  ColumnGather gather;
  for (const KeyId key : keys) {
    parts.clear();
    for (const TableRows& table : tables) {
      const SnapshotColumn* const column = column_of(table, key);
      if (column != nullptr) parts.push_back({column, table.inputs, table.entries});
    }
    if (parts.empty()) continue;
    KeyRows& one = found.emplace_back();
    one.key = key;
    RETURN_IF_ERROR(gather.Run(parts, num_elements, &one.rows, &one.values));
  }
  AppendByElement(std::move(found), num_elements, out);
  return OkStatus();
}

Status LocateVertices(const SnapshotSet& snapshots, std::span<const VertexRef> vertices,
                      std::vector<TableRows>* tables) {
  PlacedRows placed;
  RETURN_IF_ERROR(placed.Locate(snapshots, vertices));
  for (const PlacedRows::Group& group : placed.groups()) {
    const auto inputs = placed.Inputs(group);
    const auto rows = placed.Rows(group);
    tables->push_back({group.partition,
                       group.set,
                       kNoName,
                       {inputs.begin(), inputs.end()},
                       {rows.begin(), rows.end()}});
  }
  return OkStatus();
}

// Of the edges from the vertex of a row to a neighbour, by the one label, that with the id;
// kNoPosition: there is none.
StatusOr<uint64_t> PositionOf(const SnapshotAdjacency& table, uint64_t row, const EdgeRef& edge) {
  ListSlice list;
  RETURN_IF_ERROR(table.Lists({&row, 1}, &list));
  uint64_t begin = list.begin, end = list.begin + list.count;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (table.NeighbourAt(middle) < edge.in) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  // Parallel edges ascend by id.
  end = list.begin + list.count;
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    uint64_t id = 0;
    RETURN_IF_ERROR(table.EdgeIds({&middle, 1}, &id));
    const VertexRef in = table.NeighbourAt(middle);
    if (in == edge.in && id == edge.id) return middle;
    if (in < edge.in || (in == edge.in && id < edge.id)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return kNoPosition;
}

// Edges that exist, by partition, label set of the out vertex and label.
Status LocateEdges(const SnapshotSet& snapshots, std::span<const EdgeRef> edges,
                   std::vector<TableRows>* tables) {
  std::vector<VertexRef> out_vertices;
  out_vertices.reserve(edges.size());
  for (const EdgeRef& edge : edges) out_vertices.push_back(edge.out);
  PlacedRows placed;
  RETURN_IF_ERROR(placed.Locate(snapshots, out_vertices));
  for (const PlacedRows::Group& group : placed.groups()) {
    const size_t first = tables->size();
    const auto inputs = placed.Inputs(group);
    const auto rows = placed.Rows(group);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const EdgeRef& edge = edges[inputs[i]];
      const SnapshotAdjacency* const table =
          snapshots.FindAdjacency(group.partition, group.set, Direction::kOut, edge.label);
      if (table == nullptr) continue;
      ASSIGN_OR_RETURN(const uint64_t position, PositionOf(*table, rows[i], edge));
      if (position == kNoPosition) continue;
      auto of_label = tables->begin() + static_cast<std::ptrdiff_t>(first);
      while (of_label != tables->end() && of_label->label != edge.label) ++of_label;
      if (of_label == tables->end()) {
        tables->push_back({group.partition, group.set, edge.label, {}, {}});
        of_label = tables->end() - 1;
      }
      of_label->inputs.push_back(inputs[i]);
      of_label->entries.push_back(position);
    }
    RETURN_IF_ERROR(snapshots.Of(group.partition).Damage());
  }
  return OkStatus();
}

// Appends ids: those of `rows`, and of touched rows what `id_of(touched)` gives, and nulls for the
// elements between them.
template <typename IdOf>
Status AppendIds(const std::vector<uint32_t>& rows, Column ids, size_t num_elements,
                 std::span<const TouchedRow> touched, const IdOf& id_of, Column* out) {
  if (rows.size() == num_elements && out->empty()) {
    *out = std::move(ids);
    return OkStatus();
  }
  size_t next = 0, next_touched = 0;
  for (uint32_t row = 0; row < num_elements; ++row) {
    if (next < rows.size() && rows[next] == row) {
      out->AppendFrom(ids, next++);
      continue;
    }
    Value id;
    if (next_touched < touched.size() && touched[next_touched].row == row) {
      const TouchedRow& one = touched[next_touched++];
      if (!one.gone) {
        ASSIGN_OR_RETURN(id, id_of(one));
      }
    }
    out->Append(id);
  }
  return OkStatus();
}

// Properties of a record that are among `keys` (sorted; empty: all).
Status AppendRecord(uint32_t row, std::string_view properties, std::span<const KeyId> keys,
                    PropertyRows* out) {
  PropertyReader reader(properties);
  while (reader.Next()) {
    if (!keys.empty() && !std::binary_search(keys.begin(), keys.end(), reader.key())) continue;
    ASSIGN_OR_RETURN(const Value value, reader.value());
    out->rows.push_back(row);
    out->keys.push_back(reader.key());
    out->values.Append(value);
  }
  return reader.status();
}

// Puts what the base has of clean rows and what records have of touched ones together.
// `properties_of(record)`: its part with properties.
template <typename PropertiesOf>
Status MergeTouched(const PropertyRows& base, std::span<const TouchedRow> touched,
                    std::span<const KeyId> asked, const PropertiesOf& properties_of,
                    PropertyRows* out) {
  std::vector<KeyId> keys = SortedKeys({asked.begin(), asked.end()});
  if (keys.empty() && !asked.empty()) keys.push_back(kNoName);  // of nobody
  size_t next = 0;
  const auto copy_to = [&](size_t end) {
    out->rows.insert(out->rows.end(), base.rows.begin() + static_cast<std::ptrdiff_t>(next),
                     base.rows.begin() + static_cast<std::ptrdiff_t>(end));
    out->keys.insert(out->keys.end(), base.keys.begin() + static_cast<std::ptrdiff_t>(next),
                     base.keys.begin() + static_cast<std::ptrdiff_t>(end));
    if (end > next) out->values.AppendRange(base.values, next, end - next);
    next = end;
  };
  for (const TouchedRow& one : touched) {
    const auto behind = std::lower_bound(base.rows.begin(), base.rows.end(), one.row);
    copy_to(static_cast<size_t>(behind - base.rows.begin()));
    if (one.gone) continue;
    ASSIGN_OR_RETURN(const std::string_view properties, properties_of(one.record));
    RETURN_IF_ERROR(AppendRecord(one.row, properties, keys, out));
  }
  copy_to(base.rows.size());
  return OkStatus();
}

StatusOr<std::string_view> PropertiesOfVertex(std::string_view bytes) {
  VertexRecord record;
  RETURN_IF_ERROR(ParseVertexRecord(bytes, &record));
  return record.properties;
}

StatusOr<std::string_view> PropertiesOfEdge(std::string_view bytes) {
  if (bytes.empty()) return std::string_view();
  EdgeRecord record;
  RETURN_IF_ERROR(ParseEdgeRecord(0, bytes, &record));
  return record.properties;
}

}  // namespace

Status SnapshotView::VertexIds(std::span<const VertexRef> vertices, Column* out) const {
  const TouchedVertices touched(at_, vertices);
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateVertices(*snapshots_, touched.clean(), &tables));
  std::vector<ColumnGather::Part> parts;
  for (const TableRows& table : tables) {
    const SnapshotColumn* const ids =
        snapshots_->Of(table.partition).FindVertexColumn(table.set, kNoName);
    if (ids == nullptr) return DataLoss("A snapshot has vertices without ids.");
    parts.push_back({ids, table.inputs, table.entries});
  }
  std::vector<uint32_t> rows;
  Column ids;
  RETURN_IF_ERROR(ColumnGather().Run(parts, vertices.size(), &rows, &ids));
  const auto id_of = [](const TouchedRow& row) -> StatusOr<Value> {
    VertexRecord record;
    RETURN_IF_ERROR(ParseVertexRecord(row.record, &record));
    return DecodeIdBytes(record.id_bytes);
  };
  return AppendIds(rows, std::move(ids), vertices.size(), touched.rows(), id_of, out);
}

Status SnapshotView::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  const TouchedEdges touched(at_, edges);
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateEdges(*snapshots_, touched.clean(), &tables));
  std::vector<ColumnGather::Part> parts;
  std::vector<uint8_t> exists(edges.size(), 0);
  for (const TableRows& table : tables) {
    for (const uint32_t input : table.inputs) exists[input] = 1;
    const SnapshotColumn* const given =
        snapshots_->Of(table.partition).FindEdgeColumn(table.set, table.label, kNoName);
    if (given != nullptr) parts.push_back({given, table.inputs, table.entries});
  }
  std::map<uint32_t, Value> given_to_touched;
  for (const TouchedRow& row : touched.rows()) {
    exists[row.row] = row.gone ? 0 : 1;
    EdgeRecord record;
    if (row.record.empty()) continue;
    RETURN_IF_ERROR(ParseEdgeRecord(edges[row.row].id, row.record, &record));
    if (record.id_bytes.empty()) continue;
    ASSIGN_OR_RETURN(given_to_touched[row.row], DecodeIdBytes(record.id_bytes));
  }
  std::vector<uint32_t> rows;
  Column given;
  RETURN_IF_ERROR(ColumnGather().Run(parts, edges.size(), &rows, &given));
  size_t next = 0;
  for (uint32_t row = 0; row < edges.size(); ++row) {
    if (next < rows.size() && rows[next] == row) {
      out->AppendFrom(given, next++);
    } else if (const auto touched_id = given_to_touched.find(row);
               touched_id != given_to_touched.end()) {
      out->Append(touched_id->second);
    } else if (exists[row] != 0) {
      out->Append(Value::Long(static_cast<int64_t>(edges[row].id)));
    } else {
      out->Append(Value::Null());
    }
  }
  return OkStatus();
}

Status SnapshotView::VertexProperties(std::span<const VertexRef> vertices,
                                      std::span<const KeyId> keys, PropertyRows* out) const {
  const TouchedVertices touched(at_, vertices);
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateVertices(*snapshots_, touched.clean(), &tables));
  std::vector<KeyId> wanted(keys.begin(), keys.end());
  for (const TableRows& table : tables) {
    const auto all = snapshots_->VertexKeys(table.partition, table.set);
    if (keys.empty()) wanted.insert(wanted.end(), all.begin(), all.end());
  }
  const auto column_of = [this](const TableRows& table, KeyId key) {
    return snapshots_->Of(table.partition).FindVertexColumn(table.set, key);
  };
  PropertyRows base;
  PropertyRows* const to = touched.rows().empty() ? out : &base;
  RETURN_IF_ERROR(
      GatherKeys(tables, SortedKeys(std::move(wanted)), vertices.size(), column_of, to));
  if (to == out) return OkStatus();
  return MergeTouched(base, touched.rows(), keys, &PropertiesOfVertex, out);
}

Status SnapshotView::EdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                    PropertyRows* out) const {
  const TouchedEdges touched(at_, edges);
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateEdges(*snapshots_, touched.clean(), &tables));
  std::vector<KeyId> wanted(keys.begin(), keys.end());
  for (const TableRows& table : tables) {
    const auto all = snapshots_->EdgeKeys(table.partition, table.set, table.label);
    if (keys.empty()) wanted.insert(wanted.end(), all.begin(), all.end());
  }
  const auto column_of = [this](const TableRows& table, KeyId key) {
    return snapshots_->Of(table.partition).FindEdgeColumn(table.set, table.label, key);
  };
  PropertyRows base;
  PropertyRows* const to = touched.rows().empty() ? out : &base;
  RETURN_IF_ERROR(GatherKeys(tables, SortedKeys(std::move(wanted)), edges.size(), column_of, to));
  if (to == out) return OkStatus();
  return MergeTouched(base, touched.rows(), keys, &PropertiesOfEdge, out);
}

}  // namespace koios::storage
