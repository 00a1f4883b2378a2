// PathLedger: what nodes of paths have in common that one owner makes (a worker for one query, the
// decoder of one frame): the account that pays for them, and their labels.
// Rule: a node is charged once, from before it is made until the last path that leads through it is
// gone, whoever holds that: a batch, a barrier, a list, a result that has left the query. What
// holds a path need not count what the path shares, and memory stays within the account.
// Any thread may give back; all else is the owner's. The ledger outlives its owner by its nodes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/memory.h"

namespace koios {

using PathLabels = std::vector<std::string>;

class PathLedger {
 public:
  struct Closer {
    void operator()(PathLedger* ledger) const { ledger->Drop(kOwner); }
  };
  using Owner = std::unique_ptr<PathLedger, Closer>;

  static Owner Charging(std::shared_ptr<MemoryAccount> account);
  // Charges nobody before Bind(): nodes are made where the account is not known yet.
  static Owner Unbound();
  // Keeps labels alive and charges nobody: each value counts its path in full.
  static Owner ForLabels();

  // RESOURCE_EXHAUSTED, and nothing is charged. REQUIRES for Bind: nobody else has nodes of it yet.
  Status Bind(std::shared_ptr<MemoryAccount> account);
  Status Take(int64_t bytes);
  void GiveBack(int64_t bytes);

  // Whether its nodes are charged here, now or by Bind().
  bool charges() const { return charges_; }
  // The same list for equal labels, as long as there are nodes. Plans have few.
  const PathLabels* Intern(PathLabels labels) { return &*labels_.insert(std::move(labels)).first; }

 private:
  static constexpr int64_t kOwner = 1;
  // The account is told of so much at a time: each node would be an atomic operation for each
  // account of its chain.
  static constexpr int64_t kStep = 16 * 1024;

  PathLedger(std::shared_ptr<MemoryAccount> account, bool charges)
      : account_(std::move(account)), charges_(charges) {}
  ~PathLedger();
  void Drop(int64_t share);

  std::shared_ptr<MemoryAccount> account_;
  const bool charges_;
  std::atomic<int64_t> live_{kOwner};   // bytes of nodes, and the owner's share: 0 ends it
  std::atomic<int64_t> given_back_{0};  // and not yet to the account
  std::set<PathLabels> labels_;
};

}  // namespace koios
