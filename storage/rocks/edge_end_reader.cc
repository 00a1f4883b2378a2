#include "storage/rocks/edge_end_reader.h"

#include <cstring>

namespace koios::storage {

void EdgeEndReader::Seek(const EndsKey& key, std::string_view after) {
  // vertex 8 | direction 1 | label 4 | neighbour 8, and the same with its last part one higher.
  std::array<char, 21> prefix{};
  StoreBigEndian64(key.vertex.bits, prefix.data());
  prefix[8] = static_cast<char>(key.direction);
  upper_bytes_ = prefix;
  size_t size = 9;
  if (key.label == kNoName) {
    upper_bytes_[8] = static_cast<char>(static_cast<uint8_t>(key.direction) + 1);
  } else {
    size = 13;
    // The low four bytes of a 64-bit number are the label, big-endian.
    std::array<char, 8> number{};
    StoreBigEndian64(key.label, number.data());
    std::memcpy(prefix.data() + 9, number.data() + 4, 4);
    if (key.neighbour) {
      size = 21;
      upper_bytes_ = prefix;
      StoreBigEndian64(key.neighbour->bits, prefix.data() + 13);
      StoreBigEndian64(key.neighbour->bits + 1, upper_bytes_.data() + 13);
    } else {
      StoreBigEndian64(uint64_t{key.label} + 1, number.data());
      std::memcpy(upper_bytes_.data() + 9, number.data() + 4, 4);
    }
  }
  upper_ = rocksdb::Slice(upper_bytes_.data(), size);
  if (iterator_ == nullptr) {
    rocksdb::ReadOptions options = snapshot_.ReadOptions();
    options.iterate_upper_bound = &upper_;
    iterator_ = snapshot_.NewIterator(Family::kEdgeEnds, options);
  }
  if (after.empty()) {
    iterator_->Seek(rocksdb::Slice(prefix.data(), size));
    return;
  }
  std::string start(after);
  start.push_back('\0');
  iterator_->Seek(start);
}

}  // namespace koios::storage
