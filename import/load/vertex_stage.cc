#include "import/load/vertex_stage.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/value_codec.h"
#include "import/load/bin_turns.h"
#include "import/load/record_batch.h"
#include "import/load/record_block.h"
#include "import/load/table_reader.h"
#include "import/sort/bin_writer.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"

namespace koios::import {
namespace {

constexpr size_t kRunBuffer = size_t{64} << 10;

// The numbers of a bin's vertices, per partition and label: how many there are, then the next one.
class LabelNumbers {
 public:
  void Count(uint32_t partition, LabelId label) { ++At(partition, label); }
  void Assign(storage::BulkWriter* writer) {
    for (auto first = numbers_.begin(); first != numbers_.end();) {
      const uint32_t partition = first->first.first;
      uint64_t count = 0;
      auto end = first;
      for (; end != numbers_.end() && end->first.first == partition; ++end) count += end->second;
      uint64_t next = writer->AssignVertices(partition, count);
      for (; first != end; ++first) next += std::exchange(first->second, next);
    }
  }
  VertexRef Next(uint32_t partition, LabelId label) {
    return VertexRef::Make(partition, At(partition, label)++);
  }

 private:
  uint64_t& At(uint32_t partition, LabelId label) {
    const std::pair name(partition, label);
    // Mostly that of the vertex before.
    if (last_ == nullptr || last_->first != name) last_ = &*numbers_.try_emplace(name).first;
    return last_->second;
  }

  std::map<std::pair<uint32_t, LabelId>, uint64_t> numbers_;
  std::pair<const std::pair<uint32_t, LabelId>, uint64_t>* last_ = nullptr;
};

class VertexStage {
 public:
  explicit VertexStage(LoadContext* context)
      : context_(context),
        bins_(context->target.bins),
        by_id_(context->room, bins_.size(), context->room->record_bytes()) {}

  StatusOr<LoadedVertices> Run() {
    loaded_.records = std::make_unique<BinSorter>(context_->room, bins_.size(),
                                                  context_->room->record_bytes() * 2 / 3);
    RETURN_IF_ERROR(Read());
    if (without_id_ != nullptr) RETURN_IF_ERROR(GiveIds());
    ChooseJoin();
    RETURN_IF_ERROR(ChooseIndexes());
    context_->writer->NoteVertexId(max_int_id_);
    context_->progress->StartStage("number vertices", by_id_.num_records());
    BinTurns turns;
    RETURN_IF_ERROR(turns.Run(context_->num_threads(), bins_.size(),
                              [&](size_t bin) { return NumberBin(bin, &turns); }));
    context_->spilled_bytes += by_id_.spilled_bytes();
    return std::move(loaded_);
  }

 private:
  Status Read() {
    return ReadTables(
        context_, "read vertices", context_->sources->nodes, 0, [this](RecordBlock* block) {
          max_int_id_ = std::max(max_int_id_, block->max_int_id);
          labels_in_space_.insert(block->labels_in_space.begin(), block->labels_in_space.end());
          counts_.Add(block->ids);
          for (size_t bin = 0; bin < bins_.size(); ++bin) {
            RETURN_IF_ERROR(by_id_.Add(bin, std::move(block->records[bin])));
          }
          return PutAside(block->without_id);
        });
  }

  Status PutAside(const RecordChunk& without_id) {
    if (without_id.empty()) return OkStatus();
    if (without_id_ == nullptr) {
      ASSIGN_OR_RETURN(without_id_file_, TempFile::Create(context_->options->temp_dir));
      without_id_ = std::make_unique<RunWriter>(without_id_file_.get(), kRunBuffer);
    }
    Status status;
    without_id.ForEach([&](std::string_view key, std::string_view value) {
      if (status.ok()) status = without_id_->Add(key, value);
    });
    return status;
  }

  // Vertices without an id get integers above all others, in the order of the input.
  Status GiveIds() {
    ASSIGN_OR_RETURN(koios::import::Run run, without_id_->Finish());
    int64_t next = std::max(max_int_id_, context_->writer->AssignVertexId().AsInteger());
    RunReader reader(without_id_file_.get(), run, kRunBuffer);
    BinWriter to(&by_id_, context_->ChunkBytes());
    std::string id_bytes, value;
    while (true) {
      ASSIGN_OR_RETURN(bool more, reader.Next());
      if (!more) break;
      if (next == std::numeric_limits<int64_t>::max()) {
        return InvalidArgument("There is no integer left for vertices without an id.");
      }
      ++next;
      id_bytes.clear();
      storage::AppendNumberId(next, &id_bytes);
      counts_.Note(IdName::Number(0, next));
      std::string_view rest = reader.value();
      RecordSource source;
      storage::VertexRecord record;
      if (!GetSource(&rest, &source)) return DamagedRecord();
      RETURN_IF_ERROR(storage::ParseVertexRecord(rest, &record));
      value.clear();
      PutSource(source, &value);
      storage::AppendVertexHead(record.label, id_bytes, &value);
      value += record.properties;
      const std::string key = storage::VertexIdKey(id_bytes, bins_.num_partitions());
      RETURN_IF_ERROR(to.Add(bins_.Of(storage::GetBigEndian16(key.data())), key, value));
    }
    max_int_id_ = std::max(max_int_id_, next);
    return to.Finish();
  }

