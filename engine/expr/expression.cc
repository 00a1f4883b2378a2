#include "engine/expr/expression.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/path/path.h"
#include "core/value_codec.h"
#include "engine/account/values_left.h"
#include "engine/effect/member_set.h"

namespace koios::engine {
namespace {

// Marks the rows where any argument is absent; false when no row has all of them.
bool MergePresence(const std::vector<const Operand*>& args, size_t rows, Operand* out) {
  bool none = false;
  for (const Operand* arg : args) {
    none = none || arg->all_absent;
    if (none || arg->present.empty()) continue;
    if (out->present.empty()) {
      out->present = arg->present;
    } else {
      for (size_t row = 0; row < rows; ++row) out->present[row] &= arg->present[row];
    }
  }
  none = none || (!out->present.empty() &&
                  std::find(out->present.begin(), out->present.end(), 1) == out->present.end());
  out->is_constant = out->all_absent = none;
  return !none;
}

// Without branches: where every other row passes, no processor guesses which.
void SelectMarked(std::span<const uint8_t> marks, std::span<const uint8_t> present,
                  std::vector<uint32_t>* selected) {
  const size_t before = selected->size();
  selected->resize(before + marks.size());
  uint32_t* const begin = selected->data() + before;
  uint32_t* to = begin;
  for (uint32_t row = 0; row < marks.size(); ++row) {
    *to = row;
    to += present.empty() ? marks[row] : marks[row] & present[row];
  }
  selected->resize(before + static_cast<size_t>(to - begin));
}

// What it costs to walk past an object of a path. What a function makes of the object is part of
// its result and counted there.
constexpr size_t kObjectBytes = 4;

// Of all that functions may look at in its values.
size_t FlatBytes(const Column& column) {
  if (column.kind() != Column::Kind::kValue) return column.FlatByteSize();
  size_t bytes = 0;
  for (size_t row = 0; row < column.size(); ++row) {
    const Value& value = column.ValueAt(row);
    const bool path = value.kind() == ValueKind::kPath;
    bytes += path ? value.ByteSize() + value.AsPath().length() * kObjectBytes : value.FlatBytes();
  }
  return bytes;
}

}  // namespace

Status Expression::CheckArguments(const Node& call) const {
  const plan::FunctionTraits& row = *call.function.traits;
  const auto count = static_cast<int>(call.args.size());
  if (count < row.min_args || count > row.max_args) {
    return Internal("The plan calls " + std::string(row.name) + " with " + std::to_string(count) +
                    " arguments.");
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Node& argument = nodes_[call.args[i]];
    const bool constant = argument.kind == Node::Kind::kConstant;
    if (!plan::TakesArgument(row, i, constant ? &argument.constant : nullptr)) {
      return Internal("The plan calls " + std::string(row.name) + " with argument " +
                      std::to_string(i + 1) + " that is no constant of the right kind.");
    }
  }
  return OkStatus();
}

StatusOr<Expression> Expression::Bind(const plan::Expr& expr, uint32_t num_slots,
                                      MemoryAccount* account) {
  Expression bound;
  if (expr.nodes().empty()) return Internal("The plan has an empty expression.");
  bound.nodes_.reserve(expr.nodes_size());
  for (int i = 0; i < expr.nodes_size(); ++i) {
    const plan::Expr::Node& source = expr.nodes(i);
    Node node;
    switch (source.kind_case()) {
      case plan::Expr::Node::kConstant: {
        ASSIGN_OR_RETURN(node.constant, DecodeWholeValue(source.constant()));
        if (node.constant.kind() == ValueKind::kString) {
          node.constant = Value::SharedString(node.constant.AsString());
        }
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
        if (node.function.kernel == nullptr) {
          return Internal("The plan calls an unknown function: " + source.call().function());
        }
        for (uint32_t arg : source.call().args()) {
          if (arg >= static_cast<uint32_t>(i)) return Internal("The plan's expression is cyclic.");
          node.args.push_back(arg);
        }
        RETURN_IF_ERROR(bound.CheckArguments(node));
        if (node.function.kernel->prepare != nullptr) {
          const Value& last = bound.nodes_[node.args.back()].constant;
          // At most so much, which is known better behind it.
          const int64_t most = last.is_collection() ? MemberSet::kEntryBytes *
                                                          static_cast<int64_t>(last.AsList().size())
                                                    : 0;
          MemoryCharge charge(account);
          if (account != nullptr && !charge.TryResize(most)) return account->OverLimit(most);
          ASSIGN_OR_RETURN(const Prepared prepared, node.function.kernel->prepare(last));
          const auto bytes = static_cast<int64_t>(prepared.bytes);
          if (account != nullptr && !charge.TryResize(bytes)) {
            return account->OverLimit(bytes - charge.bytes());
          }
          if (charge.bytes() > 0) node.charge = std::make_shared<MemoryCharge>(std::move(charge));
          node.prepared = prepared.made;
        }
        break;
      }
      case plan::Expr::Node::KIND_NOT_SET:
        return Internal("The plan has an expression node without a kind.");
    }
    bound.nodes_.push_back(std::move(node));
  }
  bound.FindCallsTogether();
  bound.FindLastReaders();
  return bound;
}

void Expression::FindLastReaders() {
  std::vector<bool> read(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    for (const uint32_t arg : nodes_[i].args) {
      if (nodes_[arg].kind == Node::Kind::kCall && !read[arg]) nodes_[i].last_read.push_back(arg);
      read[arg] = true;
    }
  }
}

void Expression::FindCallsTogether() {
  std::map<std::pair<const ScalarKernel*, uint32_t>, std::vector<uint32_t>> calls;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.kind != Node::Kind::kCall || node.function.kernel->evaluate_together == nullptr) {
      continue;
    }
    const bool constants =
        std::all_of(node.args.begin() + 1, node.args.end(),
                    [this](uint32_t arg) { return nodes_[arg].kind == Node::Kind::kConstant; });
    const Node& of = nodes_[node.args[0]];
    if (of.kind != Node::Kind::kSlot || !constants) continue;
    calls[{node.function.kernel, of.slot}].push_back(i);
  }
  for (auto& [of, together] : calls) {
    if (together.size() < 2) continue;
    for (size_t i = 1; i < together.size(); ++i) nodes_[together[i]].done_before = true;
    nodes_[together[0]].together = std::move(together);
  }
}

