// Homes: the accounts of the instances that began at this worker (DESIGN 5.2, 5.3). The rows of a
// batch that enter a scope begin instances with consecutive serials: they are parked together, and
// their homes are one array, by offset from the first serial. It goes when all of them are over.
// Touched by their worker only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/btree_map.h"
#include "engine/scope/report.h"
#include "engine/scope/weight.h"

namespace koios::engine {

struct Parked;

struct Home {
  uint64_t serial() const;

  WeightSum weight;  // what has come back; 1: quiescent
  Barriers pending;  // armed, or holding rows
  Parked* parked = nullptr;
  uint32_t row = 0;          // in parked->batch: its offset
  uint32_t run = 0;          // in parked->runs
  uint32_t alternative = 0;  // which body runs
  uint32_t num_results = 0;  // rows that left the scope for it
  bool productive = false;   // the body gave something
  bool close_sent = false;   // others drop its rows until they are told of its end
  bool closed = false;       // nothing more is needed of it: a tombstone until the weight is whole
  bool over = false;
};

// The rows that entered a scope together. They share the weights of the runs they came in.
struct Parked {
  struct OuterRun {
    InstanceId instance;
    Loops loops;
    WeightPool pool;
    uint32_t waiting = 0;       // rows not yet through with the scope
    uint64_t first_serial = 0;  // of the instances that its rows began, one after the other
  };
  uint32_t enter = 0;  // the ScopeEnter
  Batch batch;
  std::vector<OuterRun> runs;
  int64_t charged = 0;

  uint64_t first_serial = 0;
  std::vector<Home> homes;  // of each row
  size_t num_open = 0;      // of them that are not over
};

inline uint64_t Home::serial() const { return parked->first_serial + row; }

class Homes {
 public:
  // The query itself, at its coordinator: serial 0, and nothing is parked for it.
  Home* BeginRoot();
  // An instance of each of `count` rows begins; their runs are for the caller to say.
  Parked* Begin(uint32_t enter, size_t count);
  // nullptr: it is over, or never was.
  Home* Find(uint64_t serial);
  const Home* Find(uint64_t serial) const { return const_cast<Homes*>(this)->Find(serial); }
  // The instance is over; `home` ends. Returns what its parked rows have charged when it was the
  // last of them: they are gone.
  int64_t End(Home* home);

  // What the instances of so many rows, which came in so many runs, take beside the rows.
  static int64_t BytesOf(size_t rows, size_t runs) {
    return static_cast<int64_t>(sizeof(Parked) + rows * sizeof(Home) +
                                runs * sizeof(Parked::OuterRun));
  }
  // What all parked rows have charged.
  int64_t Charged() const;

 private:
  Parked* Add(uint32_t enter, uint64_t first_serial, size_t count);

  absl::btree_map<uint64_t, std::unique_ptr<Parked>> parked_;  // by first serial
  Parked* last_ = nullptr;                                     // that was looked up last
  uint64_t next_serial_ = 1;
};

}  // namespace koios::engine
