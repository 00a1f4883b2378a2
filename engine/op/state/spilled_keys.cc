#include "engine/op/state/spilled_keys.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/memory/charged_growth.h"
#include "core/value_codec.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

constexpr size_t kLeastBlock = 4096;
constexpr size_t kMostBlock = 32 * 1024;
constexpr size_t kMostKeyBytes = 20;  // of one in a block
// Of a query's memory, for all blocks' first keys and for all filters of one operator.
constexpr uint64_t kFirstsShare = 64;
constexpr int64_t kFilterShare = 16;
constexpr size_t kFilterBits = 10;  // of a key: one of 80 that are not there seems to be
constexpr size_t kLineWords = 8;    // of a line of the filter, which a processor reads at once
constexpr int kProbes = 6;
constexpr size_t kMergeSlice = 4096;  // keys
constexpr size_t kLeastMerged = 4;    // runs

Status Lost() { return DataLoss("Keys that were put on disk are not what was written."); }

// As what comes before it is less, and mostly of the same kind: the distance.
void PutKey(const KeyCode& key, const KeyCode& previous, std::string* out) {
  PutVarint(key.high - previous.high, out);
  PutVarint(key.high == previous.high ? key.low - previous.low : key.low, out);
}

// Calls use(word, bit) for each bit of the key.
template <typename Use>
void EachBit(const KeyCode& key, size_t words, const Use& use) {
  const XXH128_hash_t hash = XXH3_128bits(&key, sizeof(key));
  const size_t line = (hash.high64 >> 32) * (words / kLineWords) >> 32;
  uint64_t bits = hash.low64;
  for (int i = 0; i < kProbes; ++i, bits >>= 9) {
    use(line * kLineWords + (bits >> 6) % kLineWords, uint64_t{1} << (bits % 64));
  }
}

}  // namespace

SpilledKeys::Run::~Run() {
  DropFilter();
  (void)host->ChargeState(-charged);
  if (blocks.empty()) return;
  const StatusOr<SpillFile*> file = host->spill_file();
  if (file.ok()) (*file)->DropRange(begin, end);
}

Status SpilledKeys::Run::MakeFilter(size_t num_keys) {
  const size_t lines = num_keys * kFilterBits / (64 * kLineWords) + 1;
  const auto charge = static_cast<int64_t>(lines * kLineWords * sizeof(uint64_t));
  RETURN_IF_ERROR(host->ChargeState(charge));
  filter_charged = charge;
  filter.assign(lines * kLineWords, 0);
  return OkStatus();
}

void SpilledKeys::Run::DropFilter() {
  FreeRoom(&filter);
  (void)host->ChargeState(-std::exchange(filter_charged, 0));
}

void SpilledKeys::Run::AddToFilter(const KeyCode& key) {
  EachBit(key, filter.size(), [this](size_t word, uint64_t bit) { filter[word] |= bit; });
}

bool SpilledKeys::Run::MayHave(const KeyCode& key) const {
  if (blocks.empty() || key < blocks.front().first || last < key) return false;
  bool may = true;
  if (filter.empty()) return may;
  EachBit(key, filter.size(),
          [&](size_t word, uint64_t bit) { may = may && (filter[word] & bit) != 0; });
  return may;
}

size_t SpilledKeys::Run::BlockOf(const KeyCode& key) const {
  const auto behind =
      std::upper_bound(blocks.begin(), blocks.end(), key,
                       [](const KeyCode& k, const Block& block) { return k < block.first; });
  return static_cast<size_t>(behind - blocks.begin()) - 1;
}

bool SpilledKeys::BlockReader::Next(KeyCode* key) {
  uint64_t high = 0, low = 0;
  if (!GetVarint(&left, &high) || !GetVarint(&left, &low)) return false;
  *key = {previous.high + high, high == 0 ? previous.low + low : low};
  previous = *key;
  return true;
}

SpilledKeys::~SpilledKeys() {
  for (const Source& source : sources_) (void)host_->ChargeState(-source.charged);
}

