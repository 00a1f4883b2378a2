#include "core/value_proto.h"

#include <limits>

#include "absl/container/flat_hash_set.h"
#include "core/big_number.h"
#include "core/path/path.h"
#include "core/text/text.h"
#include "core/value_compare.h"
#include "proto/value.pb.h"

namespace koios {
namespace {

using ElementType = ElementData::Type;

// Protobuf refuses messages with ill-formed UTF-8 as a whole: one bad string would lose them all.
std::string Utf8(const std::string& text) { return IsValidUtf8(text) ? text : ToValidUtf8(text); }

v1::Token TokenToProto(Token token) {
  switch (token) {
    case Token::kId:
      return v1::ID;
    case Token::kLabel:
      return v1::LABEL;
    case Token::kKey:
      return v1::KEY;
    case Token::kValue:
      return v1::VALUE;
  }
  return v1::ID;
}

v1::Direction DirectionToProto(Direction direction) {
  switch (direction) {
    case Direction::kOut:
      return v1::OUT;
    case Direction::kIn:
      return v1::IN;
    case Direction::kBoth:
      return v1::BOTH;
  }
  return v1::OUT;
}

void UuidToProto(const Uuid& uuid, std::string* out) {
  for (const uint64_t half : {uuid.high, uuid.low}) {
    for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(half >> shift));
  }
}

// Writes one value, and counts the bytes that it takes at least.
class Writer {
 public:
  explicit Writer(WorkCheck* work) : work_(work) {}

  Status Write(const Value& value, v1::Value* out);

 private:
  static constexpr uint64_t kLeastBytes = 4;  // of a value in a value

  Status Spend(uint64_t bytes) { return work_ == nullptr ? OkStatus() : work_->Spend(bytes); }
  Status WriteText(const Value& value, v1::Value* out);
  void WriteTime(const Value& value, v1::Value* out);
  Status WriteList(const ValueList& list, v1::ValueList* out);
  Status WriteMap(const ValueMap& map, v1::ValueMap* out);
  Status WritePath(const PathObjects& path, v1::Path* out);
  Status WriteProperty(const Value& key, const Value& value, v1::Property* out);
  template <typename Message>
  Status WriteProperties(const ValueMap& properties, Message* out);
  Status WriteElement(const ElementData& e, v1::Value* out);

