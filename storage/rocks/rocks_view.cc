#include "storage/rocks/rocks_view.h"

#include <algorithm>
#include <optional>

#include "storage/codec/element_id.h"
#include "storage/codec/records.h"
#include "storage/rocks/multi_get.h"

namespace koios::storage {
namespace {

template <typename T>
std::vector<T> SortedUnique(std::span<const T> values) {
  std::vector<T> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

// The properties of one record that are among `keys` (sorted; empty: all), as rows.
Status AppendAsked(uint32_t row, std::string_view properties, std::span<const KeyId> keys,
                   ReadBudget* budget, PropertyRows* out) {
  PropertyReader reader(properties);
  size_t wanted = 0;
  while (reader.Next()) {
    if (!keys.empty()) {
      while (wanted < keys.size() && keys[wanted] < reader.key()) ++wanted;
      if (wanted == keys.size()) break;
      if (keys[wanted] != reader.key()) continue;
    }
    ASSIGN_OR_RETURN(const Value value, reader.value());
    RETURN_IF_ERROR(TakeFrom(budget, value.FlatBytes()));
    out->rows.push_back(row);
    out->keys.push_back(reader.key());
    out->values.Append(value);
  }
  return reader.status();
}

// A cursor numbers labels in 16 bits.
constexpr size_t kMaxLabelsOfScan = 0xffff;

// Walks one partition's index of labels. The cursor packs the position in the list of labels (16
// bits) and the next local number.
class LabelScan {
 public:
  LabelScan(const Snapshot& snapshot, uint32_t partition)
      : snapshot_(snapshot), partition_(partition) {}

  Status Run(const std::vector<LabelId>& labels, ScanCursor* cursor, size_t limit,
             std::vector<VertexRef>* out) {
    const size_t full = FullSize(out->size(), limit);
    for (size_t i = VertexRef{cursor->next_local}.partition(); i < labels.size(); ++i) {
      upper_bytes_ = PrefixEnd(VertexLabelPrefix(partition_, labels[i]));
      upper_ = upper_bytes_;
      MakeIterator();
      const VertexRef first = VertexRef::Make(partition_, cursor->next_local);
      for (iterator_->Seek(VertexLabelKey(first, labels[i])); iterator_->Valid();
           iterator_->Next()) {
        if (out->size() == full) return OkStatus();
        VertexRef vertex;
        LabelId label = kNoName;
        RETURN_IF_ERROR(DecodeVertexLabelKey(AsView(iterator_->key()), &vertex, &label));
        out->push_back(vertex);
        cursor->next_local = VertexRef::Make(static_cast<uint32_t>(i), vertex.local() + 1).bits;
      }
      RETURN_IF_ERROR(FromRocks(iterator_->status(), "Scanning vertices"));
      cursor->next_local = VertexRef::Make(static_cast<uint32_t>(i + 1), 0).bits;
    }
    cursor->done = true;
    return OkStatus();
  }

 private:
  void MakeIterator() {
    if (iterator_ != nullptr) return;
    rocksdb::ReadOptions options = snapshot_.ReadOptions();
    options.iterate_upper_bound = &upper_;
    iterator_ = snapshot_.NewIterator(Family::kVertexLabels, options);
  }

  const Snapshot& snapshot_;
  uint32_t partition_;
  std::string upper_bytes_;
  rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
};

// Calls scan(key, value) -> StatusOr<bool: go on> for the keys of one partition from `start` on.
template <typename Use>
StatusOr<bool> ScanPartition(const Snapshot& snapshot, Family family, uint32_t partition,
                             const std::string& start, Use use) {
  const std::string upper_bytes = PrefixEnd(PartitionKey(partition));
  const rocksdb::Slice upper(upper_bytes);
  rocksdb::ReadOptions options = snapshot.ReadOptions();
  options.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> iterator = snapshot.NewIterator(family, options);
  for (iterator->Seek(start); iterator->Valid(); iterator->Next()) {
    ASSIGN_OR_RETURN(const bool more, use(AsView(iterator->key()), AsView(iterator->value())));
    if (!more) return false;
  }
  RETURN_IF_ERROR(FromRocks(iterator->status(), "Scanning the graph"));
  return true;
}

}  // namespace

uint32_t RocksView::PartitionOfId(const Value& id) const {
  return storage::PartitionOfId(id, num_partitions_);
}

Status RocksView::ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                               ScanCursor* cursor, size_t limit,
                               std::vector<VertexRef>* out) const {
  std::vector<LabelId> wanted = SortedUnique(labels);
  if (labels.empty()) {
    for (const auto& [label, count] : schema_->vertex_counts) wanted.push_back(label);
  }
  if (wanted.size() < kMaxLabelsOfScan) {
    return LabelScan(snapshot_, partition).Run(wanted, cursor, limit, out);
  }
  // More labels than a cursor can number: through the vertices themselves.
  const size_t full = FullSize(out->size(), limit);
  size_t looked = 0;
  auto use = [&](std::string_view key, std::string_view value) -> StatusOr<bool> {
    if (out->size() == full || looked++ == kMostPassedOver) return false;
    ASSIGN_OR_RETURN(const VertexRef vertex, DecodeVertexKey(key));
    ASSIGN_OR_RETURN(const LabelId label, RecordLabel(value));
    if (std::binary_search(wanted.begin(), wanted.end(), label)) out->push_back(vertex);
    cursor->next_local = vertex.local() + 1;
    return true;
  };
  ASSIGN_OR_RETURN(cursor->done,
                   ScanPartition(snapshot_, Family::kVertices, partition,
                                 VertexKey(VertexRef::Make(partition, cursor->next_local)), use));
  return OkStatus();
}

Status RocksView::ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                            ExpandCursor* cursor, size_t limit, std::vector<EdgeRef>* out) const {
  const std::vector<LabelId> wanted = SortedUnique(labels);
  const size_t full = FullSize(out->size(), limit);
  std::string start = PartitionKey(partition);
  if (!cursor->resume_key.empty()) start = cursor->resume_key + '\0';
  size_t looked = 0;
  auto use = [&](std::string_view key, std::string_view value) -> StatusOr<bool> {
    if (out->size() == full || looked++ == kMostPassedOver) return false;
    EdgeRecord record;
    ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(key));
    RETURN_IF_ERROR(ParseEdgeRecord(id, value, &record));
    if (wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), record.edge.label)) {
      out->push_back(record.edge);
    }
    cursor->resume_key.assign(key);
    return true;
  };
  ASSIGN_OR_RETURN(cursor->done, ScanPartition(snapshot_, Family::kEdges, partition, start, use));
  return OkStatus();
}

