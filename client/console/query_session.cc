#include "client/console/query_session.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <optional>

#include "parser/error_format.h"

namespace koios::client {
namespace {

constexpr char kRed[] = "\033[31m";
constexpr char kPlain[] = "\033[0m";

std::string ReadableSeconds(double seconds) {
  char text[32];
  if (seconds < 1) {
    std::snprintf(text, sizeof(text), "%.1f ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.2f s", seconds);
  }
  return text;
}

Status CantWrite() { return FailedPrecondition("The results can't be written."); }

}  // namespace

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kExitOk;
    case StatusCode::kUnavailable:
      return kExitCannotConnect;
    case StatusCode::kDeadlineExceeded:
      return kExitTimeout;
    case StatusCode::kResourceExhausted:
      return kExitLimit;
    default:
      return kExitFailed;
  }
}

int QuerySession::ExitCodeAfter(const Status& status) const {
  return !status.ok() && interrupted_ ? int{kExitInterrupted} : ExitCodeOf(status);
}

Status QuerySession::RunQuery(const std::string& text, v1::Mode mode) {
  interrupted_ = false;
  const auto start = std::chrono::steady_clock::now();
  Request request;
  request.query = text;
  request.graph = settings_.graph;
  request.mode = mode;
  request.parameters = settings_.parameters;
  request.materialize = settings_.materialize;
  request.timeout_ms = settings_.timeout_ms;
  StatusOr<std::unique_ptr<ResultStream>> stream = client_->Submit(request);
  uint64_t rows = 0;
  Status status = stream.status();
  if (status.ok()) status = Stream(stream->get(), &rows);
  out_.flush();
  if (!status.ok()) {
    if (interrupted_) {
      err_ << "Cancelled.\n";
    } else {
      PrintError(status, text);
    }
    return status;
  }
  if (interrupted_) err_ << "It was too late to cancel: the query is done.\n";
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (style_.timing) PrintTiming((*stream)->summary(), rows, elapsed.count());
  return status;
}

Status QuerySession::Stream(ResultStream* stream, uint64_t* rows) {
  std::optional<Interrupts::Scope> scope;
  if (interrupts_ != nullptr) {
    scope.emplace(interrupts_, [this, stream](int count) {
      if (count > 1) _exit(kExitInterrupted);
      interrupted_ = true;
      stream->Cancel();
    });
  }
  PrinterOptions options;
  options.escape_controls = style_.escape_controls;
  std::unique_ptr<ResultPrinter> printer = MakePrinter(settings_.format, out_, options);
  Batch batch;
  StatusOr<bool> more = true;
  while (true) {
    more = stream->Next(&batch);
    if (!more.ok() || !*more) break;
    for (size_t row = 0; row < batch.values.size(); ++row) {
      // A bulk may be as large as any number: Ctrl-C must end this, too.
      for (int64_t i = 0; i < batch.BulkAt(row) && !interrupted_; ++i) {
        printer->Row(batch.values[row]);
      }
      *rows += static_cast<uint64_t>(batch.BulkAt(row));
    }
    out_.flush();
    if (!out_.good()) return CantWrite();
  }
  const bool is_text = more.ok() && !stream->summary().text().empty();
  if (is_text) {
    out_ << stream->summary().text();
    if (stream->summary().text().back() != '\n') out_ << '\n';
  } else {
    printer->Finish();
  }
  if (more.ok() && !out_.flush().good()) return CantWrite();
  if (printer->num_left_out() > 0) {
    err_ << printer->num_left_out() << " values are not shown: their keys first appear after "
         << kSampledRows << " results. Use another format, e.g. jsonl.\n";
  }
  return more.status();
}

void QuerySession::PrintError(const Status& status, std::string_view text) {
  err_ << (style_.color ? kRed : "") << parser::FormatError(status, text)
       << (style_.color ? kPlain : "") << "\n";
}

void QuerySession::PrintTiming(const v1::Summary& summary, uint64_t rows, double seconds) {
  if (summary.mode() == v1::RUN) err_ << rows << (rows == 1 ? " result in " : " results in ");
  err_ << ReadableSeconds(seconds) << " (" << ReadableSeconds(summary.elapsed_us() / 1e6)
       << " on the server)\n";
}

}  // namespace koios::client
