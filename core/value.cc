#include "core/value.h"

#include <algorithm>
#include <type_traits>

#include "core/big_number.h"
#include "core/path/path.h"

namespace koios {

// The shared payloads: a Rep, then the payload. Sizes and depths are computed once, here. Paths are
// nodes of their own (core/path/path.h).
struct ValueReps {
  struct NestingRep : Value::Rep {
    uint64_t flat_bytes = 0;
  };
  template <typename T>
  static constexpr bool kNests = std::is_same_v<T, ValueList> || std::is_same_v<T, ValueMap> ||
                                 std::is_same_v<T, VertexPropertyData> ||
                                 std::is_same_v<T, PropertyData> || std::is_same_v<T, ElementData>;
  template <typename T>
  struct Holder : std::conditional_t<kNests<T>, NestingRep, Value::Rep> {
    explicit Holder(T v) : payload(std::move(v)) {}
    T payload;
  };

  // Shared parts count in full, so nesting can double at every level: saturate.
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 62;
  static uint64_t Sum(uint64_t a, uint64_t b) { return std::min(a + b, kMaxBytes); }

  static uint64_t Times(uint64_t a, uint64_t b) {
    return b != 0 && a > kMaxBytes / b ? kMaxBytes : a * b;
  }

  // Adds up the members of a payload.
  struct Extent : MembersExtent {
    using MembersExtent::Add;
    void Add(const std::string& s) {
      bytes = Sum(bytes, sizeof(std::string) + s.capacity());
      flat_bytes = Sum(flat_bytes, sizeof(std::string) + s.capacity());
    }
    // Room that is not used counts, too.
    void AddRoom(const ValueList& list) {
      bytes = Sum(bytes, (list.capacity() - list.size()) * sizeof(Value));
    }
    void Add(const ValueList& list) {
      AddRoom(list);
      uint64_t scalars = 0;
      for (const Value& v : list) {
        if (v.has_rep()) {
          Add(v);
        } else {
          ++scalars;
        }
      }
      bytes = Sum(bytes, scalars * sizeof(Value));
      flat_bytes = Sum(flat_bytes, scalars * sizeof(Value));
    }
    void AddRoom(const ValueMap& map) {
      bytes = Sum(bytes, (map.capacity() - map.size()) * sizeof(ValueMap::value_type));
    }
    void Add(const ValueMap& map) {
      AddRoom(map);
      for (const auto& [key, value] : map) {
        Add(key);
        Add(value);
      }
    }
  };

  template <typename T>
  static Value Make(ValueKind kind, T payload, uint64_t bytes) {
    auto* holder = new Holder<T>(std::move(payload));
    holder->bytes = Sum(sizeof(Holder<T>), bytes);
    return Value(kind, holder);
  }

  template <typename T>
  static Value Around(ValueKind kind, T payload, const MembersExtent& extent) {
    auto* holder = new Holder<T>(std::move(payload));
    holder->bytes = Sum(sizeof(Holder<T>), extent.bytes);
    holder->flat_bytes = Sum(sizeof(Holder<T>), extent.flat_bytes);
    holder->depth = static_cast<uint16_t>(extent.depth + 1);
    return Value(kind, holder);
  }

  // Around members of that extent. Deeper values would overflow stacks.
  template <typename T>
  static StatusOr<Value> Nest(ValueKind kind, T payload, const MembersExtent& extent) {
    RETURN_IF_ERROR(CheckDepth(extent.depth + 1));
    return Around(kind, std::move(payload), extent);
  }

  template <typename T>
  static const T& Get(const Value& v) {
    return static_cast<const Holder<T>*>(v.payload_.rep)->payload;
  }

  template <typename T>
  static T& Mutable(Value* v) {
    return static_cast<Holder<T>*>(v->payload_.rep)->payload;
  }

  template <typename T>
  static void Free(Value::Rep* rep) {
    delete static_cast<Holder<T>*>(rep);
  }

