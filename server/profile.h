// What a query's operators did, as messages and as the text table that profile() prints.
#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "proto/plan.pb.h"
#include "proto/service.pb.h"

namespace koios::server {

using OperatorProfiles = google::protobuf::RepeatedPtrField<v1::OperatorProfile>;

// One entry per operator of the plan, in its order. `operators`: by id.
void FillProfile(const plan::Plan& plan, const std::vector<engine::OperatorStats>& operators,
                 OperatorProfiles* profiles);

// Columns aligned by spaces, a line per operator, a last line with the total.
std::string ProfileText(const v1::Summary& summary);

}  // namespace koios::server
