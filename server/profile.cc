#include "server/profile.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "core/plan/operator_table.h"

namespace koios::server {
namespace {

std::string OperatorName(const plan::Operator& op) {
  std::string name(plan::NameOf(op));
  if (!op.step().empty()) name += " " + op.step();
  return name;
}

std::string Milliseconds(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(ns) / 1e6);
  return text;
}

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f%%", share * 100);
  return text;
}

// The first column to the left, numbers to the right.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      text += i == 0 ? row[i] + padding : "  " + padding + row[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void FillProfile(const plan::Plan& plan, const std::vector<engine::OperatorStats>& operators,
                 OperatorProfiles* profiles) {
  uint64_t total_ns = 0;
  for (const engine::OperatorStats& stats : operators) total_ns += stats.time_ns;
  for (int i = 0; i < plan.operators_size(); ++i) {
    const plan::Operator& op = plan.operators(i);
    engine::OperatorStats stats;
    if (op.id() < operators.size()) stats = operators[op.id()];
    v1::OperatorProfile* profile = profiles->Add();
    profile->set_id(op.id());
    profile->set_name(OperatorName(op));
    profile->set_rows_in(stats.rows_in);
    profile->set_rows_out(stats.rows_out);
    profile->set_bulk_out(stats.bulk_out);
    profile->set_batches(stats.batches);
    profile->set_slices(stats.slices);
    profile->set_time_ns(stats.time_ns);
    profile->set_bytes_sent(stats.bytes_sent);
    profile->set_kept_bytes(stats.kept_bytes);
    profile->set_peak_bytes(stats.peak_bytes);
    profile->set_rows_dropped(stats.rows_dropped);
    profile->set_spilled_bytes(stats.spilled_bytes);
    profile->set_credit_waits(stats.credit_waits);
    profile->set_credit_wait_ns(stats.credit_wait_ns);
    profile->set_longest_ns(stats.longest_ns);
    profile->set_slow_calls(stats.slow_calls);
    profile->set_line(op.position().line());
    profile->set_column(op.position().column());
    if (total_ns > 0) {
      profile->set_share(static_cast<double>(stats.time_ns) / static_cast<double>(total_ns));
    }
  }
}

std::string ProfileText(const v1::Summary& summary) {
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"operator", "rows in", "rows out", "bulk out", "batches", "slices", "time ms",
                  "share", "longest ms", "slow calls", "bytes sent", "waits", "wait ms",
                  "peak bytes", "spilled", "dropped"});
  uint64_t total_ns = 0;
  for (const v1::OperatorProfile& op : summary.profile()) {
    total_ns += op.time_ns();
    rows.push_back({std::to_string(op.id()) + " " + op.name(), std::to_string(op.rows_in()),
                    std::to_string(op.rows_out()), std::to_string(op.bulk_out()),
                    std::to_string(op.batches()), std::to_string(op.slices()),
                    Milliseconds(op.time_ns()), Percent(op.share()), Milliseconds(op.longest_ns()),
                    std::to_string(op.slow_calls()), std::to_string(op.bytes_sent()),
                    std::to_string(op.credit_waits()), Milliseconds(op.credit_wait_ns()),
                    std::to_string(op.peak_bytes()), std::to_string(op.spilled_bytes()),
                    std::to_string(op.rows_dropped())});
  }
  return AlignedTable(rows) + "total: " + std::to_string(summary.rows()) + " results, " +
         Milliseconds(total_ns) + " ms in operators, " + Milliseconds(summary.elapsed_us() * 1000) +
         " ms elapsed in " + std::to_string(summary.slices()) + " slices, " +
         Milliseconds(summary.queued_us() * 1000) + " ms queued before, peak " +
         std::to_string(summary.peak_bytes()) + " bytes, spilled " +
         std::to_string(summary.spilled_bytes()) + ", dropped " +
         std::to_string(summary.rows_dropped()) + " rows, " +
         std::to_string(summary.credit_waits()) + " waits of " +
         Milliseconds(summary.credit_wait_us() * 1000) + " ms\n";
}

}  // namespace koios::server
