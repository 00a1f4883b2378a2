#include "import/load/table_reader.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "import/csv/byte_source.h"
#include "import/csv/chunk_reader.h"
#include "import/load/ordered_pipeline.h"
#include "import/load/row_encoder.h"

namespace koios::import {
namespace {

// Records of short rows take up to this many times the row's own bytes.
constexpr uint64_t kBlockGrowth = 16;
constexpr uint64_t kMinChunkBytes = uint64_t{4} << 10;
constexpr uint64_t kMaxReadBytes = uint64_t{1} << 20;

struct ParseTask {
  std::shared_ptr<const RowEncoder> encoder;
  Chunk chunk;
  std::unique_ptr<RecordBlock> block;
  uint32_t file = 0;
};

uint64_t TotalBytes(const std::vector<SourceTable>& tables) {
  uint64_t total = 0;
  for (const SourceTable& table : tables) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(table.path, error);
    if (!error) total += size;
  }
  return total;
}

// Opens one file after the other and cuts it into chunks.
class ChunkStream {
 public:
  ChunkStream(LoadContext* context, const std::vector<SourceTable>& tables, uint32_t first_file,
              uint64_t chunk_bytes)
      : context_(context), tables_(tables), first_file_(first_file), chunk_bytes_(chunk_bytes) {}

  StatusOr<bool> Next(ParseTask* task) {
    while (true) {
      if (reader_ == nullptr) {
        if (next_table_ == tables_.size()) return false;
        RETURN_IF_ERROR(Open(tables_[next_table_++]));
      }
      auto more = reader_->Next(&task->chunk);
      if (!more.ok()) {
        return MakeStatus(more.status().code(),
                          tables_[next_table_ - 1].path + ": " + MessageOf(more.status()));
      }
      context_->progress->SetDone(finished_bytes_ + reader_->source().consumed());
      if (*more) {
        task->encoder = encoder_;
        task->file = first_file_ + static_cast<uint32_t>(next_table_) - 1;
        return true;
      }
      finished_bytes_ += reader_->source().consumed();
      reader_.reset();
    }
  }

 private:
  Status Open(const SourceTable& table) {
    const uint32_t file = first_file_ + static_cast<uint32_t>(next_table_) - 1;
    ASSIGN_OR_RETURN(std::unique_ptr<RowEncoder> encoder,
                     RowEncoder::Create(table, file, *context_->sources, context_->target,
                                        context_->writer, context_->labels));
    encoder_ = std::move(encoder);
    ASSIGN_OR_RETURN(auto source,
                     OpenByteSource(table.path, MaxWindowBytes(context_->options->memory_bytes)));
    reader_ =
        std::make_unique<ChunkReader>(std::move(source), context_->sources->csv, chunk_bytes_);
    if (table.skip_first_row) {
      Chunk header;
      RETURN_IF_ERROR(reader_->NextRow(&header).status());
    }
    return OkStatus();
  }

  LoadContext* const context_;
  const std::vector<SourceTable>& tables_;
  const uint32_t first_file_;
  const uint64_t chunk_bytes_;
  size_t next_table_ = 0;
  uint64_t finished_bytes_ = 0;
  std::unique_ptr<ChunkReader> reader_;
  std::shared_ptr<const RowEncoder> encoder_;
};

}  // namespace

Status ReadTables(LoadContext* context, const std::string& stage,
                  const std::vector<SourceTable>& tables, uint32_t first_file,
                  const std::function<Status(RecordBlock*)>& consume) {
  if (tables.empty()) return OkStatus();
  context->progress->StartStage(stage, TotalBytes(tables));
  const size_t num_threads = context->num_threads();
  const size_t in_flight = 2 * num_threads + 2;
  const uint64_t chunk_bytes =
      std::clamp(context->Eighths(1) / in_flight / kBlockGrowth, kMinChunkBytes, kMaxReadBytes);
  ChunkStream chunks(context, tables, first_file, chunk_bytes);
  OrderedPipeline<ParseTask> pipeline(num_threads, in_flight);
  return pipeline.Run([&](ParseTask* task) { return chunks.Next(task); },
                      [&](ParseTask* task, uint64_t number) {
                        task->block = std::make_unique<RecordBlock>(context->target.bins);
                        return task->encoder->EncodeChunk(
                            task->chunk, [&] { return pipeline.WaitForTurn(number); },
                            task->block.get());
                      },
                      [&](ParseTask* task) -> Status {
                        context->rows_by_file[task->file] += task->block->num_rows;
                        context->progress->AddRows(task->block->num_rows);
                        RETURN_IF_ERROR(task->block->ForEachBad(
                            [context](const BadRow& bad) { return context->bad_rows->Add(bad); }));
                        return consume(task->block.get());
                      });
}

}  // namespace koios::import
