// SideEffects: what aggregate('x'), group('x') and groupCount('x') gather under a name. One per
// query, on the one worker that runs it (Plan.one_worker): no synchronisation. The operators that
// add to it charge for it; it goes with the query.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/value.h"
#include "engine/effect/group_table.h"
#include "engine/effect/member_set.h"

namespace koios::engine {

class SideEffects {
 public:
  // A side-effect is there, empty, before the first row comes to the step that fills it.
  // INVALID_ARGUMENT when two steps fill one name in different ways.
  Status DeclareBag(const std::string& name);
  Status DeclareGroup(const std::string& name, plan::Group::Value kind);

  // REQUIRES: declared. The bytes that `bulk` copies of the value take.
  static int64_t BagBytes(const Value& value, int64_t bulk);
  void AddToBag(const std::string& name, const Value& value, int64_t bulk);
  GroupTable* Group(const std::string& name);

  // The bag as a list, the groups as a map. INVALID_ARGUMENT for a name that is not declared.
  StatusOr<Value> Read(const std::string& name);
  // What that allocates, and was not charged when it was added.
  int64_t ReadBytes(const std::string& name) const;
  // True for the first who asks with this name.
  bool Once(const std::string& name) { return asked_.insert(name).second; }
  // Whether a bag has a value that Equals this one.
  StatusOr<bool> Contains(const std::string& name, const Value& value) const;

 private:
  struct Effect {
    std::optional<GroupTable> group;  // else a bag
    ValueList bag;
    std::optional<Value> list;  // the bag as a value, until the next is added
    MemberSet members;          // of the bag
  };

  std::map<std::string, Effect> effects_;
  std::set<std::string> asked_;
};

}  // namespace koios::engine
