#include "import/load/vertex_map.h"

#include <algorithm>
#include <utility>

#include "core/text/text.h"
#include "core/value.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"

namespace koios::import {
namespace {

StatusOr<Value> IdOfKey(std::string_view key) {
  uint32_t partition = 0;
  std::string_view id_bytes;
  RETURN_IF_ERROR(storage::SplitIdKey(key, &partition, &id_bytes));
  return storage::DecodeIdBytes(id_bytes);
}

// The distinct ids of sorted records, and for each record the place of its own.
Status DistinctIds(const std::vector<RecordBatch::Record>& records, std::vector<Value>* ids,
                   std::vector<size_t>* places) {
  for (size_t i = 0; i < records.size(); ++i) {
    if (i == 0 || records[i].key != records[i - 1].key) {
      ASSIGN_OR_RETURN(Value id, IdOfKey(records[i].key));
      ids->push_back(std::move(id));
    }
    places->push_back(ids->size() - 1);
  }
  return OkStatus();
}

bool SameId(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  return a.kind() == ValueKind::kString ? a.AsString() == b.AsString()
                                        : a.AsInteger() == b.AsInteger();
}

}  // namespace

std::string DescribeIdKey(std::string_view key) {
  uint32_t partition = 0;
  std::string_view id_bytes;
  return storage::SplitIdKey(key, &partition, &id_bytes).ok() ? DescribeId(id_bytes) : "?";
}

std::string DescribeId(std::string_view id_bytes) {
  const auto id = storage::DecodeIdBytes(id_bytes);
  if (!id.ok()) return "?";
  if (id->kind() != ValueKind::kString) return std::to_string(id->AsInteger());
  return "'" + std::string(TruncateUtf8(id->AsString(), 100)) + "'";
}

Status LookUpVertices(const storage::GraphView& view,
                      const std::vector<RecordBatch::Record>& records, bool exactly,
                      std::vector<std::optional<VertexRef>>* result) {
  std::vector<Value> ids;
  std::vector<size_t> places;
  RETURN_IF_ERROR(DistinctIds(records, &ids, &places));
  std::vector<uint32_t> rows;
  std::vector<VertexRef> found;
  RETURN_IF_ERROR(view.LookupVertices(ids, &rows, &found));
  std::vector<std::optional<VertexRef>> by_place(ids.size());
  Column stored;
  if (exactly) RETURN_IF_ERROR(view.VertexIds(found, &stored));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (exactly && !SameId(stored.Get(i), ids[rows[i]])) continue;
    by_place[rows[i]] = found[i];
  }
  result->clear();
  for (size_t place : places) result->push_back(by_place[place]);
  return OkStatus();
}

Status LookUpEdges(const storage::GraphView& view, const std::vector<RecordBatch::Record>& records,
                   std::vector<bool>* result) {
  std::vector<Value> ids;
  std::vector<size_t> places;
  RETURN_IF_ERROR(DistinctIds(records, &ids, &places));
  std::vector<uint32_t> rows;
  std::vector<EdgeRef> found;
  RETURN_IF_ERROR(view.LookupEdges(ids, &rows, &found));
  std::vector<bool> by_place(ids.size());
  Column stored;
  RETURN_IF_ERROR(view.EdgeIds(found, &stored));
  for (size_t i = 0; i < rows.size(); ++i) {
    by_place[rows[i]] = by_place[rows[i]] || SameId(stored.Get(i), ids[rows[i]]);
  }
  result->clear();
  for (size_t place : places) result->push_back(by_place[place]);
  return OkStatus();
}

EndpointResolver::EndpointResolver(const VertexMap::OfBin& map, const storage::GraphView* existing,
                                   size_t buffer_bytes)
    : existing_(existing) {
  if (map.file != nullptr) {
    reader_ = std::make_unique<RunReader>(map.file.get(), map.run, buffer_bytes);
  }
}

StatusOr<std::optional<VertexRef>> EndpointResolver::FindInMap(std::string_view key) {
  while (reader_ != nullptr) {
    if (started_) {
      const int order = reader_->key().compare(key);
      if (order > 0) break;
      if (order == 0) {
        return std::optional<VertexRef>(
            VertexRef{storage::GetBigEndian64(reader_->value().data())});
      }
    }
    started_ = true;
    ASSIGN_OR_RETURN(bool more, reader_->Next());
    if (!more) reader_.reset();
  }
  return std::optional<VertexRef>();
}

Status EndpointResolver::Resolve(const RecordBatch& batch,
                                 std::vector<std::optional<VertexRef>>* result) {
  result->clear();
  std::vector<RecordBatch::Record> missing;
  std::vector<size_t> rows;
  for (const RecordBatch::Record& record : batch.records()) {
    ASSIGN_OR_RETURN(std::optional<VertexRef> ref, FindInMap(record.key));
    if (!ref && existing_ != nullptr) {
      missing.push_back(record);
      rows.push_back(result->size());
    }
    result->push_back(ref);
  }
  if (missing.empty()) return OkStatus();
  std::vector<std::optional<VertexRef>> found;
  RETURN_IF_ERROR(LookUpVertices(*existing_, missing, false, &found));
  for (size_t i = 0; i < rows.size(); ++i) (*result)[rows[i]] = found[i];
  return OkStatus();
}

}  // namespace koios::import
