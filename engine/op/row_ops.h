// Row by row without state: Filter, Project, Unfold.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeFilter(const plan::Filter& op, uint32_t num_slots, OperatorHost* host);
StatusOr<OperatorBundle> MakeProject(const plan::Project& op, uint32_t num_slots,
                                     OperatorHost* host);
OperatorBundle MakeUnfold();

}  // namespace koios::engine
