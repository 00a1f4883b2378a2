#include "server/guard/machine.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

// jemalloc's, where it is linked.
extern "C" int mallctl(const char* name, void* old, size_t* old_length, void* value, size_t length)
    __attribute__((weak));

namespace koios::server {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

std::vector<std::string> Words(const std::string& line, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

// The number in a limit file; kNone when there is none ("max", or no such file).
uint64_t ReadLimit(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  uint64_t bytes = 0;
  if (!(file >> text)) return kNone;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && end == text.data() + text.size() ? bytes : kNone;
}

// A hierarchy of control groups, as it is mounted.
struct Mount {
  std::string root;   // the group that is seen at `point`
  std::string point;  // a folder
};

// Of memory: version 1 when `options` has "memory", version 2 when the type is "cgroup2".
std::optional<Mount> FindMount(const std::string& root, bool version2) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS] - TYPE SOURCE OPTIONS
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> place = Words(line.substr(0, dash), ' ');
    const std::vector<std::string> kind = Words(line.substr(dash + 3), ' ');
    if (place.size() < 5 || kind.size() < 3) continue;
    const std::vector<std::string> options = Words(kind[2], ',');
    const bool has_memory = std::find(options.begin(), options.end(), "memory") != options.end();
    if (version2 ? kind[0] == "cgroup2" : kind[0] == "cgroup" && has_memory) {
      return Mount{place[3], place[4]};
    }
  }
  return std::nullopt;
}

// The least limit in a group's folder and those above it, up to where the hierarchy is mounted.
uint64_t LeastLimit(const std::string& root, const Mount& mount, std::string group,
                    const char* file) {
  if (mount.root != "/" && group.starts_with(mount.root)) group.erase(0, mount.root.size());
  uint64_t least = kNone;
  while (true) {
    least = std::min(least, ReadLimit(root + mount.point + group + "/" + file));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos || group.empty()) return least;
    group.erase(slash);
  }
}

uint64_t GroupLimit(const std::string& root) {
  uint64_t least = kNone;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // ID:CONTROLLERS:GROUP; version 2 names no controllers.
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const std::vector<std::string> controllers = Words(names, ',');
    const bool version2 = names.empty();
    if (!version2 &&
        std::find(controllers.begin(), controllers.end(), "memory") == controllers.end()) {
      continue;
    }
    const std::optional<Mount> mount = FindMount(root, version2);
    if (!mount.has_value()) continue;
    least = std::min(least, LeastLimit(root, *mount, line.substr(second + 1),
                                       version2 ? "memory.max" : "memory.limit_in_bytes"));
  }
  return least;
}

uint64_t PhysicalBytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string word;
  uint64_t kilobytes = 0;
  while (file >> word) {
    if (word == "MemTotal:" && file >> kilobytes) return kilobytes << 10;
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : kNone;
}

}  // namespace

uint64_t MachineMemoryBytes(const std::string& root) {
  return std::min(PhysicalBytes(root), GroupLimit(root));
}

uint64_t PrivateResidentBytes() {
  static const auto kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
  if (!(file >> size >> resident >> shared)) return 0;
  return resident > shared ? (resident - shared) * kPageBytes : 0;
}

void ReturnFreedMemory() {
  if (mallctl != nullptr) {
    mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // MALLCTL_ARENAS_ALL
  } else {
    malloc_trim(0);
  }
}

uint64_t RaiseOpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  const rlimit raised{limit.rlim_max, limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = limit.rlim_max;
  return limit.rlim_cur;
}

}  // namespace koios::server
