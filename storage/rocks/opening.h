// How a graph's folder becomes the state of an open store:
//   FORMAT   "koios graph N\n": the format's number; written last at creation
//   HOLDER   locked while the graph is open, names the process
//   MARK     its high-water mark (high_water_mark.h); every graph since format 3 has one
//   STAGED   only while the graph is not published (data_folder.h)
//   db/      RocksDB: families as in codec/keys.h
//   ingest/  files of a load that is not finished; removed at open
//   snapshots/  files that the database names (snapshot/format.h); others are removed at open
//   lost/    logs that a repair could not use
// Nothing is changed in a folder before its files were found to be what the mark says.
#pragma once

#include "storage/rocks/store_state.h"

namespace koios::storage {

// Makes a new graph at state->path.
Status CreateGraphFiles(StoreState* state);
// Opens the graph there. When the disk is too full to open it for writing, it is opened for reading
// and state->waits_for_room is set.
Status OpenGraphFiles(StoreState* state);
// REQUIRES: state->waits_for_room, and the caller leads. Opens it for writing if there is room now;
// what reads the graph goes on.
Status OpenGraphFilesForWriting(StoreState* state);

Status WriteFormat(const std::string& path);

}  // namespace koios::storage
