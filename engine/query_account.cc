#include "engine/query_account.h"

namespace koios::engine {

std::shared_ptr<MemoryAccount> MakeQueryAccount(uint64_t limit_bytes, MemoryAccount* all) {
  LimitWords words;
  words.reason = "QUERY_MEMORY";
  words.setting = "query-memory-mb";
  words.hint = "Ask for less at once, for example with limit(), or raise the setting.";
  const int64_t limit = limit_bytes == 0 ? kNoMemoryLimit : static_cast<int64_t>(limit_bytes);
  return std::make_shared<MemoryAccount>("the query", limit, all, std::move(words));
}

std::unique_ptr<MemoryAccount> MakeAccountOfAllQueries(uint64_t limit_bytes) {
  LimitWords words;
  words.reason = kProcessMemory;
  words.setting = "memory-mb";
  words.hint =
      "All queries together need too much: try again when others have ended, ask for less at once, "
      "or raise the setting.";
  auto all = std::make_unique<MemoryAccount>("all queries", static_cast<int64_t>(limit_bytes),
                                             nullptr, std::move(words));
  all->KeepForSmall(all->limit() / 8);
  return all;
}

}  // namespace koios::engine
