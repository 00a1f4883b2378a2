#include "engine/account/values_left.h"

#include <variant>

#include "core/memory/charged_growth.h"

namespace koios::engine {
namespace {

// What is freed in one call, and what is freed whole.
constexpr size_t kBytesPerCall = 128 * 1024;
constexpr size_t kBytesOfLarge = 16 * 1024;

}  // namespace

void ValuesLeft::Add(const Column& column) {
  if (column.kind() != Column::Kind::kValue) return;
  ValueList values;
  values.reserve(column.size());
  for (size_t row = 0; row < column.size(); ++row) values.push_back(column.ValueAt(row));
  Add(std::move(values));
}

size_t ValuesLeft::Free(Value value) {
  const size_t bytes = value.ByteSize();
  if (bytes < kBytesOfLarge) return bytes - sizeof(Value);
  if (ValueList list; value.TakeMembers(&list)) {
    Add(std::move(list));
    return 0;
  }
  if (ValueMap map; value.TakeMembers(&map)) {
    Add(std::move(map));
    return 0;
  }
  // Somebody else has it, too.
  if (value.is_collection() || value.kind() == ValueKind::kMap) return 0;
  return bytes - sizeof(Value);
}

// Deep ones first: as many lists are open as values are deep. A list's room goes with it.
bool ValuesLeft::FreeSome(int64_t* freed) {
  for (size_t work = 0; work < kBytesPerCall && !lists_.empty();) {
    auto& last = lists_.back();
    size_t bytes = 0;
    if (auto* list = std::get_if<ValueList>(&last); list != nullptr && !list->empty()) {
      Value value = std::move(list->back());
      list->pop_back();
      bytes = Free(std::move(value));
      work += sizeof(Value);
    } else if (auto* map = std::get_if<ValueMap>(&last); map != nullptr && !map->empty()) {
      auto [key, value] = std::move(map->back());
      map->pop_back();
      bytes = Free(std::move(key)) + Free(std::move(value));
      work += 2 * sizeof(Value);
    } else {
      *freed += std::visit([](const auto& room) { return RoomOf(room); }, last);
      lists_.pop_back();
    }
    work += bytes;
    *freed += static_cast<int64_t>(bytes);
  }
  return lists_.empty();
}

}  // namespace koios::engine
