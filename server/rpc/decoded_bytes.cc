#include "server/rpc/decoded_bytes.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <map>

namespace koios::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::MessageFactory;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kMaxDepth = 100;             // the parser's own
constexpr size_t kPlaceBytes = 16;         // in an array of pointers, which doubles
constexpr size_t kTextBytes = 64;          // a text's own, and what it has of the heap at least
constexpr size_t kUnknownFieldBytes = 64;  // kept as well, with its number
constexpr size_t kMapNodeBytes = 64;       // beside the key and the value
constexpr size_t kPackedBytes = 8;         // the largest of those that stand side by side

// Counts what one message after the other takes, those inside them as well.
class Counter {
 public:
  explicit Counter(CodedInputStream* in) : in_(in) {}

  size_t bytes() const { return bytes_; }

  // False: here the bytes are none of the type, and the parser stops.
  bool CountMessage(const Descriptor* type, int depth) {
    bytes_ += kPlaceBytes + OwnBytes(type);
    while (const uint32_t tag = in_->ReadTag()) {
      const FieldDescriptor* field =
          type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (!CountField(field, WireFormatLite::GetTagWireType(tag), depth)) return false;
    }
    return in_->BytesUntilLimit() <= 0;
  }

 private:
  bool CountField(const FieldDescriptor* field, WireFormatLite::WireType wire, int depth) {
    if (field == nullptr || !IsOf(*field, wire)) {  // both are unknown to the parser
      field = nullptr;
      bytes_ += kUnknownFieldBytes;
    } else if (field->is_packable()) {
      bytes_ += 2 * kPackedBytes;  // in an array that doubles
    }
    uint64_t number = 0;
    switch (wire) {
      case WireFormatLite::WIRETYPE_VARINT:
        return in_->ReadVarint64(&number);
      case WireFormatLite::WIRETYPE_FIXED64:
        return in_->Skip(sizeof(uint64_t));
      case WireFormatLite::WIRETYPE_FIXED32:
        return in_->Skip(sizeof(uint32_t));
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return CountLong(field, depth);
      case WireFormatLite::WIRETYPE_START_GROUP:  // of what is unknown: its fields follow
      case WireFormatLite::WIRETYPE_END_GROUP:
        bytes_ += kUnknownFieldBytes;
        return true;
    }
    return false;
  }

  static bool IsOf(const FieldDescriptor& field, WireFormatLite::WireType wire) {
    const auto type = static_cast<WireFormatLite::FieldType>(field.type());
    if (wire == WireFormatLite::WireTypeForFieldType(type)) return true;
    return field.is_packable() && wire == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
  }

  bool CountLong(const FieldDescriptor* field, int depth) {
    int size = 0;
    if (!in_->ReadVarintSizeAsInt(&size)) return false;
    if (field == nullptr || field->type() != FieldDescriptor::TYPE_MESSAGE) {
      const bool packed = field != nullptr && field->is_packable();
      if (!in_->Skip(size)) return false;
      bytes_ += kTextBytes + static_cast<size_t>(size) * (packed ? kPackedBytes : 1);
      return true;
    }
    if (depth == kMaxDepth) return false;
    const CodedInputStream::Limit limit = in_->PushLimit(size);
    const bool counted = CountMessage(field->message_type(), depth + 1);
    in_->PopLimit(limit);
    return counted;
  }

  size_t OwnBytes(const Descriptor* type) {
    if (type->options().map_entry()) return kMapNodeBytes;
    size_t& bytes = own_bytes_[type];
    if (bytes == 0) {
      const Message* empty = MessageFactory::generated_factory()->GetPrototype(type);
      bytes = std::max<size_t>(1, empty == nullptr ? kTextBytes : empty->SpaceUsedLong());
    }
    return bytes;
  }

  CodedInputStream* const in_;
  size_t bytes_ = 0;
  std::map<const Descriptor*, size_t> own_bytes_;  // of an empty one
};

}  // namespace

size_t DecodedBytes(const Descriptor* type, grpc::ByteBuffer* bytes) {
  // A reader lets go of a buffer as it is read, but of a copy, which shares the bytes.
  grpc::ByteBuffer shared(*bytes);
  grpc::ProtoBufferReader reader(&shared);
  if (!reader.status().ok()) return 0;
  CodedInputStream in(&reader);
  Counter counter(&in);
  (void)counter.CountMessage(type, 0);  // as far as it is one
  return counter.bytes();
}

}  // namespace koios::server
