#include "engine/op/operator.h"

#include <algorithm>
#include <utility>

namespace koios::engine {

ErrorDetail DetailFor(const plan::Operator& op) {
  ErrorDetail detail;
  detail.step = op.step();
  detail.span = {op.position().line(), op.position().column(), op.position().length()};
  return detail;
}

size_t OutputRoom(const Batch& input, const std::vector<bool>& drops) {
  size_t bytes = 0, path_bytes = 0;
  for (size_t slot = 1; slot < input.slots.size(); ++slot) {
    if (drops[slot]) continue;
    bytes += input.slots[slot].FlatByteSize();
    path_bytes += PathBytes(input.slots[slot]);
  }
  const size_t room = RowLimit(bytes + path_bytes, input.rows);
  if (path_bytes <= bytes || input.rows <= room) return room;
  const size_t parts = input.rows > 2 * room ? (input.rows + room - 1) / room : 1;
  return (input.rows + parts - 1) / parts;
}

Batch OutputBatch(const Batch& input, const std::vector<bool>& drops, OpOutput* output) {
  Batch batch;
  batch.rows = output->rows(input);
  batch.slots.resize(drops.size());
  for (size_t slot = 0; slot < input.slots.size(); ++slot) {
    if (static_cast<int>(slot) == output->slot || input.slots[slot].empty()) continue;
    if (drops[slot]) continue;
    if (output->identity) {
      batch.slots[slot] = input.slots[slot];
    } else {
      batch.slots[slot] = input.slots[slot].Gather(output->origin);
    }
  }
  if (output->slot >= 0 && !drops[static_cast<size_t>(output->slot)]) {
    batch.slots[static_cast<size_t>(output->slot)] = std::move(output->column);
  }
  if (output->has_bulk) {
    batch.bulk = std::move(output->bulk);
  } else if (output->identity) {
    batch.bulk = input.bulk;
  } else if (!input.bulk.empty()) {
    batch.bulk.resize(batch.rows);
    for (size_t row = 0; row < batch.rows; ++row) {
      batch.bulk[row] = input.bulk[output->origin[row]];
    }
  }
  return batch;
}

}  // namespace koios::engine
