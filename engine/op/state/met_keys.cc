#include "engine/op/state/met_keys.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "engine/account/free_room.h"
#include "engine/op/state/spill_room.h"

namespace koios::engine {
namespace {

constexpr size_t kSliceKeys = 4096;
// Of a query's memory, for keys that are sorted.
constexpr int64_t kTableShare = 32;
// Of what is left of it, for keys that are known to be on disk.
constexpr int64_t kKnownShare = 8;
constexpr size_t kCodeBytes = 8;  // on disk, about
// Rows that one call lets wait.
constexpr size_t kWaitingRows = 512;

constexpr int64_t kBytesInPiece = sizeof(KeyCode) + SliceSort::kBytes;

size_t PieceKeys(const OperatorHost& host) {
  constexpr int64_t kLeast = DistinctKeys::kWalkMost, kMost = int64_t{1} << 18;
  return static_cast<size_t>(
      std::clamp(host.account()->limit() / kTableShare / kBytesInPiece, kLeast, kMost));
}

// What the smallest piece takes on its way to disk, with its block.
constexpr int64_t kLeastPiece = DistinctKeys::kWalkMost * kBytesInPiece + (int64_t{32} << 10);

class KeysLeft final : public Leftover {
 public:
  explicit KeysLeft(DistinctKeys keys) : keys_(std::move(keys)) {}
  bool FreeSome(int64_t* freed) override { return keys_.FreeSome(freed); }

