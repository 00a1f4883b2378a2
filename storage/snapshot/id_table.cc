#include "storage/snapshot/id_table.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "storage/codec/keys.h"

namespace koios::storage {

void IdTableWriter::Add(std::string_view id_bytes, uint64_t local) {
  char hash[8], bytes[8];
  StoreBigEndian64(IdSlot::Of(id_bytes).hash, hash);
  StoreBigEndian64(local, bytes);
  sorter_.Add({hash, sizeof(hash)}, {bytes, sizeof(bytes)});
  largest_local_ = std::max(largest_local_, local);
  ++num_ids_;
}

Status IdTableWriter::Write(SnapshotWriter* writer) {
  sorter_.Sort();
  return context_.WidthFor(largest_local_) == 4 ? WriteBuckets<uint32_t>(writer)
                                                : WriteBuckets<uint64_t>(writer);
}

template <typename Local>
Status IdTableWriter::WriteBuckets(SnapshotWriter* writer) {
  using Bucket = IdBucketOf<Local>;
  writer->Begin({SectionKind::kIdTable, SectionIndex::kPartition, 0, 0, 0}, sizeof(Bucket),
                SnapshotWriter::kAsAppended);
  const uint64_t homes = HomeBuckets(num_ids_);
  std::deque<std::pair<uint8_t, uint64_t>> waiting;  // tag and local of who has no room yet
  uint64_t written = 0;
  while (written < homes || !waiting.empty()) {
    for (; sorter_.Valid(); sorter_.Next()) {
      const IdSlot slot{GetBigEndian64(sorter_.key().data())};
      if (slot.Bucket(homes) > written) break;
      waiting.emplace_back(slot.tag(), GetBigEndian64(sorter_.value().data()));
    }
    Bucket bucket;
    for (size_t k = 0; k < kIdsPerBucket && !waiting.empty(); ++k) {
      bucket.tags[k] = waiting.front().first;
      bucket.locals[k] = static_cast<Local>(waiting.front().second);
      waiting.pop_front();
    }
    bucket.passed = static_cast<uint32_t>(std::min<size_t>(waiting.size(), 0xFFFFFFFF));
    writer->AppendNumber(bucket);
    ++written;
  }
  RETURN_IF_ERROR(sorter_.status());
  return writer->End(written);
}

}  // namespace koios::storage
