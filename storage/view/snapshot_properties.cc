// Ids and properties of SnapshotView: columns are gathered key by key; where several keys are asked
// for, their rows are put together element by element.
#include <algorithm>
#include <map>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/codec/records.h"
#include "storage/view/column_gather.h"
#include "storage/view/edge_places.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

// Elements of one table, and where they are in its columns.
struct TableRows {
  uint32_t partition = 0;
  uint32_t set = 0;
  LabelId label = kNoName;           // of edges
  std::span<const uint32_t> inputs;  // ascending
  std::span<const uint64_t> entries;
};

// Without those that do not exist.
std::vector<KeyId> SortedKeys(std::vector<KeyId> keys) {
  std::erase(keys, kNoName);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Rows by element, and for one element by key. found[k]: of keys[k].
void AppendByElement(std::vector<PropertyColumn> found, std::span<const KeyId> keys,
                     size_t num_elements, PropertyRows* out) {
  std::vector<size_t> some;  // that have anything
  for (size_t k = 0; k < keys.size(); ++k) {
    if (!found[k].rows.empty()) some.push_back(k);
  }
  if (some.empty()) return;
  if (some.size() == 1 && out->rows.empty()) {
    PropertyColumn& only = found[some[0]];
    out->keys.assign(only.rows.size(), keys[some[0]]);
    out->rows = std::move(only.rows);
    out->values = std::move(only.values);
    return;
  }
  std::vector<size_t> next(found.size(), 0);
  for (uint32_t row = 0; row < num_elements; ++row) {
    for (const size_t k : some) {
      if (next[k] == found[k].rows.size() || found[k].rows[next[k]] != row) continue;
      out->rows.push_back(row);
      out->keys.push_back(keys[k]);
      out->values.AppendFrom(found[k].values, next[k]++);
    }
  }
}

// Gathers each of the keys; `column_of` gives a table's column of a key, null: it has none.
template <typename ColumnOf>
Status GatherKeys(const std::vector<TableRows>& tables, std::span<const KeyId> keys,
                  size_t num_elements, const ColumnOf& column_of, ReadBudget* budget,
                  std::vector<PropertyColumn>* found) {
  found->assign(keys.size(), {});
  std::vector<ColumnGather::Part> parts;
  ColumnGather gather;
  for (size_t k = 0; k < keys.size(); ++k) {
    parts.clear();
    for (const TableRows& table : tables) {
      const SnapshotColumn* const column = column_of(table, keys[k]);
      if (column != nullptr) parts.push_back({column, table.inputs, table.entries});
    }
    if (parts.empty()) continue;
    RETURN_IF_ERROR(
        gather.Run(parts, num_elements, budget, &(*found)[k].rows, &(*found)[k].values));
  }
  return OkStatus();
}

// `placed` keeps them.
Status LocateVertices(const SnapshotSet& snapshots, std::span<const VertexRef> vertices,
                      PlacedRows* placed, std::vector<TableRows>* tables) {
  RETURN_IF_ERROR(placed->Locate(snapshots, vertices));
  for (const PlacedRows::Group& group : placed->groups()) {
    tables->push_back(
        {group.partition, group.set, kNoName, placed->Inputs(group), placed->Rows(group)});
  }
  return OkStatus();
}

// Edges that exist, by partition, label set of the out vertex and label.
Status LocateEdges(const SnapshotSet& snapshots, std::span<const EdgeRef> edges, EdgePlaces* places,
                   std::vector<TableRows>* tables) {
  RETURN_IF_ERROR(places->FindById(snapshots, edges));
  for (const EdgePlaces::Group& group : places->groups()) {
    tables->push_back(
        {group.partition, group.set, group.label, places->Inputs(group), places->Positions(group)});
  }
  return OkStatus();
}

// A table's column of a property; null: it has none. Key kNoName would be that of given ids.
struct VertexColumnOf {
  const SnapshotSet* snapshots;
  const SnapshotColumn* operator()(const TableRows& table, KeyId key) const {
    if (key == kNoName) return nullptr;
    return snapshots->Of(table.partition).FindVertexColumn(table.set, key);
  }
};
struct EdgeColumnOf {
  const SnapshotSet* snapshots;
  const SnapshotColumn* operator()(const TableRows& table, KeyId key) const {
    if (key == kNoName) return nullptr;
    return snapshots->Of(table.partition).FindEdgeColumn(table.set, table.label, key);
  }
};

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
                    ReadBudget* budget, PropertyRows* out) {
  PropertyReader reader(properties);
  while (reader.Next()) {
    if (!keys.empty() && !std::binary_search(keys.begin(), keys.end(), reader.key())) continue;
    ASSIGN_OR_RETURN(const Value value, reader.value());
    RETURN_IF_ERROR(TakeFrom(budget, value.FlatBytes()));
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
                    ReadBudget* budget, PropertyRows* out) {
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
    RETURN_IF_ERROR(AppendRecord(one.row, properties, keys, budget, out));
  }
  copy_to(base.rows.size());
  return OkStatus();
}

