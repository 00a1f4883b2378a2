// Format of one value: its tag, then
//   null            nothing
//   bool            1 byte, 0 or 1
//   byte .. long    zig-zag varint
//   float, double   4, 8 bytes, IEEE 754, little-endian
//   bigint          bytes: sign byte (1: negative), big-endian magnitude without leading zeros
//   bigdecimal      zig-zag varint scale, then as bigint
//   string, binary  bytes: varint length, then the bytes
//   char            varint code point
//   datetime        zig-zag seconds, varint nanos, zig-zag offset seconds
//   duration        zig-zag seconds, varint nanos
//   uuid            8 bytes high, 8 bytes low
//   list, set       varint count, the values
//   map             varint count, key and value alternating
//   vertex          8 bytes
//   edge            8 bytes each of id, out, in, then varint label
//   vertex property 8 bytes owner, key bytes, value
//   property        owner as edge, key bytes, value
//   path            varint count, then per object: value, varint label count, label bytes
//   element         type byte, id, label, out id, out label, in id, in label, value, properties
//                   as map
//   token           1 byte; direction: 1 byte
#include "core/value_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "absl/container/flat_hash_set.h"
#include "core/big_number.h"
#include "core/path/path.h"
#include "core/value_compare.h"

namespace koios {
namespace {

// What a count alone takes memory for: what nests could claim the rest of the input at every depth.
constexpr size_t kMaxReserved = 1024;

static_assert(std::endian::native == std::endian::little, "buffers are copied as they are");

template <typename T>
void PutRaw(T v, std::string* out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &v, sizeof(T));
  out->append(bytes, sizeof(T));
}

template <typename T>
bool GetRaw(std::string_view* input, T* v) {
  if (input->size() < sizeof(T)) return false;
  std::memcpy(v, input->data(), sizeof(T));
  input->remove_prefix(sizeof(T));
  return true;
}

void PutEdge(const EdgeRef& e, std::string* out) {
  PutRaw(e.id, out);
  PutRaw(e.out.bits, out);
  PutRaw(e.in.bits, out);
  PutVarint(e.label, out);
}

void PutList(const ValueList& list, std::string* out) {
  PutVarint(list.size(), out);
  for (const Value& v : list) EncodeValue(v, out);
}

void PutMap(const ValueMap& map, std::string* out) {
  PutVarint(map.size(), out);
  for (const auto& [key, value] : map) {
    EncodeValue(key, out);
    EncodeValue(value, out);
  }
}

void PutPath(const PathObjects& path, std::string* out) {
  PutVarint(path.size(), out);
  for (size_t i = 0; i < path.size(); ++i) {
    EncodeValue(path[i], out);
    PutVarint(path.LabelsOf(i).size(), out);
    for (const std::string& label : path.LabelsOf(i)) PutBytes(label, out);
  }
}

void PutElement(const ElementData& e, std::string* out) {
  out->push_back(static_cast<char>(e.type));
  EncodeValue(e.id, out);
  PutBytes(e.label, out);
  EncodeValue(e.out_id, out);
  PutBytes(e.out_label, out);
  EncodeValue(e.in_id, out);
  PutBytes(e.in_label, out);
  EncodeValue(e.value, out);
  PutMap(e.properties, out);
}

// Reads one value; every method fails with a DATA_LOSS that names what was damaged.
class Decoder {
 public:
  explicit Decoder(std::string_view input) : input_(input) {}

  std::string_view rest() const { return input_; }

