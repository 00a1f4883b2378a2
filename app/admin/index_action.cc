#include "app/admin/index_action.h"

#include <cstdio>

#include "app/admin/job_progress.h"
#include "client/print/reports.h"
#include "server/query_registry.h"

namespace koios::app {
namespace {

Status Create(client::Client* client, const std::string& graph, const std::string& label,
              const std::vector<std::string>& keys, std::ostream& out) {
  const StatusOr<v1::CreateIndexResponse> created = [&] {
    const JobProgress progress(client, server::kCreateIndexText, "vertices read");
    return client->CreateIndex(graph, label, keys);
  }();
  RETURN_IF_ERROR(created.status());
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%.1f", created->seconds());
  out << created->entries() << " of " << created->vertices() << " vertices are in the index, "
      << seconds << " s\n";
  return OkStatus();
}

}  // namespace

Status CheckIndexWords(const std::vector<std::string>& words) {
  const std::string action = words.empty() ? "" : words[0];
  if (action == "list" && words.size() == 1) return OkStatus();
  if ((action == "create" || action == "drop") && words.size() > 2) return OkStatus();
  return InvalidArgument(
      "An index is named by a label and its keys: admin index create LABEL KEY..., admin index "
      "drop LABEL KEY..., admin index list.");
}

Status RunIndexWords(client::Client* client, const std::string& graph,
                     const std::vector<std::string>& words, std::ostream& out) {
  if (words[0] == "list") {
    ASSIGN_OR_RETURN(const v1::ListIndexesResponse indexes, client->ListIndexes(graph));
    client::PrintIndexes(indexes, out);
    return OkStatus();
  }
  const std::vector<std::string> keys(words.begin() + 2, words.end());
  if (words[0] == "drop") return client->DropIndex(graph, words[1], keys);
  return Create(client, graph, words[1], keys, out);
}

}  // namespace koios::app