// Puts `of_touched`, of other rows, into a column.
void MergeColumn(const PropertyColumn& of_touched, PropertyColumn* column) {
  if (of_touched.rows.empty()) return;
  const PropertyColumn base = std::exchange(*column, {});
  size_t next = 0;
  const auto copy_to = [&](size_t end) {
    if (end == next) return;
    column->rows.insert(column->rows.end(), base.rows.begin() + static_cast<std::ptrdiff_t>(next),
                        base.rows.begin() + static_cast<std::ptrdiff_t>(end));
    column->values.AppendRange(base.values, next, end - next);
    next = end;
  };
  for (size_t i = 0; i < of_touched.rows.size(); ++i) {
    const uint32_t row = of_touched.rows[i];
    const auto behind = std::lower_bound(base.rows.begin(), base.rows.end(), row);
    copy_to(static_cast<size_t>(behind - base.rows.begin()));
    column->rows.push_back(row);
    column->values.AppendFrom(of_touched.values, i);
  }
  copy_to(base.rows.size());
}

// As MergeTouched, column by column: each record is read once.
template <typename PropertiesOf>
Status MergeColumns(std::span<const TouchedRow> touched, std::span<const KeyId> keys,
                    const PropertiesOf& properties_of, ReadBudget* budget,
                    std::vector<PropertyColumn>* columns) {
  std::vector<PropertyColumn> of_touched(keys.size());
  for (const TouchedRow& one : touched) {
    if (one.gone) continue;
    ASSIGN_OR_RETURN(const std::string_view properties, properties_of(one.record));
    PropertyReader reader(properties);
    while (reader.Next()) {
      const auto key = std::find(keys.begin(), keys.end(), reader.key());
      if (key == keys.end()) continue;
      ASSIGN_OR_RETURN(const Value value, reader.value());
      RETURN_IF_ERROR(TakeFrom(budget, value.FlatBytes()));
      PropertyColumn& column = of_touched[static_cast<size_t>(key - keys.begin())];
      column.rows.push_back(one.row);
      column.values.Append(value);
    }
    RETURN_IF_ERROR(reader.status());
  }
  for (size_t k = 0; k < keys.size(); ++k) MergeColumn(of_touched[k], &(*columns)[k]);
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
  PlacedRows placed;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateVertices(*snapshots_, touched.clean(), &placed, &tables));
  std::vector<ColumnGather::Part> parts;
  for (const TableRows& table : tables) {
    const SnapshotColumn* const ids =
        snapshots_->Of(table.partition).FindVertexColumn(table.set, kNoName);
    if (ids == nullptr) return DataLoss("A snapshot has vertices without ids.");
    parts.push_back({ids, table.inputs, table.entries});
  }
  std::vector<uint32_t> rows;
  Column ids;
  RETURN_IF_ERROR(ColumnGather().Run(parts, vertices.size(), /*budget=*/nullptr, &rows, &ids));
  const auto id_of = [](const TouchedRow& row) -> StatusOr<Value> {
    VertexRecord record;
    RETURN_IF_ERROR(ParseVertexRecord(row.record, &record));
    return DecodeIdBytes(record.id_bytes);
  };
  return AppendIds(rows, std::move(ids), vertices.size(), touched.rows(), id_of, out);
}

