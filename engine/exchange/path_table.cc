#include "engine/exchange/path_table.h"

#include <algorithm>
#include <utility>

#include "core/value_codec.h"

namespace koios::engine {
namespace {

constexpr uint64_t kNoPath = 0;
constexpr uint64_t kNoObjects = 1;
constexpr uint64_t kFirstNode = 2;

Status Damaged() { return DataLoss("A frame's paths are damaged."); }

// Of things of at least one byte each.
bool GetCount(std::string_view* input, uint64_t* count) {
  return GetVarint(input, count) && *count <= input->size();
}

bool GetLabels(std::string_view* input, PathLabels* labels) {
  uint64_t count = 0;
  if (!GetCount(input, &count)) return false;
  labels->reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view label;
    if (!GetBytes(input, &label)) return false;
    labels->emplace_back(label);
  }
  return true;
}

}  // namespace

bool PathTableWriter::HasPaths(const Column& column) {
  if (column.kind() != Column::Kind::kValue) return false;
  for (size_t row = 0; row < column.size(); ++row) {
    if (column.ValueAt(row).kind() == ValueKind::kPath) return true;
  }
  return false;
}

void PathTableWriter::AddColumn(const Column& column, std::string* out) {
  Column rest;
  for (size_t row = 0; row < column.size(); ++row) {
    const Value& value = column.ValueAt(row);
    if (value.kind() == ValueKind::kPath && !column.IsAbsent(row)) {
      PutVarint(Add(value), out);
    } else {
      PutVarint(kNoPath, out);
      rest.AppendFrom(column, row);
    }
  }
  rest.EncodeTo(out);
}

uint64_t PathTableWriter::Add(const Value& path) {
  const PathNode* last = &path.AsPath();
  if (last->length() == 0) return kNoObjects;
  const PathNode* known = last;
  while (known != nullptr && !places_.contains(known)) known = known->parent();
  const PathObjects fresh(last, known);
  for (size_t i = 0; i < fresh.size(); ++i) {
    const PathNode& node = fresh.node(i);
    const uint64_t place = parents_.size();
    parents_.push_back(node.parent() == nullptr ? 0 : place - places_.at(node.parent()));
    places_.emplace(&node, place);
    uint64_t list = 0;
    if (node.label_list() != nullptr) {
      const auto [found, is_new] = known_lists_.try_emplace(node.label_list());
      if (is_new) {
        found->second =
            list_numbers_.try_emplace(*node.label_list(), list_numbers_.size() + 1).first->second;
      }
      list = found->second;
    }
    lists_.push_back(list);
    objects_.Append(node.object());
  }
  return kFirstNode + places_.at(last);
}

void PathTableWriter::EncodeTo(std::string* out) const {
  std::vector<const PathLabels*> lists(list_numbers_.size());
  for (const auto& [labels, number] : list_numbers_) lists[number - 1] = &labels;
  PutVarint(lists.size(), out);
  for (const PathLabels* labels : lists) {
    PutVarint(labels->size(), out);
    for (const std::string& label : *labels) PutBytes(label, out);
  }
  PutVarint(parents_.size(), out);
  for (size_t i = 0; i < parents_.size(); ++i) {
    PutVarint(parents_[i], out);
    PutVarint(lists_[i], out);
  }
  objects_.EncodeTo(out);
}

Status PathTableReader::Decode(std::string_view bytes, PathLedger* ledger) {
  PathMaker maker(ledger);
  uint64_t num_lists = 0, num_nodes = 0;
  if (!GetCount(&bytes, &num_lists)) return Damaged();
  std::vector<const PathLabels*> lists = {nullptr};
  for (uint64_t i = 0; i < num_lists; ++i) {
    PathLabels labels;
    if (!GetLabels(&bytes, &labels)) return Damaged();
    lists.push_back(maker.Labels(std::move(labels)));
  }
  if (!GetCount(&bytes, &num_nodes)) return Damaged();
  std::vector<uint64_t> parents(num_nodes), labels(num_nodes);
  for (uint64_t i = 0; i < num_nodes; ++i) {
    if (!GetVarint(&bytes, &parents[i]) || parents[i] > i || !GetVarint(&bytes, &labels[i]) ||
        labels[i] >= lists.size()) {
      return Damaged();
    }
  }
  ASSIGN_OR_RETURN(const Column objects, Column::Decode(bytes));
  if (objects.size() != num_nodes || objects.has_absent()) return Damaged();
  paths_.reserve(num_nodes);
  for (uint64_t i = 0; i < num_nodes; ++i) {
    const Value object = objects.Get(i);
    if (object.depth() >= kMaxValueDepth) return Damaged();
    RETURN_IF_ERROR(maker.Take(PathMaker::BytesFor(object)));
    ASSIGN_OR_RETURN(Value path, maker.Append(parents[i] == 0 ? Value() : paths_[i - parents[i]],
                                              object, lists[labels[i]]));
    paths_.push_back(std::move(path));
  }
  return OkStatus();
}

StatusOr<Column> PathTableReader::ReadColumn(std::string_view bytes, size_t rows) const {
  if (rows > bytes.size()) return Damaged();
  std::vector<uint64_t> places(rows);
  size_t num_rest = 0;
  for (uint64_t& place : places) {
    if (!GetVarint(&bytes, &place)) return Damaged();
    if (place >= kFirstNode && place - kFirstNode >= paths_.size()) return Damaged();
    num_rest += place == kNoPath ? 1 : 0;
  }
  ASSIGN_OR_RETURN(const Column rest, Column::Decode(bytes));
  if (rest.size() != num_rest) return Damaged();
  Column column(Column::Kind::kValue);
  size_t next = 0;
  for (const uint64_t place : places) {
    if (place == kNoPath) {
      column.AppendFrom(rest, next++);
    } else {
      column.Append(place == kNoObjects ? PathMaker::Empty() : paths_[place - kFirstNode]);
    }
  }
  return column;
}

}  // namespace koios::engine
