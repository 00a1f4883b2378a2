// DeltaArena: memory that is taken piece by piece and given back all at once. One thread takes;
// any thread may read what was published to it. Charged to a budget.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/delta/delta_budget.h"

namespace koios::storage {

class DeltaArena {
 public:
  explicit DeltaArena(std::shared_ptr<DeltaBudget> budget) : budget_(std::move(budget)) {}
  ~DeltaArena() { budget_->Release(bytes()); }
  DeltaArena(const DeltaArena&) = delete;
  DeltaArena& operator=(const DeltaArena&) = delete;

  // Aligned to 8 bytes, zeroed.
  void* Take(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > left_) {
      // What is large gets a chunk of its own, and the one at hand goes on.
      if (bytes > next_chunk_bytes_ / 4) return AddChunk(bytes);
      next_ = AddChunk(next_chunk_bytes_);
      left_ = next_chunk_bytes_;
      if (next_chunk_bytes_ < kMostChunkBytes) next_chunk_bytes_ *= 2;
    }
    char* const taken = next_;
    next_ += bytes;
    left_ -= bytes;
    return taken;
  }
  // Things whose destructor has nothing to do.
  template <typename T, typename... Arguments>
  T* Make(Arguments&&... arguments) {
    return new (Take(sizeof(T))) T(std::forward<Arguments>(arguments)...);
  }
  std::string_view Copy(std::string_view bytes) {
    if (bytes.empty()) return {};
    char* const copy = static_cast<char*>(Take(bytes.size()));
    std::memcpy(copy, bytes.data(), bytes.size());
    return {copy, bytes.size()};
  }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kFirstChunkBytes = 4096;
  static constexpr size_t kMostChunkBytes = size_t{1} << 20;

  char* AddChunk(size_t bytes) {
    chunks_.push_back(std::make_unique<char[]>(bytes));
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    budget_->Charge(bytes);
    return chunks_.back().get();
  }

  const std::shared_ptr<DeltaBudget> budget_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t next_chunk_bytes_ = kFirstChunkBytes;
  std::atomic<size_t> bytes_{0};
};

}  // namespace koios::storage
