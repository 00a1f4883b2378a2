#include "engine/exchange/batch_check.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/path/path.h"
#include "engine/batch/ordinal.h"

namespace koios::engine {
namespace {

class References {
 public:
  explicit References(const storage::GraphView& view)
      : partitions_(view.num_partitions()), labels_(view.schema().labels.size()) {}

  bool Fit(VertexRef vertex) const { return vertex.partition() < partitions_; }
  bool Fit(const EdgeRef& edge) const {
    return Fit(VertexRef{edge.id}) && Fit(edge.out) && Fit(edge.in) && edge.label != kNoName &&
           edge.label <= labels_;
  }
  // Recursion is bounded by the depth of values.
  bool Fit(const Value& value) const {
    const auto fit = [this](const Value& member) { return Fit(member); };
    switch (value.kind()) {
      case ValueKind::kVertex:
        return Fit(value.AsVertex());
      case ValueKind::kEdge:
        return Fit(value.AsEdge());
      case ValueKind::kVertexProperty:
        return Fit(value.AsVertexProperty().owner) && Fit(value.AsVertexProperty().value);
      case ValueKind::kProperty:
        return Fit(value.AsProperty().owner) && Fit(value.AsProperty().value);
      case ValueKind::kList:
      case ValueKind::kSet:
        return std::all_of(value.AsList().begin(), value.AsList().end(), fit);
      case ValueKind::kPath:
        return Fit(value.AsPath());
      case ValueKind::kMap:
        return std::all_of(value.AsMap().begin(), value.AsMap().end(), [this](const auto& entry) {
          return Fit(entry.first) && Fit(entry.second);
        });
      default:
        return true;
    }
  }
  // Back to the first object that has been looked at before: what rows and frames share is looked
  // at once.
  bool Fit(const PathNode& path) const {
    const PathNode* node = &path;
    for (; node != nullptr && !node->Is(PathMark::kChecked); node = node->parent()) {
      if (!Fit(node->object())) return false;
    }
    for (const PathNode* seen = &path; seen != node; seen = seen->parent()) {
      seen->Mark(PathMark::kChecked);
    }
    return true;
  }
  bool Fit(const Column& column) const {
    // Rows that came of one share its list.
    const ValueList* seen = nullptr;
    const auto fits = [&](size_t row, const auto& ref) {
      if (column.IsAbsent(row)) return true;
      if constexpr (std::is_same_v<decltype(ref), const Value&>) {
        const bool is_list = ref.kind() == ValueKind::kList || ref.kind() == ValueKind::kSet;
        const ValueList* const list = is_list ? &ref.AsList() : nullptr;
        if (list != nullptr && std::exchange(seen, list) == list) return true;
      }
      return Fit(ref);
    };
    for (size_t row = 0; row < column.size(); ++row) {
      if (column.kind() == Column::Kind::kVertex && !fits(row, column.vertices()[row]))
        return false;
      if (column.kind() == Column::Kind::kEdge && !fits(row, column.edges()[row])) return false;
      if (column.kind() == Column::Kind::kValue && !fits(row, column.ValueAt(row))) return false;
    }
    return true;
  }

 private:
  const uint32_t partitions_;
  const uint32_t labels_;
};

}  // namespace

Status CheckInput(const Batch& batch, const std::vector<uint32_t>& needed, uint32_t ordinal_slot) {
  if (batch.rows == 0) return OkStatus();
  for (const uint32_t slot : needed) {
    if (!batch.Has(slot)) {
      return DataLoss("Rows came without the slot " + std::to_string(slot) + " that is read here.");
    }
  }
  if (ordinal_slot != 0 && batch.Has(ordinal_slot) && !AreOrdinals(batch.slots[ordinal_slot])) {
    return DataLoss("Rows came with ordinals that are none.");
  }
  return OkStatus();
}

Status CheckReferences(const Batch& batch, const storage::GraphView& view) {
  const References references(view);
  for (const Column& column : batch.slots) {
    if (!references.Fit(column)) {
      return DataLoss("A frame has elements that the graph can't have.");
    }
  }
  return OkStatus();
}

}  // namespace koios::engine
