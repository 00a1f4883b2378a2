#include "engine/expr/made_value.h"

#include "core/print/java_print.h"

namespace koios::engine {

StatusOr<std::string> MadeText(const Value& value, const std::string& step) {
  std::string text = PrintAsJava(value, kMaxMadeBytes);
  RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(text.size()), step));
  return text;
}

}  // namespace koios::engine
