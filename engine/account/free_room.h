// FreeRoom: what a list, a text or a table has allocated is gone, before its charge is given back.
// Assigning {} to one of them empties it and keeps its room.
#pragma once

#include <iterator>
#include <vector>

#include "core/memory/charged_growth.h"

namespace koios::engine {

template <typename Container>
void FreeRoom(Container* container) {
  Container().swap(*container);
}

// Moves what `from` has to the end of `to`, which has room, and gives the room of `from` back.
template <typename T, typename Charge>
void MoveAll(std::vector<T>* from, std::vector<T>* to, Charge* charge) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
  const int64_t room = RoomOf(*from);
  FreeRoom(from);
  charge->Return(room);
}

}  // namespace koios::engine
