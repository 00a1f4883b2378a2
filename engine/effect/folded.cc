#include "engine/effect/folded.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/memory/charged_growth.h"

namespace koios::engine {
namespace {

constexpr size_t kMostOfCall = 512;     // members or entries
constexpr size_t kMostGathered = 4096;  // likewise
constexpr size_t kBytesPerWork = 256;
constexpr size_t kWorkOfKey = 5;

}  // namespace

Folded::Folded(const std::string& name, Value seed)
    : fold_(name == "addAll" ? nullptr : FindFoldOperator(name)), value_(std::move(seed)) {}

bool Folded::CanFold(const std::string& name) {
  return name == "addAll" || FindFoldOperator(name) != nullptr;
}

StatusOr<int64_t> Folded::Add(const Value& value, int64_t bulk, bool again, ChargeAhead* charge,
                              size_t* work) {
  if (fold_ != nullptr) return Fold(value, bulk, charge, work);
  const bool is_map = value_.kind() == ValueKind::kMap;
  if (is_map != (value.kind() == ValueKind::kMap) || !(is_map || value_.is_collection())) {
    return InvalidArgument("The operator addAll adds to a collection, or maps to a map.");
  }
  ASSIGN_OR_RETURN(const bool begun, AddSeed(charge, work));
  if (!begun) return 0;
  if (is_map) {
    ASSIGN_OR_RETURN(const bool all, AddEntries(value.AsMap(), charge, work));
    return all ? bulk : 0;
  }
  if (value_.kind() == ValueKind::kSet) {
    RETURN_IF_ERROR(AddKey(value, std::nullopt, charge, work));
    return bulk;
  }
  return list_.AddSome(value, bulk, again, charge, work);
}

// One step, or all of them where that needs no loop or changes nothing any more.
StatusOr<int64_t> Folded::Fold(const Value& value, int64_t bulk, ChargeAhead* charge,
                               size_t* work) {
  *work += value_.FlatBytes() / kBytesPerWork;
  return FoldSomeCharged(fold_, value, bulk, static_cast<int64_t>(value_.ByteSize()), &value_,
                         charge);
}

StatusOr<bool> Folded::AddSeed(ChargeAhead* charge, size_t* work) {
  if (has_seed_) return true;
  if (value_.kind() != ValueKind::kList && table_ == nullptr) {
    RETURN_IF_ERROR(charge->Take(sizeof(GroupTable)));
    table_ = std::make_unique<GroupTable>(value_.kind() == ValueKind::kMap ? plan::Group::LAST
                                                                           : plan::Group::COUNT);
  }
  if (value_.kind() == ValueKind::kMap) {
    ASSIGN_OR_RETURN(has_seed_, AddEntries(value_.AsMap(), charge, work));
  } else {
    ASSIGN_OR_RETURN(has_seed_, AddMembers(value_.AsList(), charge, work));
  }
  return has_seed_;
}

// Its place in the table is nowhere near that of the one before.
Status Folded::AddKey(const Value& key, const std::optional<Value>& value, ChargeAhead* charge,
                      size_t* work) {
  const size_t moved = table_->num_moved();
  RETURN_IF_ERROR(table_->Add(key, value, 1, charge));
  *work += kWorkOfKey + key.FlatBytes() / kBytesPerWork + (table_->num_moved() - moved);
  return OkStatus();
}

// add(one) of those behind the last ones. True: these were all.
template <typename All, typename AddOne>
StatusOr<bool> Folded::AddSome(const All& all, const AddOne& add) {
  const size_t end = std::min(all.size(), next_ + kMostOfCall);
  for (; next_ < end; ++next_) RETURN_IF_ERROR(add(all[next_]));
  if (next_ < all.size()) return false;
  next_ = 0;
  return true;
}

StatusOr<bool> Folded::AddEntries(const ValueMap& entries, ChargeAhead* charge, size_t* work) {
  return AddSome(
      entries, [&](const auto& entry) { return AddKey(entry.first, entry.second, charge, work); });
}

StatusOr<bool> Folded::AddMembers(const ValueList& members, ChargeAhead* charge, size_t* work) {
  return AddSome(members, [&](const Value& member) {
    if (table_ != nullptr) return AddKey(member, std::nullopt, charge, work);
    ++*work;
    return list_.Add(member, 1, charge);
  });
}

StatusOr<bool> Folded::Gather(ChargeAhead* charge) {
  if (fold_ != nullptr) return true;
  if (table_ == nullptr) return list_.Gather(charge);
  return value_.kind() == ValueKind::kMap ? GatherMap(charge) : GatherSet(charge);
}

StatusOr<bool> Folded::GatherMap(ChargeAhead* charge) {
  if (next_ == 0) RETURN_IF_ERROR(charge->Take(table_->MapBytes(/*takes=*/true)));
  RETURN_IF_ERROR(table_->TakeSome(&next_, &entries_, &extent_, charge));
  return next_ == table_->size();
}

StatusOr<bool> Folded::GatherSet(ChargeAhead* charge) {
  if (next_ == 0) RETURN_IF_ERROR(MakeRoom(&members_, table_->size(), charge));
  const size_t end = std::min(table_->size(), next_ + kMostGathered);
  for (; next_ < end; ++next_) {
    members_.push_back(table_->KeyAt(next_));
    extent_.Add(members_.back());
  }
  return next_ == table_->size();
}

StatusOr<Value> Folded::Take() {
  if (fold_ != nullptr) return std::move(value_);
  if (value_.kind() == ValueKind::kMap) return Value::Map(std::move(entries_), extent_);
  if (value_.kind() == ValueKind::kSet) return Value::Set(std::move(members_), extent_);
  return list_.Take();
}

std::unique_ptr<Leftover> Folded::Leave() {
  if (table_ != nullptr) return std::make_unique<GroupsLeft>(std::move(*table_));
  auto values = std::make_unique<ValuesLeft>();
  list_.Leave(values.get());
  return values;
}

}  // namespace koios::engine
