// Rows that go to disk, and come again.
#include "engine/op/collect_op.h"

#include <algorithm>
#include <utility>

#include "engine/spill/row_block.h"

namespace koios::engine {
namespace {

// Of a query's memory: a piece has room beside the others while it is sorted, which takes several
// times of what narrow rows do.
constexpr int64_t kPieceShare = 32;

int64_t PieceBytes(const OperatorHost& host) {
  constexpr int64_t kMost = int64_t{64} << 20;
  const int64_t share = host.account()->limit() / kPieceShare;
  return std::clamp(share, static_cast<int64_t>(kBatchBytes) / 4, kMost);
}

}  // namespace

StatusOr<bool> CollectOp::Spill() {
  if (piece_ == nullptr) {
    State* giving = states_.Find(giving_);
    const bool goes_on = giving != nullptr && giving->rest != nullptr &&
                         giving->rest->runs != nullptr && giving->order.capacity() > 0;
    if (goes_on) return SpillRest(giving);
    State* state = states_.Find(large_);
    if (CollectOp::SpillableBytes() == 0) {
      return CollectOp::GivingBytes() == 0 ? StatusOr<bool>(true) : SpillRest(giving);
    }
    piece_ = std::make_unique<Piece>();
    piece_->key = large_;
    const int64_t before = state->rows.ByteSize();
    piece_->state.rows = state->rows.TakeOldest(PieceBytes(*host_));
    piece_->state.bytes = before - state->rows.ByteSize();
    state->bytes -= piece_->state.bytes;
    if (state->spilled == nullptr) BeginSpilling(state);
    return false;
  }
  State& piece = piece_->state;
  if (!piece.arranged) {
    ASSIGN_OR_RETURN(piece.arranged, SortPiece(&piece));
    return false;
  }
  SpilledRuns& spilled = *states_.Find(piece_->key)->spilled;
  if (piece.next < piece.order.size()) {
    Batch rows;
    const size_t begin = piece.next;
    piece.rows.Take(piece.order, &piece.next, &rows, SpilledRuns::BlockBytes(*host_));
    AppendKeys(piece, begin, &rows);
    RETURN_IF_ERROR(spilled.Append(rows));
    if (piece.next < piece.order.size()) return false;
  }
  if (!FreeSome(&piece)) return false;
  if (!spill_keys_->empty()) spilled.EndRun();
  RETURN_IF_ERROR(host_->ChargeState(-piece.bytes));
  piece_.reset();
  return true;
}

// A slice; true: all has been looked at. Rows that share values would be larger on disk than they
// are, and a large one may be too large: nobody needs the memory so much.
bool CollectOp::LookAtRest(const State& state, Rest* rest) {
  constexpr size_t kChunks = 16;
  for (size_t i = 0; state.rows.HasRowAt(&rest->looked_at); ++i) {
    if (i == kChunks) return false;
    const size_t bytes = FlatBytes(state.rows.ChunkAt(rest->looked_at));
    rest->flat_bytes += bytes;
    rest->stays = rest->stays || bytes > kMostOnDisk;
    rest->looked_at = {rest->looked_at.chunk + 1, 0};
  }
  const auto held = static_cast<size_t>(state.rows.HeldBytes());
  rest->stays = rest->stays || rest->flat_bytes > 2 * held;
  return true;
}

// As they would come out; then their memory is free.
StatusOr<bool> CollectOp::SpillRest(State* state) {
  if (state->rest == nullptr) state->rest = std::make_unique<Rest>();
  Rest& rest = *state->rest;
  if (rest.runs == nullptr) {
    if (!LookAtRest(*state, &rest)) return false;
    if (rest.stays) return true;
    rest.runs = std::make_unique<SpilledRuns>(&kAsTheyCame, num_slots_, host_);
  }
  if (state->next < state->order.size()) {
    Batch rows;
    state->rows.Take(state->order, &state->next, &rows, SpilledRuns::BlockBytes(*host_));
    SetBulk(state, 0, &rows);
    RETURN_IF_ERROR(rest.runs->Append(rows));
    return false;
  }
  if (!FreeSome(state)) return false;
  state->rows = KeptRows();
  FreeRoom(&state->order);
  FreeRoom(&state->bulk);
  RETURN_IF_ERROR(Charge(-state->bytes, state));
  return true;
}

void CollectOp::BeginSpilling(State* state) {
  state->spilled = std::make_unique<SpilledRuns>(spill_keys_, num_slots_, host_, newest());
}

// Sorting takes several times what narrow rows do, and what is sorted in pieces takes little: the
// rows may fit where their order does not.
Status CollectOp::ArrangeOnDisk(const Status& why, State* state) {
  const bool is_short = why.code() == StatusCode::kResourceExhausted;
  if (!is_short || !spills_ || !host_->may_spill() || !Abandon(state)) return why;
  BeginSpilling(state);
  return OkStatus();
}

// What is still in memory goes to disk as well, so that there is one way to merge.
Status CollectOp::FireSpilled(const StateKey& key, State* state, Batch* output, bool* done) {
  *done = false;
  if (piece_ != nullptr || state->rows.size() > 0) {
    if (piece_ == nullptr) large_ = key;
    return CollectOp::Spill().status();
  }
  if (!state->arranged) {
    ASSIGN_OR_RETURN(state->arranged, LookAtSpilled(state));
    if (!state->arranged) return OkStatus();
  }
  return GiveFrom(state->spilled.get(), key, state, output, done);
}

Status CollectOp::GiveFrom(SpilledRuns* runs, const StateKey& key, State* state, Batch* output,
                           bool* done) {
  *done = false;
  if (output->rows > 0) return OkStatus();  // a batch of its own
  RETURN_IF_ERROR(runs->Merge(output, done));
  *done = GiveMost(0, state, output) || *done;
  if (*done) {
    RETURN_IF_ERROR(host_->ChargeState(-state->bytes));
    states_.Erase(key);
  }
  return OkStatus();
}

}  // namespace koios::engine
