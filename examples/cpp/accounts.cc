// accounts HOST:PORT COUNTRY: the accounts of a country that receive the most transfers, for the
// sample graph of tools/quickstart. Shows what a client does: connect, send a query with a typed
// parameter, take its rows as they come, and tell the server's error.
#include <cstdio>
#include <string>

#include "client/client.h"
#include "core/print/value_print.h"

namespace {

constexpr char kQuery[] =
    "g.V().hasLabel('account').has('country', country)"
    ".project('owner', 'received').by('owner').by(__.in('transfer').count())"
    ".order().by(select('received'), desc).limit(3)";

koios::Status PrintAccounts(const std::string& address, const std::string& country) {
  ASSIGN_OR_RETURN(const auto client, koios::client::Client::Connect(address));
  koios::client::Request request;
  request.query = kQuery;
  request.parameters["country"] = koios::Value::String(country);
  request.timeout_ms = 10'000;
  ASSIGN_OR_RETURN(const auto results, client->Submit(request));
  koios::client::Batch batch;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, results->Next(&batch));
    if (!more) return koios::OkStatus();
    for (size_t i = 0; i < batch.values.size(); ++i) {
      for (int64_t copy = 0; copy < batch.BulkAt(i); ++copy) {
        const koios::ValueMap& row = batch.values[i].AsMap();
        std::printf("%5s transfers to %s\n", koios::PrintValue(row[1].second).c_str(),
                    koios::PrintValue(row[0].second).c_str());
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "accounts HOST:PORT COUNTRY\n");
    return 2;
  }
  const koios::Status status = PrintAccounts(argv[1], argv[2]);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", std::string(absl::StatusCodeToString(status.code())).c_str(),
                 koios::MessageOf(status).c_str());
  }
  return status.ok() ? 0 : 1;
}
