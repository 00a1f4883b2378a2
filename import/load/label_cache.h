// LabelCache: labels that rows name, interned in the order in which they first appear in the input,
// so that importing the same files twice gives the same graph. Any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/mutex.h"
#include "core/status.h"
#include "core/types.h"
#include "storage/bulk_writer.h"

namespace koios::import {

class LabelCache {
 public:
  explicit LabelCache(storage::BulkWriter* writer) : writer_(writer) {}

  // `wait_for_turn` is called before a new label is interned; false: the import is being given up.
  StatusOr<LabelId> Find(std::string_view label, const std::function<bool()>& wait_for_turn);

 private:
  storage::BulkWriter* const writer_;
  Mutex mutex_;
  std::map<std::string, LabelId, std::less<>> labels_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::import
