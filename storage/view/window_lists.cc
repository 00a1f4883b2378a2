#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

// Returns how many ends the lists have.
uint64_t Prefetch(const SnapshotAdjacency& table, std::span<const ListSlice> slices) {
  const size_t width = table.is_wide() ? sizeof(uint64_t) : sizeof(uint32_t);
  const char* const start = table.is_wide() ? reinterpret_cast<const char*>(table.wide())
                                            : reinterpret_cast<const char*>(table.narrow());
  uint64_t num_ends = 0;
  for (const ListSlice& slice : slices) {
    if (slice.count > 0) __builtin_prefetch(start + slice.begin * width);
    num_ends += slice.count;
  }
  return num_ends;
}

}  // namespace

std::vector<LabelId> WantedLabels(std::span<const LabelId> labels) {
  std::vector<LabelId> wanted(labels.begin(), labels.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (!wanted.empty() && wanted.front() == kNoName) wanted.erase(wanted.begin());
  return wanted;
}

Status WindowLists::Find(std::span<const VertexRef> vertices) {
  RETURN_IF_ERROR(placed_.Locate(snapshots_, vertices));
  rows_.assign(vertices.size(), {});
  tables_.clear();
  slices_.clear();
  num_ends_ = 0;
  for (const PlacedRows::Group& group : placed_.groups()) {
    const size_t begin = tables_.size();
    AddTables(group);
    const auto num_lists = static_cast<uint32_t>(tables_.size() - begin);
    const size_t first = slices_.size();
    slices_.resize(first + size_t{num_lists} * group.size());
    for (uint32_t i = 0; i < num_lists; ++i) {
      ListSlice* const slices = slices_.data() + first + size_t{i} * group.size();
      RETURN_IF_ERROR(tables_[begin + i]->Lists(placed_.Rows(group), slices));
      num_ends_ += Prefetch(*tables_[begin + i], {slices, group.size()});
    }
    const std::span<const uint32_t> inputs = placed_.Inputs(group);
    for (size_t i = 0; i < inputs.size(); ++i) {
      rows_[inputs[i]] = {static_cast<uint32_t>(begin), num_lists, static_cast<uint32_t>(first + i),
                          group.size()};
    }
  }
  return OkStatus();
}

void WindowLists::AddTables(const PlacedRows::Group& group) {
  for (const Direction one : {Direction::kOut, Direction::kIn}) {
    if (!Wants(one)) continue;
    for (const LabelledAdjacency& labelled :
         snapshots_.Adjacencies(group.partition, group.set, one)) {
      if (all_labels_ || std::binary_search(labels_.begin(), labels_.end(), labelled.label)) {
        tables_.push_back(labelled.adjacency);
      }
    }
  }
}

}  // namespace koios::storage