Status SnapshotView::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  const TouchedEdges touched(at_, edges);
  EdgePlaces places;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateEdges(*snapshots_, touched.clean(), &places, &tables));
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
  RETURN_IF_ERROR(ColumnGather().Run(parts, edges.size(), /*budget=*/nullptr, &rows, &given));
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

Status SnapshotView::ReadVertexProperties(std::span<const VertexRef> vertices,
                                          std::span<const KeyId> asked, ReadBudget* budget,
                                          PropertyRows* out) const {
  const TouchedVertices touched(at_, vertices);
  PlacedRows placed;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateVertices(*snapshots_, touched.clean(), &placed, &tables));
  std::vector<KeyId> keys(asked.begin(), asked.end());
  for (const TableRows& table : tables) {
    const auto all = snapshots_->VertexKeys(table.partition, table.set);
    if (asked.empty()) keys.insert(keys.end(), all.begin(), all.end());
  }
  keys = SortedKeys(std::move(keys));
  std::vector<PropertyColumn> found;
  RETURN_IF_ERROR(
      GatherKeys(tables, keys, vertices.size(), VertexColumnOf{snapshots_.get()}, budget, &found));
  PropertyRows base;
  PropertyRows* const to = touched.rows().empty() ? out : &base;
  AppendByElement(std::move(found), keys, vertices.size(), to);
  if (to == out) return OkStatus();
  return MergeTouched(base, touched.rows(), asked, &PropertiesOfVertex, budget, out);
}

Status SnapshotView::ReadEdgeProperties(std::span<const EdgeRef> edges,
                                        std::span<const KeyId> asked, ReadBudget* budget,
                                        PropertyRows* out) const {
  const TouchedEdges touched(at_, edges);
  EdgePlaces places;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateEdges(*snapshots_, touched.clean(), &places, &tables));
  std::vector<KeyId> keys(asked.begin(), asked.end());
  for (const TableRows& table : tables) {
    const auto all = snapshots_->EdgeKeys(table.partition, table.set, table.label);
    if (asked.empty()) keys.insert(keys.end(), all.begin(), all.end());
  }
  keys = SortedKeys(std::move(keys));
  std::vector<PropertyColumn> found;
  RETURN_IF_ERROR(
      GatherKeys(tables, keys, edges.size(), EdgeColumnOf{snapshots_.get()}, budget, &found));
  PropertyRows base;
  PropertyRows* const to = touched.rows().empty() ? out : &base;
  AppendByElement(std::move(found), keys, edges.size(), to);
  if (to == out) return OkStatus();
  return MergeTouched(base, touched.rows(), asked, &PropertiesOfEdge, budget, out);
}

Status SnapshotView::ReadVertexColumns(std::span<const VertexRef> vertices,
                                       std::span<const KeyId> keys, ReadBudget* budget,
                                       std::vector<PropertyColumn>* out) const {
  const TouchedVertices touched(at_, vertices);
  PlacedRows placed;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateVertices(*snapshots_, touched.clean(), &placed, &tables));
  RETURN_IF_ERROR(
      GatherKeys(tables, keys, vertices.size(), VertexColumnOf{snapshots_.get()}, budget, out));
  return MergeColumns(touched.rows(), keys, &PropertiesOfVertex, budget, out);
}

Status SnapshotView::ReadEdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                     ReadBudget* budget, std::vector<PropertyColumn>* out) const {
  const TouchedEdges touched(at_, edges);
  EdgePlaces places;
  std::vector<TableRows> tables;
  RETURN_IF_ERROR(LocateEdges(*snapshots_, touched.clean(), &places, &tables));
  RETURN_IF_ERROR(
      GatherKeys(tables, keys, edges.size(), EdgeColumnOf{snapshots_.get()}, budget, out));
  return MergeColumns(touched.rows(), keys, &PropertiesOfEdge, budget, out);
}

}  // namespace koios::storage
