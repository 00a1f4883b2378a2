#include "engine/scope/homes.h"

#include <utility>

namespace koios::engine {

Home* Homes::BeginRoot() { return Add(0, 0, 1)->homes.data(); }

Parked* Homes::Begin(uint32_t enter, size_t count) {
  const uint64_t first_serial = next_serial_;
  next_serial_ += count;
  return Add(enter, first_serial, count);
}

Parked* Homes::Add(uint32_t enter, uint64_t first_serial, size_t count) {
  auto parked = std::make_unique<Parked>();
  parked->enter = enter;
  parked->first_serial = first_serial;
  parked->homes.resize(count);
  parked->num_open = count;
  for (size_t row = 0; row < count; ++row) {
    parked->homes[row].parked = parked.get();
    parked->homes[row].row = static_cast<uint32_t>(row);
  }
  last_ = parked.get();
  parked_.emplace_hint(parked_.end(), first_serial, std::move(parked));
  return last_;
}

Home* Homes::Find(uint64_t serial) {
  const auto holds = [serial](const Parked& parked) {
    return serial >= parked.first_serial && serial - parked.first_serial < parked.homes.size();
  };
  if (last_ == nullptr || !holds(*last_)) {
    auto after = parked_.upper_bound(serial);
    if (after == parked_.begin()) return nullptr;
    Parked* parked = (--after)->second.get();
    if (!holds(*parked)) return nullptr;
    last_ = parked;
  }
  Home* home = &last_->homes[serial - last_->first_serial];
  return home->over ? nullptr : home;
}

int64_t Homes::End(Home* home) {
  Parked* parked = home->parked;
  home->over = true;
  home->weight.Clear();
  home->pending.clear();
  if (--parked->num_open > 0) return 0;
  const int64_t charged = parked->charged;
  last_ = nullptr;
  parked_.erase(parked->first_serial);
  return charged;
}

int64_t Homes::Charged() const {
  int64_t charged = 0;
  for (const auto& [serial, parked] : parked_) charged += parked->charged;
  return charged;
}

}  // namespace koios::engine
