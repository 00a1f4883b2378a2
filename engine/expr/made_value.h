// What a function makes of its arguments, and its bound. A value is charged once it is in a batch;
// so that none outgrows the memory before, functions that make larger values of smaller ones ask
// here first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/memory/charged_growth.h"
#include "core/memory/paged_list.h"
#include "core/status.h"
#include "core/value.h"
#include "engine/account/free_room.h"
#include "engine/account/made_bytes.h"

namespace koios::engine {

// A text of the value as Java prints it, within the limit.
StatusOr<std::string> MadeText(const Value& value, const std::string& step);

// A list or a set in the making, of Values, or a map, of its entries. A long one grows in pages and
// becomes one in many calls: what it has is not moved when it grows, and no call has all of it to
// do.
template <typename Member>
class MadeMembers {
 public:
  void Add(Member member) {
    ++size_;
    if (first_.size() < kPage) {
      first_.push_back(std::move(member));
      return;
    }
    if (long_ == nullptr) long_ = std::make_unique<Long>();
    (void)long_->more.MakeRoom(&long_->room);  // it only counts
    long_->more.EmplaceBack(std::move(member));
  }
  size_t size() const { return size_; }
  // REQUIRES: nothing was gathered.
  Member& operator[](size_t i) { return i < kPage ? first_[i] : long_->more[i - kPage]; }
  // What is to do before Take(), as much as there is work for; true: that is all. Nothing is added
  // any more.
  bool Gather(size_t* work) {
    if (long_ == nullptr) return true;
    if (long_->whole.capacity() == 0) {
      long_->whole.reserve(size());
      MovePage(&first_);
    }
    for (; long_->num_moved < long_->more.num_pages(); ++long_->num_moved) {
      if (*work == 0) return false;
      *work -= std::min(*work, 2 * kPage);  // two looks at memory each
      std::vector<Member>& page = long_->more.page(long_->num_moved);
      long_->room.Return(RoomOf(page));
      MovePage(&page);
    }
    return true;
  }
  // As a value of the kind: kMap of entries, else kList or kSet. REQUIRES: gathered; that members
  // of a set and keys are distinct.
  StatusOr<Value> Take(ValueKind kind) {
    if constexpr (!std::is_same_v<Member, Value>) {
      if (long_ == nullptr) return Value::Map(std::move(first_));
      return Value::Map(std::move(long_->whole), long_->extent);
    } else if (kind == ValueKind::kSet) {
      if (long_ == nullptr) return Value::Set(std::move(first_));
      return Value::Set(std::move(long_->whole), long_->extent);
    } else {
      if (long_ == nullptr) return Value::List(std::move(first_));
      return Value::List(std::move(long_->whole), long_->extent);
    }
  }
  // Its room, without what the members have themselves.
  size_t HeldBytes() const {
    size_t bytes = first_.capacity() * sizeof(Member);
    if (long_ != nullptr) {
      bytes += long_->whole.capacity() * sizeof(Member) + static_cast<size_t>(long_->room.bytes);
    }
    return bytes;
  }

 private:
  static constexpr size_t kPage = PagedList<Member>::kPage;

  // Of one that has more than a page.
  struct Long {
    PagedList<Member> more;     // behind the first page
    Counted room;               // of these
    std::vector<Member> whole;  // of all, as far as they are gathered
    MembersExtent extent;       // of `whole`
    size_t num_moved = 0;       // pages of `more`
  };

  void MovePage(std::vector<Member>* page) {
    for (Member& member : *page) {
      if constexpr (std::is_same_v<Member, Value>) {
        long_->extent.Add(member);
      } else {
        long_->extent.Add(member.first);
        long_->extent.Add(member.second);
      }
      long_->whole.push_back(std::move(member));
    }
    FreeRoom(page);
  }

  size_t size_ = 0;  // of all that were added
  std::vector<Member> first_;
  std::unique_ptr<Long> long_;
};
using MadeList = MadeMembers<Value>;
using MadeMap = MadeMembers<std::pair<Value, Value>>;

}  // namespace koios::engine