  WorkCheck* const work_;
};

Status Writer::WriteList(const ValueList& list, v1::ValueList* out) {
  for (const Value& v : list) RETURN_IF_ERROR(Write(v, out->add_items()));
  return OkStatus();
}

Status Writer::WriteMap(const ValueMap& map, v1::ValueMap* out) {
  for (const auto& [key, value] : map) {
    v1::MapEntry* entry = out->add_entries();
    RETURN_IF_ERROR(Write(key, entry->mutable_key()));
    RETURN_IF_ERROR(Write(value, entry->mutable_value()));
  }
  return OkStatus();
}

Status Writer::WritePath(const PathObjects& path, v1::Path* out) {
  for (size_t i = 0; i < path.size(); ++i) {
    RETURN_IF_ERROR(Write(path[i], out->add_objects()));
    v1::PathLabels* labels = out->add_labels();
    for (const std::string& label : path.LabelsOf(i)) labels->add_labels(Utf8(label));
  }
  return OkStatus();
}

// One property of a materialised element. A vertex's may be vertex properties with ids.
Status Writer::WriteProperty(const Value& key, const Value& value, v1::Property* out) {
  if (key.kind() != ValueKind::kString) return Internal("A property's key is no string.");
  out->set_key(Utf8(key.AsString()));
  if (value.kind() == ValueKind::kElement &&
      value.AsElement().type == ElementType::kVertexProperty) {
    RETURN_IF_ERROR(Write(value.AsElement().value, out->mutable_value()));
    return Write(value.AsElement().id, out->mutable_id());
  }
  return Write(value, out->mutable_value());
}

template <typename Message>
Status Writer::WriteProperties(const ValueMap& properties, Message* out) {
  for (const auto& [key, value] : properties) {
    RETURN_IF_ERROR(WriteProperty(key, value, out->add_properties()));
  }
  return OkStatus();
}

Status Writer::WriteElement(const ElementData& e, v1::Value* out) {
  switch (e.type) {
    case ElementType::kVertex: {
      v1::Vertex* vertex = out->mutable_vertex_value();
      RETURN_IF_ERROR(Write(e.id, vertex->mutable_id()));
      vertex->set_label(Utf8(e.label));
      return WriteProperties(e.properties, vertex);
    }
    case ElementType::kEdge: {
      v1::Edge* edge = out->mutable_edge_value();
      RETURN_IF_ERROR(Write(e.id, edge->mutable_id()));
      edge->set_label(Utf8(e.label));
      RETURN_IF_ERROR(Write(e.out_id, edge->mutable_out_id()));
      edge->set_out_label(Utf8(e.out_label));
      RETURN_IF_ERROR(Write(e.in_id, edge->mutable_in_id()));
      edge->set_in_label(Utf8(e.in_label));
      return WriteProperties(e.properties, edge);
    }
    case ElementType::kVertexProperty: {
      v1::VertexProperty* property = out->mutable_vertex_property_value();
      RETURN_IF_ERROR(Write(e.id, property->mutable_id()));
      property->set_key(Utf8(e.label));
      return Write(e.value, property->mutable_value());
    }
    case ElementType::kProperty:
      out->mutable_property_value()->set_key(Utf8(e.label));
      return Write(e.value, out->mutable_property_value()->mutable_value());
  }
  return Internal("An element of unknown type.");
}

Status Writer::WriteText(const Value& value, v1::Value* out) {
  RETURN_IF_ERROR(Spend(value.AsString().size()));
  if (value.kind() == ValueKind::kBinary) {
    out->set_binary_value(value.AsString());
  } else {
    out->set_string_value(Utf8(value.AsString()));
  }
  return OkStatus();
}

void Writer::WriteTime(const Value& value, v1::Value* out) {
  if (value.kind() == ValueKind::kDuration) {
    out->mutable_duration_value()->set_seconds(value.AsDuration().seconds);
    return out->mutable_duration_value()->set_nanos(value.AsDuration().nanos);
  }
  out->mutable_datetime_value()->set_seconds(value.AsDateTime().seconds);
  out->mutable_datetime_value()->set_nanos(value.AsDateTime().nanos);
  out->mutable_datetime_value()->set_offset_seconds(value.AsDateTime().offset_seconds);
}

Status Writer::Write(const Value& value, v1::Value* out) {
  RETURN_IF_ERROR(Spend(kLeastBytes));
  switch (value.kind()) {
    case ValueKind::kNull:
      out->mutable_null();
      return OkStatus();
    case ValueKind::kBool:
      out->set_bool_value(value.AsBool());
      return OkStatus();
    case ValueKind::kByte:
      out->set_byte_value(static_cast<int32_t>(value.AsInteger()));
      return OkStatus();
    case ValueKind::kShort:
      out->set_short_value(static_cast<int32_t>(value.AsInteger()));
      return OkStatus();
    case ValueKind::kInt:
      out->set_int_value(static_cast<int32_t>(value.AsInteger()));
      return OkStatus();
    case ValueKind::kLong:
      out->set_long_value(value.AsInteger());
      return OkStatus();
    case ValueKind::kBigInt:
      out->set_bigint_value(value.AsBigNumber().ToString());
      return OkStatus();
    case ValueKind::kBigDecimal:
      out->set_bigdecimal_value(value.AsBigNumber().ToString());
      return OkStatus();
    case ValueKind::kFloat:
      out->set_float_value(static_cast<float>(value.AsDouble()));
      return OkStatus();
    case ValueKind::kDouble:
      out->set_double_value(value.AsDouble());
      return OkStatus();
    case ValueKind::kString:
    case ValueKind::kBinary:
      return WriteText(value, out);
    case ValueKind::kChar:
      out->set_char_value(value.AsChar());
      return OkStatus();
    case ValueKind::kDateTime:
    case ValueKind::kDuration:
      WriteTime(value, out);
      return OkStatus();
    case ValueKind::kUuid:
      UuidToProto(value.AsUuid(), out->mutable_uuid_value());
      return OkStatus();
    case ValueKind::kList:
      return WriteList(value.AsList(), out->mutable_list_value());
    case ValueKind::kSet:
      return WriteList(value.AsList(), out->mutable_set_value());
    case ValueKind::kMap:
      return WriteMap(value.AsMap(), out->mutable_map_value());
    case ValueKind::kPath:
      return WritePath(PathObjects(value.AsPath()), out->mutable_path_value());
    case ValueKind::kElement:
      return WriteElement(value.AsElement(), out);
    case ValueKind::kToken:
      out->set_token_value(TokenToProto(value.AsToken()));
      return OkStatus();
    case ValueKind::kDirection:
      out->set_direction_value(DirectionToProto(value.AsDirection()));
      return OkStatus();
    case ValueKind::kVertex:
    case ValueKind::kEdge:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
      break;
  }
  return Internal("An internal reference must not leave the server.");
}

Status Invalid(std::string_view what) {
  return InvalidArgument("A value in the request is not well-formed: " + std::string(what) + ".");
}

// Reads one value; `depth` is how many containers are around it.
class Reader {
 public:
  StatusOr<Value> Read(const v1::Value& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth));
    switch (v.kind_case()) {
      case v1::Value::kNull:
        return Value::Null();
      case v1::Value::kBoolValue:
        return Value::Bool(v.bool_value());
      case v1::Value::kByteValue:
        return ReadByte(v.byte_value());
      case v1::Value::kShortValue:
        return ReadShort(v.short_value());
      case v1::Value::kIntValue:
        return Value::Int(v.int_value());
      case v1::Value::kLongValue:
        return Value::Long(v.long_value());
      case v1::Value::kBigintValue:
        return ReadBig(BigNumber::ParseInteger(v.bigint_value()));
      case v1::Value::kBigdecimalValue:
        return ReadBig(BigNumber::ParseDecimal(v.bigdecimal_value()));
      case v1::Value::kFloatValue:
        return Value::Float(v.float_value());
      case v1::Value::kDoubleValue:
        return Value::Double(v.double_value());
      case v1::Value::kStringValue:
        return Value::String(v.string_value());
      case v1::Value::kBinaryValue:
        return Value::Binary(v.binary_value());
      case v1::Value::kCharValue:
      case v1::Value::kDatetimeValue:
      case v1::Value::kDurationValue:
      case v1::Value::kUuidValue:
      case v1::Value::kTokenValue:
      case v1::Value::kDirectionValue:
        return ReadSmall(v);
      case v1::Value::kListValue:
        return ReadList(v.list_value(), depth);
      case v1::Value::kSetValue:
        return ReadSet(v.set_value(), depth);
      case v1::Value::kMapValue:
        return ReadMap(v.map_value(), depth);
      case v1::Value::kPathValue:
        return ReadPath(v.path_value(), depth);
      case v1::Value::kVertexValue:
      case v1::Value::kEdgeValue:
      case v1::Value::kVertexPropertyValue:
      case v1::Value::kPropertyValue:
        return ReadElement(v, depth);
      case v1::Value::KIND_NOT_SET:
        return Invalid("it has no kind");
    }
    return Invalid("its kind is unknown");
  }

 private:
  static StatusOr<Value> ReadByte(int32_t v) {
    if (v < INT8_MIN || v > INT8_MAX) return Invalid("a byte is out of range");
    return Value::Byte(static_cast<int8_t>(v));
  }

  static StatusOr<Value> ReadShort(int32_t v) {
    if (v < INT16_MIN || v > INT16_MAX) return Invalid("a short is out of range");
    return Value::Short(static_cast<int16_t>(v));
  }

  static StatusOr<Value> ReadBig(StatusOr<BigNumber> number) {
    if (!number.ok()) return number.status();
    return Value::Of(std::move(number).value());
  }

  static bool BadNanos(int32_t nanos) { return nanos < 0 || nanos > 999'999'999; }

  // The small kinds whose range must be checked.
  static StatusOr<Value> ReadSmall(const v1::Value& v) {
    if (v.has_char_value()) {
      if (v.char_value() > 0x10FFFF) return Invalid("a char is no code point");
      return Value::Char(static_cast<char32_t>(v.char_value()));
    }
    if (v.has_datetime_value()) {
      const v1::DateTime& d = v.datetime_value();
      if (BadNanos(d.nanos())) return Invalid("a datetime's nanos are out of range");
      return Value::Of(DateTime{d.seconds(), d.nanos(), d.offset_seconds()});
    }
    if (v.has_duration_value()) {
      const v1::Duration& d = v.duration_value();
      if (BadNanos(d.nanos())) return Invalid("a duration's nanos are out of range");
      return Value::Of(Duration{d.seconds(), d.nanos()});
    }
    if (v.has_uuid_value()) return ReadUuid(v.uuid_value());
    if (v.has_token_value()) {
      if (!v1::Token_IsValid(v.token_value())) return Invalid("a token is unknown");
      return Value::Of(static_cast<Token>(v.token_value()));
    }
    if (!v1::Direction_IsValid(v.direction_value())) return Invalid("a direction is unknown");
    return Value::Of(static_cast<Direction>(v.direction_value()));
  }

  static StatusOr<Value> ReadUuid(const std::string& bytes) {
    if (bytes.size() != 16) return Invalid("a uuid has not 16 bytes");
    Uuid uuid;
    for (size_t i = 0; i < 16; ++i) {
      uint64_t& half = i < 8 ? uuid.high : uuid.low;
      half = half << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return Value::Of(uuid);
  }

  Status ReadValues(const google::protobuf::RepeatedPtrField<v1::Value>& items, int depth,
                    ValueList* out) {
    out->reserve(static_cast<size_t>(items.size()));
    for (const v1::Value& item : items) {
      ASSIGN_OR_RETURN(Value v, Read(item, depth + 1));
      out->push_back(std::move(v));
    }
    return OkStatus();
  }

  StatusOr<Value> ReadList(const v1::ValueList& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth + 1));
    ValueList list;
    RETURN_IF_ERROR(ReadValues(v.items(), depth, &list));
    return Value::List(std::move(list));
  }

  StatusOr<Value> ReadSet(const v1::ValueList& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth + 1));
    ValueList list;
    RETURN_IF_ERROR(ReadValues(v.items(), depth, &list));
    return MakeSet(std::move(list));
  }

  StatusOr<Value> ReadMap(const v1::ValueMap& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth + 1));
    ValueMap map;
    absl::flat_hash_set<Value, ValueHash, ValueEquivalent> keys;
    for (const v1::MapEntry& entry : v.entries()) {
      ASSIGN_OR_RETURN(Value key, Read(entry.key(), depth + 1));
      if (!keys.insert(key).second) return Invalid("a map has a key twice");
      ASSIGN_OR_RETURN(Value value, Read(entry.value(), depth + 1));
      map.emplace_back(std::move(key), std::move(value));
    }
    return Value::Map(std::move(map));
  }

  StatusOr<Value> ReadPath(const v1::Path& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth + 1));
    if (v.labels_size() != v.objects_size()) return Invalid("a path lacks labels");
    PathData path;
    RETURN_IF_ERROR(ReadValues(v.objects(), depth, &path.objects));
    for (const v1::PathLabels& labels : v.labels()) {
      path.labels.emplace_back(labels.labels().begin(), labels.labels().end());
    }
    return Value::Of(std::move(path));
  }

  Status ReadProperties(const google::protobuf::RepeatedPtrField<v1::Property>& properties,
                        int depth, ValueMap* out) {
    absl::flat_hash_set<std::string> keys;
    for (const v1::Property& property : properties) {
      if (!keys.insert(property.key()).second) return Invalid("an element has a key twice");
      ASSIGN_OR_RETURN(Value value, ReadProperty(property, depth));
      out->emplace_back(Value::String(property.key()), std::move(value));
    }
    return OkStatus();
  }

  // With an id it is a vertex property, else a bare value.
  StatusOr<Value> ReadProperty(const v1::Property& property, int depth) {
    if (!property.has_id()) return Read(property.value(), depth + 1);
    RETURN_IF_ERROR(CheckDepth(depth + 2));
    ElementData e;
    e.type = ElementType::kVertexProperty;
    e.label = property.key();
    ASSIGN_OR_RETURN(e.id, Read(property.id(), depth + 2));
    ASSIGN_OR_RETURN(e.value, Read(property.value(), depth + 2));
    return Value::Of(std::move(e));
  }

  StatusOr<Value> ReadElement(const v1::Value& v, int depth) {
    RETURN_IF_ERROR(CheckDepth(depth + 1));
    ElementData e;
    if (v.has_vertex_value()) {
      const v1::Vertex& vertex = v.vertex_value();
      e.type = ElementType::kVertex;
      e.label = vertex.label();
      ASSIGN_OR_RETURN(e.id, Read(vertex.id(), depth + 1));
      RETURN_IF_ERROR(ReadProperties(vertex.properties(), depth, &e.properties));
    } else if (v.has_edge_value()) {
      const v1::Edge& edge = v.edge_value();
      e.type = ElementType::kEdge;
      e.label = edge.label();
      e.out_label = edge.out_label();
      e.in_label = edge.in_label();
      ASSIGN_OR_RETURN(e.id, Read(edge.id(), depth + 1));
      ASSIGN_OR_RETURN(e.out_id, Read(edge.out_id(), depth + 1));
      ASSIGN_OR_RETURN(e.in_id, Read(edge.in_id(), depth + 1));
      RETURN_IF_ERROR(ReadProperties(edge.properties(), depth, &e.properties));
    } else if (v.has_vertex_property_value()) {
      const v1::VertexProperty& property = v.vertex_property_value();
      e.type = ElementType::kVertexProperty;
      e.label = property.key();
      ASSIGN_OR_RETURN(e.id, Read(property.id(), depth + 1));
      ASSIGN_OR_RETURN(e.value, Read(property.value(), depth + 1));
    } else {
      e.type = ElementType::kProperty;
      e.label = v.property_value().key();
      ASSIGN_OR_RETURN(e.value, Read(v.property_value().value(), depth + 1));
    }
    return Value::Of(std::move(e));
  }
};

}  // namespace

Status CheckSentDepth(const Value& value) {
  if (value.depth() <= kMaxSentDepth) return OkStatus();
  ErrorDetail detail;
  detail.reason = "VALUE_TOO_DEEP";
  detail.limit = std::to_string(kMaxSentDepth) + " levels";
  detail.used = std::to_string(value.depth()) + " levels";
  detail.setting = "none: the limit is fixed";
  return ResourceExhausted("A value nests lists, sets, maps or paths " + detail.used +
                               " deep; at most " + detail.limit + " can be stored or sent.",
                           detail);
}

Status ToProto(const Value& value, v1::Value* out, WorkCheck* work) {
  return Writer(work).Write(value, out);
}

StatusOr<Value> FromProto(const v1::Value& value) { return Reader().Read(value, 0); }

}  // namespace koios
