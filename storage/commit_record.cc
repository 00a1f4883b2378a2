// The bytes of a record:
//   format 1
//   request 8 8 | attempt varint | version read varint
//   writes, guards, sets: each count varint, (key 8)*
//   vertices: count varint, (id bytes | reference 8 | assigned 1 | label | properties)*
//   edges: count varint, (has id 1 | id bytes if it has | number 8 | label | out | in |
//   properties)*
//     an end: kind 1 (0: stored, 1: added) | reference 8, and of an added one its index varint
//   properties: count varint, (key | value)*
//   changed properties of vertices, of edges: count varint, (element 8 | key | has value 1 |
//   value)* dropped vertices, dropped edges: count varint, (element 8)* XXH3-64 of all before it 8
// Texts and id bytes have their length first, a varint. Numbers of fixed width are little-endian.
#include "storage/commit_record.h"

#include <xxhash.h>

#include <limits>
#include <utility>

#include "core/value_codec.h"
#include "storage/codec/element_id.h"
#include "storage/meta_state.h"

namespace koios::storage {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kCheckBytes = 8;

uint64_t CheckOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

class Writer {
 public:
  std::string Take() {
    PutFixed64(CheckOf(out_), &out_);
    return std::move(out_);
  }
  void Byte(uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void Varint(uint64_t v) { PutVarint(v, &out_); }
  void Fixed(uint64_t v) { PutFixed64(v, &out_); }
  void Text(std::string_view text) { PutBytes(text, &out_); }
  void OptionalValue(const std::optional<Value>& value) {
    Byte(value ? 1 : 0);
    if (value) EncodeValue(*value, &out_);
  }
  void Numbers(const std::vector<uint64_t>& numbers) {
    Varint(numbers.size());
    for (const uint64_t number : numbers) Fixed(number);
  }
  void End(const VertexHandle& end) {
    Byte(end.added ? 1 : 0);
    Fixed(end.existing.bits);
    if (end.added) Varint(*end.added);
  }
  void Properties(const PropertyList& properties) {
    Varint(properties.size());
    for (const auto& [key, value] : properties) {
      Text(key);
      EncodeValue(value, &out_);
    }
  }

 private:
  std::string out_;
};

// Each getter says whether the bytes go on as they should.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : all_(bytes), left_(bytes) {}

  Status Damaged(std::string_view what) const {
    return DataLoss("A commit's record is damaged at byte " +
                    std::to_string(all_.size() - left_.size()) + ": " + std::string(what) + ".");
  }
  // What is left is to be only `bytes` long.
  void CutTo(size_t bytes) {
    all_.remove_suffix(left_.size() - bytes);
    left_ = left_.substr(0, bytes);
  }
  bool AtEnd() const { return left_.empty(); }
  size_t left() const { return left_.size(); }