  // `depth`: how many containers are around this value.
  StatusOr<Value> Read(int depth) {
    if (depth > kMaxValueDepth) return Damaged("nesting");
    uint8_t tag = 0;
    if (!GetRaw(&input_, &tag)) return Damaged("tag");
    const auto kind = static_cast<ValueKind>(tag);
    switch (kind) {
      case ValueKind::kNull:
        return Value::Null();
      case ValueKind::kBool:
        return ReadBounded(kind, 1);
      case ValueKind::kToken:
        return ReadBounded(kind, static_cast<uint8_t>(Token::kValue));
      case ValueKind::kDirection:
        return ReadBounded(kind, static_cast<uint8_t>(Direction::kBoth));
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
        return ReadInteger(kind);
      case ValueKind::kBigInt:
      case ValueKind::kBigDecimal:
        return ReadBigNumber(kind == ValueKind::kBigDecimal);
      case ValueKind::kFloat:
      case ValueKind::kDouble:
        return ReadReal(kind);
      case ValueKind::kString:
      case ValueKind::kBinary:
        return ReadText(kind);
      case ValueKind::kChar:
      case ValueKind::kDateTime:
      case ValueKind::kDuration:
      case ValueKind::kUuid:
        return ReadSmall(kind);
      case ValueKind::kVertex:
      case ValueKind::kEdge:
        return ReadReference(kind);
      case ValueKind::kList:
      case ValueKind::kSet:
        return ReadList(kind, depth);
      case ValueKind::kMap:
        return ReadMapValue(depth);
      case ValueKind::kVertexProperty:
      case ValueKind::kProperty:
        return ReadProperty(kind, depth);
      case ValueKind::kPath:
        return ReadPath(depth);
      case ValueKind::kElement:
        return ReadElement(depth);
    }
    return Damaged("tag");
  }

 private:
  static Status Damaged(std::string_view what) {
    return DataLoss("An encoded value is damaged (" + std::string(what) + ").");
  }

  StatusOr<Value> ReadBounded(ValueKind kind, uint8_t max) {
    uint8_t v = 0;
    if (!GetRaw(&input_, &v) || v > max) return Damaged(KindName(kind));
    if (kind == ValueKind::kBool) return Value::Bool(v != 0);
    if (kind == ValueKind::kToken) return Value::Of(static_cast<Token>(v));
    return Value::Of(static_cast<Direction>(v));
  }

  template <typename T>
  static bool Fits(int64_t v) {
    return v >= std::numeric_limits<T>::min() && v <= std::numeric_limits<T>::max();
  }

  StatusOr<Value> ReadInteger(ValueKind kind) {
    int64_t v = 0;
    if (!GetSigned(&input_, &v)) return Damaged("integer");
    if (kind == ValueKind::kLong) return Value::Long(v);
    if (kind == ValueKind::kInt && Fits<int32_t>(v)) return Value::Int(static_cast<int32_t>(v));
    if (kind == ValueKind::kShort && Fits<int16_t>(v)) {
      return Value::Short(static_cast<int16_t>(v));
    }
    if (kind == ValueKind::kByte && Fits<int8_t>(v)) return Value::Byte(static_cast<int8_t>(v));
    return Damaged("integer");
  }

  StatusOr<Value> ReadBigNumber(bool decimal) {
    BigNumber number;
    number.decimal = decimal;
    int64_t scale = 0;
    std::string_view bytes;
    if (decimal && (!GetSigned(&input_, &scale) || !Fits<int32_t>(scale))) return Damaged("scale");
    number.scale = static_cast<int32_t>(scale);
    if (!GetBytes(&input_, &bytes) || !DecodeUnscaled(bytes, &number)) return Damaged("number");
    if (!number.CheckBounds().ok()) return Damaged("number");
    return Value::Of(std::move(number));
  }

  StatusOr<Value> ReadReal(ValueKind kind) {
    if (kind == ValueKind::kDouble) {
      double v = 0;
      if (!GetRaw(&input_, &v)) return Damaged("double");
      return Value::Double(v);
    }
    float v = 0;
    if (!GetRaw(&input_, &v)) return Damaged("float");
    return Value::Float(v);
  }

