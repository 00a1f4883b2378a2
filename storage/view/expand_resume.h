// Where an expansion of SnapshotView goes on, as its cursor has it, and how many vertices it takes
// at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/status.h"
#include "storage/delta/delta.h"

namespace koios::storage {

// Vertices whose lists are found at once, at first: an expansion stops at its limit and does not
// need those behind it. Where lists are short more of them are worth their tables.
inline constexpr size_t kWindow = 64;
inline constexpr size_t kMostWindow = 1024;

// Where an expansion goes on in its row: behind so many ends of a list.
struct Resume {
  uint32_t list = 0;
  uint64_t given = 0;

  std::string Encode() const {
    std::string bytes(sizeof(list) + sizeof(given), '\0');
    std::memcpy(bytes.data(), &list, sizeof(list));
    std::memcpy(bytes.data() + sizeof(list), &given, sizeof(given));
    return bytes;
  }
  static StatusOr<Resume> Decode(std::string_view bytes) {
    Resume resume;
    if (bytes.empty()) return resume;
    if (bytes.size() != sizeof(list) + sizeof(given)) {
      return Internal("An expansion was resumed by another view.");
    }
    std::memcpy(&resume.list, bytes.data(), sizeof(list));
    std::memcpy(&resume.given, bytes.data() + sizeof(list), sizeof(given));
    return resume;
  }
};

// After a window of so many rows that gave so many ends: so many rows that, being as these were,
// half of what there is room for comes of them.
inline size_t NextWindow(size_t rows, size_t given, size_t room) {
  const size_t fitting =
      std::min(room, kMostWindow * kMostWindow) / 2 * rows / std::max<size_t>(given, 1);
  return std::clamp(fitting, kWindow, kMostWindow);
}

// Where an expansion goes on in a row that is merged: in the list of a direction and a label,
// behind so many ends of the base and the last change.
struct MergedResume {
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
  uint64_t given = 0;
  bool has_last = false;
  uint64_t last_neighbour = 0, last_edge = 0;

  void Pass(const ChangeKey& key) {
    has_last = true;
    last_neighbour = key.first;
    last_edge = key.second;
  }
  // The first change that is not passed.
  ChangeKey Next() const { return {label, last_neighbour, has_last ? last_edge + 1 : 0}; }
  std::string Encode() const {
    std::string bytes(sizeof(*this), '\0');
    std::memcpy(bytes.data(), this, sizeof(*this));
    return bytes;
  }
  static bool IsIn(std::string_view bytes) { return bytes.size() == sizeof(MergedResume); }
};
static_assert(sizeof(MergedResume) != sizeof(uint32_t) + sizeof(uint64_t), "see Resume");

}  // namespace koios::storage
