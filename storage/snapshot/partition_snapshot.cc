#include "storage/snapshot/partition_snapshot.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/snapshot/id_table.h"

namespace koios::storage {
namespace {

constexpr uint64_t kLocalsPerScan = 16'384;

}  // namespace

StatusOr<std::shared_ptr<const PartitionSnapshot>> PartitionSnapshot::Open(
    const std::string& folder, uint32_t partition, const SnapshotFileName& name) {
  std::shared_ptr<PartitionSnapshot> snapshot(new PartitionSnapshot());
  RETURN_IF_ERROR(snapshot->OpenFiles(folder, partition, name));
  snapshot->refs_ = NarrowRefs(snapshot->header().num_partitions);
  RETURN_IF_ERROR(snapshot->ReadVertices());
  RETURN_IF_ERROR(snapshot->ReadHeads());
  RETURN_IF_ERROR(snapshot->Damage());
  return std::shared_ptr<const PartitionSnapshot>(std::move(snapshot));
}

std::shared_ptr<const PartitionSnapshot> PartitionSnapshot::Empty(uint32_t partition,
                                                                  uint32_t num_partitions,
                                                                  uint64_t version) {
  std::shared_ptr<PartitionSnapshot> snapshot(new PartitionSnapshot());
  snapshot->header_.partition = partition;
  snapshot->header_.num_partitions = num_partitions;
  snapshot->header_.version = version;
  snapshot->refs_ = NarrowRefs(num_partitions);
  return snapshot;
}

Status PartitionSnapshot::OpenFiles(const std::string& folder, uint32_t partition,
                                    const SnapshotFileName& name) {
  ASSIGN_OR_RETURN(auto newest, MappedFile::Open(folder, partition, name));
  files_.push_back(std::move(newest));
  header_ = files_[0]->header();
  for (uint32_t i = 0; i < header().num_older; ++i) {
    ASSIGN_OR_RETURN(auto older, MappedFile::Open(folder, partition, header().older[i]));
    files_.push_back(std::move(older));
  }
  for (const SectionEntry& entry : files_[0]->directory()) {
    auto& section = sections_[entry.name()];
    if (section != nullptr) return files_[0]->NoteDamage();
    section = std::make_unique<MappedSection>(files_[entry.file], entry);
  }
  return OkStatus();
}

Status PartitionSnapshot::Damage() const {
  for (const auto& file : files_) RETURN_IF_ERROR(file->Damage());
  return OkStatus();
}

const MappedSection* PartitionSnapshot::Find(const SectionName& name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? nullptr : found->second.get();
}

Status PartitionSnapshot::ReadVertices() {
  const auto find = [this](SectionKind kind) {
    return Find({kind, SectionIndex::kPartition, 0, 0, 0});
  };
  const MappedFile& file = *files_[0];
  for (uint32_t set = 0;; ++set) {
    const auto* labels = Find({SectionKind::kLabelSet, SectionIndex::kPartition, set, 0, 0});
    if (labels == nullptr) break;
    RETURN_IF_ERROR(labels->TouchAll());
    LabelSet& made = label_sets_.emplace_back();
    made.labels.resize(labels->bytes().size() / sizeof(LabelId));
    if (!made.labels.empty()) {
      std::memcpy(made.labels.data(), labels->bytes().data(), made.labels.size() * sizeof(LabelId));
    }
    made.rows = labels->rows();
    if (made.rows > header().end_local) return files_[0]->NoteDamage();
  }
  const MappedSection* const runs = find(SectionKind::kLabelRuns);
  alive_ = find(SectionKind::kAlive);
  set_of_local_ = find(SectionKind::kSetOfLocal);
  row_of_local_ = find(SectionKind::kRowOfLocal);
  id_table_ = find(SectionKind::kIdTable);
  const uint64_t locals = header().end_local;
  const auto has_locals = [locals](const MappedSection* section) {
    return section == nullptr || section->rows() == locals;
  };
  if (id_table_ == nullptr || !has_locals(alive_) || !has_locals(set_of_local_) ||
      !has_locals(row_of_local_) || (runs == nullptr) != (set_of_local_ != nullptr) ||
      (set_of_local_ == nullptr) != (row_of_local_ == nullptr)) {
    return file.NoteDamage();
  }
  if (runs == nullptr) return OkStatus();
  RETURN_IF_ERROR(runs->TouchAll());
  runs_.assign(runs->As<LabelRun>(), runs->As<LabelRun>() + runs->rows());
  uint64_t next_local = 0;
  for (const LabelRun& run : runs_) {
    if (run.set >= label_sets_.size() || run.first_local < next_local ||
        run.count > locals - std::min(run.first_local, locals) ||
        run.count > label_sets_[run.set].rows ||
        run.first_row > label_sets_[run.set].rows - run.count) {
      return file.NoteDamage();
    }
    next_local = run.first_local + run.count;
  }
  return OkStatus();
}

Status PartitionSnapshot::ReadHeads() {
  for (const auto& [name, section] : sections_) {
    const auto part = [this, &name = name](SectionKind kind) { return Find(name.Of(kind)); };
    if (name.kind == SectionKind::kAdjacency) {
      const AdjacencySections parts{part(SectionKind::kPresence), part(SectionKind::kListOffsets),
                                    part(SectionKind::kNeighbours), part(SectionKind::kEdgeIds)};
      ASSIGN_OR_RETURN(auto made, SnapshotAdjacency::Make(name, *section, parts, refs_));
      const bool fits =
          name.set < label_sets_.size() && made->facts().rows == label_sets_[name.set].rows;
      if (!fits) return files_[0]->NoteDamage();
      adjacencies_[name] = std::move(made);
    } else if (name.kind == SectionKind::kColumn) {
      const ColumnSections parts{part(SectionKind::kValidity),       part(SectionKind::kValues),
                                 part(SectionKind::kCodes),          part(SectionKind::kDictionary),
                                 part(SectionKind::kDictionaryHeap), part(SectionKind::kHeapEnds),
                                 part(SectionKind::kHeap),           part(SectionKind::kItemEnds),
                                 part(SectionKind::kValueIds)};
      ASSIGN_OR_RETURN(auto made, SnapshotColumn::Make(name, *section, parts));
      columns_[name] = std::move(made);
    }
  }
  for (const auto& [name, column] : columns_) {
    if (name.set >= label_sets_.size()) return files_[0]->NoteDamage();
    uint64_t rows = 0;
    if (name.index == SectionIndex::kVertex) {
      rows = label_sets_[name.set].rows;
    } else if (name.index == SectionIndex::kOut) {
      const auto* out = FindAdjacency(name.set, Direction::kOut, name.parent);
      if (out != nullptr) rows = out->num_positions();
    } else if (const auto* of = FindVertexColumn(name.set, name.parent)) {
      rows = of->facts().values;
    }
    if (column->facts().rows != rows) return files_[0]->NoteDamage();
  }
  return OkStatus();
}

const SnapshotAdjacency* PartitionSnapshot::FindAdjacency(uint32_t set, Direction direction,
                                                          LabelId label) const {
  const SectionIndex index = direction == Direction::kOut ? SectionIndex::kOut : SectionIndex::kIn;
  const auto found = adjacencies_.find({SectionKind::kAdjacency, index, set, label, 0});
  return found == adjacencies_.end() ? nullptr : found->second.get();
}

const SnapshotColumn* PartitionSnapshot::FindColumn(SectionIndex index, uint32_t set,
                                                    uint32_t parent, KeyId key) const {
  const auto found = columns_.find({SectionKind::kColumn, index, set, parent, key});
  return found == columns_.end() ? nullptr : found->second.get();
}

Status PartitionSnapshot::IsAlive(uint64_t local, bool* alive) const {
  *alive = true;
  if (alive_ == nullptr) return OkStatus();
  RETURN_IF_ERROR(alive_->Touch(local, 1));
  *alive = BitAt(*alive_, local);
  return OkStatus();
}

Status PartitionSnapshot::PlaceOf(uint64_t local, VertexPlace* out) const {
  *out = {};
  if (local >= header().end_local) return OkStatus();
  if (set_of_local_ != nullptr) {
    RETURN_IF_ERROR(set_of_local_->Touch(local, 1));
    const uint64_t set = NumberAt(*set_of_local_, local);
    const uint64_t none = ~uint64_t{0} >> (64 - 8 * set_of_local_->width());
    if (set == none) return OkStatus();
    RETURN_IF_ERROR(row_of_local_->Touch(local, 1));
    const uint64_t row = NumberAt(*row_of_local_, local);
    if (set >= label_sets_.size() || row >= label_sets_[set].rows) return files_[0]->NoteDamage();
    *out = {static_cast<uint32_t>(set), row};
    return OkStatus();
  }
  for (const LabelRun& run : runs_) {
    if (local - run.first_local >= run.count) continue;
    bool alive = true;
    RETURN_IF_ERROR(IsAlive(local, &alive));
    if (alive) *out = {run.set, run.first_row + (local - run.first_local)};
    return OkStatus();
  }
  return OkStatus();
}

std::optional<VertexPlaces> PartitionSnapshot::Places() const {
  VertexPlaces places;
  places.label_sets_ = label_sets_;
  places.end_local_ = header().end_local;
  if (set_of_local_ == nullptr) {
    if (alive_ != nullptr || runs_.empty()) return std::nullopt;
    places.runs_ = runs_;
    places.run_ = runs_.data();
    return places;
  }
  const uint8_t width = set_of_local_->width();
  if (width > 2 || !set_of_local_->CheckedAtOnce() || !row_of_local_->CheckedAtOnce()) {
    return std::nullopt;
  }
  places.sets_ = set_of_local_->bytes().data();
  places.wide_sets_ = width == 2;
  places.no_set_ = width == 2 ? 0xFFFF : 0xFF;
  places.rows_ = row_of_local_;
  if (row_of_local_->width() == 4) places.narrow_rows_ = row_of_local_->As<uint32_t>();
  return places;
}

Status PartitionSnapshot::Locate(std::span<const uint64_t> locals, VertexPlace* out) const {
  if (std::optional<VertexPlaces> places = Places()) {
    bool wrong = false;
    for (size_t i = 0; i < locals.size(); ++i) out[i] = places->Of(locals[i], &wrong);
    return wrong ? files_[0]->NoteDamage() : Damage();
  }
  for (size_t i = 0; i < locals.size(); ++i) RETURN_IF_ERROR(PlaceOf(locals[i], &out[i]));
  return Damage();
}

Status PartitionSnapshot::ScanVertices(uint32_t set, uint64_t* next_local, size_t limit,
                                       std::vector<uint64_t>* locals) const {
  size_t found = 0;
  VertexPlace place;
  for (uint64_t looked = 0; *next_local < header().end_local && found < limit; ++looked) {
    if (looked == kLocalsPerScan) break;
    if (set_of_local_ == nullptr) {
      // To the run that has it, or the next one.
      const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const LabelRun& one) {
        return *next_local < one.first_local + one.count && (set == kNoSet || one.set == set);
      });
      *next_local =
          run == runs_.end() ? header().end_local : std::max(*next_local, run->first_local);
      if (run == runs_.end()) break;
      if (alive_ == nullptr) {
        const uint64_t left = run->first_local + run->count - *next_local;
        const uint64_t count = std::min<uint64_t>(left, limit - found);
        const size_t size = locals->size();
        locals->resize(size + count);
        std::iota(locals->begin() + static_cast<std::ptrdiff_t>(size), locals->end(), *next_local);
        *next_local += count;
        found += count;
        continue;
      }
    }
    RETURN_IF_ERROR(PlaceOf(*next_local, &place));
    if (place.set != kNoSet && (set == kNoSet || place.set == set)) {
      locals->push_back(*next_local);
      ++found;
    }
    ++*next_local;
  }
  return Damage();
}