  Status Byte(uint8_t most, uint8_t* v) {
    if (left_.empty()) return Damaged("it ends too early");
    const auto byte = static_cast<uint8_t>(left_[0]);
    if (byte > most) return Damaged("an unknown kind");
    *v = byte;
    left_.remove_prefix(1);
    return OkStatus();
  }
  Status Flag(bool* v) {
    uint8_t byte = 0;
    RETURN_IF_ERROR(Byte(1, &byte));
    *v = byte == 1;
    return OkStatus();
  }
  Status Varint(uint64_t most, uint64_t* v) {
    std::string_view rest = left_;
    if (!GetVarint(&rest, v)) return Damaged("not a number");
    if (*v > most) return Damaged("a number that is too large");
    left_ = rest;
    return OkStatus();
  }
  // So many of at least `least_bytes` each fit what is left.
  Status Count(size_t least_bytes, size_t* v) {
    uint64_t count = 0;
    RETURN_IF_ERROR(Varint(left_.size() / least_bytes, &count));
    *v = static_cast<size_t>(count);
    return OkStatus();
  }
  Status Fixed(uint64_t* v) {
    return GetFixed64(&left_, v) ? OkStatus() : Damaged("it ends too early");
  }
  Status Text(size_t most, std::string* text) {
    std::string_view rest = left_, bytes;
    if (!GetBytes(&rest, &bytes)) return Damaged("a text without an end");
    if (bytes.size() > most) return Damaged("a text that is too long");
    text->assign(bytes);
    left_ = rest;
    return OkStatus();
  }
  Status Id(Value* id) {
    std::string_view rest = left_, bytes;
    if (!GetBytes(&rest, &bytes)) return Damaged("an id without an end");
    StatusOr<Value> decoded = DecodeIdBytes(bytes);
    if (!decoded.ok()) return Damaged("not an id");
    *id = *std::move(decoded);
    left_ = rest;
    return OkStatus();
  }
  Status OneValue(Value* value) {
    std::string_view rest = left_;
    StatusOr<Value> decoded = DecodeValue(&rest);
    if (!decoded.ok()) return Damaged("not a value");
    *value = *std::move(decoded);
    left_ = rest;
    return OkStatus();
  }
  Status OptionalValue(std::optional<Value>* value) {
    bool has = false;
    RETURN_IF_ERROR(Flag(&has));
    return has ? OneValue(&value->emplace()) : OkStatus();
  }
  Status Numbers(std::vector<uint64_t>* numbers) {
    size_t count = 0;
    RETURN_IF_ERROR(Count(sizeof(uint64_t), &count));
    numbers->resize(count);
    for (uint64_t& number : *numbers) RETURN_IF_ERROR(Fixed(&number));
    return OkStatus();
  }
  Status End(size_t num_added, VertexHandle* end) {
    bool added = false;
    RETURN_IF_ERROR(Flag(&added));
    RETURN_IF_ERROR(Fixed(&end->existing.bits));
    if (!added) return OkStatus();
    if (num_added == 0) return Damaged("an edge's end that is not there");
    uint64_t index = 0;
    RETURN_IF_ERROR(Varint(num_added - 1, &index));
    end->added = static_cast<uint32_t>(index);
    return OkStatus();
  }
  Status Properties(PropertyList* properties) {
    size_t count = 0;
    RETURN_IF_ERROR(Count(/*least_bytes=*/2, &count));
    for (size_t i = 0; i < count; ++i) {
      auto& [key, value] = properties->emplace_back();
      RETURN_IF_ERROR(Text(kMaxNameBytes, &key));
      RETURN_IF_ERROR(OneValue(&value));
    }
    return OkStatus();
  }

 private:
  std::string_view all_;
  std::string_view left_;
};

void WriteAdded(const CommitRecord& record, Writer* to) {
  to->Varint(record.vertices.size());
  for (const AddedVertex& vertex : record.vertices) {
    to->Text(IdBytes(*vertex.id));
    to->Fixed(vertex.ref->bits);
    to->Byte(vertex.assigned ? 1 : 0);
    to->Text(vertex.label);
    to->Properties(vertex.properties);
  }
  to->Varint(record.edges.size());
  for (const AddedEdge& edge : record.edges) {
    to->Byte(edge.id ? 1 : 0);
    if (edge.id) to->Text(IdBytes(*edge.id));
    to->Fixed(edge.number);
    to->Text(edge.label);
    to->End(edge.out);
    to->End(edge.in);
    to->Properties(edge.properties);
  }
}

Status ReadAdded(Reader* from, CommitRecord* record) {
  size_t count = 0;
  RETURN_IF_ERROR(from->Count(/*least_bytes=*/12, &count));
  for (size_t i = 0; i < count; ++i) {
    AddedVertex& vertex = record->vertices.emplace_back();
    RETURN_IF_ERROR(from->Id(&vertex.id.emplace()));
    RETURN_IF_ERROR(from->Fixed(&vertex.ref.emplace().bits));
    RETURN_IF_ERROR(from->Flag(&vertex.assigned));
    RETURN_IF_ERROR(from->Text(kMaxNameBytes, &vertex.label));
    RETURN_IF_ERROR(from->Properties(&vertex.properties));
  }
  RETURN_IF_ERROR(from->Count(/*least_bytes=*/29, &count));
  for (size_t i = 0; i < count; ++i) {
    AddedEdge& edge = record->edges.emplace_back();
    bool has_id = false;
    RETURN_IF_ERROR(from->Flag(&has_id));
    if (has_id) RETURN_IF_ERROR(from->Id(&edge.id.emplace()));
    RETURN_IF_ERROR(from->Fixed(&edge.number));
    RETURN_IF_ERROR(from->Text(kMaxNameBytes, &edge.label));
    RETURN_IF_ERROR(from->End(record->vertices.size(), &edge.out));
    RETURN_IF_ERROR(from->End(record->vertices.size(), &edge.in));
    RETURN_IF_ERROR(from->Properties(&edge.properties));
  }
  return OkStatus();
}

// An element's number, a key, and perhaps a value.
constexpr size_t kLeastChangeBytes = 10;

Status ReadChanges(Reader* from, CommitRecord* record) {
  size_t count = 0;
  RETURN_IF_ERROR(from->Count(kLeastChangeBytes, &count));
  for (size_t i = 0; i < count; ++i) {
    SetVertexProperty& set = record->vertex_properties.emplace_back();
    RETURN_IF_ERROR(from->Fixed(&set.vertex.bits));
    RETURN_IF_ERROR(from->Text(kMaxNameBytes, &set.key));
    RETURN_IF_ERROR(from->OptionalValue(&set.value));
  }
  RETURN_IF_ERROR(from->Count(kLeastChangeBytes, &count));
  for (size_t i = 0; i < count; ++i) {
    ChangeEdgeProperty& set = record->edge_properties.emplace_back();
    RETURN_IF_ERROR(from->Fixed(&set.number));
    RETURN_IF_ERROR(from->Text(kMaxNameBytes, &set.key));
    RETURN_IF_ERROR(from->OptionalValue(&set.value));
  }
  std::vector<uint64_t> dropped;
  RETURN_IF_ERROR(from->Numbers(&dropped));
  for (const uint64_t bits : dropped) record->dropped_vertices.push_back({bits});
  return from->Numbers(&record->dropped_edges);
}

}  // namespace

