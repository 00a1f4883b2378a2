// Repair: makes a damaged graph usable again, with what is left of it, and says what that is. It
// can accept that acknowledged commits are lost (a log that was cut short, damaged or removed: the
// commits before the damage stay), and make anew what follows from the rest: the small files around
// the database, indexes, ends of edges, counts. It can't make tables or the manifest anew: then the
// graph must be restored from a backup.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "storage/check.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

struct RepairReport {
  std::vector<std::string> done;  // in words; empty: nothing was wrong
  CheckReport check;              // of the graph as it is now
};

// Of a graph in a data folder that nobody has open. NOT_FOUND, FAILED_PRECONDITION; DATA_LOSS: it
// can't be repaired, or not whole (the message says what remains).
StatusOr<RepairReport> Repair(const std::string& data_folder, const std::string& graph,
                              const StoreOptions& options, const CheckWatch& watch = nullptr);

}  // namespace koios::storage
