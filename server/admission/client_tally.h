// Who a query comes from, and how many each of those has. A host is known from its connection; a
// name is what a client says itself, and tells apart only those of one host: whoever invents many
// takes from nobody but its own host.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace koios::server {

struct ClientName {
  std::string host;
  std::string name;  // empty: none
};

// How many each has, and who has most. Of several the last by name.
class Tally {
 public:
  void Add(const std::string& who) { Set(who, Of(who) + 1); }
  void Remove(const std::string& who) { Set(who, Of(who) - 1); }  // REQUIRES: it has some
  size_t Of(const std::string& who) const {
    const auto found = counts_.find(who);
    return found == counts_.end() ? 0 : found->second;
  }
  bool empty() const { return counts_.empty(); }
  const std::string& Most() const { return by_count_.rbegin()->second; }  // REQUIRES: !empty()

 private:
  void Set(const std::string& who, size_t count) {
    by_count_.erase({Of(who), who});
    if (count == 0) {
      counts_.erase(who);
      return;
    }
    counts_[who] = count;
    by_count_.emplace(count, who);
  }

  std::map<std::string, size_t> counts_;
  std::set<std::pair<size_t, std::string>> by_count_;
};

// The same of hosts, and of the names of each.
struct ClientTally {
  Tally hosts;
  std::map<std::string, Tally> names;  // by host

  void Add(const ClientName& client) {
    hosts.Add(client.host);
    names[client.host].Add(client.name);
  }
  void Remove(const ClientName& client) {
    hosts.Remove(client.host);
    const auto found = names.find(client.host);
    found->second.Remove(client.name);
    if (found->second.empty()) names.erase(found);
  }
};

}  // namespace koios::server
