#include "storage/commit_limits.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/value_proto.h"
#include "storage/codec/element_id.h"
#include "storage/meta_state.h"

namespace koios::storage {
namespace {

constexpr size_t kBytesPerElement = 64;

Status NotStorable(const Value& value) {
  return InvalidArgument("A property can't hold a " + std::string(KindName(value.kind())) + ".");
}

Status OutOfPlace(std::string_view what) {
  return InvalidArgument("A commit's record names " + std::string(what) +
                         " that can't be in the graph.");
}

bool IsNormal(const Value& id) {
  const std::optional<Value> normal = TryNormaliseId(id);
  return normal && normal->kind() == id.kind();
}

size_t BytesOf(const Value& id) { return id.kind() == ValueKind::kString ? id.ByteSize() : 0; }

template <typename T>
bool AreDistinct(std::vector<T> all) {
  std::sort(all.begin(), all.end());
  return std::adjacent_find(all.begin(), all.end()) == all.end();
}

template <typename Added>
bool HasDistinctIds(const std::vector<Added>& all) {
  std::vector<int64_t> numbers;
  std::vector<std::string_view> texts;
  for (const Added& added : all) {
    if (!added.id) continue;
    if (added.id->kind() == ValueKind::kLong) {
      numbers.push_back(added.id->AsInteger());
    } else {
      texts.push_back(added.id->AsString());
    }
  }
  return AreDistinct(std::move(numbers)) && AreDistinct(std::move(texts));
}

// Recursion is bounded by the depth of values (kMaxValueDepth).
Status CheckKinds(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kNull:
    case ValueKind::kBool:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
    case ValueKind::kBigInt:
    case ValueKind::kFloat:
    case ValueKind::kDouble:
    case ValueKind::kBigDecimal:
    case ValueKind::kString:
    case ValueKind::kChar:
    case ValueKind::kDateTime:
    case ValueKind::kDuration:
    case ValueKind::kUuid:
    case ValueKind::kBinary:
      return OkStatus();
    case ValueKind::kList:
    case ValueKind::kSet:
      for (const Value& member : value.AsList()) RETURN_IF_ERROR(CheckKinds(member));
      return OkStatus();
    case ValueKind::kMap:
      for (const auto& [key, member] : value.AsMap()) {
        RETURN_IF_ERROR(CheckKinds(key));
        RETURN_IF_ERROR(CheckKinds(member));
      }
      return OkStatus();
    case ValueKind::kVertex:
    case ValueKind::kEdge:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
    case ValueKind::kPath:
    case ValueKind::kElement:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return NotStorable(value);
  }
  return NotStorable(value);
}

// Checks properties and adds up their bytes.
class BatchSize {
 public:
  BatchSize(size_t max_bytes, size_t max_value_bytes)
      : max_bytes_(max_bytes), max_value_bytes_(max_value_bytes) {}

  Status Add(const std::string& key, const Value& value) {
    RETURN_IF_ERROR(CheckName(key, "property key"));
    RETURN_IF_ERROR(CheckPropertyValue(value, max_value_bytes_));
    return Add(key.size() + value.ByteSize());
  }
  Status Add(const PropertyList& properties) {
    for (const auto& [key, value] : properties) RETURN_IF_ERROR(Add(key, value));
    return Add(kBytesPerElement);
  }
  // Of a WriteBatch or a CommitRecord.
  template <typename Batch>
  Status AddChanges(const Batch& batch) {
    for (const AddedVertex& vertex : batch.vertices) {
      RETURN_IF_ERROR(CheckName(vertex.label, "label"));
      RETURN_IF_ERROR(Add(vertex.properties));
    }
    for (const AddedEdge& edge : batch.edges) {
      RETURN_IF_ERROR(CheckName(edge.label, "label"));
      RETURN_IF_ERROR(Add(edge.properties));
    }
    for (const auto& set : batch.vertex_properties) {
      RETURN_IF_ERROR(Add(set.key, set.value.value_or(Value::Null())));
    }
    for (const auto& set : batch.edge_properties) {
      RETURN_IF_ERROR(Add(set.key, set.value.value_or(Value::Null())));
    }
    return OkStatus();
  }
  Status Add(size_t bytes) {
    used_ += bytes;
    return used_ > max_bytes_ ? CommitTooLarge(used_, max_bytes_) : OkStatus();
  }

 private:
  size_t max_bytes_;
  size_t max_value_bytes_;
  size_t used_ = 0;
};

}  // namespace

Status CheckPropertyValue(const Value& value, size_t max_bytes) {
  const size_t bytes = value.ByteSize();
  if (bytes > max_bytes) {
    ErrorDetail detail;
    detail.reason = "VALUE_TOO_LARGE";
    detail.limit = std::to_string(max_bytes) + " bytes";
    detail.used = std::to_string(bytes) + " bytes";
    detail.setting = "value-mb";
    return ResourceExhausted("A property's value has " + std::to_string(bytes) +
                                 " bytes; at most " + std::to_string(max_bytes) + " can be stored.",
                             detail);
  }
  RETURN_IF_ERROR(CheckSentDepth(value));
  return CheckKinds(value);
}

Status CheckBatch(const WriteBatch& batch, size_t max_bytes, size_t max_value_bytes) {
  BatchSize size(max_bytes, max_value_bytes);
  RETURN_IF_ERROR(size.AddChanges(batch));
  return size.Add(kBytesPerElement * (batch.dropped_vertices.size() + batch.dropped_edges.size() +
                                      batch.lookup_guards.size() + batch.id_guards.size()) +
                  sizeof(uint64_t) * batch.guard_keys.size());
}