namespace {

// The rows of `ids` that one of the id families knows, with what it says: values[row].
Status LookupIds(const Snapshot& snapshot, Family family, uint32_t num_partitions,
                 std::span<const Value> ids, std::vector<std::optional<std::string>>* values) {
  values->assign(ids.size(), std::nullopt);
  const auto key_of = [&](size_t row, std::string* key) {
    const std::optional<Value> id = TryNormaliseId(ids[row]);
    if (id) *key = VertexIdKey(IdBytes(*id), num_partitions);
    return id.has_value();
  };
  return ForEachFound(snapshot, family, ids.size(), key_of,
                      [&](size_t row, std::string_view value) {
                        (*values)[row] = std::string(value);
                        return OkStatus();
                      });
}

}  // namespace

Status RocksView::LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                      std::vector<VertexRef>* out) const {
  std::vector<std::optional<std::string>> found;
  RETURN_IF_ERROR(LookupIds(snapshot_, Family::kVertexIds, num_partitions_, ids, &found));
  for (size_t row = 0; row < ids.size(); ++row) {
    if (!found[row]) continue;
    ASSIGN_OR_RETURN(const VertexRef vertex, DecodeVertexKey(*found[row]));
    rows->push_back(static_cast<uint32_t>(row));
    out->push_back(vertex);
  }
  return OkStatus();
}

Status RocksView::LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                    std::vector<uint64_t>* numbers) const {
  std::vector<std::optional<std::string>> found;
  RETURN_IF_ERROR(LookupIds(snapshot_, Family::kEdgeIds, num_partitions_, ids, &found));
  for (size_t row = 0; row < ids.size(); ++row) {
    if (!found[row]) continue;
    ASSIGN_OR_RETURN(const uint64_t number, DecodeEdgeKey(*found[row]));
    rows->push_back(static_cast<uint32_t>(row));
    numbers->push_back(number);
  }
  return OkStatus();
}

