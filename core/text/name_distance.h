// "Did you mean ...?": the known name that is nearest to one that is unknown. Pure, any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace koios {

// Names longer than this, in bytes, are never near to anything: bounds the work per candidate.
inline constexpr size_t kMaxComparedNameBytes = 64;

// Edits that turn one into the other, case ignored: insert, delete, replace a byte, swap two
// neighbours (optimal string alignment). REQUIRES: both at most kMaxComparedNameBytes.
int NameDistance(std::string_view a, std::string_view b);

// The nearest candidate; of equals one that begins alike, then the first; nullopt when none is
// near: at most one edit for every three bytes of `name`, and one for shorter names; one more when
// a long name begins with the same half. An abbreviation is near, too, when it has half of the
// letters ("lbl" for "label").
std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string_view> candidates);
std::optional<std::string> NearestName(std::string_view name,
                                       std::span<const std::string> candidates);

}  // namespace koios