uint64_t SpilledKeys::num_keys() const {
  return std::accumulate(runs_.begin(), runs_.end(), uint64_t{0},
                         [](uint64_t sum, const auto& run) { return sum + run->keys; });
}

int64_t SpilledKeys::FilterRoom() const {
  int64_t room = host_->account()->limit() / kFilterShare;
  for (const auto& run : runs_) room -= run->filter_charged;
  return std::min(room, host_->StateRoom() / 4);
}

Status SpilledKeys::BeginRun(size_t most, uint64_t bytes) {
  writing_ = std::make_unique<Run>(host_);
  if (static_cast<int64_t>(most * kFilterBits / 8) < FilterRoom()) {
    (void)writing_->MakeFilter(most);  // refused, as others have the room: it goes without one
  }
  const auto limit = static_cast<uint64_t>(host_->account()->limit());
  const uint64_t blocks = std::max<uint64_t>(limit / kFirstsShare / sizeof(Block), 1);
  block_bytes_ = std::clamp<uint64_t>(bytes / blocks, kLeastBlock, kMostBlock);
  const auto charge = static_cast<int64_t>(block_bytes_ + kMostKeyBytes);
  RETURN_IF_ERROR(host_->ChargeState(charge));
  writing_->charged += charge;
  block_.reserve(block_bytes_ + kMostKeyBytes);
  return OkStatus();
}

Status SpilledKeys::Append(const KeyCode& key) {
  if (block_.empty()) {
    block_first_ = key;
    PutKey(key, {}, &block_);
  } else {
    if (key == block_last_) return OkStatus();
    PutKey(key, block_last_, &block_);
  }
  block_last_ = key;
  ++writing_->keys;
  if (!writing_->filter.empty()) writing_->AddToFilter(key);
  return block_.size() < block_bytes_ ? OkStatus() : EndBlock();
}

Status SpilledKeys::EndBlock() {
  if (block_.empty()) return OkStatus();
  Run& run = *writing_;
  {
    ChargeAhead charge(host_, &run.charged);
    RETURN_IF_ERROR(MakeRoom(&run.blocks, 1, &charge));
  }
  ASSIGN_OR_RETURN(SpillFile * file, host_->spill_file());
  ASSIGN_OR_RETURN(const uint64_t at, file->Append(block_));
  if (run.blocks.empty()) run.begin = at;
  run.blocks.push_back({block_first_, at});
  run.end = file->end();
  run.bytes += block_.size();
  run.last = block_last_;
  block_.clear();
  return OkStatus();
}

Status SpilledKeys::EndRun() {
  RETURN_IF_ERROR(EndBlock());
  FreeRoom(&block_);
  const auto charge = static_cast<int64_t>(block_bytes_ + kMostKeyBytes);
  writing_->charged -= charge;
  (void)host_->ChargeState(-charge);
  if (writing_->keys == 0) {
    writing_.reset();
    return OkStatus();
  }
  runs_.push_back(std::move(writing_));
  return OkStatus();
}

// The small ones, and those that are no larger than all that are smaller: runs that stay are each
// larger than all before them, so that they are few.
size_t SpilledKeys::NumToMerge() {
  if (runs_.size() <= kMostRuns) return 0;
  std::sort(runs_.begin(), runs_.end(),
            [](const auto& a, const auto& b) { return a->keys < b->keys; });
  size_t count = 0;
  uint64_t keys = 0;
  while (count < runs_.size() && (count < kLeastMerged || runs_[count]->keys <= keys)) {
    keys += runs_[count++]->keys;
  }
  return count;
}

Status SpilledKeys::BeginMerge(size_t count) {
  uint64_t keys = 0, bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    runs_[i]->DropFilter();  // nobody looks before the end
    keys += runs_[i]->keys;
    bytes += runs_[i]->bytes;
  }
  RETURN_IF_ERROR(BeginRun(keys, bytes));
  return OpenSources(count);
}

Status SpilledKeys::OpenSources(size_t count) {
  sources_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const bool has_key, Advance(i));
    if (has_key) heap_.push_back(static_cast<uint32_t>(i));
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
  return OkStatus();
}