Status RocksView::EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                                 std::vector<EdgeRef>* out, std::vector<bool>* given) const {
  const auto key_of = [&](size_t row, std::string* key) {
    *key = EdgeKey(numbers[row]);
    return true;
  };
  return ForEachFound(snapshot_, Family::kEdges, numbers.size(), key_of,
                      [&](size_t row, std::string_view value) -> Status {
                        EdgeRecord record;
                        RETURN_IF_ERROR(ParseEdgeRecord(numbers[row], value, &record));
                        rows->push_back(static_cast<uint32_t>(row));
                        out->push_back(record.edge);
                        if (given != nullptr) given->push_back(!record.id_bytes.empty());
                        return OkStatus();
                      });
}

Status RocksView::VertexLabels(std::span<const VertexRef> vertices,
                               std::vector<LabelId>* out) const {
  const size_t begin = out->size();
  out->resize(begin + vertices.size(), kNoName);
  return ForEachFound(
      snapshot_, Family::kVertices, vertices.size(),
      [&](size_t row, std::string* key) {
        *key = VertexKey(vertices[row]);
        return true;
      },
      [&](size_t row, std::string_view value) -> Status {
        ASSIGN_OR_RETURN((*out)[begin + row], RecordLabel(value));
        return OkStatus();
      });
}

namespace {

// Fills a column of ids row by row, with nulls for the rows that nothing was found for.
class IdFiller {
 public:
  explicit IdFiller(Column* out) : out_(out) {}
  void Set(size_t row, const Value& id) {
    FillTo(row);
    out_->Append(id);
    ++next_;
  }
  void FillTo(size_t row) {
    for (; next_ < row; ++next_) out_->Append(Value::Null());
  }

 private:
  Column* out_;
  size_t next_ = 0;
};

}  // namespace

Status RocksView::VertexIds(std::span<const VertexRef> vertices, Column* out) const {
  IdFiller filler(out);
  auto key_at = [&](size_t row, std::string* key) {
    *key = VertexKey(vertices[row]);
    return true;
  };
  auto use = [&](size_t row, std::string_view value) -> Status {
    VertexRecord record;
    RETURN_IF_ERROR(ParseVertexRecord(value, &record));
    ASSIGN_OR_RETURN(const Value id, DecodeIdBytes(record.id_bytes));
    filler.Set(row, id);
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachFound(snapshot_, Family::kVertices, vertices.size(), key_at, use));
  filler.FillTo(vertices.size());
  return OkStatus();
}

Status RocksView::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  IdFiller filler(out);
  auto key_at = [&](size_t row, std::string* key) {
    *key = EdgeKey(edges[row].id);
    return true;
  };
  auto use = [&](size_t row, std::string_view value) -> Status {
    EdgeRecord record;
    RETURN_IF_ERROR(ParseEdgeRecord(edges[row].id, value, &record));
    ASSIGN_OR_RETURN(const Value id, EdgeIdOf(record));
    filler.Set(row, id);
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachFound(snapshot_, Family::kEdges, edges.size(), key_at, use));
  filler.FillTo(edges.size());
  return OkStatus();
}

Status RocksView::ReadVertexProperties(std::span<const VertexRef> vertices,
                                       std::span<const KeyId> keys, ReadBudget* budget,
                                       PropertyRows* out) const {
  const std::vector<KeyId> wanted = SortedUnique(keys);
  return ForEachFound(
      snapshot_, Family::kVertices, vertices.size(),
      [&](size_t row, std::string* key) {
        *key = VertexKey(vertices[row]);
        return true;
      },
      [&](size_t row, std::string_view value) -> Status {
        VertexRecord record;
        RETURN_IF_ERROR(ParseVertexRecord(value, &record));
        return AppendAsked(static_cast<uint32_t>(row), record.properties, wanted, budget, out);
      });
}

Status RocksView::ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                     ReadBudget* budget, PropertyRows* out) const {
  const std::vector<KeyId> wanted = SortedUnique(keys);
  return ForEachFound(
      snapshot_, Family::kEdges, edges.size(),
      [&](size_t row, std::string* key) {
        *key = EdgeKey(edges[row].id);
        return true;
      },
      [&](size_t row, std::string_view value) -> Status {
        EdgeRecord record;
        RETURN_IF_ERROR(ParseEdgeRecord(edges[row].id, value, &record));
        return AppendAsked(static_cast<uint32_t>(row), record.properties, wanted, budget, out);
      });
}

}  // namespace koios::storage
