#include "engine/effect/group_table.h"

#include <algorithm>
#include <array>

namespace koios::engine {
namespace {

// Of a list that is a value, beside its members.
size_t ListBytes() {
  static const size_t kBytes = Value::List({Value::Null()}).value().ByteSize() - 2 * sizeof(Value);
  return kBytes;
}

// With no room for what is longer, nothing.
Status Replace(const NumberSum& after, NumberSum* sum, ChargeAhead* charge) {
  RETURN_IF_ERROR(charge->Change(static_cast<int64_t>(sum->BigBytes()),
                                 static_cast<int64_t>(after.BigBytes())));
  *sum = after;
  return OkStatus();
}

}  // namespace

Status GroupTable::MakeEntryRoom(ChargeAhead* charge) {
  switch (kind_) {
    case plan::Group::LIST:
      return lists_.MakeRoom(charge);
    case plan::Group::SUM:
    case plan::Group::MEAN:
      return totals_.MakeRoom(charge);
    case plan::Group::COUNT:
      return OkStatus();
    default:
      return ones_.MakeRoom(charge);
  }
}

template <typename Index, typename Key, typename AsValue>
StatusOr<size_t> GroupTable::EntryOf(Index* index, const Key& key, const AsValue& as_value,
                                     ChargeAhead* charge) {
  if (const auto* found = index->Find(key)) return found->second;
  Value value = as_value();
  // In a list, in a map.
  RETURN_IF_ERROR(CheckDepth(value.depth() + 1));
  ASSIGN_OR_RETURN(const size_t moved, index->MakeRoom(key, charge));
  moved_ += moved;
  RETURN_IF_ERROR(keys_.MakeRoom(charge));
  RETURN_IF_ERROR(counts_.MakeRoom(charge));
  RETURN_IF_ERROR(MakeEntryRoom(charge));
  RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(value.ByteSize() - sizeof(Value))));
  const size_t number = keys_.size();
  keys_.EmplaceBack(std::move(value));
  counts_.EmplaceBack(0);
  if (kind_ == plan::Group::LIST) {
    lists_.EmplaceBack();
  } else if (kind_ == plan::Group::SUM || kind_ == plan::Group::MEAN) {
    totals_.EmplaceBack();
  } else if (kind_ != plan::Group::COUNT) {
    ones_.EmplaceBack();
  }
  if constexpr (std::is_same_v<Key, HashedView>) {
    index->Emplace(key.At(keys_.back().AsString()), number);
  } else {
    index->Emplace(key, number);
  }
  return number;
}

StatusOr<size_t> GroupTable::EntryOf(const Value& key, ChargeAhead* charge) {
  const auto as_value = [&key] { return key; };
  switch (key.kind()) {
    case ValueKind::kInt:
      return EntryOf(&ints_, static_cast<int32_t>(key.AsInteger()), as_value, charge);
    case ValueKind::kLong:
      return EntryOf(&longs_, key.AsInteger(), as_value, charge);
    case ValueKind::kString:
      return EntryOf(&strings_, HashedView(key.AsString()), as_value, charge);
    case ValueKind::kVertex:
      return EntryOf(&vertices_, key.AsVertex().bits, as_value, charge);
    default:
      return EntryOf(&others_, HashedValue(key), as_value, charge);
  }
}

Status GroupTable::CountUp(size_t entry, int64_t bulk) {
  if (__builtin_add_overflow(counts_[entry], bulk, &counts_[entry])) {
    return InvalidArgument("There is more to count than a long can hold.");
  }
  return OkStatus();
}

Status GroupTable::Add(const Value& key, const std::optional<Value>& value, int64_t bulk,
                       ChargeAhead* charge) {
  ASSIGN_OR_RETURN(const size_t entry, EntryOf(key, charge));
  if (value.has_value()) RETURN_IF_ERROR(AddValue(entry, *value, bulk, charge));
  return CountUp(entry, bulk);
}

