// Value: one Gremlin value of any type of TinkerPop 3.8; 16 bytes, cheap to copy (large payloads
// are shared and immutable, with atomic reference counts, so that a Value may cross threads).
// Hot paths use typed columns (core/column.h); a Value is for the generic column, constants,
// parameters, keys and results.
// Bound: nesting of lists, sets, maps and paths is at most kMaxValueDepth: whatever nests is made
// by a factory that may refuse, so that nobody can forget to ask and no recursion goes deeper.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/types.h"

namespace koios {

inline constexpr int kMaxValueDepth = 200;

// On disk and wire: never renumber.
enum class ValueKind : uint8_t {
  kNull = 0,
  kBool = 1,
  kByte = 2,
  kShort = 3,
  kInt = 4,
  kLong = 5,
  kBigInt = 6,
  kFloat = 7,
  kDouble = 8,
  kBigDecimal = 9,
  kString = 10,
  kChar = 11,
  kDateTime = 12,
  kDuration = 13,
  kUuid = 14,
  kBinary = 15,
  kList = 16,
  kSet = 17,
  kMap = 18,
  kVertex = 20,          // internal reference: VertexRef
  kEdge = 21,            // internal reference: EdgeRef
  kVertexProperty = 22,  // internal: owner, key, value
  kProperty = 23,        // an edge's property: owner, key, value
  kPath = 24,
  kElement = 25,    // detached element: what clients see and send
  kToken = 30,      // T.id, T.label, T.key, T.value
  kDirection = 31,  // OUT, IN, BOTH
};

class Value;
using ValueList = std::vector<Value>;
// What members take together and how deep they are, for who puts a collection together bit by bit.
struct MembersExtent {
  uint64_t bytes = 0;
  uint64_t flat_bytes = 0;
  int depth = 0;
  void Add(const Value& member, uint64_t times = 1);
};
using ValueMap = std::vector<std::pair<Value, Value>>;  // insertion order, keys are distinct

// An instant with its offset, as java.time.OffsetDateTime.
struct DateTime {
  int64_t seconds = 0;  // since 1970-01-01 UTC
  int32_t nanos = 0;    // 0 .. 999,999,999
  int32_t offset_seconds = 0;
  bool operator==(const DateTime&) const = default;
};

struct Duration {
  int64_t seconds = 0;
  int32_t nanos = 0;  // 0 .. 999,999,999
  bool operator==(const Duration&) const = default;
};

struct Uuid {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Uuid&) const = default;
};

struct VertexPropertyData;  // below: they hold Values
struct PropertyData;
struct PathData;
class PathNode;  // core/path/path.h
struct ElementData;
struct BigNumber;  // core/big_number.h (Boost.Multiprecision stays out of this header)