 private:
  DistinctKeys keys_;
};

}  // namespace

void LeaveKeys(DistinctKeys* keys, OperatorHost* host) {
  const int64_t bytes = keys->bytes();
  if (bytes < Leftover::kLeastBytes) {
    (void)host->ChargeState(-bytes);
  } else {
    host->Leave(std::make_unique<KeysLeft>(std::move(*keys)), bytes);
  }
}

MetKeys::~MetKeys() {
  LeaveKeys(&met_, host_);
  if (disk_ == nullptr) return;
  LeaveKeys(&disk_->known, host_);
  if (disk_->piece != nullptr) (void)host_->ChargeState(-disk_->piece->charged);
}

void MetKeys::Forget(DistinctKeys* keys, int64_t* paths) const {
  *paths = 0;
  LeaveKeys(keys, host_);
  std::destroy_at(keys);
  std::construct_at(keys);
}

int64_t MetKeys::SpillableBytes() const {
  const int64_t met = met_.bytes() + met_paths_;
  return disk_ == nullptr ? met : met + disk_->known.bytes() + disk_->known_paths;
}

bool MetKeys::CanSpill() const {
  return host_->may_spill() && SpillableBytes() >= host_->least_spill_bytes();
}

Status MetKeys::AddRows(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                        size_t* looks, std::vector<uint32_t>* fresh) {
  if (disk_ == nullptr) return AddInMemory(reader, batch, row, end, looks, fresh);
  if (is_waiting()) return AddWaiting(reader, batch, row, end, looks);
  std::vector<Candidate>& candidates = disk_->candidates;
  candidates.clear();
  for (; *row != end && *looks != 0; ++*row) {
    if (!reader.HasKey(batch, *row)) continue;
    ASSIGN_OR_RETURN(bool is_there, met_.Contains(reader, batch, *row));
    if (is_there) continue;
    ASSIGN_OR_RETURN(is_there, disk_->known.Contains(reader, batch, *row));
    if (is_there) continue;
    ASSIGN_OR_RETURN(const KeyCode code, met_.CodeOf(reader, batch, *row, disk_->seed));
    if (BeginsToWait(code)) {
      disk_->waiting = std::make_unique<WaitingRows>(host_);
      *looks = 0;
      break;
    }
    candidates.push_back({code, static_cast<uint32_t>(*row), false});
    *looks -= std::min(*looks, disk_->keys.Looks(code));
  }
  RETURN_IF_ERROR(FindCandidates());
  return AddCandidates(reader, batch, row, looks, fresh);
}

// Where all is put on disk, as soon as it is there, half of the operators look for keys there.
bool MetKeys::BeginsToWait(const KeyCode& code) const {
  if (!may_wait_) return false;
  return disk_->keys.MustRead(code) || (host_->spills_early() && disk_->seed % 2 == 0);
}

Status MetKeys::AddWaiting(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                           size_t* looks) {
  std::vector<uint32_t> picked;
  std::vector<KeyCode> codes;
  for (; *row != end && picked.size() < kWaitingRows; ++*row) {
    if (!reader.HasKey(batch, *row)) continue;
    ASSIGN_OR_RETURN(bool is_there, met_.Contains(reader, batch, *row));
    if (is_there) continue;
    ASSIGN_OR_RETURN(is_there, disk_->known.Contains(reader, batch, *row));
    if (is_there) continue;
    ASSIGN_OR_RETURN(codes.emplace_back(), met_.CodeOf(reader, batch, *row, disk_->seed));
    picked.push_back(static_cast<uint32_t>(*row));
    Remember(reader, batch, *row);
  }
  disk_->known_paths += PathBytes(batch, reader.slots(), picked.size());
  if (picked.size() == kWaitingRows) *looks = 0;
  return picked.empty() ? OkStatus() : disk_->waiting->Add(batch, picked, codes);
}

// The keys in memory go to those on disk first: then there is one way to merge.
Status MetKeys::Fire(Batch* output, bool* done) {
  *done = false;
  if (!disk_->fires) {
    Forget(&disk_->known, &disk_->known_paths);
    if (met_.bytes() > 0) RETURN_IF_ERROR(BeginPiece());
    disk_->fires = true;
    return OkStatus();
  }
  if (disk_->piece != nullptr) return StepPiece().status();
  return disk_->waiting->Fire(&disk_->keys, output, done);
}

Status MetKeys::AddInMemory(const KeyReader& reader, const Batch& batch, size_t* row, size_t end,
                            size_t* looks, std::vector<uint32_t>* fresh) {
  const size_t before = fresh->size();
  SpillRoom room(host_, CanSpill() ? kLeastPiece : 0);
  ChargeAhead charge(&room, met_.mutable_bytes());
  const size_t begin = *row;
  Status added = met_.AddRows(reader, batch, row, end, nullptr, &charge, fresh);
  met_paths_ += PathBytes(batch, reader.slots(), fresh->size() - before);
  if (added.ok() || !CanSpill()) return added;
  // Rows behind the last new one are not new, and will be looked at again.
  *row = fresh->size() > before ? fresh->back() + 1 : begin;
  must_spill_ = true;
  *looks = 0;
  return OkStatus();
}

// Block by block, in the order of keys.
Status MetKeys::FindCandidates() const {
  std::vector<Candidate>& candidates = disk_->candidates;
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.code < b.code; });
  std::vector<KeyCode> codes(candidates.size());
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = candidates[i].code;
  std::vector<bool> found;
  RETURN_IF_ERROR(disk_->keys.Find(codes, &found));
  for (size_t i = 0; i < codes.size(); ++i) candidates[i].is_found = found[i];
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.row < b.row; });
  return OkStatus();
}

Status MetKeys::AddCandidates(const KeyReader& reader, const Batch& batch, size_t* row,
                              size_t* looks, std::vector<uint32_t>* fresh) {
  SpillRoom room(host_, CanSpill() ? kLeastPiece : 0);
  ChargeAhead charge(&room, met_.mutable_bytes());
  const size_t before = fresh->size();
  for (const Candidate& candidate : disk_->candidates) {
    if (candidate.is_found) {
      Remember(reader, batch, candidate.row);
      continue;
    }
    const StatusOr<bool> is_new = met_.AddRow(reader, batch, candidate.row, &charge);
    if (is_new.ok()) {
      if (*is_new) fresh->push_back(candidate.row);
      continue;
    }
    if (!CanSpill()) return is_new.status();
    must_spill_ = true;
    *row = candidate.row;
    *looks = 0;
    break;
  }
  met_paths_ += PathBytes(batch, reader.slots(), fresh->size() - before);
  return OkStatus();
}

