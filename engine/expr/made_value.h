// What a function makes of its arguments, and its bound. A value is charged once it is in a batch;
// so that none outgrows the memory before, functions that make larger values of smaller ones ask
// here first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"
#include "core/status.h"
#include "core/value.h"
#include "engine/account/paged_list.h"

namespace koios::engine {

inline constexpr int64_t kMaxMadeBytes = int64_t{64} << 20;

// RESOURCE_EXHAUSTED past the limit. `step`: "concat()", for the message.
Status CheckMadeBytes(int64_t bytes, const std::string& step);
// A text of the value as Java prints it, within the limit.
StatusOr<std::string> MadeText(const Value& value, const std::string& step);

// A list or a set in the making, of Values, or a map, of its entries. A long one grows in pages and
// becomes one in many calls: what it has is not moved when it grows, and no call has all of it to
// do.
template <typename Member>
class MadeMembers {
 public:
  void Add(Member member) {
    if (first_.size() < kPage) {
      first_.push_back(std::move(member));
      return;
    }
    (void)more_.MakeRoom(&room_);  // it only counts
    more_.EmplaceBack(std::move(member));
  }
  size_t size() const { return first_.size() + more_.size(); }
  // REQUIRES: nothing was gathered.
  Member& operator[](size_t i) { return i < kPage ? first_[i] : more_[i - kPage]; }
  // What is to do before Take(), as much as there is work for; true: that is all. Nothing is added
  // any more.
  bool Gather(size_t* work) {
    if (more_.size() == 0) return true;
    if (whole_.capacity() == 0) {
      whole_.reserve(size());
      MovePage(&first_);
    }
    for (; num_moved_ < more_.num_pages(); ++num_moved_) {
      if (*work == 0) return false;
      *work -= std::min(*work, kPage);
      MovePage(&more_.page(num_moved_));
    }
    return true;
  }
  // As a value of the kind: kMap of entries, else kList or kSet. REQUIRES: gathered; that members
  // of a set and keys are distinct.
  StatusOr<Value> Take(ValueKind kind) {
    const bool is_long = whole_.capacity() > 0;
    if constexpr (std::is_same_v<Member, Value>) {
      if (kind == ValueKind::kSet) {
        return is_long ? Value::Set(std::move(whole_), extent_) : Value::Set(std::move(first_));
      }
      return is_long ? Value::List(std::move(whole_), extent_) : Value::List(std::move(first_));
    } else {
      return is_long ? Value::Map(std::move(whole_), extent_) : Value::Map(std::move(first_));
    }
  }
  // Its room, without what the members have themselves.
  size_t HeldBytes() const {
    return (first_.capacity() + whole_.capacity()) * sizeof(Member) +
           static_cast<size_t>(room_.bytes);
  }

 private:
  static constexpr size_t kPage = PagedList<Member>::kPage;

  void MovePage(std::vector<Member>* page) {
    for (Member& member : *page) {
      if constexpr (std::is_same_v<Member, Value>) {
        extent_.Add(member);
      } else {
        extent_.Add(member.first);
        extent_.Add(member.second);
      }
      whole_.push_back(std::move(member));
    }
    if (page != &first_) room_.Return(RoomOf(*page));
    *page = {};
  }

  std::vector<Member> first_;
  PagedList<Member> more_;
  std::vector<Member> whole_;  // of both, as far as they are gathered: of a long one
  size_t num_moved_ = 0;       // pages of `more_`
  MembersExtent extent_;       // of `whole_`
  Counted room_;               // of `more_`
};
using MadeList = MadeMembers<Value>;
using MadeMap = MadeMembers<std::pair<Value, Value>>;

}  // namespace koios::engine
