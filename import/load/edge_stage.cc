#include "import/load/edge_stage.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/value_codec.h"
#include "import/load/bin_turns.h"
#include "import/load/record_batch.h"
#include "import/load/record_block.h"
#include "import/load/table_reader.h"
#include "import/sort/bin_writer.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"

namespace koios::import {
namespace {

constexpr size_t kMapBuffer = size_t{64} << 10;

class EdgeStage {
 public:
  EdgeStage(LoadContext* context, LoadedVertices* vertices)
      : context_(context), vertices_(vertices), bins_(context->target.bins) {
    loaded_.by_out = NewSorter();
    loaded_.by_in = NewSorter();
    loaded_.first_numbers.resize(bins_.num_partitions());
    by_edge_id_ = NewSorter();
    ids_ = NewSorter();
    if (vertices->table == nullptr) by_in_id_ = NewSorter();
  }

  StatusOr<LoadedEdges> Run() {
    RETURN_IF_ERROR(Read());
    if (by_edge_id_->num_records() > 0) RETURN_IF_ERROR(DropDuplicates());
    Free(&by_edge_id_);
    if (by_in_id_ != nullptr) RETURN_IF_ERROR(JoinEnds());
    vertices_->table.reset();
    context_->room->Release(std::exchange(vertices_->table_bytes, 0));
    vertices_->map.bins.clear();
    RETURN_IF_ERROR(ForEachBin("write edges", *loaded_.by_out, context_->num_threads(),
                               [this](size_t bin, BinTurns*) { return NumberBin(bin); }));
    RETURN_IF_ERROR(ForEachBin("write edge ids", *ids_, context_->num_threads(),
                               [this](size_t bin, BinTurns*) { return WriteIds(bin); }));
    Free(&ids_);
    return std::move(loaded_);
  }

 private:
  using Work = std::function<Status(size_t bin, BinTurns* turns)>;

  std::unique_ptr<BinSorter> NewSorter() const {
    return std::make_unique<BinSorter>(context_->room, bins_.size(),
                                       context_->room->record_bytes());
  }
  void Free(std::unique_ptr<BinSorter>* sorter) {
    context_->spilled_bytes += (*sorter)->spilled_bytes();
    sorter->reset();
  }
  Status ForEachBin(const std::string& stage, const BinSorter& sorter, size_t num_threads,
                    const Work& work) {
    if (sorter.num_records() == 0) return OkStatus();
    context_->progress->StartStage(stage, sorter.num_records());
    BinTurns turns;
    return turns.Run(num_threads, bins_.size(), [&](size_t bin) { return work(bin, &turns); });
  }
  void Progressed(uint64_t records) {
    context_->progress->AddRows(records);
    context_->progress->AddDone(records);
  }

  // Where edges are gathered whose ids are known to be their own.
  BinSorter* Gathered() const {
    return by_in_id_ != nullptr ? by_in_id_.get() : loaded_.by_out.get();
  }

  Status Read() {
    context_->target.ids = vertices_->table.get();
    return ReadTables(context_, "read edges", context_->sources->edges,
                      static_cast<uint32_t>(context_->sources->nodes.size()),
                      [this](RecordBlock* block) -> Status {
                        for (size_t bin = 0; bin < bins_.size(); ++bin) {
                          RETURN_IF_ERROR(Gathered()->Add(bin, std::move(block->records[bin])));
                          RETURN_IF_ERROR(by_edge_id_->Add(bin, std::move(block->with_id[bin])));
                        }
                        return OkStatus();
                      });
  }

  // In turn, so that edges with the same ends stay in one order.
  Status DropDuplicates() {
    return ForEachBin("check edge ids", *by_edge_id_, 1, [this](size_t bin, BinTurns*) -> Status {
      ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, by_edge_id_->Open(bin));
      BinWriter to(Gathered(), context_->ChunkBytes());
      RETURN_IF_ERROR(DropDuplicatesOf(records.get(), &to));
      return to.Finish();
    });
  }

