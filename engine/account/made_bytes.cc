#include "engine/account/made_bytes.h"

namespace koios::engine {

Status CheckMadeBytes(int64_t bytes, const std::string& step) {
  if (bytes <= kMaxMadeBytes) return OkStatus();
  return TooManyBytes(step + " would make a value of more than " + std::to_string(kMaxMadeBytes) +
                          " bytes, which is the fixed limit.",
                      "VALUE_TOO_LARGE", static_cast<uint64_t>(bytes), kMaxMadeBytes,
                      "Make it of fewer or smaller values.");
}

}  // namespace koios::engine