  StatusOr<Value> ReadText(ValueKind kind) {
    std::string_view bytes;
    if (!GetBytes(&input_, &bytes)) return Damaged("length");
    if (kind == ValueKind::kString) return Value::String(std::string(bytes));
    return Value::Binary(std::string(bytes));
  }

  bool ReadNanos(int32_t* nanos) {
    uint64_t v = 0;
    if (!GetVarint(&input_, &v) || v > 999'999'999) return false;
    *nanos = static_cast<int32_t>(v);
    return true;
  }

  StatusOr<Value> ReadSmall(ValueKind kind) {
    if (kind == ValueKind::kChar) {
      uint64_t v = 0;
      if (!GetVarint(&input_, &v) || v > 0x10FFFF) return Damaged("char");
      return Value::Char(static_cast<char32_t>(v));
    }
    if (kind == ValueKind::kUuid) {
      Uuid v;
      if (!GetRaw(&input_, &v.high) || !GetRaw(&input_, &v.low)) return Damaged("uuid");
      return Value::Of(v);
    }
    if (kind == ValueKind::kDuration) {
      Duration v;
      if (!GetSigned(&input_, &v.seconds) || !ReadNanos(&v.nanos)) return Damaged("duration");
      return Value::Of(v);
    }
    DateTime v;
    int64_t offset = 0;
    if (!GetSigned(&input_, &v.seconds) || !ReadNanos(&v.nanos) || !GetSigned(&input_, &offset) ||
        !Fits<int32_t>(offset)) {
      return Damaged("datetime");
    }
    v.offset_seconds = static_cast<int32_t>(offset);
    return Value::Of(v);
  }

  bool ReadEdge(EdgeRef* e) {
    uint64_t label = 0;
    if (!GetRaw(&input_, &e->id) || !GetRaw(&input_, &e->out.bits) ||
        !GetRaw(&input_, &e->in.bits) || !GetVarint(&input_, &label) ||
        label > std::numeric_limits<LabelId>::max()) {
      return false;
    }
    e->label = static_cast<LabelId>(label);
    return true;
  }

  StatusOr<Value> ReadReference(ValueKind kind) {
    if (kind == ValueKind::kVertex) {
      VertexRef v;
      if (!GetRaw(&input_, &v.bits)) return Damaged("vertex");
      return Value::Of(v);
    }
    EdgeRef e;
    if (!ReadEdge(&e)) return Damaged("edge");
    return Value::Of(e);
  }

  // A count of things of at least one byte each.
  bool ReadCount(size_t* count) {
    uint64_t v = 0;
    if (!GetVarint(&input_, &v) || v > input_.size()) return false;
    *count = static_cast<size_t>(v);
    return true;
  }

