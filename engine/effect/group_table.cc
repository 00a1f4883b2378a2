#include "engine/effect/group_table.h"

#include <algorithm>

#include "engine/account/charge_ahead.h"

namespace koios::engine {

Status GroupTable::Add(const Batch& input, size_t row, uint32_t key_slot, uint32_t value_slot,
                       ChargeAhead* charge) {
  if (!input.Has(key_slot) || input.slots[key_slot].IsAbsent(row)) return OkStatus();
  std::optional<Value> value;
  if (kind_ != plan::Group::COUNT && input.Has(value_slot) &&
      !input.slots[value_slot].IsAbsent(row)) {
    value = input.slots[value_slot].Get(row);
  }
  return Add(input.slots[key_slot].Get(row), value, input.BulkAt(row), charge);
}

Status GroupTable::Add(const Value& key, const std::optional<Value>& value, int64_t bulk,
                       ChargeAhead* charge) {
  // In a list, in a map.
  RETURN_IF_ERROR(CheckDepth(std::max(key.depth() + 1, value ? value->depth() + 2 : 0)));
  auto found = index_.find(key);
  if (found == index_.end()) {
    RETURN_IF_ERROR(
        charge->Take(static_cast<int64_t>(sizeof(Entry) + 2 * key.ByteSize() + kIndexBytes)));
    found = index_.try_emplace(key, entries_.size()).first;
    entries_.emplace_back();
    entries_.back().key = key;
  }
  Entry& entry = entries_[found->second];
  if (__builtin_add_overflow(entry.count, bulk, &entry.count)) {
    return InvalidArgument("There is more to count than a long can hold.");
  }
  if (!value.has_value()) return OkStatus();
  switch (kind_) {
    case plan::Group::COUNT:
      return OkStatus();
    case plan::Group::LIST:
      RETURN_IF_ERROR(
          charge->Take(BytesOfMany(bulk, sizeof(Value)) + static_cast<int64_t>(value->ByteSize())));
      entry.list.insert(entry.list.end(), static_cast<size_t>(bulk), *value);
      listed_ += bulk;
      return OkStatus();
    case plan::Group::LAST:
      RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(value->ByteSize())));
      if (entry.any) charge->Return(static_cast<int64_t>(entry.one.ByteSize()));
      entry.one = *value;
      entry.any = true;
      return OkStatus();
    case plan::Group::SUM:
    case plan::Group::MEAN:
      entry.any = true;
      return value->is_null() ? OkStatus() : entry.sum.Add(*value, bulk);
    case plan::Group::MIN:
    case plan::Group::MAX:
      return Extreme(*value, &entry);
    default:
      return Internal("The plan has an unknown group.");
  }
}

Status GroupTable::Extreme(const Value& value, Entry* entry) const {
  entry->any = true;  // of only nulls it is null
  ASSIGN_OR_RETURN(entry->one,
                   kind_ == plan::Group::MIN ? Min(entry->one, value) : Max(entry->one, value));
  return OkStatus();
}

StatusOr<std::optional<Value>> GroupTable::ValueAt(size_t i) const {
  const Entry& entry = entries_[i];
  switch (kind_) {
    case plan::Group::COUNT:
      return std::optional<Value>(Value::Long(entry.count));
    case plan::Group::LIST:
      return Value::List(entry.list);
    case plan::Group::SUM:
    case plan::Group::MEAN: {
      if (!entry.any) return std::optional<Value>();
      if (entry.sum.count() == 0) return std::optional<Value>(Value::Null());
      ASSIGN_OR_RETURN(Value value, kind_ == plan::Group::SUM ? entry.sum.Sum() : entry.sum.Mean());
      return std::optional<Value>(std::move(value));
    }
    default:
      if (!entry.any) return std::optional<Value>();
      return std::optional<Value>(entry.one);
  }
}

int64_t GroupTable::MapBytes() const {
  return static_cast<int64_t>(entries_.size() * sizeof(ValueMap::value_type));
}

int64_t GroupTable::CopyBytes() const {
  return MapBytes() + listed_ * static_cast<int64_t>(sizeof(Value));
}

StatusOr<std::optional<Value>> GroupTable::TakeValueAt(size_t i) {
  if (kind_ != plan::Group::LIST) return ValueAt(i);
  return Value::List(std::move(entries_[i].list));
}

template <typename ValueOf>
StatusOr<Value> GroupTable::MapOf(const ValueOf& value_of) const {
  ValueMap map;
  map.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    ASSIGN_OR_RETURN(std::optional<Value> value, value_of(i));
    if (value.has_value()) map.emplace_back(entries_[i].key, std::move(*value));
  }
  return Value::Map(std::move(map));
}

StatusOr<Value> GroupTable::Map() const {
  return MapOf([this](size_t i) { return ValueAt(i); });
}

StatusOr<Value> GroupTable::TakeMap() {
  return MapOf([this](size_t i) { return TakeValueAt(i); });
}

}  // namespace koios::engine
