// Paths: a path is its last object and what led there. Nodes are immutable and shared: a path that
// goes on is one node more, whatever its length, and paths that begin alike share what they begin
// with, over batches, workers and frames. Readers walk back from the last object, or take a
// PathObjects to read from the first.
// Rule: nothing recurses over a path's length: it may have as many objects as memory has room for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "absl/container/inlined_vector.h"
#include "core/path/path_ledger.h"
#include "core/value.h"

namespace koios {

// What has been found out of a path once, as it never changes. The same for all who share it.
enum class PathMark : uint8_t {
  kSimple = 1,   // no object repeats
  kCyclic = 2,   // one does
  kChecked = 4,  // its references can be the graph's
};

class PathNode : private Value::Rep {
 public:
  PathNode(const PathNode&) = delete;
  PathNode& operator=(const PathNode&) = delete;

  size_t length() const { return length_; }  // 0: the path without objects
  // What leads here; nullptr: this is the first object.
  const PathNode* parent() const { return parent_; }
  const Value& object() const { return object_; }  // null in the path without objects
  std::span<const std::string> labels() const {
    return labels_ == nullptr ? std::span<const std::string>() : std::span(*labels_);
  }
  // Equal for equal lists of one ledger; nullptr: none.
  const PathLabels* label_list() const { return labels_; }

  bool Is(PathMark mark) const {
    return (marks_.load(std::memory_order_relaxed) & static_cast<uint8_t>(mark)) != 0;
  }
  void Mark(PathMark mark) const {
    marks_.fetch_or(static_cast<uint8_t>(mark), std::memory_order_relaxed);
  }

  // Of all objects up to here, as if nobody shared them.
  uint64_t flat_bytes() const { return bytes; }
  // Whether a ledger has been charged for all nodes up to here.
  bool is_charged() const { return charged; }

 private:
  friend class PathMaker;
  friend class Value;
  friend struct ValueReps;

  PathNode(PathNode* parent, Value object, const PathLabels* labels, PathLedger* ledger);
  ~PathNode() = default;
  // Drops a reference to the node; the last one frees it, and so on towards the first object.
  static void Release(PathNode* node);

  PathNode* const parent_;  // holds a reference
  const Value object_;
  const PathLabels* const labels_;  // the ledger's
  PathLedger* const ledger_;
  uint32_t length_;
  mutable std::atomic<uint8_t> marks_{0};
};
static_assert(sizeof(PathNode) == 64);

// Makes paths. Nodes that a charging ledger pays for are taken ahead; what was not needed goes back
// at the end. Belongs to one thread.
class PathMaker {
 public:
  // nullptr: nobody is charged, and each value counts its path in full.
  explicit PathMaker(PathLedger* ledger) : ledger_(ledger) {}
  PathMaker(const PathMaker&) = delete;
  PathMaker& operator=(const PathMaker&) = delete;
  ~PathMaker();

  // Bytes of a node with this object.
  static int64_t BytesFor(const Value& object) {
    return static_cast<int64_t>(sizeof(PathNode) + object.ByteSize() - sizeof(Value));
  }
  // Charges for nodes that will be made: RESOURCE_EXHAUSTED where there is no room.
  Status Take(int64_t bytes);
  // nullptr for no labels.
  const PathLabels* Labels(PathLabels labels);

  // A path of one object more than `path`; `path` is null or has no objects: of this one.
  // RESOURCE_EXHAUSTED where values would nest too deep. REQUIRES: the labels are of this maker; of
  // a charging ledger BytesFor(object) has been taken. A path that nobody was charged for goes on
  // so.
  StatusOr<Value> Append(const Value& path, Value object, const PathLabels* labels);
  // The path whose last object has these labels instead. REQUIRES: as Append; it has objects.
  StatusOr<Value> Relabel(const Value& path, const PathLabels* labels);
  static Value Empty();
  static Value Shared(const PathNode& node);  // the path that ends there

 private:
  const PathLabels* OwnLabels(PathLabels labels);
  StatusOr<Value> Make(const PathNode* parent, Value object, const PathLabels* labels);

  PathLedger* const ledger_;
  PathLedger::Owner own_;  // of labels, where no ledger pays
  int64_t taken_ = 0;
};

// The objects of a path from the first to the last, not copied: it must not outlive the path.
class PathObjects {
 public:
  explicit PathObjects(const PathNode& path) : PathObjects(&path, nullptr) {}
  // Those behind `end`, a node of the path: all, for nullptr.
  PathObjects(const PathNode* path, const PathNode* end);

  size_t size() const { return nodes_.size(); }
  bool empty() const { return nodes_.empty(); }
  const Value& operator[](size_t i) const { return nodes_[i]->object(); }
  std::span<const std::string> LabelsOf(size_t i) const { return nodes_[i]->labels(); }
  const PathNode& node(size_t i) const { return *nodes_[i]; }

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = const Value&;
    Iterator() = default;
    explicit Iterator(const PathNode* const* at) : at_(at) {}
    reference operator*() const { return (*at_)->object(); }
    pointer operator->() const { return &(*at_)->object(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const PathNode* const* at_ = nullptr;
  };
  Iterator begin() const { return Iterator(nodes_.data()); }
  Iterator end() const { return Iterator(nodes_.data() + nodes_.size()); }

 private:
  absl::InlinedVector<const PathNode*, 16> nodes_;
};

// Copies, for who changes them.
ValueList ObjectsOf(const Value& path);
PathData Flattened(const Value& path);

}  // namespace koios
