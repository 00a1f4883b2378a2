#include "client/batch_decoder.h"

#include <utility>

#include "core/value_proto.h"

namespace koios::client {
namespace {

template <typename Values, typename Make>
void DecodeScalars(const Values& values, Make make, std::vector<Value>* out) {
  out->reserve(static_cast<size_t>(values.size()));
  for (const auto& value : values) out->push_back(make(value));
}

Status DecodeValues(const v1::ValueList& list, std::vector<Value>* out) {
  for (const v1::Value& item : list.items()) {
    ASSIGN_OR_RETURN(Value value, FromProto(item));
    out->push_back(std::move(value));
  }
  return OkStatus();
}

Status DecodeVertices(const v1::VertexColumn& column, std::vector<Value>* out) {
  v1::Value item;
  for (const v1::Vertex& vertex : column.values()) {
    *item.mutable_vertex_value() = vertex;
    ASSIGN_OR_RETURN(Value value, FromProto(item));
    out->push_back(std::move(value));
  }
  return OkStatus();
}

}  // namespace

Status DecodeBatch(const v1::ResultBatch& message, Batch* batch) {
  std::vector<Value>* values = &batch->values;
  values->clear();
  batch->bulk.assign(message.bulk().begin(), message.bulk().end());
  switch (message.column_case()) {
    case v1::ResultBatch::kLongs:
      DecodeScalars(message.longs().values(), &Value::Long, values);
      break;
    case v1::ResultBatch::kInts:
      DecodeScalars(message.ints().values(), &Value::Int, values);
      break;
    case v1::ResultBatch::kDoubles:
      DecodeScalars(message.doubles().values(), &Value::Double, values);
      break;
    case v1::ResultBatch::kBools:
      DecodeScalars(message.bools().values(), &Value::Bool, values);
      break;
    case v1::ResultBatch::kStrings:
      DecodeScalars(message.strings().values(), &Value::String, values);
      break;
    case v1::ResultBatch::kVertices:
      RETURN_IF_ERROR(DecodeVertices(message.vertices(), values));
      break;
    case v1::ResultBatch::kValues:
      RETURN_IF_ERROR(DecodeValues(message.values(), values));
      break;
    case v1::ResultBatch::COLUMN_NOT_SET:
      return DataLoss("A result message has no column: the server is newer than this client.");
  }
  if (!batch->bulk.empty() && batch->bulk.size() != values->size()) {
    return DataLoss("A result message has another number of bulks than results.");
  }
  return OkStatus();
}

}  // namespace koios::client
