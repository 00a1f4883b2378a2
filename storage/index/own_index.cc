#include "storage/index/own_index.h"

#include <algorithm>
#include <utility>

#include "storage/codec/index_entry.h"

namespace koios::storage {
namespace {

constexpr size_t kVerticesPerRead = 1024;
constexpr size_t kEntryBytes = 96;    // what one costs beside its key, which is kept twice
constexpr int64_t kVertexBytes = 72;  // of entries_of_, at the load that it is kept at

int64_t BytesOfEntry(const std::string& key) {
  return static_cast<int64_t>(kEntryBytes + 2 * key.size());
}

}  // namespace

OwnIndex::OwnIndex(const VertexIndexes& indexes) {
  std::set<std::vector<KeyId>> shapes;
  for (const auto& [id, index] : indexes) {
    if (index.ready) shapes.insert(index.keys);
  }
  shapes_.assign(shapes.begin(), shapes.end());
  for (const std::vector<KeyId>& shape : shapes_) keys_.insert(shape.begin(), shape.end());
}

Status OwnIndex::Refresh(const GraphView& view, const Charge& charge) {
  if (touched_.empty()) return OkStatus();
  std::vector<VertexRef> vertices;
  vertices.reserve(touched_.size());
  for (const uint64_t bits : touched_) vertices.push_back({bits});
  std::sort(vertices.begin(), vertices.end());
  for (size_t begin = 0; begin < vertices.size(); begin += kVerticesPerRead) {
    const size_t size = std::min(kVerticesPerRead, vertices.size() - begin);
    RETURN_IF_ERROR(RefreshSome(view, std::span(vertices).subspan(begin, size), charge));
  }
  return OkStatus();
}

Status OwnIndex::RefreshSome(const GraphView& view, std::span<const VertexRef> vertices,
                             const Charge& charge) {
  std::vector<LabelId> labels;
  RETURN_IF_ERROR(view.VertexLabels(vertices, &labels));
  PropertyRows rows;
  const std::vector<KeyId> keys(keys_.begin(), keys_.end());
  RETURN_IF_ERROR(view.VertexProperties(vertices, keys, &rows));
  size_t next = 0;
  for (size_t row = 0; row < vertices.size(); ++row) {
    KeyedProperties properties;
    for (; next < rows.rows.size() && rows.rows[next] == row; ++next) {
      properties.emplace_back(rows.keys[next], rows.values.Get(next));
    }
    if (!entries_of_.contains(vertices[row].bits)) RETURN_IF_ERROR(charge(kVertexBytes));
    Entries& known = entries_of_[vertices[row].bits];
    for (const std::string& key : known.keys) {
      RETURN_IF_ERROR(charge(-BytesOfEntry(key)));
      entries_.erase(key);
    }
    known = {labels[row], {}};
    for (uint32_t shape = 0; shape < shapes_.size(); ++shape) {
      const std::string places = PlacesOfEntry(shapes_[shape], properties);
      if (places.empty()) continue;
      std::string key = VertexIndexKey(vertices[row], shape, places);
      RETURN_IF_ERROR(charge(BytesOfEntry(key)));
      entries_.insert(key);
      known.keys.push_back(std::move(key));
    }
    touched_.erase(vertices[row].bits);
    RETURN_IF_ERROR(charge(-static_cast<int64_t>(kTouchedBytes)));
  }
  return OkStatus();
}

void OwnIndex::Absorb(OwnIndex* part) {
  DCHECK(shapes_ == part->shapes_);
  touched_.merge(part->touched_);
  entries_.merge(part->entries_);
  entries_of_.merge(part->entries_of_);
}

void OwnIndex::Seek(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
                    std::vector<VertexRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  const auto found = std::find(shapes_.begin(), shapes_.end(), seek.keys);
  cursor->done = found == shapes_.end();
  if (cursor->done) return;
  const std::string prefix =
      VertexIndexPrefix(partition, static_cast<uint32_t>(found - shapes_.begin()));
  for (; cursor->next < seek.ranges.size(); ++cursor->next) {
    const PlaceRange& range = seek.ranges[cursor->next];
    auto entry = cursor->resume_key.empty() ? entries_.lower_bound(prefix + range.begin)
                                            : entries_.upper_bound(cursor->resume_key);
    const std::string end = prefix + range.end;
    for (; entry != entries_.end() && *entry < end; ++entry) {
      if (out->size() >= full) return;
      cursor->resume_key = *entry;
      const VertexRef vertex = VertexRef::Make(
          partition, GetBigEndian48(entry->data() + entry->size() - kLocalBits / 8));
      const LabelId label = entries_of_.at(vertex.bits).label;
      const bool wanted = seek.labels.empty() || std::find(seek.labels.begin(), seek.labels.end(),
                                                           label) != seek.labels.end();
      if (wanted) out->push_back(vertex);
    }
    cursor->resume_key.clear();
  }
  cursor->done = true;
}

}  // namespace koios::storage