Status CheckRecord(const CommitRecord& record, uint32_t num_partitions, size_t max_bytes,
                   size_t max_value_bytes) {
  // Writes and sets come with changes, which are counted; guards may come without. The properties
  // of what is dropped were counted when it was gathered.
  BatchSize size(max_bytes, max_value_bytes);
  RETURN_IF_ERROR(size.AddChanges(record));
  RETURN_IF_ERROR(
      size.Add(kBytesPerElement * (record.dropped_vertices.size() + record.dropped_edges.size()) +
               sizeof(uint64_t) * record.keys.guards.size()));
  if (!std::is_sorted(record.dropped_vertices.begin(), record.dropped_vertices.end()) ||
      !std::is_sorted(record.dropped_edges.begin(), record.dropped_edges.end())) {
    return InvalidArgument("A commit's record has what it drops in disorder.");
  }
  for (const AddedVertex& vertex : record.vertices) {
    if (!vertex.id || !vertex.ref || !IsNormal(*vertex.id)) return OutOfPlace("an added vertex");
    RETURN_IF_ERROR(size.Add(BytesOf(*vertex.id)));
    if (vertex.ref->partition() != PartitionOfId(*vertex.id, num_partitions)) {
      return OutOfPlace("an added vertex");
    }
  }
  for (const AddedEdge& edge : record.edges) {
    for (const VertexHandle* end : {&edge.out, &edge.in}) {
      const bool there = end->added ? *end->added < record.vertices.size()
                                    : end->existing.partition() < num_partitions;
      if (!there) return OutOfPlace("an end of an added edge");
    }
    const VertexRef out =
        edge.out.added ? *record.vertices[*edge.out.added].ref : edge.out.existing;
    if (edge.number != 0 && VertexRef{edge.number}.partition() != out.partition()) {
      return OutOfPlace("an added edge");
    }
    if (!edge.id) continue;
    if (!IsNormal(*edge.id)) return OutOfPlace("an added edge");
    RETURN_IF_ERROR(size.Add(BytesOf(*edge.id)));
  }
  return OkStatus();
}

Status CheckDistinct(const CommitRecord& record) {
  std::vector<uint64_t> vertices, edges;
  for (const AddedVertex& vertex : record.vertices) vertices.push_back(vertex.ref->bits);
  for (const AddedEdge& edge : record.edges) {
    if (edge.number != 0) edges.push_back(edge.number);
  }
  const bool distinct = AreDistinct(std::move(vertices)) && AreDistinct(std::move(edges)) &&
                        HasDistinctIds(record.vertices) && HasDistinctIds(record.edges);
  return distinct ? OkStatus() : InvalidArgument("A commit's record adds an element twice.");
}

Status IdTaken(std::string_view what, const Value& id) {
  const std::string shown = id.kind() == ValueKind::kLong ? std::to_string(id.AsInteger())
                                                          : "'" + id.AsString().substr(0, 64) + "'";
  ErrorDetail detail;
  detail.reason = "DUPLICATE_ID";
  return MakeStatus(StatusCode::kAlreadyExists,
                    "There is already " + std::string(what) + " with the id " + shown + ".",
                    detail);
}

namespace {

Status TooLarge(size_t used_bytes, size_t max_bytes, const std::string& message,
                const std::string& hint) {
  ErrorDetail detail;
  detail.reason = "COMMIT_TOO_LARGE";
  detail.limit = std::to_string(max_bytes) + " bytes";
  detail.used = "at least " + std::to_string(used_bytes) + " bytes";
  detail.hint = hint;
  return ResourceExhausted(message + " (" + std::to_string(max_bytes) + " bytes).", detail);
}

}  // namespace

Status CommitTooLarge(size_t used_bytes, size_t max_bytes) {
  return TooLarge(used_bytes, max_bytes, "The request changes more than one commit may hold",
                  "Change less in one request, as g.E().limit(100000).drop() does, again and "
                  "again.");
}

Status ChangedTooLarge(size_t used_bytes, size_t max_bytes) {
  return TooLarge(used_bytes, max_bytes,
                  "The elements that the request changes have more properties than one commit may "
                  "hold",
                  "All properties of an element are written when one is set. Change fewer elements "
                  "in one request, or drop large properties, one element in a request.");
}

Status CheckName(std::string_view name, std::string_view what) {
  if (name.empty()) return InvalidArgument("A " + std::string(what) + " may not be empty.");
  if (name.starts_with('~')) {
    return InvalidArgument("A " + std::string(what) +
                           " may not begin with '~', as the names of TinkerPop's own keys do.");
  }
  if (name.size() <= kMaxNameBytes) return OkStatus();
  ErrorDetail detail;
  detail.reason = "NAME_TOO_LONG";
  detail.limit = "name length " + std::to_string(kMaxNameBytes) + " bytes";
  detail.used = std::to_string(name.size()) + " bytes";
  return ResourceExhausted(
      "A " + std::string(what) + " may have at most " + std::to_string(kMaxNameBytes) + " bytes.",
      detail);
}

Status CheckNewNames(const NameTable& table, const std::set<std::string_view>& names,
                     std::string_view what, uint32_t max_names) {
  size_t fresh = 0;
  for (const std::string_view name : names) fresh += table.Find(name) == kNoName ? 1 : 0;
  if (fresh == 0 || table.size() + fresh <= max_names) return OkStatus();
  ErrorDetail detail;
  detail.reason = "TOO_MANY_NAMES";
  detail.limit = "storage.max_names = " + std::to_string(max_names);
  detail.used = std::to_string(table.size() + fresh);
  detail.setting = "storage.max_names";
  return ResourceExhausted("The graph may have at most " + std::to_string(max_names) +
                               " different names of the kind '" + std::string(what) + "'.",
                           detail);
}

}  // namespace koios::storage
