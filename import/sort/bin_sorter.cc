#include "import/sort/bin_sorter.h"

#include <algorithm>
#include <utility>

namespace koios::import {
namespace {

// Less is not put aside because others fill the room: many small pieces would be read back.
constexpr size_t kLeastSpill = size_t{1} << 20;
constexpr size_t kCopyBuffer = size_t{256} << 10;

// How far ahead records are fetched: they lie in the order of their coming.
constexpr size_t kAhead = 12;

size_t LeastSpill(const SortRoom& room) { return std::min(kLeastSpill, room.record_bytes() / 16); }

class BinInMemory final : public SortedBin {
 public:
  BinInMemory(SortRoom* room, size_t held, LargeArray<char> loaded, RecordOrder order)
      : room_(room), held_(held), loaded_(std::move(loaded)), order_(std::move(order)) {}
  ~BinInMemory() override { room_->Release(held_); }

  StatusOr<bool> Next() override {
    if (next_ == order_.size()) return false;
    order_.Prefetch(next_ + kAhead);
    order_.Read(next_++, &key_, &value_);
    return true;
  }
  Status Rewind() override {
    next_ = 0;
    return OkStatus();
  }

 private:
  SortRoom* const room_;
  const size_t held_;
  const LargeArray<char> loaded_;
  RecordOrder order_;
  size_t next_ = 0;
};

class LargeBin final : public SortedBin {
 public:
  explicit LargeBin(const SortOptions& options) : sorter_(options) {}
  ExternalSorter* sorter() { return &sorter_; }

  StatusOr<bool> Next() override {
    ASSIGN_OR_RETURN(const bool more, sorter_.Next());
    key_ = sorter_.key();
    value_ = sorter_.value();
    return more;
  }
  Status Rewind() override { return sorter_.Rewind(); }

 private:
  ExternalSorter sorter_;
};

}  // namespace

bool SortRoom::TryHold(size_t bytes) {
  size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + bytes > all_bytes_) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

BinSorter::BinSorter(SortRoom* room, size_t num_bins, size_t most_bytes)
    : room_(room), most_bytes_(most_bytes), bins_(num_bins) {}

BinSorter::~BinSorter() {
  for (size_t bin = 0; bin < bins_.size(); ++bin) Drop(bin);
}

Status BinSorter::Add(size_t bin, RecordChunk chunk) {
  if (chunk.empty()) return OkStatus();
  const size_t bytes = chunk.bytes().capacity();
  MutexLock lock(&mutex_);
  Bin& to = bins_[bin];
  to.num_records += chunk.num_records();
  to.chunk_bytes += bytes;
  to.chunks.push_back(std::move(chunk));
  num_records_ += to.chunks.back().num_records();
  bytes_ += bytes;
  room_->Hold(bytes);
  const bool full = room_->used() > room_->record_bytes() && bytes_ >= LeastSpill(*room_);
  return bytes_ > most_bytes_ || full ? Spill() : OkStatus();
}

Status BinSorter::Spill() {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(file_, TempFile::Create(room_->temp_dir()));
  }
  for (Bin& bin : bins_) {
    if (bin.chunks.empty() || bin.opened) continue;
    Run piece{file_->size(), 0};
    for (const RecordChunk& chunk : bin.chunks) RETURN_IF_ERROR(file_->Append(chunk.bytes()));
    piece.end = file_->size();
    bin.file_bytes += piece.end - piece.begin;
    spilled_bytes_ += piece.end - piece.begin;
    bin.pieces.push_back(piece);
    bin.chunks = {};
    bytes_ -= bin.chunk_bytes;
    room_->Release(bin.chunk_bytes);
    bin.chunk_bytes = 0;
  }
  return OkStatus();
}

void BinSorter::Drop(size_t bin) {
  MutexLock lock(&mutex_);
  bytes_ -= bins_[bin].chunk_bytes;
  room_->Release(bins_[bin].chunk_bytes);
  bins_[bin] = {};
}

uint64_t BinSorter::num_records() const {
  MutexLock lock(&mutex_);
  return num_records_;
}

uint64_t BinSorter::spilled_bytes() const {
  MutexLock lock(&mutex_);
  return spilled_bytes_;
}

Status BinSorter::Load(const Bin& bin, LargeArray<char>* bytes) const {
  *bytes = LargeArray<char>(bin.file_bytes);
  uint64_t at = 0;
  for (const Run& piece : bin.pieces) {
    const size_t size = piece.end - piece.begin;
    ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(piece.begin, bytes->data() + at, size));
    if (got != size) return DataLoss("A temporary file of the import is shorter than written.");
    at += size;
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<SortedBin>> BinSorter::Open(size_t number, KeySwap swap) {
  {
    MutexLock lock(&mutex_);
    bins_[number].opened = true;
  }
  const Bin& bin = bins_[number];
  const size_t order_bytes = bin.num_records * sizeof(OrderEntry);
  const size_t held = bin.file_bytes + order_bytes;
  if (bin.num_records > RecordOrder::kMostRecords || !room_->TryHold(held + order_bytes)) {
    return OpenLarge(bin, swap);
  }
  LargeArray<char> loaded;
  if (bin.file_bytes > 0) {
    if (Status status = Load(bin, &loaded); !status.ok()) {
      room_->Release(held + order_bytes);
      return status;
    }
  }
  RecordOrder order(swap, bin.num_records);
  order.Add({loaded.data(), bin.file_bytes});
  for (const RecordChunk& chunk : bin.chunks) order.Add(chunk.bytes());
  order.Sort();
  room_->Release(order_bytes);
  return std::unique_ptr<SortedBin>(
      new BinInMemory(room_, held, std::move(loaded), std::move(order)));
}

StatusOr<std::unique_ptr<SortedBin>> BinSorter::OpenLarge(const Bin& bin, KeySwap swap) {
  const SortOptions options{room_->temp_dir(), room_->merge_bytes(), room_->merge_bytes()};
  auto large = std::make_unique<LargeBin>(options);
  std::string swapped;
  const auto add = [&](std::string_view key, std::string_view value) {
    return large->sorter()->Add(SwapKey(swap, key, &swapped), value);
  };
  for (const Run& piece : bin.pieces) {
    RunReader reader(file_.get(), piece, std::min(kCopyBuffer, room_->merge_bytes()));
    while (true) {
      ASSIGN_OR_RETURN(const bool more, reader.Next());
      if (!more) break;
      RETURN_IF_ERROR(add(reader.key(), reader.value()));
    }
  }
  Status status;
  for (const RecordChunk& chunk : bin.chunks) {
    chunk.ForEach([&](std::string_view key, std::string_view value) {
      if (status.ok()) status = add(key, value);
    });
  }
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(large->sorter()->Finish());
  return std::unique_ptr<SortedBin>(std::move(large));
}

}  // namespace koios::import
