#include "storage/view/column_gather.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/value.h"
#include "storage/snapshot/snapshot_adjacency.h"

namespace koios::storage {
namespace {

// A kind of column that all parts can be read as, without a Value for each entry; kValue: none.
Column::Kind KindOf(std::span<const ColumnGather::Part> parts) {
  std::optional<Column::Kind> common;
  for (const ColumnGather::Part& part : parts) {
    const SnapshotColumn& column = *part.column;
    Column::Kind kind = Column::Kind::kValue;
    if (!column.by_item()) {
      const bool text =
          column.form() == ColumnForm::kDictionary || column.form() == ColumnForm::kHeap;
      if (text || column.form() == ColumnForm::kFixed) kind = Column::KindFor(column.value_kind());
    }
    if (common && *common != kind) return Column::Kind::kValue;
    common = kind;
  }
  return common.value_or(Column::Kind::kValue);
}

bool HasAll(std::span<const ColumnGather::Part> parts, size_t num_elements) {
  size_t inputs = 0;
  for (const ColumnGather::Part& part : parts) {
    if (!part.column->has_all_values()) return false;
    inputs += part.inputs.size();
  }
  return inputs == num_elements;
}

}  // namespace

// The entries of fixed width may be read; notes which elements have one.
Status ColumnGather::Mark(const Part& part) {
  RETURN_IF_ERROR(part.column->Touch(part.entries));
  if (all_present_) return OkStatus();
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    present_[part.inputs[i]] = part.column->HasValue(part.entries[i]) ? 1 : 0;
  }
  return OkStatus();
}

void ColumnGather::ListRows(size_t num_elements) {
  if (all_present_) {
    rows_.resize(num_elements);
    std::iota(rows_.begin(), rows_.end(), 0);
    return;
  }
  for (uint32_t row = 0; row < num_elements; ++row) {
    if (present_[row] != 0) rows_.push_back(row);
  }
}

template <typename T>
std::vector<T> ColumnGather::Present(std::vector<T> by_element) {
  ListRows(by_element.size());
  if (rows_.size() == by_element.size()) return by_element;
  for (size_t i = 0; i < rows_.size(); ++i) by_element[i] = by_element[rows_[i]];
  by_element.resize(rows_.size());
  return by_element;
}

template <typename T>
Status ColumnGather::OfFixed(std::span<const Part> parts, std::vector<T>* values) {
  for (const Part& part : parts) {
    RETURN_IF_ERROR(Mark(part));
    const T* const fixed = part.column->Fixed<T>();
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      (*values)[part.inputs[i]] = fixed[part.entries[i]];
    }
  }
  return OkStatus();
}

Status ColumnGather::OfBools(std::span<const Part> parts, std::vector<uint8_t>* values) {
  for (const Part& part : parts) {
    RETURN_IF_ERROR(Mark(part));
    const uint64_t* const words = part.column->Fixed<uint64_t>();
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      const uint64_t entry = part.entries[i];
      (*values)[part.inputs[i]] = words[entry / 64] >> (entry % 64) & 1;
    }
  }
  return OkStatus();
}

Status ColumnGather::OfTexts(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
                             Column* values) {
  std::vector<std::string_view> texts(num_elements), some;
  size_t bytes = 0;
  for (const Part& part : parts) {
    RETURN_IF_ERROR(Mark(part));
    some.resize(part.entries.size());
    RETURN_IF_ERROR(part.column->Texts(part.entries, some.data()));
    for (size_t i = 0; i < some.size(); ++i) {
      texts[part.inputs[i]] = some[i];
      bytes += some[i].size();
    }
  }
  RETURN_IF_ERROR(TakeFrom(budget, bytes));
  ListRows(num_elements);
  if (bytes > std::numeric_limits<uint32_t>::max()) {
    for (const uint32_t row : rows_) values->AppendString(texts[row]);
    return OkStatus();
  }
  std::vector<uint32_t> offsets;
  std::vector<char> heap;
  offsets.reserve(rows_.size() + 1);
  heap.reserve(bytes);
  offsets.push_back(0);
  for (const uint32_t row : rows_) {
    heap.insert(heap.end(), texts[row].begin(), texts[row].end());
    offsets.push_back(static_cast<uint32_t>(heap.size()));
  }
  *values = Column::OfStrings(std::move(offsets), std::move(heap));
  return OkStatus();
}

Status ColumnGather::OfAny(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
                           Column* values) {
  all_present_ = false;
  present_.assign(num_elements, 0);
  std::vector<Value> by_element(num_elements);
  std::vector<std::optional<Value>> some;
  for (const Part& part : parts) {
    if (part.column->has_several()) {
      return Internal("A snapshot has several values of a property, which views do not read.");
    }
    // One after the other where there is a budget: how large each is shows when it is there.
    const size_t at_once = budget == nullptr ? part.entries.size() : 1;
    for (size_t begin = 0; begin < part.entries.size(); begin += at_once) {
      some.clear();
      RETURN_IF_ERROR(part.column->Values(part.entries.subspan(begin, at_once), &some));
      for (size_t i = 0; i < some.size(); ++i) {
        if (!some[i]) continue;
        RETURN_IF_ERROR(TakeFrom(budget, some[i]->FlatBytes()));
        present_[part.inputs[begin + i]] = 1;
        by_element[part.inputs[begin + i]] = *std::move(some[i]);
      }
    }
  }
  ListRows(num_elements);
  for (const uint32_t row : rows_) values->Append(by_element[row]);
  return OkStatus();
}

Status ColumnGather::Run(std::span<const Part> parts, size_t num_elements, ReadBudget* budget,
                         std::vector<uint32_t>* rows, Column* values) {
  const Column::Kind kind = KindOf(parts);
  all_present_ = HasAll(parts, num_elements);
  if (!all_present_) present_.assign(num_elements, 0);
  rows_.clear();
  *values = {};
  const auto fixed = [&]<typename T>(std::vector<T> by_element) -> Status {
    RETURN_IF_ERROR(OfFixed(parts, &by_element));
    *values = Column::Of(Present(std::move(by_element)));
    return OkStatus();
  };
  switch (kind) {
    case Column::Kind::kInt:
      RETURN_IF_ERROR(fixed(std::vector<int32_t>(num_elements)));
      break;
    case Column::Kind::kLong:
      RETURN_IF_ERROR(fixed(std::vector<int64_t>(num_elements)));
      break;
    case Column::Kind::kDouble:
      RETURN_IF_ERROR(fixed(std::vector<double>(num_elements)));
      break;
    case Column::Kind::kBool: {
      std::vector<uint8_t> bools(num_elements);
      RETURN_IF_ERROR(OfBools(parts, &bools));
      *values = Column::OfBools(Present(std::move(bools)));
      break;
    }
    case Column::Kind::kString:
      RETURN_IF_ERROR(OfTexts(parts, num_elements, budget, values));
      break;
    default:
      RETURN_IF_ERROR(OfAny(parts, num_elements, budget, values));
      break;
  }
  *rows = std::move(rows_);
  return OkStatus();
}

}  // namespace koios::storage