// entries(row): of the row's key.
template <typename Entries>
Status GroupTable::AddEach(const Batch& input, RowPlace* at, size_t end, uint32_t value_slot,
                           const Entries& entries, CallWork* work, ChargeAhead* charge) {
  const bool has_values = kind_ != plan::Group::COUNT && input.Has(value_slot);
  for (; at->row < end && !work->is_over(); *at = {at->row + 1, 0}) {
    ASSIGN_OR_RETURN(const size_t entry, entries(at->row));
    int64_t bulk = input.BulkAt(at->row) - at->copy;
    bool is_whole = true;
    if (has_values && !input.slots[value_slot].IsAbsent(at->row)) {
      if (kind_ == plan::Group::LIST && bulk > 1) {
        ASSIGN_OR_RETURN(const int64_t some, CopiesOfStep(bulk, charge));
        is_whole = some == std::exchange(bulk, some);
        work->Add(static_cast<size_t>(some / kCopiesPerWork));
      }
      const Value value = input.slots[value_slot].Get(at->row);
      RETURN_IF_ERROR(AddValue(entry, value, bulk, charge));
      if (at->copy > 0) ReturnShared(value, charge);
    }
    RETURN_IF_ERROR(CountUp(entry, bulk));
    if (!is_whole) {
      at->copy += bulk;
      return OkStatus();
    }
  }
  return OkStatus();
}

// word(row): the row's key, as the index has it.
template <typename Index, typename Word>
Status GroupTable::AddIndexed(Index* index, const Word& word, const Batch& input, RowPlace* at,
                              size_t end, const Column& keys, uint32_t value_slot,
                              ChargeAhead* charge) {
  std::array<decltype(word(0)), kAhead> words;
  for (CallWork work(&moved_); at->row < end && !work.is_over();) {
    const size_t begin = at->row, count = std::min(kAhead, end - begin);
    work.Add(count * kRowWork);
    for (size_t i = 0; i < count; ++i) index->Prefetch(words[i] = word(begin + i));
    const auto entry = [&](size_t row) {
      const auto value = [&] { return keys.Get(row); };
      return EntryOf(index, words[row - begin], value, charge);
    };
    RETURN_IF_ERROR(AddEach(input, at, begin + count, value_slot, entry, &work, charge));
  }
  return OkStatus();
}

Status GroupTable::AddMixed(const Column& keys, const Batch& input, RowPlace* at, size_t end,
                            uint32_t value_slot, ChargeAhead* charge) {
  const auto entry = [&](size_t row) { return EntryOf(keys.Get(row), charge); };
  for (CallWork work(&moved_); at->row < end && !work.is_over();) {
    work.Add(kRowWork);
    if (keys.IsAbsent(at->row)) {
      ++at->row;
    } else {
      const size_t row = at->row;
      RETURN_IF_ERROR(AddEach(input, at, row + 1, value_slot, entry, &work, charge));
      if (keys.kind() == Column::Kind::kValue) work.AddLarge(keys.ValueAt(row));
    }
  }
  return OkStatus();
}

// Small integers are found in an array, once there are rows enough to be worth it.
Status GroupTable::CountInts(const Batch& input, RowPlace* at, size_t end,
                             std::span<const int32_t> keys, ChargeAhead* charge) {
  if (small_.empty() && end - at->row >= kRowsOfSmall) {
    RETURN_IF_ERROR(charge->Take(kSmall * sizeof(small_[0])));
    small_.resize(kSmall);
  }
  for (CallWork work(&moved_); at->row < end && !work.is_over(); ++at->row) {
    const int32_t key = keys[at->row];
    const auto place = static_cast<uint32_t>(key);
    if (place < small_.size() && small_[place] != 0) {
      RETURN_IF_ERROR(CountUp(small_[place] - 1, input.BulkAt(at->row)));
      continue;
    }
    ASSIGN_OR_RETURN(const size_t entry,
                     EntryOf(
                         &ints_, key, [key] { return Value::Int(key); }, charge));
    work.Add(kRowWork);
    if (place < small_.size()) small_[place] = static_cast<uint32_t>(entry) + 1;
    RETURN_IF_ERROR(CountUp(entry, input.BulkAt(at->row)));
  }
  return OkStatus();
}

