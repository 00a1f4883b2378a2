// FreeRoom: what a list, a text or a table has allocated is gone, before its charge is given back.
// Assigning {} to one of them empties it and keeps its room.
#pragma once

namespace koios::engine {

template <typename Container>
void FreeRoom(Container* container) {
  Container().swap(*container);
}

}  // namespace koios::engine
