#include "engine/op/walk/walk.h"

#include <algorithm>
#include <numeric>

#include "core/value_codec.h"
#include "engine/op/source_ops.h"

namespace koios::engine {
namespace {

// Labels that are asked for their numbers of edges; more are all looked at.
constexpr size_t kMostAsked = 64;

}  // namespace

Status OnlyVerticesHaveEdges() {
  return InvalidArgument("Only vertices have edges: the traversal comes here with other values.");
}

StatusOr<std::unique_ptr<VertexFilter>> VertexFilter::Bind(const plan::Expr& expr,
                                                           uint32_t num_slots, OperatorHost* host) {
  if (expr.nodes_size() == 0) return std::unique_ptr<VertexFilter>();
  ASSIGN_OR_RETURN(Expression predicate, Expression::Bind(expr, num_slots, host->account().get()));
  return std::unique_ptr<VertexFilter>(new VertexFilter(std::move(predicate), num_slots, host));
}

Status VertexFilter::Select(std::span<const VertexRef> vertices, std::vector<uint32_t>* passing) {
  Batch batch;
  batch.slots.resize(num_slots_);
  batch.slots[0] = Column::Of(std::vector<VertexRef>(vertices.begin(), vertices.end()));
  batch.rows = vertices.size();
  std::unique_ptr<StreamCursor> cursor;
  std::vector<int64_t> bulks;
  for (size_t end = 0; end < batch.rows;) {
    ASSIGN_OR_RETURN(const RowSlices::Slice slice,
                     predicate_.Next(batch, host_->sources(), kBatchRows, &cursor));
    if (slice.result == nullptr) continue;
    const size_t before = passing->size();
    SelectRows(*slice.result, slice.end - slice.begin, passing, &bulks);
    for (size_t i = before; i < passing->size(); ++i) {
      (*passing)[i] += static_cast<uint32_t>(slice.begin);
    }
    end = slice.end;
  }
  return OkStatus();
}

Status VertexFilter::Keep(std::vector<VertexRef>* vertices) {
  std::vector<uint32_t> passing;
  RETURN_IF_ERROR(Select(*vertices, &passing));
  for (size_t i = 0; i < passing.size(); ++i) (*vertices)[i] = (*vertices)[passing[i]];
  vertices->resize(passing.size());
  return OkStatus();
}

StatusOr<BoundHop> BoundHop::Bind(const plan::Hop& hop, uint32_t num_slots, OperatorHost* host) {
  BoundHop bound;
  bound.direction = static_cast<Direction>(hop.direction());
  bound.labels = FindLabels(host, hop.labels(), &bound.none);
  bound.repeats = hop.repeat();
  ASSIGN_OR_RETURN(bound.filter, VertexFilter::Bind(hop.filter(), num_slots, host));
  return bound;
}

StatusOr<bool> HopDegrees::Read(const BoundHop& hop, std::span<const VertexRef> vertices,
                                OperatorHost* host) {
  if (all_) return true;
  if (!hop.none && steps_ < kCountedEnds) {
    steps_ += size_.size();
    RETURN_IF_ERROR(CountOn(host->view(), host->clock(), vertices, hop.direction, hop.labels,
                            &size_, &cursor_, &degrees_));
    if (!cursor_.done) return false;
  }
  degrees_.resize(vertices.size(), hop.none ? 0 : static_cast<int64_t>(kCountedEnds));
  all_ = true;
  return true;
}

int64_t HopDegrees::Sum(size_t begin, size_t end) const {
  return std::accumulate(degrees_.begin() + static_cast<std::ptrdiff_t>(begin),
                         degrees_.begin() + static_cast<std::ptrdiff_t>(end), int64_t{0});
}

Direction BoundHop::Back() const {
  switch (direction) {
    case Direction::kOut:
      return Direction::kIn;
    case Direction::kIn:
      return Direction::kOut;
    case Direction::kBoth:
      return Direction::kBoth;
  }
  return direction;
}

StatusOr<BoundEnds> BoundEnds::Bind(const plan::WalkEnds& ends, uint32_t num_slots,
                                    OperatorHost* host) {
  BoundEnds bound;
  bound.host_ = host;
  ASSIGN_OR_RETURN(bound.filter_, VertexFilter::Bind(ends.filter(), num_slots, host));
  switch (ends.where_case()) {
    case plan::WalkEnds::kAtSlot:
      if (ends.at_slot() >= num_slots)
        return Internal("A walk ends in a slot that does not exist.");
      bound.slot_ = ends.at_slot();
      return bound;
    case plan::WalkEnds::kIds:
      bound.ids_.emplace();
      for (const std::string& bytes : ends.ids().values()) {
        ASSIGN_OR_RETURN(Value id, DecodeWholeValue(bytes));
        bound.ids_->push_back(std::move(id));
      }
      bound.can_find_ = true;
      return bound;
    case plan::WalkEnds::kScan:
      if (bound.filter_ == nullptr) return Internal("A walk ends anywhere.");
      RETURN_IF_ERROR(bound.BindScan(ends));
      return bound;
    case plan::WalkEnds::WHERE_NOT_SET:
      break;
  }
  return Internal("A walk has no ends.");
}

// Only labels whose vertices have had all of the properties are looked at.
Status BoundEnds::BindScan(const plan::WalkEnds& ends) {
  if (host_->transaction() != nullptr) return OkStatus();
  can_find_ = true;
  const plan::Scan& scan = ends.scan();
  const Schema& schema = host_->view().schema();
  labels_ = FindLabels(host_, scan.labels(), &none_);
  if (scan.labels_size() == 0 && ends.keys_size() > 0) {
    for (LabelId label = 1; label <= schema.labels.size(); ++label) labels_.push_back(label);
  }
  for (const std::string& name : ends.keys()) {
    const KeyId key = schema.keys.Find(name);
    std::erase_if(labels_, [&](LabelId label) {
      return !schema.property_kinds.contains({label, key});
    });
  }
  none_ = none_ || (labels_.empty() && ends.keys_size() > 0);
  if (none_ || !scan.has_seek()) return OkStatus();
  std::vector<KeyId> keys;
  for (const std::string& key : scan.seek().keys()) keys.push_back(schema.keys.Find(key));
  ASSIGN_OR_RETURN(const std::vector<storage::SoughtKey> sought, DecodeSought(scan.seek()));
  seek_ = storage::MakeSeek(schema, labels_, keys, sought);
  return OkStatus();
}

// A hop that repeats may be none: then the one before it is the last.
void BoundEnds::LeaveOutUnreached(std::span<const BoundHop> hops) {
  if (!is_scan() || !can_find_ || seek_ || labels_.empty() || labels_.size() > kMostAsked) return;
  const storage::GraphView& view = host_->view();
  const auto is_reached = [&](LabelId label, const BoundHop& hop) {
    for (uint32_t partition = 0; !hop.none && partition < view.num_partitions(); ++partition) {
      const std::optional<int64_t> ends =
          view.TotalEnds(partition, {&label, 1}, hop.Back(), hop.labels);
      if (!ends || *ends > 0) return true;
    }
    return false;
  };
  std::erase_if(labels_, [&](LabelId label) {
    for (size_t i = hops.size(); i-- > 0;) {
      if (is_reached(label, hops[i])) return false;
      if (!hops[i].repeats) break;
    }
    return true;
  });
  none_ = none_ || labels_.empty();
}

Status BoundEnds::Find(std::vector<VertexRef>* ends, size_t* work, bool* done) {
  return looked_at_.Measure(
      host_->clock(), [&] { return FindSome(ends, work, done); },
      [&] { return !*done && RowsAtOnce(filter_.get()) > looked_at_.size(); });
}

Status BoundEnds::FindSome(std::vector<VertexRef>* ends, size_t* work, bool* done) {
  const storage::GraphView& view = host_->view();
  const size_t at_once = RowsAtOnce(filter_.get());
  const size_t limit = std::min(at_once, looked_at_.size());
  std::vector<VertexRef> found;
  *done = true;
  if (ids_) {
    std::vector<uint32_t> rows;
    RETURN_IF_ERROR(view.LookupVertices(*ids_, &rows, &found));
    *work += ids_->size();
  } else if (!none_) {
    while (partition_ < view.num_partitions() && found.size() < limit) {
      if (seek_) {
        RETURN_IF_ERROR(
            view.SeekVertices(partition_, *seek_, &seek_cursor_, limit - found.size(), &found));
      } else {
        RETURN_IF_ERROR(
            view.ScanVertices(partition_, labels_, &scan_cursor_, limit - found.size(), &found));
      }
      if (!(seek_ ? seek_cursor_.done : scan_cursor_.done)) break;
      scan_cursor_ = {};
      seek_cursor_ = {};
      ++partition_;
    }
    *work += WorkOf(found.size(), at_once);
    *done = partition_ == view.num_partitions();
  }
  if (filter_ != nullptr) RETURN_IF_ERROR(filter_->Keep(&found));
  ends->insert(ends->end(), found.begin(), found.end());
  return OkStatus();
}

StatusOr<Walk> Walk::Bind(const plan::Reach& reach, uint32_t num_slots, OperatorHost* host) {
  Walk walk;
  if (reach.hops_size() == 0) return Internal("A walk has no hops.");
  for (const plan::Hop& hop : reach.hops()) {
    ASSIGN_OR_RETURN(BoundHop bound, BoundHop::Bind(hop, num_slots, host));
    // Backwards the filter would keep the hops from going on.
    if (bound.repeats && (walk.hops.empty() || walk.hops.back().filter != nullptr)) {
      return Internal("A walk has hops that repeat where they can't be.");
    }
    walk.hops.push_back(std::move(bound));
  }
  if (walk.hops.back().filter != nullptr) return Internal("The filter of the ends is not there.");
  ASSIGN_OR_RETURN(walk.ends, BoundEnds::Bind(reach.ends(), num_slots, host));
  walk.ends.LeaveOutUnreached(walk.hops);
  return walk;
}

}  // namespace koios::engine
