#include "import/load/vertex_stage.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/load/record_block.h"
#include "import/load/row_encoder.h"
#include "import/load/table_reader.h"
#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"

namespace koios::import {
namespace {

constexpr size_t kRunBuffer = size_t{64} << 10;

class VertexStage {
 public:
  explicit VertexStage(LoadContext* context)
      : context_(context),
        by_id_(context->Sorting(4)),
        by_label_(context->Sorting(1)),
        by_property_(context->Sorting(1)),
        vertices_(context->OpenStream(storage::Family::kVertices)),
        ids_(context->OpenStream(storage::Family::kVertexIds)) {}

  StatusOr<VertexMap> Run() {
    RETURN_IF_ERROR(Read());
    if (without_id_ != nullptr) RETURN_IF_ERROR(GiveIds());
    if (by_id_.num_records() == 0) return VertexMap{};
    RETURN_IF_ERROR(ChooseIndexes());
    RETURN_IF_ERROR(Write());
    RETURN_IF_ERROR(WriteSorted(&by_label_, storage::Family::kVertexLabels));
    RETURN_IF_ERROR(WriteSorted(&by_property_, storage::Family::kVertexIndex));
    context_->spilled_bytes +=
        by_id_.spilled_bytes() + by_label_.spilled_bytes() + by_property_.spilled_bytes();
    return std::move(map_);
  }

 private:
  Status Read() {
    return ReadTables(
        context_, "read vertices", context_->sources->nodes, 0, [this](const RecordBlock& block) {
          max_int_id_ = std::max(max_int_id_, block.max_int_id);
          labels_in_space_.insert(block.labels_in_space.begin(), block.labels_in_space.end());
          return block.ForEach([this](std::string_view key, std::string_view value) -> Status {
            if (!key.empty()) return by_id_.Add(key, value);
            if (without_id_ == nullptr) {
              ASSIGN_OR_RETURN(without_id_file_, TempFile::Create(context_->options->temp_dir));
              without_id_ = std::make_unique<RunWriter>(without_id_file_.get(), kRunBuffer);
            }
            return without_id_->Add(key, value);
          });
        });
  }

  // Vertices without an id get integers above all others, in the order of the input.
  Status GiveIds() {
    ASSIGN_OR_RETURN(koios::import::Run run, without_id_->Finish());
    int64_t next = std::max(max_int_id_, context_->writer->AssignVertexId().AsInteger());
    RunReader reader(without_id_file_.get(), run, kRunBuffer);
    std::string value;
    while (true) {
      ASSIGN_OR_RETURN(bool more, reader.Next());
      if (!more) return OkStatus();
      if (next == std::numeric_limits<int64_t>::max()) {
        return InvalidArgument("There is no integer left for vertices without an id.");
      }
      const Value id = Value::Long(++next);
      std::string_view rest = reader.value();
      RecordSource source;
      if (!GetSource(&rest, &source)) return DataLoss("A record of the import is damaged.");
      storage::VertexRecord record;
      RETURN_IF_ERROR(storage::ParseVertexRecord(rest, &record));
      value.clear();
      PutSource(source, &value);
      value += storage::EncodeVertexRecord(record.label, id, {});
      value += record.properties;
      RETURN_IF_ERROR(by_id_.Add(
          storage::VertexIdKey(storage::IdBytes(id), context_->writer->num_partitions()), value));
    }
  }

  Status ChooseIndexes() {
    if (!labels_in_space_.empty()) {
      ASSIGN_OR_RETURN(const KeyId key, context_->writer->InternKey(kOriginalIdKey));
      for (const LabelId label : labels_in_space_) context_->writer->IndexVertices(label, key);
    }
    indexes_ = context_->writer->vertex_indexes();
    return OkStatus();
  }