StatusOr<bool> PartitionSnapshot::HasId(uint64_t local, std::string_view id_bytes) const {
  VertexPlace place;
  RETURN_IF_ERROR(PlaceOf(local, &place));
  const SnapshotColumn* const ids =
      place.set == kNoSet ? nullptr : FindVertexColumn(place.set, kNoName);
  if (ids == nullptr) return files_[0]->NoteDamage();
  std::vector<std::optional<Value>> value;
  RETURN_IF_ERROR(ids->Values({&place.row, 1}, &value));
  const bool is_id =
      value[0] && (value[0]->kind() == ValueKind::kLong || value[0]->kind() == ValueKind::kString);
  if (!is_id) return files_[0]->NoteDamage();
  return IdBytes(*value[0]) == id_bytes;
}

Status PartitionSnapshot::FindIds(std::span<const std::string_view> ids, uint64_t* out) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    out[i] = kNoLocal;
    if (id_table_ == nullptr) continue;
    const auto check = [&](uint64_t local) -> StatusOr<bool> {
      ASSIGN_OR_RETURN(const bool found, HasId(local, ids[i]));
      if (found) out[i] = local;
      return found;
    };
    const IdSlot slot = IdSlot::Of(ids[i]);
    RETURN_IF_ERROR(id_table_->width() == sizeof(IdBucketOf<uint32_t>)
                        ? ProbeIdTable<uint32_t>(*id_table_, header().num_vertices, slot, check)
                        : ProbeIdTable<uint64_t>(*id_table_, header().num_vertices, slot, check));
  }
  return Damage();
}

}  // namespace koios::storage
