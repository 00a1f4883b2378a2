#include "planner/plan_holes.h"

#include <cstring>
#include <string_view>

#include "core/value_codec.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "planner/plan_value.h"

namespace koios::planner {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// No value's encoding begins so: it would be its kind.
constexpr char kMark = '\xff';

struct Mark {
  char mark = kMark;
  bool as_id = false;
  uint16_t unused = 0;
  uint32_t index = 0;
};

bool IsMark(const std::string& bytes, Mark* mark) {
  if (bytes.size() != sizeof(Mark) || bytes[0] != kMark) return false;
  std::memcpy(mark, bytes.data(), sizeof(Mark));
  return true;
}

Value AsId(const Value& id) {
  const bool integer = id.kind() >= ValueKind::kByte && id.kind() <= ValueKind::kLong;
  return integer ? Value::Long(id.AsInteger()) : id;
}

// About what a constant is once it is decoded; a small one is its operator's.
size_t DecodedBytes(const std::string& bytes) {
  constexpr size_t kSmall = 256;
  if (bytes.size() <= kSmall) return 0;
  const StatusOr<Value> value = DecodeWholeValue(bytes);
  return value.ok() ? value->FlatBytes() : 0;
}

class Finder {
 public:
  Finder(const std::vector<std::string>& names, PlanConstants* constants)
      : names_(names), constants_(constants) {}

  void Visit(const Message& message) {
    const Reflection& reflection = *message.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const FieldDescriptor* field : fields) {
      const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      if (!is_message && field->type() != FieldDescriptor::TYPE_BYTES) continue;
      const int size = field->is_repeated() ? reflection.FieldSize(message, field) : -1;
      for (int i = size < 0 ? -1 : 0; i < size || i < 0; ++i) {
        path_.emplace_back(field->number(), i);
        if (is_message) {
          Visit(i < 0 ? reflection.GetMessage(message, field)
                      : reflection.GetRepeatedMessage(message, field, i));
        } else {
          std::string scratch;
          Take(i < 0 ? reflection.GetStringReference(message, field, &scratch)
                     : reflection.GetRepeatedStringReference(message, field, i, &scratch));
        }
        path_.pop_back();
        if (i < 0) break;
      }
    }
  }

 private:
  void Take(const std::string& bytes) {
    Mark mark;
    if (IsMark(bytes, &mark)) {
      constants_->holes.push_back({path_, names_.at(mark.index), mark.as_id});
    } else {
      constants_->decoded_bytes += DecodedBytes(bytes);
    }
  }

  const std::vector<std::string>& names_;
  PlanConstants* const constants_;
  std::vector<std::pair<int, int>> path_;
};

void PutBytes(const PlanHole& hole, std::string bytes, Message* message) {
  for (size_t i = 0;; ++i) {
    const auto [number, index] = hole.path[i];
    const Reflection& reflection = *message->GetReflection();
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByNumber(number);
    if (i + 1 == hole.path.size()) {
      if (index < 0) return reflection.SetString(message, field, std::move(bytes));
      return reflection.SetRepeatedString(message, field, index, std::move(bytes));
    }
    message = index < 0 ? reflection.MutableMessage(message, field)
                        : reflection.MutableRepeatedMessage(message, field, index);
  }
}

}  // namespace

std::string Encoded(const PlanValue& value, bool as_id) {
  if (value.use() == nullptr) return EncodeValue(as_id ? AsId(value) : value.Look());
  Mark mark;
  mark.as_id = as_id;
  mark.index = value.use()->index;
  return std::string(reinterpret_cast<const char*>(&mark), sizeof(mark));
}

PlanConstants FindConstants(const plan::Plan& plan, const std::vector<std::string>& names) {
  constexpr size_t kSmallPlan = 4096;
  PlanConstants constants;
  if (!names.empty() || plan.ByteSizeLong() > kSmallPlan) Finder(names, &constants).Visit(plan);
  return constants;
}

Status CheckNamedAgain(uint64_t bytes, uint64_t limit) {
  if (bytes <= limit) return OkStatus();
  return TooManyBytes(
      "The values of parameters that the traversal names more than once take " +
          std::to_string(bytes) + " bytes again; the limit is " + std::to_string(limit) + " bytes.",
      "REQUEST_TOO_LARGE", bytes, limit,
      "Name a large one once, in withSideEffect(), and that where it is needed.", "request-mb");
}

size_t BytesInHoles(const std::vector<PlanHole>& holes,
                    const std::map<std::string, Value>& parameters) {
  std::map<std::string, size_t> of_one;
  size_t bytes = 0;
  for (const PlanHole& hole : holes) {
    const auto [found, is_new] = of_one.try_emplace(hole.parameter);
    if (is_new) found->second = parameters.at(hole.parameter).FlatBytes();
    bytes += found->second;
  }
  return bytes;
}

void PutValues(const std::vector<PlanHole>& holes, const std::map<std::string, Value>& parameters,
               plan::Plan* plan) {
  for (const PlanHole& hole : holes) {
    const Value& value = parameters.at(hole.parameter);
    PutBytes(hole, EncodeValue(hole.as_id ? AsId(value) : value), plan);
  }
}

}  // namespace koios::planner
