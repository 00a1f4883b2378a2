// The names of types: GType's words, and the Java names that TinkerPop registers. For typeOf() and
// asNumber(). Pure, any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/value.h"

namespace koios {

// The kinds that a name stands for, in any case; there are types that no value has. nullopt: it is
// no type's name.
std::optional<std::span<const ValueKind>> KindsOfType(std::string_view name);

// The only kind of number that the name stands for; nullopt: it stands for others, or for several.
std::optional<ValueKind> NumberKindOfType(std::string_view name);

}  // namespace koios