std::string EncodeCommitRecord(const CommitRecord& record) {
  Writer to;
  to.Byte(kFormat);
  to.Fixed(record.request.process);
  to.Fixed(record.request.serial);
  to.Varint(record.attempt);
  to.Varint(record.read_version);
  for (const auto* keys : {&record.keys.writes, &record.keys.guards, &record.keys.sets}) {
    to.Numbers(*keys);
  }
  WriteAdded(record, &to);
  to.Varint(record.vertex_properties.size());
  for (const SetVertexProperty& set : record.vertex_properties) {
    to.Fixed(set.vertex.bits);
    to.Text(set.key);
    to.OptionalValue(set.value);
  }
  to.Varint(record.edge_properties.size());
  for (const ChangeEdgeProperty& set : record.edge_properties) {
    to.Fixed(set.number);
    to.Text(set.key);
    to.OptionalValue(set.value);
  }
  to.Varint(record.dropped_vertices.size());
  for (const VertexRef vertex : record.dropped_vertices) to.Fixed(vertex.bits);
  to.Numbers(record.dropped_edges);
  return to.Take();
}

StatusOr<CommitRecord> DecodeCommitRecord(std::string_view bytes) {
  Reader from(bytes);
  uint8_t format = 0;
  RETURN_IF_ERROR(from.Byte(std::numeric_limits<uint8_t>::max(), &format));
  if (format != kFormat) return from.Damaged("format " + std::to_string(format) + " is not known");
  if (from.left() < kCheckBytes) return from.Damaged("it ends too early");
  std::string_view check = bytes.substr(bytes.size() - kCheckBytes);
  uint64_t expected = 0;
  GetFixed64(&check, &expected);
  if (CheckOf(bytes.substr(0, bytes.size() - kCheckBytes)) != expected) {
    return from.Damaged("the checksum of what follows is another one");
  }
  from.CutTo(from.left() - kCheckBytes);
  CommitRecord record;
  RETURN_IF_ERROR(from.Fixed(&record.request.process));
  RETURN_IF_ERROR(from.Fixed(&record.request.serial));
  if (record.request.is_null()) return from.Damaged("no request");
  uint64_t attempt = 0;
  RETURN_IF_ERROR(from.Varint(std::numeric_limits<uint32_t>::max(), &attempt));
  record.attempt = static_cast<uint32_t>(attempt);
  RETURN_IF_ERROR(from.Varint(std::numeric_limits<uint64_t>::max(), &record.read_version));
  for (auto* keys : {&record.keys.writes, &record.keys.guards, &record.keys.sets}) {
    RETURN_IF_ERROR(from.Numbers(keys));
  }
  RETURN_IF_ERROR(ReadAdded(&from, &record));
  RETURN_IF_ERROR(ReadChanges(&from, &record));
  if (!from.AtEnd()) return from.Damaged("something behind its end");
  return record;
}

}  // namespace koios::storage
