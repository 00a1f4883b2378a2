#include "engine/effect/fold_list.h"

#include <algorithm>
#include <utility>

#include "engine/account/call_work.h"
#include "engine/account/free_room.h"

namespace koios::engine {
namespace {

constexpr size_t kShort = PagedList<Value>::kPage;
constexpr size_t kPagesPerCall = 4;

}  // namespace

Status FoldList::Add(const Value& value, int64_t bulk, ChargeAhead* charge) {
  RETURN_IF_ERROR(CheckDepth(value.depth() + 1));
  const auto outside = static_cast<int64_t>(value.ByteSize() - sizeof(Value));
  RETURN_IF_ERROR(charge->Take(outside));
  Status added = AddCopies(value, bulk, charge);
  if (!added.ok()) charge->Return(outside);
  return added;
}

StatusOr<int64_t> FoldList::AddSome(const Value& value, int64_t bulk, bool again,
                                    ChargeAhead* charge, size_t* work) {
  ASSIGN_OR_RETURN(const int64_t some, CopiesOfStep(bulk, charge));
  *work += static_cast<size_t>(some / kCopiesPerWork);
  RETURN_IF_ERROR(Add(value, some, charge));
  if (again) ReturnShared(value, charge);
  return some;
}

Status FoldList::AddCopies(const Value& value, int64_t bulk, ChargeAhead* charge) {
  const size_t fit = std::min(kShort - list_.size(), static_cast<size_t>(bulk));
  RETURN_IF_ERROR(MakeRoom(&list_, fit, charge));
  if (const int64_t more = bulk - static_cast<int64_t>(fit); more > 0) {
    if (long_ == nullptr) {
      RETURN_IF_ERROR(charge->Take(sizeof(Long)));
      long_ = std::make_unique<Long>();
    }
    if (Status added = long_->pages.Add(value, more, charge); !added.ok()) {
      if (long_->pages.size() > 0) return added;
      charge->Return(sizeof(Long));
      long_.reset();
      return added;
    }
    long_->extent.Add(value, static_cast<uint64_t>(more));
  }
  if (fit == 1) {
    list_.push_back(value);
  } else {
    list_.insert(list_.end(), fit, value);
  }
  return OkStatus();
}

StatusOr<bool> FoldList::Gather(ChargeAhead* charge) {
  if (long_ == nullptr) return true;
  ValueList& whole = long_->whole;
  if (whole.capacity() == 0) {
    RETURN_IF_ERROR(MakeRoom(&whole, list_.size() + long_->pages.size(), charge));
    for (const Value& member : list_) long_->extent.Add(member);
    MoveAll(&list_, &whole, charge);
  }
  for (size_t i = 0; i < kPagesPerCall && long_->num_moved < long_->pages.num_pages(); ++i) {
    MoveAll(&long_->pages.page(long_->num_moved++), &whole, charge);
  }
  return long_->num_moved == long_->pages.num_pages();
}

StatusOr<Value> FoldList::Take() {
  if (long_ == nullptr) return Value::List(std::exchange(list_, {}));
  const std::unique_ptr<Long> all = std::move(long_);
  return Value::List(std::move(all->whole), all->extent);
}

StatusOr<Value> FoldList::Copy() const {
  ValueList copy;
  MembersExtent extent;
  (void)CopySome(SIZE_MAX, &copy, &extent);
  return Value::List(std::move(copy), extent);
}

bool FoldList::CopySome(size_t most, ValueList* copy, MembersExtent* extent) const {
  const size_t all = list_.size() + (long_ == nullptr ? 0 : long_->pages.size());
  copy->reserve(all);
  const size_t end = all - copy->size() < most ? all : copy->size() + most;
  for (size_t i = copy->size(); i < end; ++i) {
    copy->push_back(i < list_.size() ? list_[i] : long_->pages[i - list_.size()]);
    extent->Add(copy->back());
  }
  return end == all;
}

bool FoldList::TakePage(ValueList* page) {
  if (!list_.empty() || long_ == nullptr) {
    *page = std::exchange(list_, {});
    return long_ != nullptr && long_->pages.num_pages() > 0;
  }
  *page = std::exchange(long_->pages.page(long_->num_moved++), {});
  return long_->num_moved < long_->pages.num_pages();
}

void FoldList::Leave(ValuesLeft* left) {
  left->Add(std::exchange(list_, {}));
  if (long_ == nullptr) return;
  left->Add(std::move(long_->whole));
  for (size_t i = long_->num_moved; i < long_->pages.num_pages(); ++i) {
    left->Add(std::move(long_->pages.page(i)));
  }
  long_.reset();
}

}  // namespace koios::engine
