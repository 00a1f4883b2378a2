// RocksDB's own messages, in the log of the process. Its file LOG stands on the disk of the data,
// and the line after one that did not fit there ends the process.
#pragma once

#include <memory>

namespace rocksdb {
class Logger;
}

namespace koios::storage {

// Any thread. Errors as errors, warnings for debugging, nothing else.
std::shared_ptr<rocksdb::Logger> MakeRocksLog();

}  // namespace koios::storage
