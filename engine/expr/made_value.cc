#include "engine/expr/made_value.h"

#include "core/print/java_print.h"

namespace koios::engine {

Status CheckMadeBytes(int64_t bytes, const std::string& step) {
  if (bytes <= kMaxMadeBytes) return OkStatus();
  return TooManyBytes(step + " would make a value of more than " + std::to_string(kMaxMadeBytes) +
                          " bytes, which is the fixed limit.",
                      "VALUE_TOO_LARGE", static_cast<uint64_t>(bytes), kMaxMadeBytes,
                      "Make it of fewer or smaller values.");
}

StatusOr<std::string> MadeText(const Value& value, const std::string& step) {
  std::string text = PrintAsJava(value, kMaxMadeBytes);
  RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(text.size()), step));
  return text;
}

}  // namespace koios::engine
