#include "engine/expr/typed_compare.h"

#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace koios::engine {
namespace {

// What the rows of an operand are, as far as comparing goes.
enum class Sort : uint8_t { kOther, kBool, kInteger, kReal, kString, kVertex, kEdge };

Sort SortOf(const Operand& operand) {
  if (operand.is_constant) {
    switch (operand.constant.kind()) {
      case ValueKind::kBool:
        return Sort::kBool;
      case ValueKind::kByte:
      case ValueKind::kShort:
      case ValueKind::kInt:
      case ValueKind::kLong:
        return Sort::kInteger;
      case ValueKind::kDouble:
        return Sort::kReal;
      case ValueKind::kString:
        return Sort::kString;
      case ValueKind::kVertex:
        return Sort::kVertex;
      case ValueKind::kEdge:
        return Sort::kEdge;
      default:
        return Sort::kOther;
    }
  }
  switch (operand.column->kind()) {
    case Column::Kind::kBool:
      return Sort::kBool;
    case Column::Kind::kInt:
    case Column::Kind::kLong:
      return Sort::kInteger;
    case Column::Kind::kDouble:
      return Sort::kReal;
    case Column::Kind::kString:
      return Sort::kString;
    case Column::Kind::kVertex:
      return Sort::kVertex;
    case Column::Kind::kEdge:
      return Sort::kEdge;
    case Column::Kind::kEmpty:
    case Column::Kind::kValue:
      return Sort::kOther;
  }
  return Sort::kOther;
}

template <typename A, typename B, typename Test>
void Fill(const A& a, const B& b, const Test& test, std::vector<uint8_t>* out) {
  uint8_t* const to = out->data();
  const size_t rows = out->size();
  for (size_t row = 0; row < rows; ++row) to[row] = test(a(row), b(row)) ? 1 : 0;
}

template <typename A, typename B>
void FillEqual(Relation relation, const A& a, const B& b, std::vector<uint8_t>* out) {
  if (relation == Relation::kEq) return Fill(a, b, std::equal_to<>(), out);
  Fill(a, b, std::not_equal_to<>(), out);
}

template <typename A, typename B>
void FillOrdered(Relation relation, const A& a, const B& b, std::vector<uint8_t>* out) {
  switch (relation) {
    case Relation::kEq:
    case Relation::kNeq:
      return FillEqual(relation, a, b, out);
    case Relation::kLt:
      return Fill(a, b, std::less<>(), out);
    case Relation::kLte:
      return Fill(a, b, std::less_equal<>(), out);
    case Relation::kGt:
      return Fill(a, b, std::greater<>(), out);
    case Relation::kGte:
      return Fill(a, b, std::greater_equal<>(), out);
  }
}

// a < b is b > a.
Relation Turned(Relation relation) {
  switch (relation) {
    case Relation::kLt:
      return Relation::kGt;
    case Relation::kLte:
      return Relation::kGte;
    case Relation::kGt:
      return Relation::kLt;
    case Relation::kGte:
      return Relation::kLte;
    case Relation::kEq:
    case Relation::kNeq:
      return relation;
  }
  return relation;
}

// Calls `with` with a function from a row to its T.
template <typename T, typename With>
void WithIntegers(const Operand& operand, const With& with) {
  if (operand.is_constant) {
    const T constant = static_cast<T>(operand.constant.AsInteger());
    return with([constant](size_t) { return constant; });
  }
  if (operand.column->kind() == Column::Kind::kInt) {
    const int32_t* const ints = operand.column->ints().data();
    return with([ints](size_t row) { return static_cast<T>(ints[row]); });
  }
  const int64_t* const longs = operand.column->longs().data();
  with([longs](size_t row) { return static_cast<T>(longs[row]); });
}

template <typename With>
void WithReals(const Operand& operand, const With& with) {
  if (operand.is_constant && operand.constant.kind() == ValueKind::kDouble) {
    const double constant = operand.constant.AsDouble();
    return with([constant](size_t) { return constant; });
  }
  if (!operand.is_constant && operand.column->kind() == Column::Kind::kDouble) {
    const double* const doubles = operand.column->doubles().data();
    return with([doubles](size_t row) { return doubles[row]; });
  }
  WithIntegers<double>(operand, with);
}

template <typename With>
void WithStrings(const Operand& operand, const With& with) {
  if (operand.is_constant) {
    const std::string_view constant = operand.constant.AsString();
    return with([constant](size_t) { return constant; });
  }
  const Column& column = *operand.column;
  with([&column](size_t row) { return column.StringAt(row); });
}

template <typename With>
void WithBools(const Operand& operand, const With& with) {
  if (operand.is_constant) {
    const bool constant = operand.constant.AsBool();
    return with([constant](size_t) { return constant; });
  }
  const uint8_t* const bools = operand.column->bools().data();
  with([bools](size_t row) { return bools[row] != 0; });
}

template <typename With>
void WithVertices(const Operand& operand, const With& with) {
  if (operand.is_constant) {
    const uint64_t constant = operand.constant.AsVertex().bits;
    return with([constant](size_t) { return constant; });
  }
  const VertexRef* const vertices = operand.column->vertices().data();
  with([vertices](size_t row) { return vertices[row].bits; });
}

template <typename With>
void WithEdges(const Operand& operand, const With& with) {
  if (operand.is_constant) {
    const uint64_t constant = operand.constant.AsEdge().id;
    return with([constant](size_t) { return constant; });
  }
  const EdgeRef* const edges = operand.column->edges().data();
  with([edges](size_t row) { return edges[row].id; });
}

// A long has more digits than a double: exact only where one side is a column of doubles and the
// other one has small integers.
bool FitsDoubles(const Operand& operand) {
  if (operand.is_constant) {
    return operand.constant.kind() == ValueKind::kDouble ||
           operand.constant.kind() <= ValueKind::kInt;
  }
  return operand.column->kind() != Column::Kind::kLong;
}

}  // namespace

