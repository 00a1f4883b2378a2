// Where rows come from: Inject, Partitions, Scan, Lookup.
#pragma once

#include "engine/op/operator.h"
#include "storage/index/vertex_seek.h"

namespace koios::engine {

StatusOr<OperatorBundle> MakeInject(const plan::Inject& op, OperatorHost* host);
OperatorBundle MakePartitions(OperatorHost* host);
StatusOr<OperatorBundle> MakeScan(const plan::Scan& op, OperatorHost* host);
OperatorBundle MakeLookup(const plan::Lookup& op, OperatorHost* host);

// Interned ids of those labels that the graph knows. `unknown_only`: labels were asked for, and the
// graph knows none of them, so that nothing can match.
std::vector<LabelId> FindLabels(OperatorHost* host,
                                const google::protobuf::RepeatedPtrField<std::string>& names,
                                bool* unknown_only);

// What is sought of the keys of an index.
StatusOr<std::vector<storage::SoughtKey>> DecodeSought(const plan::Seek& seek);

}  // namespace koios::engine
