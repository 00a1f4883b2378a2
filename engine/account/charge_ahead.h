// ChargeAhead: an operator's charge for state that grows value by value. Take() before each growth;
// the account is asked in steps, a little ahead, and gets the rest back at the end of the object.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/memory/charged_growth.h"
#include "core/value.h"
#include "engine/account/state_account.h"

namespace koios::engine {

class ChargeAhead {
 public:
  // `bytes`: what the state has charged in all; outlives this.
  ChargeAhead(StateAccount* account, int64_t* bytes) : account_(account), bytes_(bytes) {}
  ~ChargeAhead() { (void)account_->ChargeState(-left_); }
  ChargeAhead(const ChargeAhead&) = delete;
  ChargeAhead& operator=(const ChargeAhead&) = delete;

  // RESOURCE_EXHAUSTED, and nothing is taken: the state must not grow.
  Status Take(int64_t bytes) {
    if (bytes > left_) {
      const int64_t needed = bytes - left_;
      const bool ahead = account_->ChargeState(needed + kStep).ok();
      if (!ahead) RETURN_IF_ERROR(account_->ChargeState(needed));
      left_ += needed + (ahead ? kStep : 0);
    }
    left_ -= bytes;
    *bytes_ += bytes;
    return OkStatus();
  }
  // Whether so much could be taken: what will come in many calls is refused before the first.
  Status Check(int64_t bytes) {
    RETURN_IF_ERROR(Take(bytes));
    Return(bytes);
    return OkStatus();
  }
  // What is `after` instead of `before`, of values: what they have themselves is charged already.
  Status Change(const Value& before, const Value& after) {
    return Change(static_cast<int64_t>(before.ByteSize()), static_cast<int64_t>(after.ByteSize()));
  }
  Status Change(int64_t before, int64_t after) {
    if (after > before) return Take(after - before);
    Return(before - after);
    return OkStatus();
  }
  // What was taken and is not needed.
  void Return(int64_t bytes) {
    left_ += bytes;
    *bytes_ -= bytes;
  }

 private:
  static constexpr int64_t kStep = 16 * 1024;

  StateAccount* const account_;
  int64_t* const bytes_;
  int64_t left_ = 0;  // charged and not taken
};

}  // namespace koios::engine
