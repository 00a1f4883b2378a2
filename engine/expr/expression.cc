#include "engine/expr/expression.h"

#include "core/value_codec.h"
#include "engine/effect/member_set.h"

namespace koios::engine {
namespace {

bool IsOfKind(const Value& value, char letter) {
  const ValueKind kind = value.kind();
  switch (letter) {
    case 's':
      return kind == ValueKind::kString;
    case 'n':
      return kind == ValueKind::kString || value.is_null();
    case 'i':
      return value.is_integer() && kind != ValueKind::kBigInt;
    case 'd':
      return kind == ValueKind::kFloat || kind == ValueKind::kDouble;
    case 'b':
      return kind == ValueKind::kBool;
    case 'l':
      return value.is_collection();
    default:
      return letter == 'c';
  }
}

char LetterOf(std::string_view constants, size_t argument) {
  const bool repeats = !constants.empty() && constants.back() == '*';
  if (repeats) constants.remove_suffix(1);
  if (argument < constants.size()) return constants[argument];
  return repeats ? constants.back() : '_';
}

}  // namespace

Status Expression::CheckConstants(const Node& call) const {
  for (size_t i = 0; i < call.args.size(); ++i) {
    const char letter = LetterOf(call.function->constants, i);
    if (letter == '_') continue;
    const Node& argument = nodes_[call.args[i]];
    if (argument.kind != Node::Kind::kConstant || !IsOfKind(argument.constant, letter)) {
      return Internal("The plan calls " + std::string(call.function->name) + " with argument " +
                      std::to_string(i + 1) + " that is no constant of the right kind.");
    }
  }
  return OkStatus();
}

StatusOr<Expression> Expression::Bind(const plan::Expr& expr, uint32_t num_slots,
                                      const ChargeFunction& charge) {
  Expression bound;
  if (expr.nodes().empty()) return Internal("The plan has an empty expression.");
  bound.nodes_.reserve(expr.nodes_size());
  for (int i = 0; i < expr.nodes_size(); ++i) {
    const plan::Expr::Node& source = expr.nodes(i);
    Node node;
    switch (source.kind_case()) {
      case plan::Expr::Node::kConstant: {
        ASSIGN_OR_RETURN(node.constant, DecodeWholeValue(source.constant()));
        break;
      }
      case plan::Expr::Node::kSlot:
        node.kind = Node::Kind::kSlot;
        node.slot = source.slot();
        if (node.slot >= num_slots) return Internal("The plan reads a slot that does not exist.");
        break;
      case plan::Expr::Node::kCall: {
        node.kind = Node::Kind::kCall;
        node.function = FindFunction(source.call().function());
        if (node.function == nullptr) {
          return Internal("The plan calls an unknown function: " + source.call().function());
        }
        const int count = source.call().args_size();
        if (count < node.function->min_args || count > node.function->max_args) {
          return Internal("The plan calls " + source.call().function() + " with " +
                          std::to_string(count) + " arguments.");
        }
        for (uint32_t arg : source.call().args()) {
          if (arg >= static_cast<uint32_t>(i)) return Internal("The plan's expression is cyclic.");
          node.args.push_back(arg);
        }
        RETURN_IF_ERROR(bound.CheckConstants(node));
        if (node.function->prepare != nullptr) {
          const Value& last = bound.nodes_[node.args.back()].constant;
          if (charge && last.is_collection()) {
            const auto members = static_cast<int64_t>(last.AsList().size());
            RETURN_IF_ERROR(charge(members * MemberSet::kEntryBytes));
          }
          ASSIGN_OR_RETURN(node.prepared, node.function->prepare(last));
        }
        break;
      }
      case plan::Expr::Node::KIND_NOT_SET:
        return Internal("The plan has an expression node without a kind.");
    }
    bound.nodes_.push_back(std::move(node));
  }
  return bound;
}

void Expression::ReadSlot(const Batch& batch, uint32_t slot, Operand* out) {
  if (!batch.Has(slot)) {
    out->is_constant = true;
    out->all_absent = true;
    return;
  }
  out->column = &batch.slots[slot];
  if (!out->column->has_absent()) return;
  out->present.resize(batch.rows);
  for (size_t row = 0; row < batch.rows; ++row) {
    out->present[row] = out->column->IsAbsent(row) ? 0 : 1;
  }
}

Status Expression::Proceed(const Batch& batch, const EvalSources& sources, Evaluation* evaluation,
                           const Operand** result) const {
  *result = nullptr;
  EvalContext context{sources, batch.rows, &batch};
  context.progress = &evaluation->progress;
  std::vector<const Operand*> args;
  for (size_t& i = evaluation->next; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    Operand& out = evaluation->operands[i];
    switch (node.kind) {
      case Node::Kind::kConstant:
        out.is_constant = true;
        out.constant = node.constant;
        break;
      case Node::Kind::kSlot:
        ReadSlot(batch, node.slot, &out);
        break;
      case Node::Kind::kCall:
        args.clear();
        for (uint32_t arg : node.args) args.push_back(&evaluation->operands[arg]);
        context.prepared = node.prepared.get();
        RETURN_IF_ERROR(node.function->evaluate(context, args, &out));
        if (evaluation->progress != nullptr) return OkStatus();
        break;
    }
  }
  *result = &evaluation->operands.back();
  return OkStatus();
}

Status Expression::Evaluate(const Batch& batch, const EvalSources& sources,
                            std::vector<Operand>* operands, const Operand** result) const {
  Evaluation evaluation;
  evaluation.operands.swap(*operands);
  Begin(&evaluation);
  do {
    RETURN_IF_ERROR(Proceed(batch, sources, &evaluation, result));
  } while (*result == nullptr);
  operands->swap(evaluation.operands);  // moves none of them
  return OkStatus();
}

void SelectRows(const Operand& result, size_t rows, std::vector<uint32_t>* selected,
                std::vector<int64_t>* bulks) {
  if (result.all_absent) return;
  if (result.is_constant) {
    if (result.constant.kind() != ValueKind::kBool || !result.constant.AsBool()) return;
    for (uint32_t row = 0; row < rows; ++row) {
      if (result.Present(row)) selected->push_back(row);
    }
    return;
  }
  if (result.column->kind() == Column::Kind::kBool) {
    const std::span<const uint8_t> bits = result.column->bools();
    for (uint32_t row = 0; row < rows; ++row) {
      if (bits[row] != 0 && result.Present(row)) selected->push_back(row);
    }
    return;
  }
  if (bulks != nullptr && result.column->kind() == Column::Kind::kLong) {
    const std::span<const int64_t> passing = result.column->longs();
    for (uint32_t row = 0; row < rows; ++row) {
      if (passing[row] <= 0 || !result.Present(row)) continue;
      selected->push_back(row);
      bulks->push_back(passing[row]);
    }
    return;
  }
  for (uint32_t row = 0; row < rows; ++row) {
    if (!result.Present(row)) continue;
    const Value value = result.column->Get(row);
    if (value.kind() == ValueKind::kBool && value.AsBool()) selected->push_back(row);
  }
}

Status SelectRows(const Expression& predicate, const Batch& batch, const EvalSources& sources,
                  std::vector<Operand>* scratch, std::vector<uint32_t>* selected,
                  std::vector<int64_t>* bulks) {
  const Operand* result = nullptr;
  RETURN_IF_ERROR(predicate.Evaluate(batch, sources, scratch, &result));
  selected->clear();
  SelectRows(*result, batch.rows, selected, bulks);
  return OkStatus();
}

}  // namespace koios::engine
