#include "storage/meta_state.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/commit_limits.h"

namespace koios::storage {
namespace {

// More than a graph may have (StoreOptions::max_names), by far.
constexpr LabelId kMostLabels = LabelId{1} << 24;

Status DamagedMeta() { return DataLoss("The meta records of the graph contradict each other."); }

StatusOr<uint32_t> Intern(NameTable* names, std::string_view name, std::string_view what,
                          uint32_t max_names) {
  if (const uint32_t id = names->Find(name); id != kNoName) return id;
  RETURN_IF_ERROR(CheckName(name, what));
  RETURN_IF_ERROR(CheckNewNames(*names, {name}, what, max_names));
  return names->Intern(name);
}

}  // namespace

MetaState::MetaState(uint32_t num_partitions)
    : num_partitions_(num_partitions),
      next_vertex_local_(num_partitions, kFirstVertexLocal),
      next_edge_local_(num_partitions, kFirstEdgeLocal) {
  Changed(MetaKind::kFormat);
  Changed(MetaKind::kVersion);
  SetLogStart(0);
}

Status MetaState::Load(std::string_view key_bytes, std::string_view value) {
  ASSIGN_OR_RETURN(const MetaKey key, DecodeMetaKey(key_bytes));
  switch (key.kind) {
    case MetaKind::kFormat: {
      uint64_t format = 0, partitions = 0;
      RETURN_IF_ERROR(DecodeMetaPair(value, &format, &partitions));
      if (format > kFormatVersion) {
        return FailedPrecondition("The graph was written by a newer Koios (format " +
                                  std::to_string(format) + "; this one reads up to " +
                                  std::to_string(kFormatVersion) + ").");
      }
      if (partitions == 0 || partitions > kMaxPartitions) return DamagedMeta();
      num_partitions_ = static_cast<uint32_t>(partitions);
      next_vertex_local_.assign(num_partitions_, kFirstVertexLocal);
      next_edge_local_.assign(num_partitions_, kFirstEdgeLocal);
      return OkStatus();
    }
    case MetaKind::kVersion: {
      ASSIGN_OR_RETURN(version_, DecodeMetaNumber(value));
      return OkStatus();
    }
    case MetaKind::kNextVertexId: {
      ASSIGN_OR_RETURN(next_vertex_id_, DecodeMetaSigned(value));
      return OkStatus();
    }
    case MetaKind::kLabelName:
      return schema_.labels.Intern(value) == key.first ? OkStatus() : DamagedMeta();
    case MetaKind::kKeyName:
      return schema_.keys.Intern(value) == key.first ? OkStatus() : DamagedMeta();
    case MetaKind::kPropertyKind:
      if (value.size() != 1) return DamagedMeta();
      schema_.property_kinds.Set(key.first, key.second, static_cast<ValueKind>(value[0]));
      return OkStatus();
    case MetaKind::kVertexIndex:
      return LoadVertexIndex(key.first, value);
    case MetaKind::kHashedIndex:
      hashed_indexes_.insert({key.first, key.second});
      return OkStatus();
    case MetaKind::kVertexCount:
    case MetaKind::kEdgeCount: {
      ASSIGN_OR_RETURN(const uint64_t count, DecodeMetaNumber(value));
      auto& counts =
          key.kind == MetaKind::kVertexCount ? schema_.vertex_counts : schema_.edge_counts;
      if (key.first > kMostLabels) return DamagedMeta();
      if (count > 0) counts[key.first] = count;
      return OkStatus();
    }
    case MetaKind::kNextLocals:
      if (key.first >= num_partitions_) return DamagedMeta();
      return DecodeMetaPair(value, &next_vertex_local_[key.first], &next_edge_local_[key.first]);
    case MetaKind::kLogStart: {
      ASSIGN_OR_RETURN(log_start_, DecodeMetaNumber(value));
      return OkStatus();
    }
    case MetaKind::kSnapshot:
      return key.first < num_partitions_ ? LoadSnapshot(key.first, value) : DamagedMeta();
  }
  return DamagedMeta();
}

Status MetaState::LoadSnapshot(uint32_t partition, std::string_view value) {
  if (value.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, DecodeMetaNumbers(value));
  const size_t files = numbers.size() / 3;
  if (numbers.size() % 3 != 1 || files == 0 || files > 1 + kMostOlderFiles) return DamagedMeta();
  NamedSnapshot& snapshot = snapshots_[partition];
  snapshot.version = numbers[0];
  for (size_t i = 1; i < numbers.size(); i += 3) {
    snapshot.files.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  }
  return OkStatus();
}

Status MetaState::LoadVertexIndex(IndexId id, std::string_view value) {
  if (id < kFirstIndexId || id == std::numeric_limits<IndexId>::max()) return DamagedMeta();
  next_index_ = std::max(next_index_, id + 1);
  if (value.empty()) return OkStatus();
  ASSIGN_OR_RETURN(const std::vector<uint64_t> numbers, DecodeMetaNumbers(value));
  constexpr size_t kBeforeKeys = 3;
  if (numbers.size() <= kBeforeKeys || numbers.size() > kBeforeKeys + kMaxIndexKeys ||
      numbers[0] > 1) {
    return DamagedMeta();
  }
  VertexIndex& index = schema_.vertex_indexes[id];
  index.ready = numbers[0] == 1;
  index.distinct = numbers[1];
  index.label = static_cast<LabelId>(numbers[2]);
  for (size_t i = kBeforeKeys; i < numbers.size(); ++i) {
    index.keys.push_back(static_cast<KeyId>(numbers[i]));
  }
  return OkStatus();
}

Status MetaState::FinishLoad() const {
  if (num_partitions_ == 0) return DataLoss("The graph has no format record.");
  if (log_start_.value_or(0) > version_) return DamagedMeta();
  for (const auto* counts : {&schema_.vertex_counts, &schema_.edge_counts}) {
    for (const auto& [label, count] : *counts) {
      if (label == kNoName || label > schema_.labels.size()) return DamagedMeta();
    }
  }
  for (const auto& [name, kind] : schema_.property_kinds) {
    if (name.first == kNoName || name.first > schema_.labels.size()) return DamagedMeta();
    if (name.second == kNoName || name.second > schema_.keys.size()) return DamagedMeta();
  }
  const auto known = [](uint32_t name, const NameTable& names) {
    return name != kNoName && name <= names.size();
  };
  for (const auto& [id, index] : schema_.vertex_indexes) {
    if (!known(index.label, schema_.labels)) return DamagedMeta();
    for (const KeyId key : index.keys) {
      if (!known(key, schema_.keys)) return DamagedMeta();
    }
  }
  for (const auto& [label, key] : hashed_indexes_) {
    if (!known(label, schema_.labels) || !known(key, schema_.keys)) return DamagedMeta();
  }
  return OkStatus();
}

void MetaState::SetVersion(uint64_t version) {
  version_ = version;
  Changed(MetaKind::kVersion);
}

StatusOr<LabelId> MetaState::InternLabel(std::string_view name, uint32_t max_names) {
  const uint32_t before = schema_.labels.size();
  ASSIGN_OR_RETURN(const LabelId id, Intern(&schema_.labels, name, "label", max_names));
  if (schema_.labels.size() > before) Changed(MetaKind::kLabelName, id);
  return id;
}

StatusOr<KeyId> MetaState::InternKey(std::string_view name, uint32_t max_names) {
  const uint32_t before = schema_.keys.size();
  ASSIGN_OR_RETURN(const KeyId id, Intern(&schema_.keys, name, "property key", max_names));
  if (schema_.keys.size() > before) Changed(MetaKind::kKeyName, id);
  return id;
}

void MetaState::NoteProperty(LabelId label, KeyId key, ValueKind kind) {
  if (!schema_.property_kinds.Note(label, key, kind)) return;
  Changed(MetaKind::kPropertyKind, label, key);
}

StatusOr<IndexId> MetaState::AddVertexIndex(VertexIndex index) {
  if (schema_.vertex_indexes.size() >= kMaxIndexes) {
    ErrorDetail detail;
    detail.reason = "TOO_MANY_INDEXES";
    detail.limit = std::to_string(kMaxIndexes) + " indexes";
    return ResourceExhausted("A graph has at most " + std::to_string(kMaxIndexes) +
                                 " indexes, and this one has them; drop one.",
                             detail);
  }
  const IndexId id = next_index_++;
  SetVertexIndex(id, std::move(index));
  return id;
}

void MetaState::SetVertexIndex(IndexId id, VertexIndex index) {
  schema_.vertex_indexes[id] = std::move(index);
  Changed(MetaKind::kVertexIndex, id);
}

void MetaState::DropVertexIndex(IndexId id) {
  schema_.vertex_indexes.erase(id);
  Changed(MetaKind::kVertexIndex, id);
}

void MetaState::AddVertices(LabelId label, int64_t delta) {
  schema_.vertex_counts[label] += static_cast<uint64_t>(delta);
  Changed(MetaKind::kVertexCount, label);
}

void MetaState::AddEdges(LabelId label, int64_t delta) {
  schema_.edge_counts[label] += static_cast<uint64_t>(delta);
  Changed(MetaKind::kEdgeCount, label);
}

void MetaState::SetNextLocals(uint32_t partition, uint64_t next_vertex, uint64_t next_edge) {
  next_vertex_local_[partition] = next_vertex;
  next_edge_local_[partition] = next_edge;
  Changed(MetaKind::kNextLocals, partition);
}

void MetaState::NoteVertexId(int64_t id) {
  // Ids beyond half the range are left aside, so that the counter can't be driven to its end; one
  // that is met all the same is stepped over when it is.
  if (id < next_vertex_id_ || id > std::numeric_limits<int64_t>::max() / 2) return;
  next_vertex_id_ = id + 1;
  Changed(MetaKind::kNextVertexId);
}

void MetaState::SetSnapshot(uint32_t partition, NamedSnapshot snapshot) {
  if (snapshot.files.empty()) {
    snapshots_.erase(partition);
  } else {
    snapshots_[partition] = std::move(snapshot);
  }
  Changed(MetaKind::kSnapshot, partition);
}

void MetaState::SetLogStart(uint64_t version) {
  log_start_ = version;
  Changed(MetaKind::kLogStart);
}

void MetaState::RestartLog(uint64_t version) {
  SetLogStart(version);
  while (!snapshots_.empty()) SetSnapshot(snapshots_.begin()->first, {});
}

void MetaState::Changed(MetaKind kind, uint32_t first, uint32_t second) {
  changed_.insert(EncodeMetaKey({kind, first, second}));
}

std::string MetaState::ValueOf(const MetaKey& key) const {
  auto count_in = [&key](const LabelCounts& counts) {
    return EncodeMetaNumber(counts.Count(key.first));
  };
  switch (key.kind) {
    case MetaKind::kFormat:
      return EncodeMetaPair(kFormatVersion, num_partitions_);
    case MetaKind::kVersion:
      return EncodeMetaNumber(version_);
    case MetaKind::kNextVertexId:
      return EncodeMetaSigned(next_vertex_id_);
    case MetaKind::kLabelName:
      return schema_.labels.Name(key.first);
    case MetaKind::kKeyName:
      return schema_.keys.Name(key.first);
    case MetaKind::kPropertyKind:
      return std::string(1, static_cast<char>(schema_.property_kinds.at({key.first, key.second})));
    case MetaKind::kVertexIndex: {
      const auto index = schema_.vertex_indexes.find(key.first);
      if (index == schema_.vertex_indexes.end()) return "";
      const VertexIndex& facts = index->second;
      std::vector<uint64_t> numbers = {facts.ready ? uint64_t{1} : 0, facts.distinct, facts.label};
      numbers.insert(numbers.end(), facts.keys.begin(), facts.keys.end());
      return EncodeMetaNumbers(numbers);
    }
    case MetaKind::kHashedIndex:
      return "";
    case MetaKind::kVertexCount:
      return count_in(schema_.vertex_counts);
    case MetaKind::kEdgeCount:
      return count_in(schema_.edge_counts);
    case MetaKind::kLogStart:
      return EncodeMetaNumber(log_start_.value_or(0));
    case MetaKind::kNextLocals:
      return EncodeMetaPair(next_vertex_local_[key.first], next_edge_local_[key.first]);
    case MetaKind::kSnapshot: {
      const auto snapshot = snapshots_.find(key.first);
      if (snapshot == snapshots_.end()) return "";
      std::vector<uint64_t> numbers = {snapshot->second.version};
      for (const SnapshotFileName& file : snapshot->second.files) {
        numbers.insert(numbers.end(), {file.number, file.bytes, file.check});
      }
      return EncodeMetaNumbers(numbers);
    }
  }
  return "";
}

void MetaState::TakeChanges(
    const std::function<void(std::string_view key, std::string_view value)>& write) {
  for (const std::string& bytes : changed_) {
    StatusOr<MetaKey> key = DecodeMetaKey(bytes);
    CHECK(key.ok());
    write(bytes, ValueOf(*key));
  }
  changed_.clear();
}

}  // namespace koios::storage