  Status ReadValues(int depth, ValueList* out) {
    size_t count = 0;
    if (!ReadCount(&count)) return Damaged("count");
    out->reserve(std::min(count, kMaxReserved));
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Value v, Read(depth + 1));
      out->push_back(std::move(v));
    }
    return OkStatus();
  }

  StatusOr<Value> ReadList(ValueKind kind, int depth) {
    if (depth >= kMaxValueDepth) return Damaged("nesting");
    ValueList list;
    RETURN_IF_ERROR(ReadValues(depth, &list));
    if (kind == ValueKind::kList) return Value::List(std::move(list));
    absl::flat_hash_set<Value, ValueHash, ValueEquivalent> seen;
    for (const Value& v : list) {
      if (!seen.insert(v).second) return Damaged("set");
    }
    return Value::Set(std::move(list));
  }

  Status ReadMap(int depth, ValueMap* map) {
    size_t count = 0;
    if (!ReadCount(&count) || count > input_.size() / 2) return Damaged("count");
    map->reserve(std::min(count, kMaxReserved));
    absl::flat_hash_set<Value, ValueHash, ValueEquivalent> seen;
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Value key, Read(depth + 1));
      if (!seen.insert(key).second) return Damaged("map");
      ASSIGN_OR_RETURN(Value value, Read(depth + 1));
      map->emplace_back(std::move(key), std::move(value));
    }
    return OkStatus();
  }

  StatusOr<Value> ReadMapValue(int depth) {
    if (depth >= kMaxValueDepth) return Damaged("nesting");
    ValueMap map;
    RETURN_IF_ERROR(ReadMap(depth, &map));
    return Value::Map(std::move(map));
  }

  bool ReadName(std::string* name) {
    std::string_view bytes;
    if (!GetBytes(&input_, &bytes)) return false;
    name->assign(bytes);
    return true;
  }

  StatusOr<Value> ReadProperty(ValueKind kind, int depth) {
    if (depth >= kMaxValueDepth) return Damaged("nesting");
    VertexRef vertex;
    EdgeRef edge;
    std::string key;
    const bool of_vertex = kind == ValueKind::kVertexProperty;
    if (of_vertex ? !GetRaw(&input_, &vertex.bits) : !ReadEdge(&edge)) return Damaged("owner");
    if (!ReadName(&key)) return Damaged("key");
    ASSIGN_OR_RETURN(Value value, Read(depth + 1));
    if (of_vertex) {
      return Value::Of(VertexPropertyData{vertex, std::move(key), std::move(value)});
    }
    return Value::Of(PropertyData{edge, std::move(key), std::move(value)});
  }

  StatusOr<Value> ReadPath(int depth) {
    if (depth >= kMaxValueDepth) return Damaged("nesting");
    size_t count = 0;
    if (!ReadCount(&count) || count > input_.size() / 2) return Damaged("count");
    PathData path;
    path.objects.reserve(std::min(count, kMaxReserved));
    path.labels.reserve(std::min(count, kMaxReserved));
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Value object, Read(depth + 1));
      path.objects.push_back(std::move(object));
      size_t labels = 0;
      if (!ReadCount(&labels)) return Damaged("labels");
      std::vector<std::string>& names = path.labels.emplace_back();
      names.reserve(std::min(labels, kMaxReserved));
      for (size_t j = 0; j < labels; ++j) {
        if (!ReadName(&names.emplace_back())) return Damaged("labels");
      }
    }
    return Value::Of(std::move(path));
  }

  StatusOr<Value> ReadElement(int depth) {
    if (depth >= kMaxValueDepth) return Damaged("nesting");
    ElementData e;
    uint8_t type = 0;
    if (!GetRaw(&input_, &type) || type > static_cast<uint8_t>(ElementData::Type::kProperty)) {
      return Damaged("element type");
    }
    e.type = static_cast<ElementData::Type>(type);
    ASSIGN_OR_RETURN(e.id, Read(depth + 1));
    if (!ReadName(&e.label)) return Damaged("label");
    ASSIGN_OR_RETURN(e.out_id, Read(depth + 1));
    if (!ReadName(&e.out_label)) return Damaged("label");
    ASSIGN_OR_RETURN(e.in_id, Read(depth + 1));
    if (!ReadName(&e.in_label)) return Damaged("label");
    ASSIGN_OR_RETURN(e.value, Read(depth + 1));
    RETURN_IF_ERROR(ReadMap(depth, &e.properties));
    return Value::Of(std::move(e));
  }

  std::string_view input_;
};

}  // namespace

void PutLongVarint(uint64_t v, std::string* out) {
  char bytes[10];
  size_t n = 0;
  while (v >= 0x80) {
    bytes[n++] = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  bytes[n++] = static_cast<char>(v);
  out->append(bytes, n);
}

bool GetLongVarint(std::string_view* input, uint64_t* v) {
  uint64_t result = 0;
  const size_t limit = input->size() < 10 ? input->size() : 10;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<unsigned char>((*input)[i]);
    if (i == 9 && byte > 1) return false;  // past 64 bits
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      input->remove_prefix(i + 1);
      *v = result;
      return true;
    }
  }
  return false;
}