  Status Write() {
    context_->progress->StartStage("write vertices", by_id_.num_records());
    RETURN_IF_ERROR(by_id_.Finish());
    ASSIGN_OR_RETURN(map_.file, TempFile::Create(context_->options->temp_dir));
    RunWriter map_writer(map_.file.get(), kRunBuffer);
    RecordBatch batch;
    std::vector<std::optional<VertexRef>> existing;
    std::string last_key;
    while (true) {
      RETURN_IF_ERROR(batch.Fill(&by_id_));
      const auto& records = batch.records();
      if (records.empty()) break;
      existing.assign(records.size(), std::nullopt);
      if (context_->existing != nullptr) {
        RETURN_IF_ERROR(LookUpVertices(*context_->existing, records, true, &existing));
      }
      for (size_t i = 0; i < records.size(); ++i) {
        const bool twice = records[i].key == last_key;
        if (twice || existing[i]) {
          RETURN_IF_ERROR(ReportDuplicate(records[i], twice));
          continue;
        }
        last_key = records[i].key;
        RETURN_IF_ERROR(WriteOne(records[i], &map_writer));
      }
      context_->progress->AddRows(records.size());
      context_->progress->AddDone(records.size());
    }
    ASSIGN_OR_RETURN(map_.run, map_writer.Finish());
    RETURN_IF_ERROR(vertices_.Close());
    return ids_.Close();
  }

  Status ReportDuplicate(const RecordBatch::Record& record, bool twice) {
    std::string_view rest = record.value;
    RecordSource source;
    if (!GetSource(&rest, &source)) return DataLoss("A record of the import is damaged.");
    const std::optional<size_t> column = context_->Table(source.file).plan.Find(ColumnRole::kId);
    return ReportRow(context_, source, RowCode::kDuplicateId,
                     column ? static_cast<uint32_t>(*column) + 1 : 0,
                     "the id " + DescribeIdKey(record.key) +
                         (twice ? " is in the input before" : " is in the graph already"));
  }

  Status WriteOne(const RecordBatch::Record& record, RunWriter* map_writer) {
    std::string_view bytes = record.value;
    RecordSource source;
    if (!GetSource(&bytes, &source)) return DataLoss("A record of the import is damaged.");
    ASSIGN_OR_RETURN(LabelId label, storage::RecordLabel(bytes));
    uint32_t partition = 0;
    std::string_view id_bytes;
    RETURN_IF_ERROR(storage::SplitIdKey(record.key, &partition, &id_bytes));
    ASSIGN_OR_RETURN(Value id, storage::DecodeIdBytes(id_bytes));
    const VertexRef ref = context_->writer->AssignVertex(id);
    RETURN_IF_ERROR(vertices_.Add(storage::VertexKey(ref), bytes));
    RETURN_IF_ERROR(ids_.Add(record.key, storage::VertexKey(ref)));
    RETURN_IF_ERROR(by_label_.Add(storage::VertexLabelKey(ref, label), ""));
    RETURN_IF_ERROR(AddIndexed(ref, bytes));
    return map_writer->Add(record.key, storage::VertexKey(ref));
  }

  Status AddIndexed(VertexRef ref, std::string_view bytes) {
    if (indexes_.empty()) return OkStatus();
    storage::VertexRecord record;
    RETURN_IF_ERROR(storage::ParseVertexRecord(bytes, &record));
    ASSIGN_OR_RETURN(const storage::KeyedProperties properties,
                     storage::IndexedProperties(indexes_, record.label, record.properties));
    std::vector<std::string> keys;
    storage::AppendIndexKeys(indexes_, ref, record.label, properties, &keys);
    for (const std::string& key : keys) RETURN_IF_ERROR(by_property_.Add(key, ""));
    return OkStatus();
  }

  Status WriteSorted(ExternalSorter* sorter, storage::Family family) {
    if (sorter->num_records() == 0) return OkStatus();
    RETURN_IF_ERROR(sorter->Finish());
    RollingStream stream = context_->OpenStream(family);
    while (true) {
      ASSIGN_OR_RETURN(bool more, sorter->Next());
      if (!more) return stream.Close();
      RETURN_IF_ERROR(stream.Add(sorter->key(), sorter->value()));
    }
  }

  LoadContext* const context_;
  ExternalSorter by_id_;
  ExternalSorter by_label_;
  ExternalSorter by_property_;
  int64_t max_int_id_ = 0;
  std::set<LabelId> labels_in_space_;
  VertexIndexes indexes_;
  std::unique_ptr<TempFile> without_id_file_;
  std::unique_ptr<RunWriter> without_id_;
  RollingStream vertices_, ids_;
  VertexMap map_;
};

}  // namespace

StatusOr<VertexMap> LoadVertices(LoadContext* context) { return VertexStage(context).Run(); }

}  // namespace koios::import
