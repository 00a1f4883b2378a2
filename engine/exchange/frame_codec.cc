// Wire form of a frame: varint length, the header (proto/frame.proto), then the columns' buffers.
#include <algorithm>
#include <iterator>
#include <set>

#include "core/text/text.h"
#include "core/value_codec.h"
#include "engine/exchange/frame.h"
#include "engine/exchange/path_table.h"
#include "engine/query_account.h"
#include "proto/frame.pb.h"

namespace koios::engine {
namespace {

// A frame holds one batch, and a single row may be large (DESIGN 5.6).
constexpr uint64_t kMaxHeaderBytes = uint64_t{16} << 20;
// A sum of weights takes a bit for each exponent up to its largest: of one sum, and of all the
// sums of a frame.
constexpr uint64_t kMaxExponent = uint64_t{1} << 24;
constexpr uint64_t kMaxExponents = uint64_t{1} << 26;
// Batches end at kBatchRows.
constexpr uint64_t kMaxRows = 64 * kBatchRows;

void PutInstance(const InstanceId& id, frame::InstanceId* out) {
  out->set_home(id.home);
  out->set_serial(id.serial);
}

InstanceId GetInstance(const frame::InstanceId& id) { return {id.home(), id.serial()}; }

void PutStart(const QuerySpec& spec, frame::Start* start) {
  spec.plan.SerializeToString(start->mutable_plan());
  start->set_graph(spec.plan.graph());
  start->set_version(spec.view->version());
  std::string* options = start->mutable_options();
  PutVarint(spec.options.deadline_ns, options);
  // What it may take here, wherever that was said.
  const int64_t limit = spec.account == nullptr ? kNoMemoryLimit : spec.account->limit();
  PutVarint(limit == kNoMemoryLimit ? 0 : static_cast<uint64_t>(limit), options);
  PutVarint(spec.options.seed, options);
  PutVarint(spec.options.profile ? 1 : 0, options);
  PutVarint(spec.options.constant_bytes, options);
}

StatusOr<std::shared_ptr<const QuerySpec>> GetStart(const QueryId& id, const frame::Start& start,
                                                    ViewProvider* views) {
  auto spec = std::make_shared<QuerySpec>();
  spec->id = id;
  std::string_view options = start.options();
  uint64_t profile = 0;
  if (!spec->plan.ParseFromString(start.plan()) ||
      !GetVarint(&options, &spec->options.deadline_ns) ||
      !GetVarint(&options, &spec->options.memory_limit_bytes) ||
      !GetVarint(&options, &spec->options.seed) || !GetVarint(&options, &profile) ||
      !GetVarint(&options, &spec->options.constant_bytes)) {
    return DataLoss("A frame's plan can't be read.");
  }
  spec->options.profile = profile != 0;
  ASSIGN_OR_RETURN(spec->view, views->View(ToValidUtf8(start.graph()), start.version()));
  spec->account = MakeQueryAccount(spec->options.memory_limit_bytes);
  views->AddParts(spec.get());
  return std::shared_ptr<const QuerySpec>(std::move(spec));
}

void PutReport(const Report& report, frame::Report* out) {
  PutInstance(report.instance, out->mutable_instance());
  for (uint32_t k : report.weight.Pieces()) {
    frame::Weight* weight = out->add_weights();
    weight->set_k(k);
    weight->set_count(1);
  }
  for (const BarrierKey& key : report.pending) {
    frame::BarrierKey* pending = out->add_pending();
    pending->set_op(key.op);
    pending->mutable_loops()->Add(key.loops.begin(), key.loops.end());
  }
}

// `exponents`: what the reports of this frame have taken so far.
StatusOr<Report> GetReport(const frame::Report& in, uint64_t* exponents) {
  Report report;
  report.instance = GetInstance(in.instance());
  uint64_t largest = 0;
  for (const frame::Weight& weight : in.weights()) {
    largest = std::max<uint64_t>(largest, weight.k());
    if (largest > kMaxExponent || *exponents + largest > kMaxExponents ||
        !report.weight.TryAdd(weight.k(), weight.count())) {
      return DataLoss("A frame's weights are not valid.");
    }
  }
  *exponents += largest;
  for (const frame::BarrierKey& key : in.pending()) {
    report.pending.push_back({key.op(), {key.loops().begin(), key.loops().end()}});
  }
  return report;
}

void PutBatch(const Batch& batch, frame::Header* header, std::string* buffers) {
  header->set_rows(static_cast<uint32_t>(batch.rows));
  header->mutable_bulk()->Add(batch.bulk.begin(), batch.bulk.end());
  for (const Run& run : batch.runs) {
    frame::Run* out = header->add_runs();
    PutInstance(run.instance, out->mutable_instance());
    out->set_count(run.count);
    out->set_k(run.k);
    out->mutable_loops()->Add(run.loops.begin(), run.loops.end());
  }
  std::string columns;
  PathTableWriter paths;
  for (size_t slot = 0; slot < batch.slots.size(); ++slot) {
    if (batch.slots[slot].empty()) continue;
    const size_t begin = columns.size();
    if (PathTableWriter::HasPaths(batch.slots[slot])) {
      paths.AddColumn(batch.slots[slot], &columns);
      header->add_path_slots(static_cast<uint32_t>(slot));
    } else {
      batch.slots[slot].EncodeTo(&columns);
    }
    header->add_column_slots(static_cast<uint32_t>(slot));
    header->add_column_bytes(columns.size() - begin);
  }
  if (header->path_slots_size() > 0) paths.EncodeTo(buffers);
  header->set_path_bytes(buffers->size());
  buffers->append(columns);
  header->set_num_slots(static_cast<uint32_t>(batch.slots.size()));
}

// The columns, and the table of paths before them.
Status GetColumns(const frame::Header& header, std::string_view buffers, Batch* batch,
                  std::shared_ptr<PathLedger>* ledger) {
  const std::set<uint32_t> path_slots(header.path_slots().begin(), header.path_slots().end());
  PathTableReader paths;
  if (header.path_bytes() > buffers.size() || path_slots.empty() != (header.path_bytes() == 0)) {
    return DataLoss("A frame's columns are not consistent.");
  }
  if (!path_slots.empty()) {
    *ledger = PathLedger::Unbound();
    RETURN_IF_ERROR(paths.Decode(buffers.substr(0, header.path_bytes()), ledger->get()));
    buffers.remove_prefix(header.path_bytes());
  }
  for (int i = 0; i < header.column_slots_size(); ++i) {
    const uint64_t bytes = header.column_bytes(i);
    const uint32_t slot = header.column_slots(i);
    if (slot >= header.num_slots() || bytes > buffers.size()) {
      return DataLoss("A frame's columns are not consistent.");
    }
    const std::string_view buffer = buffers.substr(0, bytes);
    ASSIGN_OR_RETURN(Column column, path_slots.contains(slot)
                                        ? paths.ReadColumn(buffer, batch->rows)
                                        : Column::Decode(buffer));
    if (column.size() != batch->rows) return DataLoss("A frame's column does not fit its rows.");
    batch->slots[slot] = std::move(column);
    buffers.remove_prefix(bytes);
  }
  if (!buffers.empty()) return DataLoss("A frame has bytes behind its columns.");
  return OkStatus();
}

Status GetBatch(const frame::Header& header, std::string_view buffers, Batch* batch,
                std::shared_ptr<PathLedger>* ledger) {
  constexpr uint32_t kMaxSlots = 1 << 20;
  if (header.rows() > kMaxRows) return DataLoss("A frame has too many rows.");
  batch->rows = header.rows();
  batch->bulk.assign(header.bulk().begin(), header.bulk().end());
  if (!batch->bulk.empty() && batch->bulk.size() != batch->rows) {
    return DataLoss("A frame's bulk does not fit its rows.");
  }
  for (const int64_t bulk : batch->bulk) {
    if (bulk <= 0) return DataLoss("A row of a frame stands for no traverser.");
  }
  uint64_t counted = 0;
  for (const frame::Run& run : header.runs()) {
    if (run.count() == 0 || run.k() > kMaxExponent) {
      return DataLoss("A frame's runs are not valid.");
    }
    batch->runs.push_back({GetInstance(run.instance()),
                           {run.loops().begin(), run.loops().end()},
                           run.count(),
                           run.k()});
    counted += run.count();
  }
  if (counted != batch->rows) return DataLoss("A frame's runs do not cover its rows.");
  if (header.num_slots() > kMaxSlots || header.column_slots_size() != header.column_bytes_size()) {
    return DataLoss("A frame's columns are not consistent.");
  }
  batch->slots.resize(header.num_slots());
  return GetColumns(header, buffers, batch, ledger);
}

// kStatFields in their order: workers are of one version.
void PutStats(const std::vector<OperatorStats>& stats, frame::Header* header) {
  for (const OperatorStats& one : stats) {
    for (const auto field : kStatFields) header->add_stats(one.*field);
  }
}

std::vector<OperatorStats> GetStats(const frame::Header& header) {
  std::vector<OperatorStats> stats(header.stats_size() / std::size(kStatFields));
  int next = 0;
  for (OperatorStats& one : stats) {
    for (const auto field : kStatFields) one.*field = header.stats(next++);
  }
  return stats;
}

}  // namespace

std::string EncodeFrame(const Frame& in, bool with_start) {
  frame::Header header;
  std::string buffers;
  header.mutable_query()->set_coordinator(in.query.coordinator);
  header.mutable_query()->set_incarnation(in.query.incarnation);
  header.mutable_query()->set_serial(in.query.serial);
  header.set_kind(static_cast<frame::Header::Kind>(in.kind));
  header.set_from(in.from);
  header.set_op(in.op);
  PutInstance(in.instance, header.mutable_instance());
  header.mutable_loops()->Add(in.loops.begin(), in.loops.end());
  for (const Report& report : in.reports) PutReport(report, header.add_reports());
  header.set_wants_stats(in.wants_stats);
  header.set_over_before(in.over_before);
  header.set_sorted_rows(in.sorted_rows);
  header.set_credit_bytes(in.credit.bytes);
  header.set_granted(in.credit.granted);
  header.mutable_sent_to()->Assign(in.counts.sent_to.begin(), in.counts.sent_to.end());
  header.mutable_received_from()->Assign(in.counts.received_from.begin(),
                                         in.counts.received_from.end());
  PutStats(in.stats, &header);
  if (with_start && in.spec != nullptr) PutStart(*in.spec, header.mutable_start());
  header.set_code(static_cast<uint32_t>(in.status.code()));
  header.set_message(MessageOf(in.status));
  if (const auto detail = DetailOf(in.status)) {
    header.mutable_error()->set_step(detail->step);
    header.mutable_error()->set_reason(detail->reason);
    header.mutable_error()->set_limit(detail->limit);
    header.mutable_error()->set_used(detail->used);
    header.mutable_error()->set_setting(detail->setting);
    header.mutable_error()->set_hint(detail->hint);
    header.mutable_error()->set_line(detail->span.line);
    header.mutable_error()->set_column(detail->span.column);
    header.mutable_error()->set_length(detail->span.length);
  }
  if (in.kind == FrameKind::kData) PutBatch(in.batch, &header, &buffers);
  std::string out;
  PutBytes(header.SerializeAsString(), &out);
  out += buffers;
  return out;
}

StatusOr<Frame> DecodeFrame(std::string_view bytes, ViewProvider* views) {
  std::string_view head;
  frame::Header header;
  if (!GetBytes(&bytes, &head) || head.size() > kMaxHeaderBytes ||
      !header.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return DataLoss("A frame's header can't be read.");
  }
  if (header.kind() < frame::Header::DATA || header.kind() > frame::Header::RENEW) {
    return DataLoss("A frame is of an unknown kind.");
  }
  Frame out;
  out.is_decoded = true;
  out.query = {header.query().coordinator(), header.query().incarnation(), header.query().serial()};
  out.kind = static_cast<FrameKind>(header.kind());
  out.from = header.from();
  out.op = header.op();
  out.instance = GetInstance(header.instance());
  out.loops.assign(header.loops().begin(), header.loops().end());
  uint64_t exponents = 0;
  for (const frame::Report& report : header.reports()) {
    ASSIGN_OR_RETURN(Report read, GetReport(report, &exponents));
    out.reports.push_back(std::move(read));
  }
  out.wants_stats = header.wants_stats();
  out.over_before = header.over_before();
  out.sorted_rows = header.sorted_rows();
  out.credit = {header.credit_bytes(), header.granted()};
  out.counts.sent_to.assign(header.sent_to().begin(), header.sent_to().end());
  out.counts.received_from.assign(header.received_from().begin(), header.received_from().end());
  out.stats = GetStats(header);
  if (header.has_start()) {
    ASSIGN_OR_RETURN(out.spec, GetStart(out.query, header.start(), views));
  }
  if (header.code() != 0) {
    ErrorDetail detail;
    detail.step = ToValidUtf8(header.error().step());
    detail.reason = ToValidUtf8(header.error().reason());
    detail.limit = ToValidUtf8(header.error().limit());
    detail.used = ToValidUtf8(header.error().used());
    detail.setting = ToValidUtf8(header.error().setting());
    detail.hint = ToValidUtf8(header.error().hint());
    detail.span = {header.error().line(), header.error().column(), header.error().length()};
    out.status =
        MakeStatus(static_cast<StatusCode>(header.code()), ToValidUtf8(header.message()), detail);
  }
  if (out.kind == FrameKind::kData) {
    RETURN_IF_ERROR(GetBatch(header, bytes, &out.batch, &out.paths));
  }
  return out;
}

}  // namespace koios::engine
