#include "storage/rocks/bulk_stream.h"

#include <utility>

#include "storage/codec/element_id.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

constexpr uint64_t kFileBytes = uint64_t{256} << 20;
constexpr char kCreating[] = "Creating a file of the load";
constexpr char kWriting[] = "Writing a file of the load";

// Only where somebody asks for keys that are not there. Numbers are dense: a file has all of those
// between its first and its last.
bool NeedsFilter(Family family) {
  return family == Family::kVertexIds || family == Family::kEdgeIds;
}

Status WithoutFolder(const Status& status, const std::string& path) {
  return WithoutPath(status, path.substr(0, path.rfind('/')));
}

}  // namespace

void LoadFacts::NoteKind(LabelId label, KeyId key, ValueKind kind) {
  auto [known, added] = kinds.try_emplace({label, key}, kind);
  if (!added && known->second != kind) known->second = ValueKind::kNull;
}

void LoadFacts::Add(LoadFacts&& other) {
  for (size_t family = 0; family < kNumFamilies; ++family) {
    for (IngestFile& file : other.files[family]) files[family].push_back(std::move(file));
    records[family] += other.records[family];
  }
  indexed += other.indexed;
  for (const auto& [label, count] : other.vertices) vertices[label] += count;
  for (const auto& [label, count] : other.edges) edges[label] += count;
  for (const auto& [name, kind] : other.kinds) NoteKind(name.first, name.second, kind);
  edges_with_properties.merge(other.edges_with_properties);
  if (other.has_given_edge_number) {
    has_given_edge_number = true;
    given_edge_number = other.given_edge_number;
  }
}

FileStream::~FileStream() {
  if (!closed_) close_(nullptr);
}

Status FileStream::Add(std::string_view key, std::string_view value) {
  RETURN_IF_ERROR(failed_);
  if (closed_) return FailedPrecondition("The stream is closed.");
  // A file of ours compares by itself.
  if (table_ == nullptr && !last_key_.empty() && key <= last_key_) return failed_ = WrongOrder(key);
  if (failed_ = Learn(key, value); !failed_.ok()) return failed_;
  if (current_.path.empty()) {
    failed_ = OpenFile(key);
    RETURN_IF_ERROR(failed_);
  }
  failed_ = Put(key, value);
  RETURN_IF_ERROR(failed_);
  if (table_ == nullptr) last_key_.assign(key);
  ++facts_.records[static_cast<size_t>(family_)];
  if ((table_ != nullptr ? table_->bytes() : file_->FileSize()) >= kFileBytes) {
    failed_ = FinishFile();
  }
  return failed_;
}

Status FileStream::OpenFile(std::string_view key) {
  current_ = {new_path_(), std::string(key), {}};
  if (NeedsFilter(family_)) {
    file_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(), options_);
    return FromRocks(file_->Open(current_.path), kCreating);
  }
  auto table = TableFile::Create(disk_, current_.path, BlockBytesOf(family_));
  RETURN_IF_ERROR(WithoutFolder(table.status(), current_.path));
  table_ = *std::move(table);
  return OkStatus();
}

Status FileStream::Put(std::string_view key, std::string_view value) {
  if (table_ == nullptr) return FromRocks(file_->Put(AsSlice(key), AsSlice(value)), kWriting);
  Status added = table_->Add(key, value);
  if (added.ok()) return added;
  return absl::IsFailedPrecondition(added) ? WrongOrder(key) : WithoutFolder(added, current_.path);
}

Status FileStream::Close() {
  RETURN_IF_ERROR(failed_);
  if (closed_) return FailedPrecondition("The stream is closed already.");
  if (!current_.path.empty()) failed_ = FinishFile();
  RETURN_IF_ERROR(failed_);
  for (const auto& [name, kind] : seen_kinds_) {
    const auto label = static_cast<LabelId>(name >> 32);
    facts_.NoteKind(label, static_cast<KeyId>(name), kind);
    if (family_ == Family::kEdges) facts_.edges_with_properties.insert(label);
  }
  closed_ = true;
  close_(&facts_);
  return OkStatus();
}