  void ChooseJoin() {
    const uint64_t table_bytes = IdTable::BytesFor(counts_);
    if (context_->existing == nullptr && table_bytes <= context_->Eighths(2)) {
      loaded_.table = std::make_unique<IdTable>(counts_);
      context_->room->Hold(table_bytes);
      loaded_.table_bytes = table_bytes;
    } else {
      loaded_.map.bins.resize(bins_.size());
    }
  }

  Status ChooseIndexes() {
    if (labels_in_space_.empty()) return OkStatus();
    ASSIGN_OR_RETURN(const KeyId key, context_->writer->InternKey(kOriginalIdKey));
    for (const LabelId label : labels_in_space_) context_->writer->IndexVertices(label, key);
    return OkStatus();
  }

  // Duplicates are told first, so that the numbers of each label are known before one is given.
  Status NumberBin(size_t bin, BinTurns* turns) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, by_id_.Open(bin));
    LabelNumbers numbers;
    std::vector<bool> dropped;
    RETURN_IF_ERROR(Count(bin, records.get(), turns, &numbers, &dropped));
    numbers.Assign(context_->writer);
    RETURN_IF_ERROR(records->Rewind());
    RETURN_IF_ERROR(Number(bin, records.get(), dropped, &numbers));
    by_id_.Drop(bin);
    return OkStatus();
  }

  Status Count(size_t bin, SortedBin* records_of_bin, BinTurns* turns, LabelNumbers* numbers,
               std::vector<bool>* dropped) {
    RecordBatch batch;
    std::vector<std::optional<VertexRef>> existing;
    std::string last_key;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(records_of_bin));
      const auto& records = batch.records();
      if (records.empty()) return OkStatus();
      existing.assign(records.size(), std::nullopt);
      if (context_->existing != nullptr) {
        RETURN_IF_ERROR(LookUpVertices(*context_->existing, records, true, &existing));
      }
      for (size_t i = 0; i < records.size(); ++i) {
        const bool twice = records[i].key == last_key;
        dropped->push_back(twice || existing[i]);
        std::string_view rest = records[i].value;
        RecordSource source;
        if (!GetSource(&rest, &source)) return DamagedRecord();
        if (dropped->back()) {
          RETURN_IF_ERROR(turns->WaitForTurn(bin));
          RETURN_IF_ERROR(ReportDuplicate(records[i], source, twice));
          continue;
        }
        last_key = records[i].key;
        ASSIGN_OR_RETURN(const LabelId label, storage::RecordLabel(rest));
        numbers->Count(storage::GetBigEndian16(records[i].key.data()), label);
      }
    }
  }

  Status ReportDuplicate(const RecordBatch::Record& record, const RecordSource& source,
                         bool twice) {
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(ColumnRole::kId);
    return ReportRow(context_, source, RowCode::kDuplicateId,
                     column ? static_cast<uint32_t>(*column) + 1 : 0,
                     "the id " + DescribeIdKey(record.key) +
                         (twice ? " is in the input before" : " is in the graph already"));
  }

  Status Number(size_t bin, SortedBin* records, const std::vector<bool>& dropped,
                LabelNumbers* numbers) {
    RollingStream ids = context_->OpenStream(storage::Family::kVertexIds);
    BinWriter to(loaded_.records.get(), context_->ChunkBytes());
    VertexMap::OfBin* const map = loaded_.table == nullptr ? &loaded_.map.bins[bin] : nullptr;
    std::optional<RunWriter> map_writer;
    if (map != nullptr && !dropped.empty()) {
      ASSIGN_OR_RETURN(map->file, TempFile::Create(context_->options->temp_dir));
      map_writer.emplace(map->file.get(), kRunBuffer);
    }
    for (const bool drop : dropped) {
      ASSIGN_OR_RETURN(const bool more, records->Next());
      if (!more) return DamagedRecord();
      if (drop) continue;
      std::string_view bytes = records->value();
      RecordSource source;
      if (!GetSource(&bytes, &source)) return DamagedRecord();
      ASSIGN_OR_RETURN(const LabelId label, storage::RecordLabel(bytes));
      const std::string_view key = records->key();
      const VertexRef ref = numbers->Next(storage::GetBigEndian16(key.data()), label);
      char vertex_key[storage::kVertexKeySize];
      storage::StoreBigEndian64(ref.bits, vertex_key);
      const std::string_view vertex(vertex_key, sizeof(vertex_key));
      RETURN_IF_ERROR(ids.Add(key, vertex));
      RETURN_IF_ERROR(to.Add(bin, vertex, bytes));
      if (map_writer) {
        RETURN_IF_ERROR(map_writer->Add(key, vertex));
      } else {
        loaded_.table->Insert(IdName::OfBytes(key.substr(2), *context_->target.spaces), ref);
      }
    }
    if (map_writer) {
      ASSIGN_OR_RETURN(map->run, map_writer->Finish());
    }
    context_->progress->AddRows(dropped.size());
    context_->progress->AddDone(dropped.size());
    RETURN_IF_ERROR(to.Finish());
    return ids.Close();
  }

  LoadContext* const context_;
  const Bins bins_;
  BinSorter by_id_;
  int64_t max_int_id_ = 0;
  IdCounts counts_;
  std::set<LabelId> labels_in_space_;
  std::unique_ptr<TempFile> without_id_file_;
  std::unique_ptr<RunWriter> without_id_;
  LoadedVertices loaded_;
};

}  // namespace

StatusOr<LoadedVertices> LoadVertices(LoadContext* context) { return VertexStage(context).Run(); }

}  // namespace koios::import