Status GroupTable::AddRows(const Batch& input, RowPlace* at, size_t end, uint32_t key_slot,
                           uint32_t value_slot, ChargeAhead* charge) {
  if (!input.Has(key_slot)) {
    *at = {end, 0};
    return OkStatus();
  }
  const Column& keys = input.slots[key_slot];
  if (keys.has_absent()) return AddMixed(keys, input, at, end, value_slot, charge);
  const auto add = [&](auto* index, const auto& word) {
    return AddIndexed(index, word, input, at, end, keys, value_slot, charge);
  };
  switch (keys.kind()) {
    case Column::Kind::kInt:
      if (kind_ == plan::Group::COUNT) return CountInts(input, at, end, keys.ints(), charge);
      return add(&ints_, [ints = keys.ints()](size_t row) { return ints[row]; });
    case Column::Kind::kLong:
      return add(&longs_, [longs = keys.longs()](size_t row) { return longs[row]; });
    case Column::Kind::kString:
      return add(&strings_, [&](size_t row) { return HashedView(keys.StringAt(row)); });
    case Column::Kind::kVertex:
      return add(&vertices_, [all = keys.vertices()](size_t row) { return all[row].bits; });
    default:
      return AddMixed(keys, input, at, end, value_slot, charge);
  }
}

Status GroupTable::AddValue(size_t number, const Value& value, int64_t bulk, ChargeAhead* charge) {
  // In a list, in a map.
  RETURN_IF_ERROR(CheckDepth(value.depth() + (kind_ == plan::Group::LIST ? 2 : 1)));
  switch (kind_) {
    case plan::Group::COUNT:
      return OkStatus();
    case plan::Group::LIST:
      RETURN_IF_ERROR(lists_[number].Add(value, bulk, charge));
      listed_ += bulk;
      return OkStatus();
    case plan::Group::LAST: {
      One& one = ones_[number];
      RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(value.ByteSize())));
      if (one.any) charge->Return(static_cast<int64_t>(one.value.ByteSize()));
      one = {true, value};
      return OkStatus();
    }
    case plan::Group::SUM:
    case plan::Group::MEAN:
      totals_[number].any = true;
      if (of_shares_ && value.kind() == ValueKind::kList) return MergeInto(number, value, charge);
      return value.is_null() ? OkStatus() : AddTo(number, value, bulk, charge);
    case plan::Group::MIN:
    case plan::Group::MAX:
      return Extreme(value, &ones_[number], charge);
    default:
      return Internal("The plan has an unknown group.");
  }
}

Status GroupTable::AddTo(size_t number, const Value& value, int64_t bulk, ChargeAhead* charge) {
  NumberSum& sum = totals_[number].sum;
  if (!IsBig(value)) return sum.Add(value, bulk);
  NumberSum after = sum;
  RETURN_IF_ERROR(after.Add(value, bulk));
  return Replace(after, &sum, charge);
}

Status GroupTable::MergeInto(size_t number, const Value& saved, ChargeAhead* charge) {
  ASSIGN_OR_RETURN(const NumberSum sum, NumberSum::Load(saved));
  NumberSum after = totals_[number].sum;
  RETURN_IF_ERROR(after.Merge(sum));
  return Replace(after, &totals_[number].sum, charge);
}

Status GroupTable::Extreme(const Value& value, One* one, ChargeAhead* charge) const {
  one->any = true;  // of only nulls it is null
  ASSIGN_OR_RETURN(Value best,
                   kind_ == plan::Group::MIN ? Min(one->value, value) : Max(one->value, value));
  RETURN_IF_ERROR(charge->Change(one->value, best));
  one->value = std::move(best);
  return OkStatus();
}