Status FileStream::FinishFile() {
  last_key_ = std::string(LastKey());
  RETURN_IF_ERROR(table_ != nullptr ? WithoutFolder(table_->Finish(), current_.path)
                                    : FromRocks(file_->Finish(), kWriting));
  file_ = nullptr;
  table_ = nullptr;
  current_.last_key = last_key_;
  facts_.files[static_cast<size_t>(family_)].push_back(std::exchange(current_, {}));
  return OkStatus();
}

Status FileStream::Learn(std::string_view key, std::string_view value) {
  switch (family_) {
    case Family::kVertices: {
      VertexRecord record;
      RETURN_IF_ERROR(DecodeVertexKey(key).status());
      RETURN_IF_ERROR(ParseVertexRecord(value, &record));
      ++facts_.vertices[record.label];
      return LearnProperties(record.label, record.properties);
    }
    case Family::kEdges: {
      EdgeRecord record;
      ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(key));
      RETURN_IF_ERROR(ParseEdgeRecord(id, value, &record));
      ++facts_.edges[record.edge.label];
      return LearnProperties(record.edge.label, record.properties);
    }
    case Family::kEdgeIds: {
      uint32_t partition = 0;
      std::string_view id_bytes;
      RETURN_IF_ERROR(SplitIdKey(key, &partition, &id_bytes));
      ASSIGN_OR_RETURN(const Value id, DecodeIdBytes(id_bytes));
      if (id.kind() == ValueKind::kLong && is_assigned_(static_cast<uint64_t>(id.AsInteger()))) {
        facts_.has_given_edge_number = true;
        facts_.given_edge_number = id.AsInteger();
      }
      return OkStatus();
    }
    case Family::kMeta:
    case Family::kVertexLabels:
    case Family::kVertexIds:
    case Family::kEdgeEnds:
    case Family::kVertexIndex:
      return OkStatus();
  }
  return OkStatus();
}

Status FileStream::LearnProperties(LabelId label, std::string_view properties) {
  PropertyReader reader(properties);
  for (size_t place = 0; reader.Next(); ++place) {
    // The first byte of an encoded value is its kind.
    const auto kind = static_cast<ValueKind>(reader.value_bytes()[0]);
    // Mostly as in the record before.
    if (place == learned_.size()) learned_.emplace_back();
    Learned& last = learned_[place];
    if (last.label != label || last.key != reader.key() || last.kind != kind) {
      last = NoteProperty(label, reader.key(), kind);
    }
    facts_.indexed += last.index_entries;
  }
  return reader.status();
}

FileStream::Learned FileStream::NoteProperty(LabelId label, KeyId key, ValueKind kind) {
  const uint64_t name = (static_cast<uint64_t>(label) << 32) | key;
  auto [known, added] = seen_kinds_.try_emplace(name, kind);
  if (!added && known->second != kind) known->second = ValueKind::kNull;
  Learned learned{label, key, kind, 0};
  if (family_ != Family::kVertices) return learned;
  for (const auto& [id, index] : indexes_) {
    if (index.label == label && index.keys[0] == key) ++learned.index_entries;
  }
  return learned;
}

Status FileStream::WrongOrder(std::string_view key) const {
  if (key != LastKey()) {
    return FailedPrecondition("The records of a load are not sorted by their keys.");
  }
  std::string what = "record";
  if (family_ == Family::kVertexIds || family_ == Family::kEdgeIds) {
    uint32_t partition = 0;
    std::string_view id_bytes;
    RETURN_IF_ERROR(SplitIdKey(key, &partition, &id_bytes));
    ASSIGN_OR_RETURN(const Value id, DecodeIdBytes(id_bytes));
    what = family_ == Family::kVertexIds ? "vertex id " : "edge id ";
    what += id.kind() == ValueKind::kLong ? std::to_string(id.AsInteger())
                                          : "'" + id.AsString().substr(0, 64) + "'";
  }
  return AlreadyExists("The " + what + " is twice in the load.");
}

}  // namespace koios::storage
