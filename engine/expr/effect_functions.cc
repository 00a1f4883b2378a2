#include "engine/expr/effect_functions.h"

#include <algorithm>
#include <random>

#include "core/random.h"
#include "engine/effect/fold_operator.h"
#include "engine/effect/side_effects.h"
#include "engine/expr/each_row.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

Status Missing() { return Internal("The plan reads side-effects where there are none."); }

// Whether the function is to be called again, as a slice of its work is not the last.
bool GoesOn(const EvalContext& context, bool is_last) {
  if (is_last) {
    context.progress->reset();
  } else if (*context.progress == nullptr) {
    *context.progress = std::make_unique<FunctionProgress>();
  }
  return !is_last;
}

// side_effect("x"): what is gathered under the name by now.
Status SideEffectFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.effects == nullptr) return Missing();
  const std::string name = args[0]->constant.AsString();
  ASSIGN_OR_RETURN(const bool is_whole, context.effects->MakeWhole(name));
  if (GoesOn(context, is_whole)) return OkStatus();
  ASSIGN_OR_RETURN(out->constant, context.effects->Read(name));
  out->is_constant = true;
  return OkStatus();
}

// in_side_effect(value, "x"): whether the bag has the value.
Status InSideEffectFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.effects == nullptr) return Missing();
  const auto bag = context.effects->FindBag(args[1]->constant.AsString());
  if (bag.ok()) {
    ASSIGN_OR_RETURN(const bool knows_all, context.effects->LearnSome(*bag));
    if (GoesOn(context, knows_all)) return OkStatus();
  }
  Column column(Column::Kind::kBool);
  for (size_t row = 0; row < context.rows; ++row) {
    bool found = false;
    if (out->Present(row)) {
      RETURN_IF_ERROR(bag.status());
      ASSIGN_OR_RETURN(found, context.effects->Contains(*bag, args[0]->Get(row)));
    }
    column.AppendBool(found);
  }
  out->Own(std::move(column));
  return OkStatus();
}

// once("name"): of the first row of the query one traverser, of others none.
Status OnceFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.effects == nullptr) return Missing();
  Column column(Column::Kind::kLong);
  for (size_t row = 0; row < context.rows; ++row) {
    column.AppendLong(context.effects->Once(args[0]->constant.AsString()) ? 1 : 0);
  }
  out->Own(std::move(column));
  return OkStatus();
}

// coin(p): how many of the row's traversers pass, each drawn by itself.
Status CoinFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.random == nullptr) return Internal("The plan draws where there is no chance.");
  const double probability = std::clamp(args[0]->constant.AsDouble(), 0.0, 1.0);
  Column column(Column::Kind::kLong);
  for (size_t row = 0; row < context.rows; ++row) {
    const int64_t bulk = context.batch->BulkAt(row);
    if (bulk == 1) {
      column.AppendLong(context.random->Chance(probability) ? 1 : 0);
    } else {
      std::binomial_distribution<int64_t> passing(bulk, probability);
      RandomBits bits{context.random};
      column.AppendLong(passing(bits));
    }
  }
  out->Own(std::move(column));
  return OkStatus();
}

// operated("sum", sack, value): the sack with the value put to it.
Status OperatedFunction(const EvalContext& context, const Args& args, Operand* out) {
  const FoldOperator put = FindSackOperator(args[0]->constant.AsString());
  if (put == nullptr) return Internal("The plan has an unknown operator for sacks.");
  return EachRow(context, out, [&](size_t row) -> StatusOr<std::optional<Value>> {
    if (!args[1]->Present(row) || !args[2]->Present(row)) return std::nullopt;
    return put(args[1]->Get(row), args[2]->Get(row));
  });
}

}  // namespace

const std::vector<ScalarKernel>& EffectFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"side_effect", SideEffectFunction},
      {"in_side_effect", InSideEffectFunction},
      {"coin", CoinFunction},
      {"once", OnceFunction},
      {"operated", OperatedFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
