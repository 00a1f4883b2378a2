#include "import/load/edge_stage.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/value_codec.h"
#include "import/load/record_block.h"
#include "import/load/table_reader.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"

namespace koios::import {
namespace {

constexpr size_t kMapBuffer = size_t{64} << 10;

Status Damaged() { return DataLoss("A record of the import is damaged."); }

class EdgeStage {
 public:
  EdgeStage(LoadContext* context, const VertexMap& vertices)
      : context_(context),
        vertices_(vertices),
        edges_(context->OpenStream(storage::Family::kEdges)) {
    by_edge_id_ = std::make_unique<ExternalSorter>(context->Sorting(2));
    by_in_ = std::make_unique<ExternalSorter>(context->Sorting(2));
  }

  Status Run() {
    RETURN_IF_ERROR(Read());
    if (by_edge_id_->num_records() > 0) RETURN_IF_ERROR(DropDuplicates());
    Free(&by_edge_id_);
    if (by_in_->num_records() == 0) return OkStatus();
    RETURN_IF_ERROR(ResolveIn());
    Free(&by_in_);
    RETURN_IF_ERROR(ResolveOutAndWrite());
    Free(&by_out_);
    RETURN_IF_ERROR(WriteSorted("write edge ends", &ends_, storage::Family::kEdgeEnds));
    return WriteSorted("write edge ids", &ids_, storage::Family::kEdgeIds);
  }

 private:
  void Free(std::unique_ptr<ExternalSorter>* sorter) {
    context_->spilled_bytes += (*sorter)->spilled_bytes();
    sorter->reset();
  }

  Status Read() {
    return ReadTables(context_, "read edges", context_->sources->edges,
                      static_cast<uint32_t>(context_->sources->nodes.size()),
                      [this](const RecordBlock& block) {
                        return block.ForEach([this](std::string_view key, std::string_view value) {
                          return key.empty() ? AddByIn(value) : by_edge_id_->Add(key, value);
                        });
                      });
  }

  // Moves the in key from the front of the value to the key.
  Status AddByIn(std::string_view value) {
    std::string_view in_key;
    if (!GetBytes(&value, &in_key)) return Damaged();
    return by_in_->Add(in_key, value);
  }

  Status DropDuplicates() {
    context_->progress->StartStage("check edge ids", by_edge_id_->num_records());
    RETURN_IF_ERROR(by_edge_id_->Finish());
    RecordBatch batch;
    std::vector<bool> existing;
    std::string last_key;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(by_edge_id_.get()));
      const auto& records = batch.records();
      if (records.empty()) return OkStatus();
      existing.assign(records.size(), false);
      if (context_->existing != nullptr) {
        RETURN_IF_ERROR(LookUpEdges(*context_->existing, records, &existing));
      }
      for (size_t i = 0; i < records.size(); ++i) {
        const bool twice = records[i].key == last_key;
        if (twice || existing[i]) {
          RETURN_IF_ERROR(ReportDuplicate(records[i], twice));
          continue;
        }
        last_key = records[i].key;
        RETURN_IF_ERROR(AddByIn(records[i].value));
      }
      context_->progress->AddRows(records.size());
      context_->progress->AddDone(records.size());
    }
  }

  Status ReportDuplicate(const RecordBatch::Record& record, bool twice) {
    std::string_view rest = record.value;
    std::string_view in_key, out_key;
    RecordSource source;
    if (!GetBytes(&rest, &in_key) || !GetBytes(&rest, &out_key) || !GetSource(&rest, &source)) {
      return Damaged();
    }
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(ColumnRole::kId);
    return ReportRow(context_, source, RowCode::kDuplicateId,
                     static_cast<uint32_t>(column.value_or(0)) + 1,
                     "the edge id " + DescribeIdKey(record.key) +
                         (twice ? " is in the input before" : " is in the graph already"));
  }

  Status ReportMissing(const RecordSource& source, std::string_view key, ColumnRole role) {
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(role);
    return ReportRow(context_, source, RowCode::kMissingEndpoint,
                     static_cast<uint32_t>(column.value_or(0)) + 1,
                     "there is no vertex " + DescribeIdKey(key));
  }

