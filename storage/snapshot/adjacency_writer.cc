#include "storage/snapshot/adjacency_writer.h"

#include <algorithm>
#include <bit>
#include <string>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

size_t DegreeClass(uint64_t degree) {
  return std::min<size_t>(static_cast<size_t>(std::bit_width(degree)), kDegreeClasses - 1);
}

// Ids are read one by one, so that three bytes cost no more than four.
uint8_t IdWidth(uint64_t largest) {
  if (largest < (1u << 16)) return 2;
  if (largest < (1u << 24)) return 3;
  return largest <= 0xFFFFFFFF ? 4 : 8;
}

// Walks the rows that have any, as they were gathered.
class ListReader {
 public:
  explicit ListReader(const SpillBuffer& lists) : reader_(lists) {}
  bool Next() {
    uint64_t distance = 0;
    if (!reader_.ReadVarint(&distance) || !reader_.ReadVarint(&degree_)) return false;
    row_ = next_row_ + distance;
    next_row_ = row_ + 1;
    return true;
  }
  uint64_t row() const { return row_; }
  uint64_t degree() const { return degree_; }
  const Status& status() const { return reader_.status(); }

 private:
  SpillReader reader_;
  uint64_t row_ = 0, next_row_ = 0, degree_ = 0;
};

}  // namespace

AdjacencyWriter::AdjacencyWriter(const SectionName& name, bool keeps_ids,
                                 const StageContext& context)
    : name_(name),
      keeps_ids_(keeps_ids),
      context_(context),
      neighbours_(context.space, {context.refs}),
      lists_(context.space),
      edge_ids_(context.space) {}

void AdjacencyWriter::Add(uint64_t row, VertexRef neighbour, uint64_t edge_id) {
  if (row_ != row) {
    EndRow();
    row_ = row;
  }
  ++degree_;
  neighbours_.Add(neighbour.bits);
  if (!keeps_ids_) return;
  if (name_.index == SectionIndex::kIn) edge_id &= kLocalMask;
  edge_ids_.AppendNumber(edge_id);
  if (num_ids_++ == 0 || edge_id != last_id_ + 1) ++id_runs_;
  last_id_ = edge_id;
  least_id_ = std::min(least_id_, edge_id);
  largest_id_ = std::max(largest_id_, edge_id);
}

void AdjacencyWriter::EndRow() {
  if (!row_) return;
  lists_.AppendVarint(*row_ - next_row_);
  lists_.AppendVarint(degree_);
  next_row_ = *row_ + 1;
  ++facts_.rows_with_any;
  facts_.edges += degree_;
  facts_.largest_degree = std::max(facts_.largest_degree, degree_);
  facts_.sum_of_squares += static_cast<double>(degree_) * static_cast<double>(degree_);
  ++facts_.degree_classes[DegreeClass(degree_)];
  degree_ = 0;
  row_.reset();
}

uint64_t AdjacencyWriter::ByteEstimate() const {
  return neighbours_.bytes() + edge_ids_.bytes() + 4 * (next_row_ + 2) + sizeof(AdjacencyFacts);
}

Status AdjacencyWriter::Write(uint64_t rows, SnapshotWriter* writer) {
  EndRow();
  RETURN_IF_ERROR(context_.space->status());
  if (next_row_ > rows) return Internal("An adjacency has more rows than its vertices.");
  const bool has_several = facts_.largest_degree > 1;
  const bool all_have_one = !has_several && facts_.rows_with_any == rows;
  const bool sparse = !all_have_one && (!has_several || facts_.rows_with_any < rows / kSparseShare);
  facts_.rows = rows;
  facts_.degree_classes[0] = rows - facts_.rows_with_any;
  facts_.first_edge_id = num_ids_ == 0 ? 0 : least_id_;
  if (sparse) RETURN_IF_ERROR(WritePresence(rows, writer));
  if (has_several) RETURN_IF_ERROR(WriteOffsets(rows, sparse, writer));
  RETURN_IF_ERROR(neighbours_.Write(name_.Of(SectionKind::kNeighbours), writer));
  if (num_ids_ > 0) RETURN_IF_ERROR(WriteEdgeIds(writer));
  writer->WriteFacts(name_.Of(SectionKind::kAdjacency), facts_);
  return OkStatus();
}

Status AdjacencyWriter::WritePresence(uint64_t rows, SnapshotWriter* writer) const {
  const uint64_t words = WordsOfBits(rows);
  writer->Begin(name_.Of(SectionKind::kPresence), sizeof(PresenceWord),
                words * sizeof(PresenceWord));
  ListReader lists(lists_);
  bool more = lists.Next();
  uint64_t before = 0;
  for (uint64_t i = 0; i < words; ++i) {
    PresenceWord word{0, before};
    for (; more && lists.row() / 64 == i; more = lists.Next()) {
      word.bits |= uint64_t{1} << (lists.row() % 64);
      ++before;
    }
    writer->AppendNumber(word);
  }
  RETURN_IF_ERROR(lists.status());
  return writer->End(words);
}

// Begin of each list, and the end of the last.
Status AdjacencyWriter::WriteOffsets(uint64_t rows, bool of_present, SnapshotWriter* writer) const {
  const uint8_t width = context_.WidthFor(facts_.edges);
  const uint64_t lists_written = of_present ? facts_.rows_with_any : rows;
  writer->Begin(name_.Of(SectionKind::kListOffsets), width, (lists_written + 1) * width);
  ListReader lists(lists_);
  uint64_t offset = 0, next_row = 0;
  while (lists.Next()) {
    for (; !of_present && next_row < lists.row(); ++next_row) writer->AppendWide(offset, width);
    writer->AppendWide(offset, width);
    offset += lists.degree();
    next_row = lists.row() + 1;
  }
  for (; !of_present && next_row < rows; ++next_row) writer->AppendWide(offset, width);
  writer->AppendWide(offset, width);
  RETURN_IF_ERROR(lists.status());
  return writer->End(lists_written + 1);
}

Status AdjacencyWriter::WriteEdgeIds(SnapshotWriter* writer) {
  const uint8_t width = IdWidth(largest_id_ - least_id_);
  const SectionName name = name_.Of(SectionKind::kEdgeIds);
  SpillReader ids(edge_ids_);
  uint64_t id = 0;
  if (id_runs_ * sizeof(EdgeIdRun) <= num_ids_ * width) {
    writer->Begin(name, sizeof(EdgeIdRun), id_runs_ * sizeof(EdgeIdRun));
    uint64_t last = 0;
    for (uint64_t position = 0; ids.ReadNumber(&id); ++position) {
      if (position == 0 || id != last + 1) writer->AppendNumber(EdgeIdRun{position, id});
      last = id;
    }
    RETURN_IF_ERROR(ids.status());
    return writer->End(id_runs_);
  }
  writer->Begin(name, width, num_ids_ * width);
  while (ids.ReadNumber(&id)) writer->AppendWide(id - least_id_, width);
  RETURN_IF_ERROR(ids.status());
  return writer->End(num_ids_);
}

}  // namespace koios::storage
