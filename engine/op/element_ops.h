// From elements to elements and properties: Expand, EdgeEnd, Fetch.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

OperatorBundle MakeExpand(const plan::Expand& op, OperatorHost* host);
OperatorBundle MakeEdgeEnd(const plan::EdgeEnd& op);
OperatorBundle MakeFetch(const plan::Fetch& op, OperatorHost* host);

}  // namespace koios::engine
