#include "engine/op/state/fold_list.h"

#include <algorithm>
#include <utility>

#include "engine/account/free_room.h"

namespace koios::engine {
namespace {

constexpr size_t kShort = PagedList<Value>::kPage;
constexpr size_t kPagesPerCall = 8;

}  // namespace

Status FoldList::Add(const Value& value, int64_t bulk, ChargeAhead* charge) {
  RETURN_IF_ERROR(CheckDepth(value.depth() + 1));
  if (const size_t outside = value.ByteSize() - sizeof(Value); outside > 0) {
    RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(outside)));
  }
  if (long_ == nullptr) {
    const size_t left = kShort - list_.size();
    const size_t fit = std::min(left, static_cast<size_t>(bulk));
    RETURN_IF_ERROR(MakeRoom(&list_, fit, charge));
    if (fit == 1) {
      list_.push_back(value);
    } else {
      list_.insert(list_.end(), fit, value);
    }
    bulk -= static_cast<int64_t>(fit);
    if (bulk == 0) return OkStatus();
    RETURN_IF_ERROR(charge->Take(sizeof(Long)));
    long_ = std::make_unique<Long>();
    for (const Value& member : list_) long_->extent.Add(member);
  }
  RETURN_IF_ERROR(long_->pages.Add(value, bulk, charge));
  long_->extent.Add(value, static_cast<uint64_t>(bulk));
  return OkStatus();
}

StatusOr<bool> FoldList::Gather(ChargeAhead* charge) {
  if (long_ == nullptr) return true;
  ValueList& whole = long_->whole;
  if (whole.capacity() == 0) {
    RETURN_IF_ERROR(MakeRoom(&whole, list_.size() + long_->pages.size(), charge));
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

}  // namespace koios::engine
