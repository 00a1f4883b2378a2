// Members of sets and entries of maps in the total order of values. Each set and map in them is
// sorted once, from the inside: to sort them whenever two are compared would be exponential in the
// depth. Pure, any thread, bounded by kMaxValueDepth.
#pragma once

#include "core/value.h"

namespace koios {

ValueList Sorted(const ValueList& members);
ValueMap Sorted(const ValueMap& entries);

}  // namespace koios
