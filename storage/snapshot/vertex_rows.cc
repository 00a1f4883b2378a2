#include "storage/snapshot/vertex_rows.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

// Of the rows of a set: what may be lost to vertices that are gone.
constexpr uint64_t kLostShare = 8;

SectionName NameOfKind(SectionKind kind) { return {kind, SectionIndex::kPartition, 0, 0, 0}; }

}  // namespace

uint64_t RowNumbers::Next(uint64_t local, uint32_t set) {
  if (set >= rows_.size()) {
    rows_.resize(set + 1);
    lost_.resize(set + 1);
  }
  const uint64_t gap = local - end_local_;
  end_local_ = local + 1;
  if (!has_runs_) return rows_[set]++;
  const bool goes_on =
      !runs_.empty() && runs_.back().set == set && lost_[set] + gap <= rows_[set] / kLostShare;
  if (goes_on) {
    lost_[set] += gap;
    all_lost_ += gap;
    rows_[set] += gap;
    runs_.back().count += gap + 1;
  } else if (runs_.size() < kMostLabelRuns) {
    runs_.push_back({local, rows_[set], 1, set, 0});
  } else {
    has_runs_ = false;
    runs_.clear();
  }
  return rows_[set]++;
}

uint64_t VertexRowsWriter::Add(uint64_t local, uint32_t set) {
  const uint64_t gap = local - numbers_.end_local();
  if (gap > 0 || set != stretch_set_) {
    EndStretch();
    stretch_gap_ = gap;
    stretch_set_ = set;
  }
  ++stretch_count_;
  return numbers_.Next(local, set);
}

void VertexRowsWriter::EndStretch() {
  if (stretch_count_ == 0) return;
  std::string bytes;
  PutVarint(stretch_gap_, &bytes);
  PutVarint(stretch_set_, &bytes);
  PutVarint(stretch_count_, &bytes);
  staged_.Append(bytes);
  stretch_gap_ = stretch_count_ = 0;
}

// Calls use(local, set) for each.
template <typename Use>
Status VertexRowsWriter::ForEachVertex(const Use& use) const {
  SpillReader reader(staged_);
  uint64_t local = 0, gap = 0, set = 0, count = 0;
  while (reader.ReadVarint(&gap) && reader.ReadVarint(&set) && reader.ReadVarint(&count)) {
    local += gap;
    for (uint64_t i = 0; i < count; ++i) use(local++, static_cast<uint32_t>(set));
  }
  return reader.status();
}

Status VertexRowsWriter::Write(std::span<const std::vector<LabelId>> sets, SnapshotWriter* writer) {
  EndStretch();
  RETURN_IF_ERROR(context_.space->status());
  for (uint32_t set = 0; set < sets.size(); ++set) {
    const SectionName name{SectionKind::kLabelSet, SectionIndex::kPartition, set, 0, 0};
    const std::string_view labels(reinterpret_cast<const char*>(sets[set].data()),
                                  sets[set].size() * sizeof(LabelId));
    writer->WriteHead(name, sizeof(LabelId), labels, rows(set));
  }
  if (!numbers_.has_runs()) return WriteArrays(sets.size(), writer);
  const std::vector<LabelRun>& runs = numbers_.runs();
  writer->WriteHead(NameOfKind(SectionKind::kLabelRuns), sizeof(LabelRun),
                    {reinterpret_cast<const char*>(runs.data()), runs.size() * sizeof(LabelRun)},
                    runs.size());
  return numbers_.lost_rows() > 0 ? WriteAlive(writer) : OkStatus();
}

Status VertexRowsWriter::WriteAlive(SnapshotWriter* writer) const {
  const uint64_t words = WordsOfBits(end_local());
  writer->Begin(NameOfKind(SectionKind::kAlive), 0, words * 8);
  uint64_t bits = 0, word = 0;
  RETURN_IF_ERROR(ForEachVertex([&](uint64_t local, uint32_t) {
    for (; word < local / 64; ++word) {
      writer->AppendNumber(bits);
      bits = 0;
    }
    bits |= uint64_t{1} << (local % 64);
  }));
  writer->AppendNumber(bits);
  return writer->End(end_local());
}

Status VertexRowsWriter::WriteArrays(size_t num_sets, SnapshotWriter* writer) const {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  const uint64_t locals = end_local();
  const uint8_t set_width = num_sets < 0xFF ? 1 : num_sets < 0xFFFF ? 2 : 4;
  writer->Begin(NameOfKind(SectionKind::kSetOfLocal), set_width, locals * set_width);
  uint64_t next = 0;
  RETURN_IF_ERROR(ForEachVertex([&](uint64_t local, uint32_t set) {
    for (; next < local; ++next) writer->AppendWide(kNone, set_width);
    writer->AppendWide(set, set_width);
    ++next;
  }));
  RETURN_IF_ERROR(writer->End(locals));

  uint64_t most_rows = 0;
  for (uint32_t set = 0; set < num_sets; ++set) most_rows = std::max(most_rows, rows(set));
  const uint8_t row_width = context_.WidthFor(most_rows);
  writer->Begin(NameOfKind(SectionKind::kRowOfLocal), row_width, locals * row_width);
  RowNumbers again;
  next = 0;
  RETURN_IF_ERROR(ForEachVertex([&](uint64_t local, uint32_t set) {
    for (; next < local; ++next) writer->AppendWide(0, row_width);
    writer->AppendWide(again.Next(local, set), row_width);
    ++next;
  }));
  return writer->End(locals);
}

}  // namespace koios::storage
