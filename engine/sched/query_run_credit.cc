// What may be on its way from one worker to another: asks, grants and acknowledgements
// (sched/flow/credits.h). What others say is checked before it counts.
#include <utility>

#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {

void QueryRun::SendLaneWord(FrameKind kind, uint32_t to, uint32_t op, const Loops& loops) {
  Frame word;
  word.kind = kind;
  word.op = op;
  word.loops = loops;
  SendControl(to, std::move(word));
}

// Of an Exchange that asks for several lanes at once the time counts once.
void QueryRun::BeginCreditWait(Node* node) {
  ++News(node->op->id()).credit_waits;
  if (node->num_asking++ == 0) node->asking_since = worker_.clock->NowNanos();
}

void QueryRun::EndCreditWait(Node* node) {
  if (--node->num_asking > 0) return;
  const int64_t waited = worker_.clock->NowNanos() - node->asking_since;
  News(node->op->id()).credit_wait_ns += static_cast<uint64_t>(waited);
}

Status QueryRun::ReceiveCredit(const Frame& frame) {
  if (frame.op >= nodes_.size() || nodes_[frame.op].outbox == nullptr) {
    return DataLoss("A frame speaks of a lane that does not exist.");
  }
  if (frame.kind == FrameKind::kAck) return ReceiveAck(frame);
  if (frame.kind == FrameKind::kGrant) return ReceiveGrant(frame);
  const Depth depth = shape_->DepthOf(frame.op, frame.loops);
  if (frame.kind == FrameKind::kReturn) {
    if (!receive_credits_.ReturnGrant(depth, frame.from)) {
      return DataLoss("A frame returns a grant that was not given.");
    }
  } else {
    const bool merging = IsMerging(nodes_[nodes_[frame.op].op->next(0)]);
    if (!receive_credits_.Wait(depth, {frame.from, frame.op, frame.loops, merging})) {
      return DataLoss("A frame asks twice for the same lane.");
    }
    ChargeTables(nodes_[frame.op]);
  }
  Grant();
  return OkStatus();
}

// A frame has come: by a grant, or within the sender's allotment.
Status QueryRun::TakeFrameCredit(const Frame& frame) {
  const bool fits = frame.credit.granted ? receive_credits_.ReceiveGranted(
                                               shape_->DepthOf(frame.op, frame.loops), frame.from)
                                         : receive_credits_.Receive(frame.from, frame.credit.bytes);
  return fits ? OkStatus() : DataLoss("A frame came without credit.");
}

void QueryRun::ReturnFrameCredit(const Input& input) {
  if (!input.credit.granted) return receive_credits_.Done(input.from, input.credit.bytes);
  receive_credits_.DoneGranted(shape_->DepthOf(input.exchange, input.iteration), input.from);
  Grant();
}

void QueryRun::Grant() {
  while (const auto ask = receive_credits_.Grant()) {
    SendLaneWord(FrameKind::kGrant, ask->from, ask->op, ask->loops);
  }
}

// Where the frame would go it is nearer to the end than all that is here. Sorted rows that wait for
// those of others do not count: it may be what they wait for.
bool QueryRun::IsDeepest(const ReceiveCredits::Ask& ask) const {
  const Depth depth = shape_->DepthOf(nodes_[ask.op].op->next(0), ask.loops);
  for (const Node& node : nodes_) {
    bool deeper = false;
    node.lanes.ForEach([&](const Loops& iteration, const Lane& lane) {
      deeper = deeper || (!lane.empty() && shape_->DepthOf(node.op->id(), iteration) >= depth);
    });
    if (deeper) return false;
  }
  return true;
}

// Nothing of the query can move here. While its client does not read it is not to move.
bool QueryRun::GrantOverdraft() {
  if (!receive_credits_.has_waiting()) return false;
  if (is_coordinator() && spec_->sink->Room() == 0) return false;
  const auto ask = receive_credits_.GrantOverdraft(
      [this](const ReceiveCredits::Ask& deepest) { return IsDeepest(deepest); });
  if (!ask.has_value()) return false;
  SendLaneWord(FrameKind::kGrant, ask->from, ask->op, ask->loops);
  return true;
}

// The credit of the lane's first frame is free: for the lane, and for whatever else waits for it.
Status QueryRun::ReceiveAck(const Frame& frame) {
  FrameCredit credit;
  if (!nodes_[frame.op].outbox->Acknowledge(frame.from, frame.loops, &credit)) {
    return DataLoss("A frame acknowledges rows that were not sent.");
  }
  if (!credit.granted) send_credits_.GiveBack(frame.from, credit.bytes);
  ChargeHeld(&nodes_[frame.op]);
  PumpHere(&nodes_[frame.op], /*flush=*/false);
  if (!send_credits_.TakeWaiting(frame.from)) {
    PumpTo(&nodes_[frame.op], frame.from, /*flush=*/false);
    return OkStatus();
  }
  for (uint32_t rank = static_cast<uint32_t>(nodes_.size()); rank-- > 0;) {
    Node& node = nodes_[shape_->AtRank(rank)];
    if (node.outbox != nullptr && !node.outbox->Empty()) {
      PumpTo(&node, frame.from, /*flush=*/false);
    }
  }
  return OkStatus();
}

// One frame may go, whatever its size. What has left meanwhile within the allotment needs it no
// more.
Status QueryRun::ReceiveGrant(const Frame& frame) {
  Node& node = nodes_[frame.op];
  Outbox* const outbox = node.outbox.get();
  const uint32_t to = frame.from;
  if (!outbox->Answer(to, frame.loops)) return DataLoss("A frame grants what nobody asked for.");
  EndCreditWait(&node);
  if (!outbox->IsReady(to, frame.loops, /*flush=*/true) || !outbox->IsOpen(to, frame.loops)) {
    SendLaneWord(FrameKind::kReturn, to, frame.op, frame.loops);
    return OkStatus();
  }
  SendNext(&node, to, frame.loops, {outbox->NextBytes(to, frame.loops), true});
  PumpTo(&node, to, /*flush=*/false);
  return OkStatus();
}

}  // namespace koios::engine
