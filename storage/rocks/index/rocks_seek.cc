// Seeks of the store's view: range after range of one index after the other.
#include <memory>

#include "storage/codec/keys.h"
#include "storage/rocks/rocks_view.h"

namespace koios::storage {

Status RocksView::SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor,
                               size_t limit, std::vector<VertexRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  const size_t num_ranges = seek.ranges.size();
  std::string upper_bytes;
  rocksdb::Slice upper;
  rocksdb::ReadOptions options = snapshot_.ReadOptions();
  options.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> entries;
  for (; cursor->next < seek.indexes.size() * num_ranges; ++cursor->next) {
    const PlaceRange& range = seek.ranges[cursor->next % num_ranges];
    const std::string prefix =
        VertexIndexPrefix(partition, seek.indexes[cursor->next / num_ranges]);
    upper_bytes = prefix + range.end;
    upper = upper_bytes;
    if (entries == nullptr) entries = snapshot_.NewIterator(Family::kVertexIndex, options);
    const bool resumes = !cursor->resume_key.empty();
    for (entries->Seek(resumes ? cursor->resume_key + '\0' : prefix + range.begin);
         entries->Valid(); entries->Next()) {
      if (out->size() == full) return OkStatus();
      IndexEntry entry;
      RETURN_IF_ERROR(DecodeVertexIndexKey(AsView(entries->key()), &entry));
      out->push_back(entry.vertex);
      cursor->resume_key.assign(AsView(entries->key()));
    }
    RETURN_IF_ERROR(FromRocks(entries->status(), "Seeking vertices"));
    cursor->resume_key.clear();
  }
  cursor->done = true;
  return OkStatus();
}

}  // namespace koios::storage