void PutSigned(int64_t v, std::string* out) {
  PutVarint((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63), out);
}

bool GetSigned(std::string_view* input, int64_t* v) {
  uint64_t bits = 0;
  if (!GetVarint(input, &bits)) return false;
  *v = static_cast<int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  return true;
}

void PutBytes(std::string_view bytes, std::string* out) {
  PutVarint(bytes.size(), out);
  out->append(bytes);
}

void PutFixed64(uint64_t v, std::string* out) { PutRaw(v, out); }
bool GetFixed64(std::string_view* input, uint64_t* v) { return GetRaw(input, v); }

void EncodeValue(const Value& value, std::string* out) {
  out->push_back(static_cast<char>(value.kind()));
  switch (value.kind()) {
    case ValueKind::kNull:
      return;
    case ValueKind::kBool:
      return out->push_back(value.AsBool() ? '\1' : '\0');
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return PutSigned(value.AsInteger(), out);
    case ValueKind::kBigDecimal:
      PutSigned(value.AsBigNumber().scale, out);
      [[fallthrough]];
    case ValueKind::kBigInt:
      return PutBytes(EncodeUnscaled(value.AsBigNumber()), out);
    case ValueKind::kFloat:
      return PutRaw(static_cast<float>(value.AsDouble()), out);
    case ValueKind::kDouble:
      return PutRaw(value.AsDouble(), out);
    case ValueKind::kString:
    case ValueKind::kBinary:
      return PutBytes(value.AsString(), out);
    case ValueKind::kChar:
      return PutVarint(value.AsChar(), out);
    case ValueKind::kDateTime: {
      const DateTime v = value.AsDateTime();
      PutSigned(v.seconds, out);
      PutVarint(static_cast<uint64_t>(v.nanos), out);
      return PutSigned(v.offset_seconds, out);
    }
    case ValueKind::kDuration:
      PutSigned(value.AsDuration().seconds, out);
      return PutVarint(static_cast<uint64_t>(value.AsDuration().nanos), out);
    case ValueKind::kUuid:
      PutRaw(value.AsUuid().high, out);
      return PutRaw(value.AsUuid().low, out);
    case ValueKind::kList:
    case ValueKind::kSet:
      return PutList(value.AsList(), out);
    case ValueKind::kMap:
      return PutMap(value.AsMap(), out);
    case ValueKind::kVertex:
      return PutRaw(value.AsVertex().bits, out);
    case ValueKind::kEdge:
      return PutEdge(value.AsEdge(), out);
    case ValueKind::kVertexProperty:
      PutRaw(value.AsVertexProperty().owner.bits, out);
      PutBytes(value.AsVertexProperty().key, out);
      return EncodeValue(value.AsVertexProperty().value, out);
    case ValueKind::kProperty:
      PutEdge(value.AsProperty().owner, out);
      PutBytes(value.AsProperty().key, out);
      return EncodeValue(value.AsProperty().value, out);
    case ValueKind::kPath:
      return PutPath(PathObjects(value.AsPath()), out);
    case ValueKind::kElement:
      return PutElement(value.AsElement(), out);
    case ValueKind::kToken:
      return out->push_back(static_cast<char>(value.AsToken()));
    case ValueKind::kDirection:
      return out->push_back(static_cast<char>(value.AsDirection()));
  }
}

std::string EncodeValue(const Value& value) {
  std::string out;
  EncodeValue(value, &out);
  return out;
}

StatusOr<Value> DecodeValue(std::string_view* input) {
  Decoder decoder(*input);
  ASSIGN_OR_RETURN(Value value, decoder.Read(0));
  *input = decoder.rest();
  return value;
}

StatusOr<Value> DecodeWholeValue(std::string_view input) {
  ASSIGN_OR_RETURN(Value value, DecodeValue(&input));
  if (!input.empty()) return DataLoss("An encoded value is followed by further bytes.");
  return value;
}

}  // namespace koios