StatusOr<std::optional<Value>> GroupTable::ValueAt(size_t i) const {
  switch (kind_) {
    case plan::Group::COUNT:
      return std::optional<Value>(Value::Long(counts_[i]));
    case plan::Group::LIST:
      return lists_[i].Copy();
    case plan::Group::SUM:
    case plan::Group::MEAN: {
      const Total& total = totals_[i];
      if (!total.any) return std::optional<Value>();
      if (total.sum.count() == 0) return std::optional<Value>(Value::Null());
      ASSIGN_OR_RETURN(Value value, kind_ == plan::Group::SUM ? total.sum.Sum() : total.sum.Mean());
      return std::optional<Value>(std::move(value));
    }
    default:
      if (!ones_[i].any) return std::optional<Value>();
      return std::optional<Value>(ones_[i].value);
  }
}

int64_t GroupTable::MapBytes(bool takes) const {
  size_t bytes = sizeof(ValueMap::value_type);
  if (kind_ == plan::Group::LIST) bytes += ListBytes();
  const size_t copied = takes ? 0 : static_cast<size_t>(listed_) * sizeof(Value);
  return static_cast<int64_t>(keys_.size() * bytes + copied);
}

StatusOr<bool> GroupTable::MakeReady(size_t i, ChargeAhead* charge) {
  if (kind_ != plan::Group::LIST) return true;
  ASSIGN_OR_RETURN(const bool is_ready, lists_[i].Gather(charge));
  is_gathering_ = !is_ready;
  return is_ready;
}

StatusOr<std::optional<Value>> GroupTable::TakeValueAt(size_t i) {
  if (kind_ != plan::Group::LIST) return ValueAt(i);
  return lists_[i].Take();
}

StatusOr<std::optional<Value>> GroupTable::SaveAt(size_t i) {
  if (kind_ == plan::Group::COUNT) return std::optional<Value>();
  if (kind_ == plan::Group::LIST) {
    ValueList page;
    has_more_to_save_ = lists_[i].TakePage(&page);
    return Value::List(std::move(page));
  }
  if (kind_ == plan::Group::SUM || kind_ == plan::Group::MEAN) {
    if (!totals_[i].any) return std::optional<Value>();
    return totals_[i].sum.Save();
  }
  if (!ones_[i].any) return std::optional<Value>();
  return std::optional<Value>(ones_[i].value);
}

Status GroupTable::Restore(const Value& key, const std::optional<Value>& saved, int64_t count,
                           ChargeAhead* charge) {
  ASSIGN_OR_RETURN(const size_t number, EntryOf(key, charge));
  RETURN_IF_ERROR(CountUp(number, count));
  if (!saved.has_value()) return OkStatus();
  if (kind_ == plan::Group::SUM || kind_ == plan::Group::MEAN) {
    totals_[number].any = true;
    return MergeInto(number, *saved, charge);
  }
  if (kind_ != plan::Group::LIST) return AddValue(number, *saved, 1, charge);
  if (saved->kind() != ValueKind::kList) return DataLoss("A group's list is not one any more.");
  for (const Value& value : saved->AsList()) RETURN_IF_ERROR(AddValue(number, value, 1, charge));
  return OkStatus();
}

