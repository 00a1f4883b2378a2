// Merge: rows of an instance and iteration that are equal in all slots become one, bulks added.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeMerge(const plan::Merge& op, OperatorHost* host);

}  // namespace koios::engine
