// SpilledBag: StoredMembers on disk, a block after the other. Belongs to the operator that put them
// there, and outlives it without being asked anything.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/effect/stored_members.h"
#include "engine/op/operator.h"

namespace koios::engine {

class SpilledBag : public StoredMembers {
 public:
  explicit SpilledBag(OperatorHost* host) : host_(host) {}
  SpilledBag(const SpilledBag&) = delete;
  SpilledBag& operator=(const SpilledBag&) = delete;

  size_t size() const override { return blocks_.empty() ? 0 : blocks_.back().end; }
  StatusOr<size_t> Append(const ValueList& members, size_t begin) override;
  // Those that share the first one's block.
  Status Read(size_t first, ValueList* members) const override;
  void Drop() override;

 private:
  struct Block {
    uint64_t at = 0;  // where it is
    size_t end = 0;   // the number of its last member, and one
  };

  OperatorHost* const host_;
  std::vector<Block> blocks_;
};

}  // namespace koios::engine
