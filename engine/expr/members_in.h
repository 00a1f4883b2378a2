// The members of a list, set, path or map, for functions that go along them a few at a time.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "core/memory/charged_growth.h"
#include "core/path/path.h"
#include "core/value.h"
#include "core/value_compare.h"
#include "core/memory/parted_table.h"
#include "engine/account/call_work.h"
#include "engine/expr/each_row.h"
#include "engine/expr/made_value.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {

// Of a collection its members, of a map its keys and values in turns.
inline size_t NumIn(const Value& value) {
  return value.is_collection() ? value.AsList().size() : 2 * value.AsMap().size();
}
inline const Value& MemberIn(const Value& value, size_t i) {
  if (value.is_collection()) return value.AsList()[i];
  const auto& [key, item] = value.AsMap()[i / 2];
  return i % 2 == 0 ? key : item;
}

// They are not copied where the value has them.
class MembersIn {
 public:
  // nullopt: the value has none.
  static std::optional<MembersIn> Of(const Value& value) {
    MembersIn members;
    members.value_ = value;
    members.bytes_ = static_cast<int64_t>(value.ByteSize());
    if (value.kind() == ValueKind::kPath) {
      members.objects_ = ObjectsOf(value);
      members.bytes_ = 0;
      for (const Value& object : members.objects_) {
        members.bytes_ += static_cast<int64_t>(object.ByteSize());
      }
    } else if (!value.is_collection()) {
      return std::nullopt;
    }
    return members;
  }
  // Each key of a map, its value behind it. It has no list().
  static MembersIn OfMap(const Value& map) {
    MembersIn members;
    members.value_ = map;
    members.bytes_ = static_cast<int64_t>(map.ByteSize());
    return members;
  }
  size_t size() const { return is_path() ? objects_.size() : NumIn(value_); }
  const Value& operator[](size_t i) const { return is_path() ? objects_[i] : MemberIn(value_, i); }
  const ValueList& list() const { return value_.is_collection() ? value_.AsList() : objects_; }
  bool is_path() const { return value_.kind() == ValueKind::kPath; }
  bool is_map() const { return value_.kind() == ValueKind::kMap; }
  int64_t bytes() const { return bytes_; }  // of a list that has them
  size_t copied_bytes() const { return BytesOfRoom(objects_); }

 private:
  Value value_;
  ValueList objects_;  // of a path
  int64_t bytes_ = 0;
};

// Values that somebody else keeps, where they are, each with a number.
class SeenValues {
 public:
  // The number that an Equivalent one has, or this one's from now on. What that moves is work.
  size_t Add(const Value& value, size_t number, size_t* work) {
    const Seen seen{&value, EquivalenceHash(value), number};
    if (const Seen* const found = std::as_const(table_).Find(seen); found != nullptr) {
      return found->number;
    }
    const StatusOr<size_t> moved = table_.MakeRoom(seen, &room_);
    SpendMoved(moved.value(), work);  // there is room for what is only counted
    table_.Emplace(seen);
    return number;
  }
  // False: one that is Equivalent is there.
  bool Add(const Value& value, size_t* work) {
    ++num_added_;
    return Add(value, num_added_, work) == num_added_;
  }
  bool Contains(const Value& value) const {
    return table_.Contains(Seen{&value, EquivalenceHash(value), 0});
  }
  // Frees them, as many as there is work for; true: all. Few are freed anyway. Nothing but this is
  // called any more.
  bool Free(size_t* work) {
    constexpr size_t kWorkOfShare = 1 << 10;
    if (room_.bytes < kFew || is_free_) return true;
    for (int64_t freed = 0; !is_free_;) {
      if (*work == 0) return false;
      *work -= std::min(*work, kWorkOfShare);
      is_free_ = table_.FreeSome(&freed);
    }
    return true;
  }
  size_t HeldBytes() const { return static_cast<size_t>(room_.bytes); }

 private:
  static constexpr int64_t kFew = 1 << 20;  // bytes

  struct Seen {
    const Value* value;
    size_t hash;
    size_t number;
  };
  struct Hash {
    size_t operator()(const Seen& seen) const { return seen.hash; }
  };
  struct Same {
    bool operator()(const Seen& a, const Seen& b) const {
      return a.hash == b.hash && Equivalent(*a.value, *b.value);
    }
  };

  PartedTable<absl::flat_hash_set<Seen, Hash, Same>> table_;
  Counted room_;
  size_t num_added_ = 0;
  bool is_free_ = false;
};

// RESOURCE_EXHAUSTED where so many elements would take more than one value may. `step`: "concat()".
inline Status CheckCollected(const ElementResolver& resolver, const std::string& step) {
  return CheckMadeBytes(static_cast<int64_t>(resolver.ElementBytes()), step);
}

// The members one after the other, with their elements as users see them.
class ResolvedMembers {
 public:
  ResolvedMembers(MembersIn members, const storage::GraphView* view, std::string step)
      : members_(std::move(members)), view_(view), step_(std::move(step)) {}

  // use(member), a Status, of as many as there is work for. True: of all by now.
  template <typename Use>
  StatusOr<bool> Step(size_t* work, const Use& use) {
    constexpr size_t kFew = 256;  // that are looked up together
    constexpr size_t kWorkOfUse = 3;
    const size_t size = members_.size();
    while (next_ < size) {
      if (*work == 0) return false;
      const size_t end = std::min(size, next_ + kFew);
      ElementResolver resolver(*view_);
      for (size_t i = next_; i < end; ++i) {
        Spend(members_[i], work);
        *work -= std::min(*work, kWorkOfUse);
        resolver.Collect(members_[i]);
      }
      RETURN_IF_ERROR(CheckCollected(resolver, step_));
      RETURN_IF_ERROR(resolver.Load());
      for (; next_ < end; ++next_) {
        ASSIGN_OR_RETURN(const Value member, resolver.Resolve(members_[next_]));
        RETURN_IF_ERROR(use(member));
      }
    }
    return true;
  }
  bool is_map() const { return members_.is_map(); }
  const std::string& step() const { return step_; }
  size_t copied_bytes() const { return members_.copied_bytes(); }

 private:
  MembersIn members_;
  const storage::GraphView* view_;
  std::string step_;
  size_t next_ = 0;
};

// The members as texts, one behind the other.
class JoinedText {
 public:
  struct Form {
    std::string open, separator, close;
    bool skips_nulls = false;
  };
  JoinedText(ResolvedMembers members, Form form)
      : members_(std::move(members)),
        is_map_(members_.is_map()),
        form_(std::move(form)),
        text_(form_.open) {}

  StatusOr<bool> Step(size_t* work) {
    return members_.Step(work, [this](const Value& member) -> Status {
      if (member.is_null() && form_.skips_nulls) return OkStatus();
      if (number_ > 0) text_ += is_map_ && number_ % 2 == 1 ? "=" : form_.separator;
      ++number_;
      ASSIGN_OR_RETURN(const std::string text, MadeText(member, members_.step()));
      text_ += text;
      return CheckMadeBytes(static_cast<int64_t>(text_.size()), members_.step());
    });
  }
  size_t HeldBytes() const { return members_.copied_bytes() + text_.capacity(); }
  StatusOr<Value> Result() { return Value::String(std::move(text_) + form_.close); }

 private:
  ResolvedMembers members_;
  bool is_map_;
  Form form_;
  std::string text_;
  size_t number_ = 0;
};

}  // namespace koios::engine