// What comes often is not looked up on disk each time.
void MetKeys::Remember(const KeyReader& reader, const Batch& batch, size_t row) {
  DistinctKeys& known = disk_->known;
  int64_t* const paths = &disk_->known_paths;
  if (known.bytes() + *paths > host_->StateRoom() / kKnownShare) Forget(&known, paths);
  bool has_room = false;
  {
    ChargeAhead charge(host_, known.mutable_bytes());
    has_room = known.AddRow(reader, batch, row, &charge).ok();
  }
  if (!has_room) Forget(&known, paths);
}

Status MetKeys::BeginPiece() {
  if (disk_ == nullptr) disk_ = std::make_unique<OnDisk>(host_);
  disk_->piece = std::make_unique<Piece>();
  Piece& piece = *disk_->piece;
  size_t most = PieceKeys(*host_);
  const auto bytes = [&] { return static_cast<int64_t>(most) * kBytesInPiece; };
  Status charged = host_->ChargeState(bytes());
  // What is left may be little when somebody has no room to grow.
  while (!charged.ok() && most >= 2 * DistinctKeys::kWalkMost) {
    most /= 2;
    charged = host_->ChargeState(bytes());
  }
  RETURN_IF_ERROR(charged);
  piece.charged = bytes();
  piece.codes.reserve(most);
  return OkStatus();
}

void MetKeys::Gather(Piece* piece) const {
  piece->is_last = !met_.WalkSome(&piece->walk, disk_->seed,
                                  [&](const KeyCode& code) { piece->codes.push_back(code); });
  if (!piece->is_last && piece->codes.size() + DistinctKeys::kWalkMost <= piece->codes.capacity()) {
    return;
  }
  piece->sort.Begin(piece->codes.size());
  piece->next = 0;
  piece->stage = Piece::Stage::kSort;
}

Status MetKeys::Write(Piece* piece) {
  const std::vector<uint32_t>& order = piece->sort.order();
  const size_t end = std::min(order.size(), piece->next + kSliceKeys);
  for (; piece->next < end; ++piece->next) {
    RETURN_IF_ERROR(disk_->keys.Append(piece->codes[order[piece->next]]));
  }
  if (end < order.size()) return OkStatus();
  RETURN_IF_ERROR(disk_->keys.EndRun());
  piece->codes.clear();
  if (!piece->is_last) {
    piece->stage = Piece::Stage::kGather;
    return OkStatus();
  }
  FreeRoom(&piece->codes);
  piece->sort = {};
  (void)host_->ChargeState(-std::exchange(piece->charged, 0));
  Forget(&met_, &met_paths_);
  if (expects_many_) met_.ExpectMany();
  piece->stage = Piece::Stage::kMerge;
  return OkStatus();
}

StatusOr<bool> MetKeys::Spill() {
  if (disk_ == nullptr || disk_->piece == nullptr) {
    must_spill_ = false;
    if (disk_ != nullptr) Forget(&disk_->known, &disk_->known_paths);
    if (met_.bytes() + met_paths_ < host_->least_spill_bytes()) return true;
    RETURN_IF_ERROR(BeginPiece());
    return false;
  }
  return StepPiece();
}

StatusOr<bool> MetKeys::StepPiece() {
  Piece& piece = *disk_->piece;
  switch (piece.stage) {
    case Piece::Stage::kGather:
      Gather(&piece);
      return false;
    case Piece::Stage::kSort: {
      size_t work = kSliceKeys;
      const auto less = [&](uint32_t a, uint32_t b) { return piece.codes[a] < piece.codes[b]; };
      if (!piece.sort.Step(less, &work)) return false;
      RETURN_IF_ERROR(disk_->keys.BeginRun(piece.codes.size(), piece.codes.size() * kCodeBytes));
      piece.stage = Piece::Stage::kWrite;
      return false;
    }
    case Piece::Stage::kWrite:
      RETURN_IF_ERROR(Write(&piece));
      return false;
    case Piece::Stage::kMerge: {
      ASSIGN_OR_RETURN(const bool done, disk_->keys.Merge());
      if (done) disk_->piece.reset();
      return done;
    }
  }
  return true;
}

}  // namespace koios::engine
