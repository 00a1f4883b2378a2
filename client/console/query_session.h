// QuerySession: runs queries one after the other and prints what comes: results to `out` as they
// arrive, errors with their place and timing to `err`. What console and `koios query` share. Ctrl-C
// cancels the running query; a second one leaves the process. One thread.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "client/client.h"
#include "client/console/interrupts.h"
#include "client/print/printer.h"
#include "core/status.h"

namespace koios::client {

// What the process answers to its caller.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitCannotConnect = 3,
  kExitTimeout = 4,
  kExitLimit = 5,
  kExitInterrupted = 130,
};
int ExitCodeOf(const Status& status);  // CANCELLED is a failure, unless Ctrl-C did it

struct SessionSettings {
  std::string graph;  // empty: the server's default
  Format format = Format::kGremlin;
  std::map<std::string, Value> parameters;
  bool materialize = false;
  uint64_t timeout_ms = 0;  // 0: the server's default
};

struct SessionStyle {
  bool color = false;            // for errors
  bool timing = false;           // a line with the number of results and the time
  bool escape_controls = false;  // results go to a terminal
};

class QuerySession {
 public:
  // `interrupts` may be null: then Ctrl-C does what the process does. All outlive the session.
  QuerySession(Client* client, Interrupts* interrupts, std::ostream& out, std::ostream& err,
               const SessionStyle& style)
      : client_(client), interrupts_(interrupts), out_(out), err_(err), style_(style) {}

  SessionSettings& settings() { return settings_; }
  Client& client() { return *client_; }
  std::ostream& out() { return out_; }
  std::ostream& err() { return err_; }

  // The status has been printed already.
  Status RunQuery(const std::string& text, v1::Mode mode);
  void PrintError(const Status& status, std::string_view text);
  // Of a query's status: kExitInterrupted when Ctrl-C ended it.
  int ExitCodeAfter(const Status& status) const;

 private:
  Status Stream(ResultStream* stream, uint64_t* rows);
  void PrintTiming(const v1::Summary& summary, uint64_t rows, double seconds);

  Client* const client_;
  Interrupts* const interrupts_;
  std::ostream& out_;
  std::ostream& err_;
  const SessionStyle style_;
  std::atomic<bool> interrupted_{false};  // the last query, by Ctrl-C
  SessionSettings settings_;
};

}  // namespace koios::client
