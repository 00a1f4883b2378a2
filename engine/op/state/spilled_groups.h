// SpilledGroups: groups that have gone to disk, in parts by the hash of their keys: what a group
// has gathered each time it went. They come back part by part; one that does not fit is divided
// again by what follows in the hash. Belongs to one operator, and to one of its instances.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/effect/group_table.h"
#include "engine/op/operator.h"

namespace koios::engine {

class SpilledGroups {
 public:
  static constexpr uint32_t kWays = 16;
  // A part that has been divided so often is not divided again: it is of few groups, or one.
  static constexpr uint32_t kMostDepth = 6;

  SpilledGroups(plan::Group::Value kind, OperatorHost* host) : kind_(kind), host_(host) {}
  ~SpilledGroups();
  SpilledGroups(const SpilledGroups&) = delete;
  SpilledGroups& operator=(const SpilledGroups&) = delete;

  // What Write() charges before its first group.
  static int64_t WriteBytes(const OperatorHost& host);
  // A slice of putting the table's groups from `*next` on on disk; it gives them away. True: all of
  // them are there.
  StatusOr<bool> Write(GroupTable* table, size_t* next);
  // All that comes has come: of the next part from here on. REQUIRES: all tables are written.
  // False: there is none.
  StatusOr<bool> NextPart();
  // Of this part: there is more to be read into a table.
  bool has_more() const { return next_block_ < part_.blocks.size(); }
  Status ReadSome(GroupTable* table, ChargeAhead* charge);
  // What was read may be written again, and then this part comes as several.
  bool may_divide() const { return part_.depth < kMostDepth; }
  bool is_divided() const { return !divided_.empty(); }
  // Some of a list is written: nothing must be added to it before Write() has gone on.
  bool is_in_list() const { return is_begun_; }

 private:
  struct Part {
    uint32_t depth = 0;
    std::vector<uint64_t> blocks;
  };

  Status BeginWriting();
  StatusOr<std::optional<Value>> SavePiece(GroupTable* table, size_t group);
  Status EndBlock(uint32_t way);

  const plan::Group::Value kind_;
  OperatorHost* const host_;
  std::vector<Part> parts_;    // that are to come, the next one last
  Part part_;                  // that is being read; at depth 0 there is nothing to read
  size_t next_block_ = 0;      // of it
  std::vector<Part> divided_;  // by what is written now; empty: nothing has been
  std::vector<Batch> open_;    // rows that are to be blocks of these
  std::vector<size_t> open_bytes_;
  bool is_begun_ = false;       // some of the next group's list is written, and some is not
  std::optional<Value> saved_;  // a part of that list
  size_t saved_next_ = 0;       // of the part
  size_t block_bytes_ = 0;
  int64_t charged_ = 0;
};

}  // namespace koios::engine