  // Joins the sorter's keys with the vertices; calls f(record, reference or nullopt).
  template <typename F>
  Status Join(const std::string& stage, ExternalSorter* sorter, F f) {
    context_->progress->StartStage(stage, sorter->num_records());
    RETURN_IF_ERROR(sorter->Finish());
    EndpointResolver resolver(vertices_, context_->existing, kMapBuffer);
    RecordBatch batch;
    std::vector<std::optional<VertexRef>> refs;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(sorter));
      if (batch.records().empty()) return OkStatus();
      RETURN_IF_ERROR(resolver.Resolve(batch, &refs));
      for (size_t i = 0; i < refs.size(); ++i) RETURN_IF_ERROR(f(batch.records()[i], refs[i]));
      context_->progress->AddRows(refs.size());
      context_->progress->AddDone(refs.size());
    }
  }

  // in key -> (out key | source | record) becomes out key -> (in reference | source | record).
  Status ResolveIn() {
    by_out_ = std::make_unique<ExternalSorter>(context_->Sorting(4));
    std::string value;
    return Join("resolve in ends", by_in_.get(),
                [&](const RecordBatch::Record& record, std::optional<VertexRef> in) -> Status {
                  std::string_view rest = record.value;
                  std::string_view out_key;
                  if (!GetBytes(&rest, &out_key)) return Damaged();
                  if (in) {
                    value = storage::VertexKey(*in);
                    value += rest;
                    return by_out_->Add(out_key, value);
                  }
                  RecordSource source;
                  if (!GetSource(&rest, &source)) return Damaged();
                  return ReportMissing(source, record.key, ColumnRole::kEnd);
                });
  }

  Status ResolveOutAndWrite() {
    ends_ = std::make_unique<ExternalSorter>(context_->Sorting(4));
    ids_ = std::make_unique<ExternalSorter>(context_->Sorting(1));
    RETURN_IF_ERROR(
        Join("write edges", by_out_.get(),
             [&](const RecordBatch::Record& record, std::optional<VertexRef> out) -> Status {
               std::string_view rest = record.value;
               if (rest.size() < sizeof(uint64_t)) return Damaged();
               const VertexRef in{storage::GetBigEndian64(rest.data())};
               rest.remove_prefix(sizeof(uint64_t));
               RecordSource source;
               if (!GetSource(&rest, &source)) return Damaged();
               if (!out) return ReportMissing(source, record.key, ColumnRole::kStart);
               return WriteOne(*out, in, rest);
             }));
    return edges_.Close();
  }

  Status WriteOne(VertexRef out, VertexRef in, std::string_view bytes) {
    storage::EdgeRecord record;
    RETURN_IF_ERROR(storage::ParseEdgeRecord(0, bytes, &record));
    const bool has_id = !record.id_bytes.empty();
    std::optional<Value> id;
    if (has_id) {
      ASSIGN_OR_RETURN(id, storage::DecodeIdBytes(record.id_bytes));
    }
    EdgeRef edge = record.edge;
    edge.out = out;
    edge.in = in;
    edge.id = context_->writer->AssignEdge(out, has_id);
    std::string stored = storage::EncodeEdgeRecord(edge, id, {});
    stored += record.properties;
    RETURN_IF_ERROR(edges_.Add(storage::EdgeKey(edge.id), stored));
    RETURN_IF_ERROR(ends_->Add(storage::EdgeEndKey(storage::OutEnd(edge)), ""));
    RETURN_IF_ERROR(ends_->Add(storage::EdgeEndKey(storage::InEnd(edge)), ""));
    if (!has_id) return OkStatus();
    return ids_->Add(storage::EdgeIdKey(record.id_bytes, context_->writer->num_partitions()),
                     storage::EdgeKey(edge.id));
  }

  Status WriteSorted(const std::string& stage, std::unique_ptr<ExternalSorter>* sorter,
                     storage::Family family) {
    if ((*sorter)->num_records() == 0) return OkStatus();
    context_->progress->StartStage(stage, (*sorter)->num_records());
    RETURN_IF_ERROR((*sorter)->Finish());
    RollingStream stream = context_->OpenStream(family);
    constexpr uint64_t kReportEvery = 4096;
    uint64_t count = 0;
    const auto report = [&] {
      context_->progress->AddRows(count);
      context_->progress->AddDone(count);
      count = 0;
    };
    while (true) {
      ASSIGN_OR_RETURN(bool more, (*sorter)->Next());
      if (!more) break;
      RETURN_IF_ERROR(stream.Add((*sorter)->key(), (*sorter)->value()));
      if (++count == kReportEvery) report();
    }
    report();
    Free(sorter);
    return stream.Close();
  }

  LoadContext* const context_;
  const VertexMap& vertices_;
  std::unique_ptr<ExternalSorter> by_edge_id_, by_in_, by_out_, ends_, ids_;
  RollingStream edges_;
};

}  // namespace

Status LoadEdges(LoadContext* context, const VertexMap& vertices) {
  return EdgeStage(context, vertices).Run();
}

}  // namespace koios::import