  Status DropDuplicatesOf(SortedBin* bin, BinWriter* to) {
    RecordBatch batch;
    std::vector<bool> existing;
    std::string last_key;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(bin));
      const auto& records = batch.records();
      if (records.empty()) return OkStatus();
      existing.assign(records.size(), false);
      if (context_->existing != nullptr) {
        RETURN_IF_ERROR(LookUpEdges(*context_->existing, records, &existing));
      }
      for (size_t i = 0; i < records.size(); ++i) {
        const bool twice = records[i].key == last_key;
        std::string_view rest = records[i].value, key;
        RecordSource source;
        if (!GetSource(&rest, &source) || !GetBytes(&rest, &key)) return DamagedRecord();
        if (twice || existing[i]) {
          RETURN_IF_ERROR(ReportDuplicate(records[i].key, source, twice));
          continue;
        }
        last_key = records[i].key;
        if (key.empty()) {
          RETURN_IF_ERROR(ReportMissingOf(source, rest));
          continue;
        }
        RETURN_IF_ERROR(to->Add(bins_.Of(storage::GetBigEndian16(key.data())), key, rest));
      }
      Progressed(records.size());
    }
  }

  Status ReportDuplicate(std::string_view key, const RecordSource& source, bool twice) {
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(ColumnRole::kId);
    return ReportRow(context_, source, RowCode::kDuplicateId,
                     static_cast<uint32_t>(column.value_or(0)) + 1,
                     "the edge id " + DescribeIdKey(key) +
                         (twice ? " is in the input before" : " is in the graph already"));
  }

  // `end`: column | id bytes.
  Status ReportMissingOf(const RecordSource& source, std::string_view end) {
    uint64_t column = 0;
    if (!GetVarint(&end, &column)) return DamagedRecord();
    return ReportRow(context_, source, RowCode::kMissingEndpoint, static_cast<uint32_t>(column) + 1,
                     "there is no vertex " + DescribeId(end));
  }

  Status ReportMissing(const RecordSource& source, std::string_view key, ColumnRole role) {
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(role);
    return ReportRow(context_, source, RowCode::kMissingEndpoint,
                     static_cast<uint32_t>(column.value_or(0)) + 1,
                     "there is no vertex " + DescribeIdKey(key));
  }

  // In a graph that has vertices already two ids may be one vertex ('7' and 7): one bin after the
  // other, so that edges with the same ends stay in one order.
  Status JoinEnds() {
    const size_t num_threads = context_->existing != nullptr ? 1 : context_->num_threads();
    by_out_id_ = NewSorter();
    RETURN_IF_ERROR(
        ForEachBin("resolve in ends", *by_in_id_, num_threads,
                   [this](size_t bin, BinTurns* turns) { return ResolveIn(bin, turns); }));
    Free(&by_in_id_);
    RETURN_IF_ERROR(
        ForEachBin("resolve out ends", *by_out_id_, num_threads,
                   [this](size_t bin, BinTurns* turns) { return ResolveOut(bin, turns); }));
    Free(&by_out_id_);
    return OkStatus();
  }

  // Joins the keys of a bin with the vertices; calls f(record, reference or nullopt).
  template <typename F>
  Status Join(BinSorter* sorter, size_t bin, F f) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, sorter->Open(bin));
    EndpointResolver resolver(vertices_->map.bins[bin], context_->existing, kMapBuffer);
    RecordBatch batch;
    std::vector<std::optional<VertexRef>> refs;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(records.get()));
      if (batch.records().empty()) return OkStatus();
      RETURN_IF_ERROR(resolver.Resolve(batch, &refs));
      for (size_t i = 0; i < refs.size(); ++i) RETURN_IF_ERROR(f(batch.records()[i], refs[i]));
      Progressed(refs.size());
    }
  }

  // in key -> (out key | source | rest) becomes out key -> (in vertex | source | rest).
  Status ResolveIn(size_t bin, BinTurns* turns) {
    BinWriter to(by_out_id_.get(), context_->ChunkBytes());
    std::string value;
    const auto resolve = [&](const RecordBatch::Record& record,
                             std::optional<VertexRef> in) -> Status {
      std::string_view rest = record.value, out_key;
      if (!GetBytes(&rest, &out_key)) return DamagedRecord();
      if (in) {
        value.clear();
        storage::PutBigEndian64(in->bits, &value);
        value += rest;
        return to.Add(bins_.Of(storage::GetBigEndian16(out_key.data())), out_key, value);
      }
      RecordSource source;
      if (!GetSource(&rest, &source)) return DamagedRecord();
      RETURN_IF_ERROR(turns->WaitForTurn(bin));
      return ReportMissing(source, record.key, ColumnRole::kEnd);
    };
    RETURN_IF_ERROR(Join(by_in_id_.get(), bin, resolve));
    by_in_id_->Drop(bin);
    return to.Finish();
  }

  Status ResolveOut(size_t bin, BinTurns* turns) {
    BinWriter to(loaded_.by_out.get(), context_->ChunkBytes());
    std::string key;
    const auto resolve = [&](const RecordBatch::Record& record,
                             std::optional<VertexRef> out) -> Status {
      std::string_view rest = record.value;
      if (rest.size() < sizeof(uint64_t)) return DamagedRecord();
      const VertexRef in{storage::GetBigEndian64(rest.data())};
      rest.remove_prefix(sizeof(uint64_t));
      RecordSource source;
      uint64_t label = 0;
      if (!GetSource(&rest, &source) || !GetVarint(&rest, &label)) return DamagedRecord();
      if (out) {
        key.clear();
        PutEdgeKey({*out, in, static_cast<LabelId>(label)}, &key);
        return to.Add(bins_.Of(out->partition()), key, rest);
      }
      RETURN_IF_ERROR(turns->WaitForTurn(bin));
      return ReportMissing(source, record.key, ColumnRole::kStart);
    };
    RETURN_IF_ERROR(Join(by_out_id_.get(), bin, resolve));
    by_out_id_->Drop(bin);
    return to.Finish();
  }

  Status NumberBin(size_t bin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, loaded_.by_out->Open(bin));
    RollingStream edges = context_->OpenStream(storage::Family::kEdges);
    BinWriter by_in(loaded_.by_in.get(), context_->ChunkBytes());
    BinWriter ids(ids_.get(), context_->ChunkBytes());
    EdgeKeyParts last;
    std::string key, value;
    uint64_t count = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, records->Next());
      if (!more) break;
      const EdgeKeyParts edge = ReadEdgeKey(records->key());
      std::string_view rest = records->value(), id_bytes;
      if (!GetBytes(&rest, &id_bytes)) return DamagedRecord();
      const uint64_t number = context_->writer->AssignEdge(edge.out, !id_bytes.empty());
      if (count++ == 0 || edge.label != last.label ||
          edge.out.partition() != last.out.partition()) {
        loaded_.first_numbers[edge.out.partition()][edge.label] = number;
      }
      last = edge;
      value.clear();
      storage::AppendEdgeHead(edge.label, edge.in, edge.out, &value);
      value += records->value();
      key.clear();
      storage::PutBigEndian64(number, &key);
      RETURN_IF_ERROR(edges.Add(key, value));
      if (!id_bytes.empty()) {
        const std::string id_key = storage::EdgeIdKey(id_bytes, bins_.num_partitions());
        const size_t id_bin = bins_.Of(storage::GetBigEndian16(id_key.data()));
        RETURN_IF_ERROR(ids.Add(id_bin, id_key, key));
      }
      value.clear();
      storage::PutBigEndian64(edge.in.bits, &value);
      storage::PutBigEndian32(edge.label, &value);
      storage::PutBigEndian64(edge.out.bits, &value);
      RETURN_IF_ERROR(by_in.Add(bins_.Of(edge.in.partition()), value, key));
    }
    Progressed(count);
    RETURN_IF_ERROR(by_in.Finish());
    RETURN_IF_ERROR(ids.Finish());
    return edges.Close();
  }

  Status WriteIds(size_t bin) {
    ASSIGN_OR_RETURN(const std::unique_ptr<SortedBin> records, ids_->Open(bin));
    RollingStream stream = context_->OpenStream(storage::Family::kEdgeIds);
    uint64_t count = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, records->Next());
      if (!more) break;
      RETURN_IF_ERROR(stream.Add(records->key(), records->value()));
      ++count;
    }
    Progressed(count);
    return stream.Close();
  }

  LoadContext* const context_;
  LoadedVertices* const vertices_;
  const Bins bins_;
  LoadedEdges loaded_;
  std::unique_ptr<BinSorter> by_edge_id_, by_in_id_, by_out_id_, ids_;
};

}  // namespace

StatusOr<LoadedEdges> LoadEdges(LoadContext* context, LoadedVertices* vertices) {
  return EdgeStage(context, vertices).Run();
}

}  // namespace koios::import
