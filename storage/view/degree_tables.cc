#include "storage/view/degree_tables.h"

#include <algorithm>

#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

uint8_t BitsOf(Direction direction) {
  uint8_t bits = 0;
  if (direction != Direction::kIn) bits |= TouchedBits::kOutEnds;
  if (direction != Direction::kOut) bits |= TouchedBits::kInEnds;
  return bits;
}

}  // namespace

DegreeTables::DegreeTables(const SnapshotSet& snapshots, const DeltaAt& at, Direction direction,
                           std::span<const LabelId> labels)
    : snapshots_(snapshots),
      at_(at),
      direction_(direction),
      touched_bits_(BitsOf(direction)),
      asked_(labels),
      labels_(WantedLabels(labels)),
      partitions_(snapshots.num_partitions()) {}

bool DegreeTables::TellStretch(std::span<const VertexRef> vertices, int64_t* degrees) {
  Partition& partition = partitions_[vertices.front().partition()];
  if (partition.delta != nullptr) return false;
  const std::optional<VertexPlace> first =
      partition.places->OfStretch(vertices.front().local(), vertices.size());
  if (!first.has_value()) return false;
  for (uint32_t i = partition.first[first->set]; i < partition.first[first->set + 1]; ++i) {
    lengths_[i].AddTo(first->row, {degrees, vertices.size()}, &partition.wrong);
  }
  return true;
}

Status DegreeTables::DamageOf(uint32_t partition) const {
  const PartitionSnapshot& snapshot = snapshots_.Of(partition);
  return partitions_[partition].wrong ? snapshot.NoteDamage() : snapshot.Damage();
}

StatusOr<bool> DegreeTables::Tell(std::span<const VertexRef> vertices, std::vector<int64_t>* out,
                                  std::vector<uint32_t>* touched) {
  const bool is_stretch = IsStretch(vertices);
  for (const VertexRef vertex : vertices.first(is_stretch ? 1 : vertices.size())) {
    const uint32_t partition = vertex.partition();
    if (partition >= partitions_.size()) return false;
    if (!partitions_[partition].is_open) Open(partition);
    if (!partitions_[partition].places.has_value()) return false;
  }
  const size_t size = out->size();
  out->resize(size + vertices.size());
  int64_t* const degrees = out->data() + size;
  if (is_stretch && TellStretch(vertices, degrees)) {
    RETURN_IF_ERROR(DamageOf(vertices.front().partition()));
    return true;
  }
  for (size_t i = 0; i < vertices.size(); ++i) {
    const VertexRef vertex = vertices[i];
    Partition& partition = partitions_[vertex.partition()];
    if (partition.delta != nullptr &&
        (partition.delta->Touched(vertex.local()) & touched_bits_) != 0) {
      touched->push_back(static_cast<uint32_t>(i));
      continue;
    }
    const VertexPlace place = partition.places->Of(vertex.local(), &partition.wrong);
    uint64_t ends = 0;
    if (place.set != kNoSet) {
      const ListLengths* const end = lengths_.data() + partition.first[place.set + 1];
      for (const ListLengths* of = lengths_.data() + partition.first[place.set]; of < end; ++of) {
        ends += of->Of(place.row, &partition.wrong);
      }
    }
    degrees[i] = static_cast<int64_t>(ends);
  }
  for (uint32_t p = 0; p < partitions_.size(); ++p) {
    if (partitions_[p].is_open) RETURN_IF_ERROR(DamageOf(p));
  }
  return true;
}

void DegreeTables::Open(uint32_t number) {
  Partition& partition = partitions_[number];
  partition.is_open = true;
  if (at_.delta != nullptr && number < at_.delta->num_partitions()) {
    const PartitionDelta& delta = at_.delta->Of(number);
    for (const Direction one : {Direction::kOut, Direction::kIn}) {
      if (direction_ != Direction::kBoth && direction_ != one) continue;
      if (delta.HasEnds(one, asked_)) partition.delta = &delta;
    }
  }
  const PartitionSnapshot& snapshot = snapshots_.Of(number);
  std::optional<VertexPlaces> places = snapshot.Places();
  if (!places.has_value()) return;
  const auto num_sets = static_cast<uint32_t>(snapshot.label_sets().size());
  partition.first.reserve(num_sets + 1);
  for (uint32_t set = 0; set < num_sets; ++set) {
    partition.first.push_back(static_cast<uint32_t>(lengths_.size()));
    if (!AddLengths(number, set)) return;
  }
  partition.first.push_back(static_cast<uint32_t>(lengths_.size()));
  partition.places = places;
}

bool DegreeTables::AddLengths(uint32_t partition, uint32_t set) {
  for (const Direction one : {Direction::kOut, Direction::kIn}) {
    if (direction_ != Direction::kBoth && direction_ != one) continue;
    for (const LabelledAdjacency& labelled : snapshots_.Adjacencies(partition, set, one)) {
      const bool wanted =
          asked_.empty() || std::binary_search(labels_.begin(), labels_.end(), labelled.label);
      if (!wanted) continue;
      const std::optional<ListLengths> lengths = labelled.adjacency->Lengths();
      if (!lengths.has_value()) return false;
      lengths_.push_back(*lengths);
    }
  }
  return true;
}

}  // namespace koios::storage