Status GroupTable::GiveRows(uint32_t key_slot, bool takes, size_t* next, Batch* output,
                            ChargeAhead* charge) {
  constexpr size_t kMostLookedAt = 8 * kBatchRows;  // some give nothing
  output->slots.resize(std::max<size_t>(output->slots.size(), key_slot + 1));
  const size_t end = std::min(size(), *next + kMostLookedAt);
  for (size_t bytes = 0; *next < end && output->rows < kBatchRows && bytes < kBatchBytes;) {
    const size_t i = *next;
    if (takes) {
      ASSIGN_OR_RETURN(const bool is_ready, MakeReady(i, charge));
      if (!is_ready) return OkStatus();
    }
    ++*next;
    ASSIGN_OR_RETURN(const std::optional<Value> value, takes ? TakeValueAt(i) : ValueAt(i));
    if (!value.has_value()) continue;
    bytes += value->ByteSize() + keys_[i].ByteSize();
    output->slots[key_slot].Append(keys_[i]);
    output->AppendCurrent(*value);
  }
  return OkStatus();
}

Status GroupTable::TakeSome(size_t* next, ValueMap* map, MembersExtent* extent,
                            ChargeAhead* charge) {
  const size_t end = std::min(size(), *next + kMostInMap);
  map->reserve(size());
  for (size_t bytes = 0; *next < end && bytes < kMostListBytes;) {
    ASSIGN_OR_RETURN(const bool is_ready, MakeReady(*next, charge));
    if (!is_ready) return OkStatus();
    const size_t i = (*next)++;
    ASSIGN_OR_RETURN(std::optional<Value> value, TakeValueAt(i));
    bytes += AddToMap(i, std::move(value), map, extent);
  }
  return OkStatus();
}

Status GroupTable::CopySome(Copy* copy) const {
  const size_t end = std::min(size(), copy->next + kMostInMap);
  copy->map.reserve(size());
  for (size_t bytes = 0; copy->next < end && bytes < kMostListBytes; ++copy->next) {
    const size_t i = copy->next;
    std::optional<Value> value;
    if (kind_ == plan::Group::LIST) {
      if (!lists_[i].CopySome(kMostInMap, &copy->list, &copy->list_extent)) return OkStatus();
      ASSIGN_OR_RETURN(
          value, Value::List(std::exchange(copy->list, {}), std::exchange(copy->list_extent, {})));
    } else {
      ASSIGN_OR_RETURN(value, ValueAt(i));
    }
    bytes += AddToMap(i, std::move(value), &copy->map, &copy->extent);
  }
  return OkStatus();
}

size_t GroupTable::AddToMap(size_t i, std::optional<Value> value, ValueMap* map,
                            MembersExtent* extent) const {
  if (!value.has_value()) return 0;
  const size_t bytes = kind_ == plan::Group::LIST ? value->ByteSize() : 0;
  extent->Add(keys_[i]);
  extent->Add(*value);
  map->emplace_back(keys_[i], *std::move(value));
  return bytes;
}

// Texts of the index are those of the keys: these go last.
bool GroupTable::FreeSome(ValuesLeft* left, int64_t* own, int64_t* values) {
  // The list itself is one of `own`, or of nobody.
  const auto leave = [&](ValueList list) {
    *values -= RoomOf(list);
    left->Add(std::move(list));
  };
  if (!left->FreeSome(values)) return false;
  if (!ints_.FreeSome(own) || !longs_.FreeSome(own) || !strings_.FreeSome(own) ||
      !vertices_.FreeSome(own) || !others_.FreeSome(own)) {
    return false;
  }
  if (lists_.num_pages() > 0) {
    std::vector<FoldList> page = lists_.TakeLastPage();
    for (FoldList& list : page) list.Leave(left);
    *own += RoomOf(page);
  } else if (ones_.num_pages() > 0) {
    std::vector<One> page = ones_.TakeLastPage();
    ValueList list;
    for (One& one : page) list.push_back(std::move(one.value));
    *own += RoomOf(page);
    leave(std::move(list));
  } else if (totals_.num_pages() > 0) {
    *own += RoomOf(totals_.TakeLastPage());
  } else if (keys_.num_pages() > 0) {
    ValueList page = keys_.TakeLastPage();
    *own += RoomOf(page);
    leave(std::move(page));
  } else {
    return true;
  }
  return false;
}

}  // namespace koios::engine