bool CompareTyped(Relation relation, const Operand& a, const Operand& b, size_t rows,
                  std::vector<uint8_t>* out) {
  if (a.is_constant) {
    return !b.is_constant && CompareTyped(Turned(relation), b, a, rows, out);
  }
  const Sort left = SortOf(a);
  const Sort right = SortOf(b);
  const bool equality = relation == Relation::kEq || relation == Relation::kNeq;
  const bool numbers = (left == Sort::kInteger || left == Sort::kReal) &&
                       (right == Sort::kInteger || right == Sort::kReal);
  if (left == Sort::kOther || (left != right && !numbers)) return false;
  if (numbers && left != right && !(FitsDoubles(a) && FitsDoubles(b))) return false;
  const bool ordered = numbers || left == Sort::kString;
  if (!equality && !ordered) return false;
  out->resize(rows);
  // Calls fill(row -> a's, row -> b's).
  const auto both = [&](const auto& with, const auto& fill) {
    with(a, [&](const auto& of_a) {
      with(b, [&](const auto& of_b) { fill(relation, of_a, of_b, out); });
    });
  };
  const auto order = [](auto&&... args) { FillOrdered(args...); };
  const auto equal = [](auto&&... args) { FillEqual(args...); };
  switch (left) {
    case Sort::kInteger:
    case Sort::kReal:
      if (left == Sort::kInteger && right == Sort::kInteger) {
        both([](const Operand& of, const auto& with) { WithIntegers<int64_t>(of, with); }, order);
      } else {
        both([](const Operand& of, const auto& with) { WithReals(of, with); }, order);
      }
      return true;
    case Sort::kString:
      both([](const Operand& of, const auto& with) { WithStrings(of, with); }, order);
      return true;
    case Sort::kBool:
      both([](const Operand& of, const auto& with) { WithBools(of, with); }, equal);
      return true;
    case Sort::kVertex:
      both([](const Operand& of, const auto& with) { WithVertices(of, with); }, equal);
      return true;
    case Sort::kEdge:
      both([](const Operand& of, const auto& with) { WithEdges(of, with); }, equal);
      return true;
    case Sort::kOther:
      break;
  }
  return false;
}

}  // namespace koios::engine
