// What a query's operators did, as messages and as the text table that profile() prints.
#pragma once

#include <string>

#include "engine/engine.h"
#include "proto/plan.pb.h"
#include "proto/service.pb.h"

namespace koios::server {

// One entry per operator of the plan, in its order.
void FillProfile(const plan::Plan& plan, const engine::QueryResult& result, v1::Summary* summary);

// Columns aligned by spaces, a line per operator, a last line with the total.
std::string ProfileText(const v1::Summary& summary);

}  // namespace koios::server
