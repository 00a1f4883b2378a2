#include "import/load/label_cache.h"

namespace koios::import {

StatusOr<LabelId> LabelCache::Find(std::string_view label,
                                   const std::function<bool()>& wait_for_turn) {
  {
    MutexLock lock(&mutex_);
    auto found = labels_.find(label);
    if (found != labels_.end()) return found->second;
  }
  if (!wait_for_turn()) return Cancelled("The import is being given up.");
  ASSIGN_OR_RETURN(LabelId id, writer_->InternLabel(label));
  MutexLock lock(&mutex_);
  labels_.emplace(label, id);
  return id;
}

}  // namespace koios::import