Status Expression::EvaluateTogether(const Node& first, const EvalContext& context,
                                    std::vector<Operand>* operands) const {
  std::vector<std::vector<const Operand*>> calls;
  std::vector<Operand*> outs;
  for (const uint32_t number : first.together) {
    const Node& call = nodes_[number];
    std::vector<const Operand*>& args = calls.emplace_back();
    args.push_back(&(*operands)[first.args[0]]);
    for (size_t i = 1; i < call.args.size(); ++i) {
      Operand& constant = (*operands)[call.args[i]];
      constant.is_constant = true;
      constant.constant = nodes_[call.args[i]].constant;
      args.push_back(&constant);
    }
    Operand* const out = &(*operands)[number];
    outs.push_back(out);
    if (!first.function.traits->Has(plan::kStrict)) continue;
    if (MergePresence(args, context.rows, out)) continue;
    calls.pop_back();
    outs.pop_back();
  }
  if (calls.empty()) return OkStatus();
  return first.function.kernel->evaluate_together(context, calls, outs);
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

// What reads may bring without being asked is free.
Status Expression::Charge(const EvalSources& sources, size_t bytes, Evaluation* evaluation) {
  const auto held = static_cast<int64_t>(bytes - std::min(bytes, storage::ReadBudget::kBytes));
  if (held == evaluation->held.bytes() || sources.account == nullptr) return OkStatus();
  if (evaluation->held.bytes() == 0) evaluation->held = MemoryCharge(sources.account);
  if (evaluation->held.TryResize(held)) return OkStatus();
  return sources.account->OverLimit(held - evaluation->held.bytes());
}

// Behind each node, on the way to the result: what it has made is charged beside what it has read,
// before that is dropped. The result is its reader's to charge.
Status Expression::Hold(const EvalSources& sources, Evaluation* evaluation) const {
  Operand& made = evaluation->operands[evaluation->next];
  const size_t bytes = made.column == nullptr ? 0 : FlatBytes(*made.column);
  evaluation->looked_at += bytes;
  const bool is_result = evaluation->next + 1 == nodes_.size();
  if (!is_result) {
    if (bytes >= kBatchBytes) made.made = made.owned.ByteSize();
    evaluation->made += made.made;
    RETURN_IF_ERROR(Charge(sources, evaluation->made, evaluation));
  }
  for (const uint32_t number : nodes_[evaluation->next].last_read) {
    Operand& read = evaluation->operands[number];
    evaluation->made -= read.made;
    RETURN_IF_ERROR(Charge(sources, evaluation->made, evaluation));
    Drop(sources, &read);
  }
  if (is_result) evaluation->held.Reset();
  return OkStatus();
}

void Expression::Drop(const EvalSources& sources, Operand* read) {
  const auto bytes = static_cast<int64_t>(read->made);
  Operand dropped = std::exchange(*read, {});
  if (bytes < Leftover::kLeastBytes || sources.leftovers == nullptr) return;
  auto values = std::make_unique<ValuesLeft>();
  values->Add(dropped.owned);
  dropped = {};  // nobody else has them now
  MemoryCharge charge(sources.account);
  if (sources.account != nullptr) charge.Resize(bytes);
  sources.leftovers->Take(std::move(values), std::move(charge));
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
        if (node.done_before) break;
        if (!node.together.empty()) {
          RETURN_IF_ERROR(EvaluateTogether(node, context, &evaluation->operands));
          break;
        }
        args.clear();
        for (uint32_t arg : node.args) args.push_back(&evaluation->operands[arg]);
        // A function that goes on has its rows marked.
        if (evaluation->progress == nullptr && node.function.traits->Has(plan::kStrict) &&
            !MergePresence(args, batch.rows, &out)) {
          break;
        }
        context.prepared = node.prepared.get();
        RETURN_IF_ERROR(node.function.kernel->evaluate(context, args, &out));
        if (evaluation->progress != nullptr) {
          return Charge(sources, evaluation->made + evaluation->progress->HeldBytes(), evaluation);
        }
        break;
    }
    RETURN_IF_ERROR(Hold(sources, evaluation));
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
    SelectMarked(result.column->bools().first(rows), result.present, selected);
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
