// CountOthers: of out().where(neq('a')).count() how many ends each vertex has that are not the
// vertex in the row's slot. The lists are looked at where they stand; no row is made of an end.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

// REQUIRES: other_than_slot is not 0.
OperatorBundle MakeCountOthers(const plan::Expand& op, OperatorHost* host);

}  // namespace koios::engine
