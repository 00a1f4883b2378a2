// SharedNames: the names that the parts of one request's transaction add, so that a label has one
// number in all of them. Any thread.
#pragma once

#include <atomic>
#include <string_view>

#include "core/mutex.h"
#include "core/schema.h"

namespace koios::storage {

class SharedNames {
 public:
  explicit SharedNames(const Schema& schema)
      : labels_(schema.labels), keys_(schema.keys), count_(CountOf(schema)) {}

  // `mine` then has all names so far, this one among them.
  LabelId InternLabel(std::string_view name, Schema* mine) {
    MutexLock lock(&mutex_);
    const LabelId id = labels_.Intern(name);
    GiveAll(mine);
    return id;
  }
  KeyId InternKey(std::string_view name, Schema* mine) {
    MutexLock lock(&mutex_);
    const KeyId id = keys_.Intern(name);
    GiveAll(mine);
    return id;
  }
  // What others have added meanwhile. Who got a row from them sees what they had added before.
  void CatchUp(Schema* mine) {
    if (CountOf(*mine) == count_.load(std::memory_order_acquire)) return;
    MutexLock lock(&mutex_);
    GiveAll(mine);
  }

 private:
  static size_t CountOf(const Schema& schema) {
    return size_t{schema.labels.size()} + schema.keys.size();
  }
  void GiveAll(Schema* mine) KOIOS_REQUIRES(mutex_) {
    mine->labels = labels_;
    mine->keys = keys_;
    count_.store(CountOf(*mine), std::memory_order_release);
  }

  Mutex mutex_;
  NameTable labels_ KOIOS_GUARDED_BY(mutex_);
  NameTable keys_ KOIOS_GUARDED_BY(mutex_);
  std::atomic<size_t> count_;
};

}  // namespace koios::storage