  static void Free(ValueKind kind, Value::Rep* rep) {
    switch (kind) {
      case ValueKind::kNull:
      case ValueKind::kBool:
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
      case ValueKind::kFloat:
      case ValueKind::kDouble:
      case ValueKind::kChar:
      case ValueKind::kVertex:
      case ValueKind::kToken:
      case ValueKind::kDirection:
        return;
      case ValueKind::kBigInt:
      case ValueKind::kBigDecimal:
        return Free<BigNumber>(rep);
      case ValueKind::kString:
      case ValueKind::kBinary:
        return Free<std::string>(rep);
      case ValueKind::kDateTime:
        return Free<DateTime>(rep);
      case ValueKind::kDuration:
        return Free<Duration>(rep);
      case ValueKind::kUuid:
        return Free<Uuid>(rep);
      case ValueKind::kList:
      case ValueKind::kSet:
        return Free<ValueList>(rep);
      case ValueKind::kMap:
        return Free<ValueMap>(rep);
      case ValueKind::kEdge:
        return Free<EdgeRef>(rep);
      case ValueKind::kVertexProperty:
        return Free<VertexPropertyData>(rep);
      case ValueKind::kProperty:
        return Free<PropertyData>(rep);
      case ValueKind::kPath:
        return;  // Release()
      case ValueKind::kElement:
        return Free<ElementData>(rep);
    }
  }
};

void Value::Release() {
  if (kind_ == ValueKind::kPath) {
    return PathNode::Release(static_cast<PathNode*>(payload_.rep));
  }
  if (payload_.rep->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    ValueReps::Free(kind_, payload_.rep);
  }
}

// Who has the only reference gives nobody another one meanwhile.
template <typename Members>
bool Value::TakePayload(Members* members) {
  if (payload_.rep->refs.load(std::memory_order_acquire) != 1) return false;
  *members = std::move(ValueReps::Mutable<Members>(this));
  *this = Value();
  return true;
}

bool Value::TakeMembers(ValueList* members) { return is_collection() && TakePayload(members); }

bool Value::TakeMembers(ValueMap* members) {
  return kind_ == ValueKind::kMap && TakePayload(members);
}

Value Value::String(std::string v) {
  const size_t bytes = v.capacity();
  return ValueReps::Make(ValueKind::kString, std::move(v), bytes);
}

Value Value::SharedString(std::string v) {
  Value shared = String(std::move(v));
  shared.payload_.rep->charged = true;
  return shared;
}

Value Value::Binary(std::string v) {
  const size_t bytes = v.capacity();
  return ValueReps::Make(ValueKind::kBinary, std::move(v), bytes);
}

Value Value::Of(DateTime v) { return ValueReps::Make(ValueKind::kDateTime, v, 0); }
Value Value::Of(Duration v) { return ValueReps::Make(ValueKind::kDuration, v, 0); }
Value Value::Of(Uuid v) { return ValueReps::Make(ValueKind::kUuid, v, 0); }
Value Value::Of(const EdgeRef& v) { return ValueReps::Make(ValueKind::kEdge, v, 0); }

StatusOr<Value> Value::Of(VertexPropertyData v) {
  ValueReps::Extent extent;
  extent.Add(v.key);
  extent.Add(v.value);
  return ValueReps::Nest(ValueKind::kVertexProperty, std::move(v), extent);
}

StatusOr<Value> Value::Of(PropertyData v) {
  ValueReps::Extent extent;
  extent.Add(v.key);
  extent.Add(v.value);
  return ValueReps::Nest(ValueKind::kProperty, std::move(v), extent);
}

StatusOr<Value> Value::Of(PathData v) {
  if (v.labels.size() > v.objects.size()) {
    return Internal("A path has labels of objects that it does not have.");
  }
  if (v.objects.empty()) return PathMaker::Empty();
  PathMaker maker(nullptr);
  Value path;
  for (size_t i = 0; i < v.objects.size(); ++i) {
    const PathLabels* labels = i < v.labels.size() ? maker.Labels(std::move(v.labels[i])) : nullptr;
    ASSIGN_OR_RETURN(path, maker.Append(path, std::move(v.objects[i]), labels));
  }
  return path;
}

StatusOr<Value> Value::Of(ElementData v) {
  ValueReps::Extent extent;
  for (const Value* member : {&v.id, &v.out_id, &v.in_id, &v.value}) extent.Add(*member);
  for (const std::string* name : {&v.label, &v.out_label, &v.in_label}) extent.Add(*name);
  extent.Add(v.properties);
  return ValueReps::Nest(ValueKind::kElement, std::move(v), extent);
}

Value Value::Of(BigNumber v) {
  const bool integer = v.scale == 0 && !v.decimal;
  v.decimal = !integer;
  const size_t bytes = v.unscaled.backend().size() * sizeof(boost::multiprecision::limb_type);
  return ValueReps::Make(integer ? ValueKind::kBigInt : ValueKind::kBigDecimal, std::move(v),
                         bytes);
}

void MembersExtent::Add(const Value& member, uint64_t times) {
  bytes = ValueReps::Sum(bytes, ValueReps::Times(member.ByteSize(), times));
  flat_bytes = ValueReps::Sum(flat_bytes, ValueReps::Times(member.FlatBytes(), times));
  depth = std::max(depth, member.depth());
}

StatusOr<Value> Value::List(ValueList v) {
  ValueReps::Extent extent;
  extent.Add(v);
  return ValueReps::Nest(ValueKind::kList, std::move(v), extent);
}

// With room that is not used.
template <typename Members>
StatusOr<Value> Value::Nest(ValueKind kind, Members members, const MembersExtent& extent) {
  ValueReps::Extent whole{extent};
  whole.AddRoom(members);
  return ValueReps::Nest(kind, std::move(members), whole);
}

StatusOr<Value> Value::List(ValueList v, const MembersExtent& extent) {
  return Nest(ValueKind::kList, std::move(v), extent);
}

StatusOr<Value> Value::Set(ValueList v, const MembersExtent& extent) {
  return Nest(ValueKind::kSet, std::move(v), extent);
}

StatusOr<Value> Value::Map(ValueMap v, const MembersExtent& extent) {
  return Nest(ValueKind::kMap, std::move(v), extent);
}

StatusOr<Value> Value::Set(ValueList v) {
  ValueReps::Extent extent;
  extent.Add(v);
  return ValueReps::Nest(ValueKind::kSet, std::move(v), extent);
}

StatusOr<Value> Value::Map(ValueMap v) {
  ValueReps::Extent extent;
  extent.Add(v);
  return ValueReps::Nest(ValueKind::kMap, std::move(v), extent);
}

Value Value::EmptyList() { return ValueReps::Around(ValueKind::kList, ValueList(), {}); }
Value Value::EmptySet() { return ValueReps::Around(ValueKind::kSet, ValueList(), {}); }
Value Value::EmptyMap() { return ValueReps::Around(ValueKind::kMap, ValueMap(), {}); }

const std::string& Value::AsString() const {
  DCHECK(kind_ == ValueKind::kString || kind_ == ValueKind::kBinary);
  return ValueReps::Get<std::string>(*this);
}
DateTime Value::AsDateTime() const {
  DCHECK(kind_ == ValueKind::kDateTime);
  return ValueReps::Get<DateTime>(*this);
}
Duration Value::AsDuration() const {
  DCHECK(kind_ == ValueKind::kDuration);
  return ValueReps::Get<Duration>(*this);
}
Uuid Value::AsUuid() const {
  DCHECK(kind_ == ValueKind::kUuid);
  return ValueReps::Get<Uuid>(*this);
}
const EdgeRef& Value::AsEdge() const {
  DCHECK(kind_ == ValueKind::kEdge);
  return ValueReps::Get<EdgeRef>(*this);
}
const VertexPropertyData& Value::AsVertexProperty() const {
  DCHECK(kind_ == ValueKind::kVertexProperty);
  return ValueReps::Get<VertexPropertyData>(*this);
}
const PropertyData& Value::AsProperty() const {
  DCHECK(kind_ == ValueKind::kProperty);
  return ValueReps::Get<PropertyData>(*this);
}
const PathNode& Value::AsPath() const {
  DCHECK(kind_ == ValueKind::kPath);
  return static_cast<const PathNode&>(*payload_.rep);
}
const ElementData& Value::AsElement() const {
  DCHECK(kind_ == ValueKind::kElement);
  return ValueReps::Get<ElementData>(*this);
}
const BigNumber& Value::AsBigNumber() const {
  DCHECK(kind_ == ValueKind::kBigInt || kind_ == ValueKind::kBigDecimal);
  return ValueReps::Get<BigNumber>(*this);
}
const ValueList& Value::AsList() const {
  DCHECK(is_collection());
  return ValueReps::Get<ValueList>(*this);
}
const ValueMap& Value::AsMap() const {
  DCHECK(kind_ == ValueKind::kMap);
  return ValueReps::Get<ValueMap>(*this);
}

size_t Value::NestedFlatBytes() const {
  const uint64_t bytes = kind_ == ValueKind::kPath
                             ? payload_.rep->bytes
                             : static_cast<ValueReps::NestingRep*>(payload_.rep)->flat_bytes;
  return sizeof(Value) + static_cast<size_t>(bytes);
}

Status CheckDepth(int depth) {
  if (depth <= kMaxValueDepth) return OkStatus();
  ErrorDetail detail;
  detail.reason = "VALUE_TOO_DEEP";
  detail.limit = std::to_string(kMaxValueDepth) + " levels";
  detail.used = std::to_string(depth);
  return ResourceExhausted("A value nests lists, sets, maps or paths deeper than " +
                               std::to_string(kMaxValueDepth) +
                               " levels, which is the fixed limit.",
                           detail);
}

Status CheckUncharged(uint64_t bytes) {
  if (bytes <= kMaxUnchargedBytes) return OkStatus();
  return TooManyBytes("A path with paths in it has " + std::to_string(bytes) +
                          " bytes when it is written in full; the limit is " +
                          std::to_string(kMaxUnchargedBytes) + " bytes.",
                      "VALUE_TOO_LARGE", bytes, kMaxUnchargedBytes, "Put fewer paths into paths.");
}

std::string_view KindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNull:
      return "null";
    case ValueKind::kBool:
      return "Boolean";
    case ValueKind::kByte:
      return "Byte";
    case ValueKind::kShort:
      return "Short";
    case ValueKind::kInt:
      return "Integer";
    case ValueKind::kLong:
      return "Long";
    case ValueKind::kBigInt:
      return "BigInteger";
    case ValueKind::kFloat:
      return "Float";
    case ValueKind::kDouble:
      return "Double";
    case ValueKind::kBigDecimal:
      return "BigDecimal";
    case ValueKind::kString:
      return "String";
    case ValueKind::kChar:
      return "Character";
    case ValueKind::kDateTime:
      return "DateTime";
    case ValueKind::kDuration:
      return "Duration";
    case ValueKind::kUuid:
      return "UUID";
    case ValueKind::kBinary:
      return "Binary";
    case ValueKind::kList:
      return "List";
    case ValueKind::kSet:
      return "Set";
    case ValueKind::kMap:
      return "Map";
    case ValueKind::kVertex:
      return "Vertex";
    case ValueKind::kEdge:
      return "Edge";
    case ValueKind::kVertexProperty:
      return "VertexProperty";
    case ValueKind::kProperty:
      return "Property";
    case ValueKind::kPath:
      return "Path";
    case ValueKind::kElement:
      return "Element";
    case ValueKind::kToken:
      return "T";
    case ValueKind::kDirection:
      return "Direction";
  }
  return "unknown";
}

}  // namespace koios
