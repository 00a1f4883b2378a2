#include "core/path/path.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace koios {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 62;  // sizes saturate

}  // namespace

PathNode::PathNode(PathNode* parent, Value object, const PathLabels* labels, PathLedger* ledger)
    : parent_(parent),
      object_(std::move(object)),
      labels_(labels),
      ledger_(ledger),
      length_(parent == nullptr ? 0 : parent->length_) {
  charged = ledger != nullptr && ledger->charges();
  bytes = sizeof(PathNode) + object_.FlatBytes() - sizeof(Value);
  depth = static_cast<uint16_t>(object_.depth() + 1);
  if (parent == nullptr) return;
  parent->refs.fetch_add(1, std::memory_order_relaxed);
  bytes = std::min(bytes + parent->bytes, kMostBytes);
  depth = std::max(depth, parent->depth);
}

void PathNode::Release(PathNode* node) {
  PathLedger* ledger = nullptr;
  int64_t freed = 0;
  while (node != nullptr && node->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    if (node->ledger_ != ledger) {
      if (ledger != nullptr) ledger->GiveBack(freed);
      ledger = node->ledger_;
      freed = 0;
    }
    freed += PathMaker::BytesFor(node->object_);
    PathNode* parent = node->parent_;
    delete node;  // its object may hold other paths, as deep as values nest
    node = parent;
  }
  if (ledger != nullptr) ledger->GiveBack(freed);
}

PathMaker::~PathMaker() {
  if (taken_ > 0) ledger_->GiveBack(taken_);
}

Status PathMaker::Take(int64_t bytes) {
  if (ledger_ == nullptr || !ledger_->charges()) return OkStatus();
  RETURN_IF_ERROR(ledger_->Take(bytes));
  taken_ += bytes;
  return OkStatus();
}

const PathLabels* PathMaker::Labels(PathLabels labels) {
  if (labels.empty()) return nullptr;
  return ledger_ != nullptr ? ledger_->Intern(std::move(labels)) : OwnLabels(std::move(labels));
}

const PathLabels* PathMaker::OwnLabels(PathLabels labels) {
  if (own_ == nullptr) own_ = PathLedger::ForLabels();
  return own_->Intern(std::move(labels));
}

StatusOr<Value> PathMaker::Append(const Value& path, Value object, const PathLabels* labels) {
  const PathNode* parent = path.is_null() ? nullptr : &path.AsPath();
  if (parent != nullptr && parent->length() == 0) parent = nullptr;
  return Make(parent, std::move(object), labels);
}

StatusOr<Value> PathMaker::Relabel(const Value& path, const PathLabels* labels) {
  const PathNode& last = path.AsPath();
  return Make(last.parent(), last.object(), labels);
}

Value PathMaker::Empty() {
  return Value(ValueKind::kPath, new PathNode(nullptr, Value(), nullptr, nullptr));
}

Value PathMaker::Shared(const PathNode& node) {
  auto* shared = const_cast<PathNode*>(&node);
  shared->refs.fetch_add(1, std::memory_order_relaxed);
  return Value(ValueKind::kPath, shared);
}

// Before a node that is charged are only charged ones, so that of each path a value counts all or
// nothing.
StatusOr<Value> PathMaker::Make(const PathNode* parent, Value object, const PathLabels* labels) {
  RETURN_IF_ERROR(CheckDepth(object.depth() + 1));
  if (object.FlatBytes() > object.ByteSize()) {
    RETURN_IF_ERROR(
        CheckUncharged(object.FlatBytes() + (parent == nullptr ? 0 : parent->flat_bytes())));
  }
  if (parent != nullptr && parent->length() == std::numeric_limits<uint32_t>::max()) {
    return ResourceExhausted("A path has more objects than can be counted.", {});
  }
  const int64_t node_bytes = BytesFor(object);
  PathLedger* ledger = ledger_;
  const bool pays = ledger != nullptr && ledger->charges();
  if (pays && (parent == nullptr || parent->is_charged())) {
    DCHECK(node_bytes <= taken_);
    taken_ -= node_bytes;
  } else {
    if (pays && labels != nullptr) labels = OwnLabels(*labels);
    if (pays || ledger == nullptr) ledger = labels == nullptr ? nullptr : own_.get();
    if (ledger != nullptr) RETURN_IF_ERROR(ledger->Take(node_bytes));
  }
  auto* node = new PathNode(const_cast<PathNode*>(parent), std::move(object), labels, ledger);
  ++node->length_;
  return Value(ValueKind::kPath, node);
}

PathObjects::PathObjects(const PathNode* path, const PathNode* end) {
  const size_t skipped = end == nullptr ? 0 : end->length();
  nodes_.resize(path->length() - skipped);
  for (size_t i = nodes_.size(); i-- > 0; path = path->parent()) nodes_[i] = path;
}

ValueList ObjectsOf(const Value& path) {
  ValueList objects(path.AsPath().length());
  const PathNode* node = &path.AsPath();
  for (size_t i = objects.size(); i-- > 0; node = node->parent()) objects[i] = node->object();
  return objects;
}

PathData Flattened(const Value& path) {
  PathData data;
  data.objects = ObjectsOf(path);
  const PathNode* node = &path.AsPath();
  for (size_t i = data.objects.size(); i-- > 0; node = node->parent()) {
    if (node->labels().empty()) continue;
    data.labels.resize(std::max(data.labels.size(), i + 1));
    data.labels[i].assign(node->labels().begin(), node->labels().end());
  }
  return data;
}

}  // namespace koios
