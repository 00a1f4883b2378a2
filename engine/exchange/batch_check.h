// What a batch must be like where its consumer does not ask: which slots an operator reads without
// looking whether they are there, and whether the elements that came in a frame can be the graph's.
// Frames are decoded well formed, but may be another plan's or made up. Pure, any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.h"
#include "engine/batch/batch.h"
#include "storage/graph_view.h"

namespace koios::engine {

// DATA_LOSS when the batch lacks a slot that its operator needs (SlotUse), or has anything but
// ordinals in `ordinal_slot` (0: there are none).
Status CheckInput(const Batch& batch, const std::vector<uint32_t>& needed, uint32_t ordinal_slot);

// DATA_LOSS when a reference, at any depth, is of a partition or a label that the view does not
// have.
Status CheckReferences(const Batch& batch, const storage::GraphView& view);

}  // namespace koios::engine