class Value {
 public:
  Value() : kind_(ValueKind::kNull), payload_{} {}
  Value(const Value& other) : kind_(other.kind_), payload_(other.payload_) {
    if (has_rep()) payload_.rep->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Value(Value&& other) noexcept : kind_(other.kind_), payload_(other.payload_) {
    other.kind_ = ValueKind::kNull;
  }
  Value& operator=(const Value& other) {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Value() {
    if (has_rep()) Release();
  }
  void swap(Value& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(payload_, other.payload_);
  }

  static Value Null() { return Value(); }
  static Value Bool(bool v) { return Value(ValueKind::kBool, int64_t{v ? 1 : 0}); }
  static Value Byte(int8_t v) { return Value(ValueKind::kByte, int64_t{v}); }
  static Value Short(int16_t v) { return Value(ValueKind::kShort, int64_t{v}); }
  static Value Int(int32_t v) { return Value(ValueKind::kInt, int64_t{v}); }
  static Value Long(int64_t v) { return Value(ValueKind::kLong, int64_t{v}); }
  static Value Float(float v) { return Real(ValueKind::kFloat, static_cast<double>(v)); }
  static Value Double(double v) { return Real(ValueKind::kDouble, v); }
  static Value Char(char32_t v) {
    return Value(ValueKind::kChar, int64_t{static_cast<int64_t>(v)});
  }
  static Value String(std::string v);
  // A text that many values have and whoever made it answers for, as a constant: what it takes is
  // not counted in what they take.
  static Value SharedString(std::string v);
  static Value Binary(std::string v);
  static Value Of(DateTime v);
  static Value Of(Duration v);
  static Value Of(Uuid v);
  static Value Of(VertexRef v) { return Value(ValueKind::kVertex, static_cast<int64_t>(v.bits)); }
  static Value Of(const EdgeRef& v);
  static Value Of(Token v) { return Value(ValueKind::kToken, static_cast<int64_t>(v)); }
  static Value Of(Direction v) { return Value(ValueKind::kDirection, static_cast<int64_t>(v)); }
  static Value Of(BigNumber v);  // kBigInt when scale == 0 and not decimal, else kBigDecimal
  // What nests is RESOURCE_EXHAUSTED where it would be deeper than kMaxValueDepth (CheckDepth).
  static StatusOr<Value> Of(VertexPropertyData v);
  static StatusOr<Value> Of(PropertyData v);
  static StatusOr<Value> Of(PathData v);  // INTERNAL with more labels than objects
  static StatusOr<Value> Of(ElementData v);
  static StatusOr<Value> List(ValueList v);
  // REQUIRES: `extent` has all members. Looks at none of them.
  static StatusOr<Value> List(ValueList v, const MembersExtent& extent);
  // REQUIRES: distinct by Equivalent; see MakeSet in value_compare.h
  static StatusOr<Value> Set(ValueList v);
  static StatusOr<Value> Map(ValueMap v);  // REQUIRES: keys distinct by Equivalent
  // Both with `extent` as of lists.
  static StatusOr<Value> Set(ValueList v, const MembersExtent& extent);
  static StatusOr<Value> Map(ValueMap v, const MembersExtent& extent);
  static Value EmptyList();
  static Value EmptySet();
  static Value EmptyMap();

  ValueKind kind() const { return kind_; }
  bool is_null() const { return kind_ == ValueKind::kNull; }
  bool is_number() const { return kind_ >= ValueKind::kByte && kind_ <= ValueKind::kBigDecimal; }
  bool is_integer() const { return kind_ >= ValueKind::kByte && kind_ <= ValueKind::kBigInt; }
  bool is_collection() const { return kind_ == ValueKind::kList || kind_ == ValueKind::kSet; }
  // 0 for scalars, 1 + the deepest member for lists, sets, maps, paths, properties and elements.
  // Stored, so this is cheap.
  int depth() const { return has_rep() ? payload_.rep->depth : 0; }

  // REQUIRES: kind() is the accessor's.
  bool AsBool() const { return payload_.integer != 0; }
  int64_t AsInteger() const { return payload_.integer; }  // kByte, kShort, kInt, kLong
  double AsDouble() const { return payload_.real; }       // kFloat, kDouble
  char32_t AsChar() const { return static_cast<char32_t>(payload_.integer); }
  const std::string& AsString() const;  // kString, kBinary
  DateTime AsDateTime() const;
  Duration AsDuration() const;
  Uuid AsUuid() const;
  VertexRef AsVertex() const { return VertexRef{payload_.bits}; }
  const EdgeRef& AsEdge() const;
  Token AsToken() const { return static_cast<Token>(payload_.integer); }
  Direction AsDirection() const { return static_cast<Direction>(payload_.integer); }
  const VertexPropertyData& AsVertexProperty() const;
  const PropertyData& AsProperty() const;
  // The last object and what leads there; core/path/path.h reads it from the first on.
  const PathNode& AsPath() const;
  const ElementData& AsElement() const;
  const BigNumber& AsBigNumber() const;
  const ValueList& AsList() const;  // kList, kSet
  const ValueMap& AsMap() const;
  // Moves the members of a list or a set, or the entries of a map, to `members`, and is null then.
  // False: it is something else, or somebody else has it as well, and nothing happens.
  bool TakeMembers(ValueList* members);
  bool TakeMembers(ValueMap* members);

  // Whether what it holds is one object in memory with what `other` does.
  bool SharesWith(const Value& other) const {
    return has_rep() && other.has_rep() && payload_.rep == other.payload_.rep;
  }
  // Bytes this value holds, shared payloads counted in full: what an account is charged. Of a path
  // only the reference, where its objects are charged by themselves (core/path/path_ledger.h).
  // Stored, so this is cheap.
  size_t ByteSize() const {
    if (!has_rep() || payload_.rep->charged) return sizeof(Value);
    return sizeof(Value) + static_cast<size_t>(payload_.rep->bytes);
  }
  // Bytes of what a reader of the whole value meets: of paths all objects, whoever is charged for
  // them. For those who bound work; stored, too.
  size_t FlatBytes() const {
    if (depth() > 0) return NestedFlatBytes();
    return has_rep() ? sizeof(Value) + static_cast<size_t>(payload_.rep->bytes) : sizeof(Value);
  }

 private:
  // What every shared payload starts with; the payload itself follows (value.cc).
  struct Rep {
    std::atomic<uint32_t> refs{1};
    uint16_t depth = 0;
    bool charged = false;  // somebody answers for it: a path's objects, a shared text
    uint64_t bytes = 0;  // of the payload, saturated at half of the range; of a path its flat ones
  };
  friend struct ValueReps;  // value.cc
  friend class PathNode;
  friend class PathMaker;
  Value(ValueKind kind, int64_t integer) : kind_(kind) { payload_.integer = integer; }
  Value(ValueKind kind, Rep* rep) : kind_(kind) { payload_.rep = rep; }
  static Value Real(ValueKind kind, double v) {
    Value value(kind, int64_t{0});
    value.payload_.real = v;
    return value;
  }
  static constexpr uint32_t Bit(ValueKind kind) { return uint32_t{1} << static_cast<int>(kind); }
  bool has_rep() const {
    constexpr uint32_t kShared =
        Bit(ValueKind::kBigInt) | Bit(ValueKind::kBigDecimal) | Bit(ValueKind::kString) |
        Bit(ValueKind::kDateTime) | Bit(ValueKind::kDuration) | Bit(ValueKind::kUuid) |
        Bit(ValueKind::kBinary) | Bit(ValueKind::kList) | Bit(ValueKind::kSet) |
        Bit(ValueKind::kMap) | Bit(ValueKind::kEdge) | Bit(ValueKind::kVertexProperty) |
        Bit(ValueKind::kProperty) | Bit(ValueKind::kPath) | Bit(ValueKind::kElement);
    return (kShared >> static_cast<int>(kind_)) & 1;
  }
  size_t NestedFlatBytes() const;
  template <typename Members>
  static StatusOr<Value> Nest(ValueKind kind, Members members, const MembersExtent& extent);
  template <typename Members>
  bool TakePayload(Members* members);
  void Release();  // drops one reference to the payload, the last one frees it

  ValueKind kind_;
  union {
    int64_t integer;
    uint64_t bits;
    double real;
    Rep* rep;
  } payload_;
};
static_assert(sizeof(Value) == 16);

// A property of a vertex; its id is stable: derived from owner and key for single properties.
struct VertexPropertyData {
  VertexRef owner;
  std::string key;
  Value value;
};

struct PropertyData {
  EdgeRef owner;
  std::string key;
  Value value;
};

// What a path is made of at once, and a copy of what is in one (Flattened).
struct PathData {
  ValueList objects;
  std::vector<std::vector<std::string>> labels;  // of the first objects; the others have none
};

// An element as a client sees it: no internal reference. For a vertex property `label` is the key
// and `properties` is empty; `value` is its value. For an edge out_* and in_* are its ends.
struct ElementData {
  enum class Type : uint8_t { kVertex = 0, kEdge = 1, kVertexProperty = 2, kProperty = 3 };
  Type type = Type::kVertex;
  Value id;
  std::string label;
  Value out_id, in_id;
  std::string out_label, in_label;
  Value value;
  ValueMap properties;  // key -> value, filled only when materialised
};

// RESOURCE_EXHAUSTED when a value of this depth would pass kMaxValueDepth: for those who refuse
// before they gather what would not fit.
Status CheckDepth(int depth);
// Paths share what they begin with, and are charged for that once: `repeat(path())` makes each
// twice as large as the one before for a few bytes. Whoever reads, compares or writes it walks all
// of it, so that an object of a path has a bound when there are paths in it.
inline constexpr uint64_t kMaxUnchargedBytes = uint64_t{64} << 20;
// RESOURCE_EXHAUSTED past it. `bytes`: as if nobody shared anything.
Status CheckUncharged(uint64_t bytes);

// The kind as users name it: "Integer", "String", "Vertex", ...
std::string_view KindName(ValueKind kind);

}  // namespace koios