StatusOr<bool> SpilledKeys::Advance(size_t source) {
  Source& from = sources_[source];
  while (!from.reader.Next(&from.key)) {
    if (!from.reader.left.empty()) return Lost();
    FreeRoom(&from.block);
    (void)host_->ChargeState(-std::exchange(from.charged, 0));
    const std::vector<Block>& blocks = runs_[source]->blocks;
    if (from.next_block == blocks.size()) return false;
    constexpr int64_t kBytes = kMostBlock + kMostKeyBytes;
    RETURN_IF_ERROR(host_->ChargeState(kBytes));
    from.charged = kBytes;
    ASSIGN_OR_RETURN(const SpillFile* file, host_->spill_file());
    ASSIGN_OR_RETURN(from.block, file->Read(blocks[from.next_block++].at));
    from.reader = {from.block, {}};
    const auto bytes = static_cast<int64_t>(from.block.capacity());
    (void)host_->ChargeState(bytes - std::exchange(from.charged, bytes));
  }
  return true;
}

void SpilledKeys::EndMerge() {
  const auto merged = static_cast<std::ptrdiff_t>(sources_.size());
  FreeRoom(&sources_);
  runs_.erase(runs_.begin(), runs_.begin() + merged);
}

StatusOr<bool> SpilledKeys::Merge() {
  if (sources_.empty()) {
    const size_t count = NumToMerge();
    if (count == 0) return true;
    RETURN_IF_ERROR(BeginMerge(count));
    return false;
  }
  KeyCode key;
  for (size_t left = kMergeSlice; left > 0 && !heap_.empty(); --left) {
    RETURN_IF_ERROR(TakeNext(&key).status());
    RETURN_IF_ERROR(Append(key));
  }
  if (!heap_.empty()) return false;
  RETURN_IF_ERROR(EndRun());
  EndMerge();
  return false;
}

Status SpilledKeys::BeginTaking() {
  for (const auto& run : runs_) run->DropFilter();
  return OpenSources(runs_.size());
}

StatusOr<bool> SpilledKeys::TakeNext(KeyCode* key) {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  const uint32_t top = heap_.back();
  *key = sources_[top].key;
  ASSIGN_OR_RETURN(const bool more, Advance(top));
  if (more) {
    std::push_heap(heap_.begin(), heap_.end(), Later());
  } else {
    heap_.pop_back();
  }
  return true;
}

bool SpilledKeys::MustRead(const KeyCode& key) const {
  return std::any_of(runs_.begin(), runs_.end(),
                     [&](const auto& run) { return run->filter.empty() && run->MayHave(key); });
}

size_t SpilledKeys::Looks(const KeyCode& key) const {
  return static_cast<size_t>(std::count_if(runs_.begin(), runs_.end(),
                                           [&](const auto& run) { return run->MayHave(key); }));
}

Status SpilledKeys::Find(std::span<const KeyCode> keys, std::vector<bool>* found) const {
  found->assign(keys.size(), false);
  for (const auto& run : runs_) RETURN_IF_ERROR(FindIn(*run, keys, found));
  return OkStatus();
}

Status SpilledKeys::FindIn(const Run& run, std::span<const KeyCode> keys,
                           std::vector<bool>* found) const {
  ASSIGN_OR_RETURN(const SpillFile* file, host_->spill_file());
  size_t open = SIZE_MAX;  // the block that is read
  std::string block;
  BlockReader reader;
  KeyCode at;
  for (size_t i = 0; i < keys.size(); ++i) {
    if ((*found)[i] || !run.MayHave(keys[i])) continue;
    const size_t wanted = run.BlockOf(keys[i]);
    if (wanted != open) {
      ASSIGN_OR_RETURN(block, file->Read(run.blocks[wanted].at));
      open = wanted;
      reader = {block, {}};
      if (!reader.Next(&at)) return Lost();
    }
    while (at < keys[i] && reader.Next(&at)) {
    }
    if (at < keys[i] && !reader.left.empty()) return Lost();
    (*found)[i] = at == keys[i];
  }
  return OkStatus();
}

}  // namespace koios::engine
