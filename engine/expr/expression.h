// Expression: a plan's Expr, checked and bound to the function table once, then evaluated over
// batches by column kernels. Results may be absent per row ("unproductive").
// Belongs to one operator of one worker; the view it reads is immutable.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/column.h"
#include "core/memory.h"
#include "core/path/path_ledger.h"
#include "core/plan/function_table.h"
#include "core/random.h"
#include "core/status.h"
#include "engine/account/leftover.h"
#include "engine/batch/batch.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"

namespace koios::engine {

class SideEffects;

// One operand or result: a constant for all rows, or a column with a presence mark per row.
// When `present` is not empty, the column has an entry (any) for absent rows too.
struct Operand {
  bool is_constant = false;
  Value constant;
  const Column* column = nullptr;  // points to `owned` or to a batch's slot, to no other operand
  Column owned;
  std::vector<uint8_t> present;  // empty: all rows, or none when `all_absent`
  bool all_absent = false;
  size_t made = 0;  // bytes of a large one on the way to a result

  bool Present(size_t row) const { return !all_absent && (present.empty() || present[row] != 0); }
  Value Get(size_t row) const { return is_constant ? constant : column->Get(row); }
  void Own(Column c) {
    owned = std::move(c);
    column = &owned;
  }
};

// What expressions may read beside the batch.
struct EvalSources {
  const storage::GraphView* view = nullptr;
  SideEffects* effects = nullptr;
  Rng* random = nullptr;
  PathLedger* paths = nullptr;           // that nodes of paths are charged to; null: to nobody
  storage::ReadBudget* reads = nullptr;  // of what properties may bring; null: whatever comes
  const Clock* clock = nullptr;          // that says how long rows take; null: nobody asks
  MemoryAccount* account = nullptr;      // of what is made on the way to a result; null: of nobody
  LeftoverTaker* leftovers = nullptr;    // of that, when it is large; null: it is freed at once
};

// What a function keeps between two calls where one value is too much work for one.
struct FunctionProgress {
  virtual ~FunctionProgress() = default;
  // Of what it has made by now, about: charged between the calls.
  virtual size_t HeldBytes() const { return 0; }
};

struct EvalContext : EvalSources {
  size_t rows = 0;
  const Batch* batch = nullptr;    // for what a row has beside its slots: loop counters
  const void* prepared = nullptr;  // what the function's `prepare` made
  // A function that leaves something there is not done: it is called again with the same arguments.
  std::unique_ptr<FunctionProgress>* progress = nullptr;
};

// What a function makes of a constant when it is bound.
struct Prepared {
  std::shared_ptr<const void> made;
  size_t bytes = 0;  // that takes, at most
};

// What the engine adds to a row of core/plan/function_table.h. `evaluate` fills `out` for
// context.rows rows; the arguments are as the row says. Of a strict function `out->present` says
// beforehand which rows have all of them: the others need an entry in the column, of any value, and
// `evaluate` may only take more away. It is not called when no row has all.
struct ScalarKernel {
  const char* name;
  Status (*evaluate)(const EvalContext& context, const std::vector<const Operand*>& args,
                     Operand* out);
  // Made once, when the call is bound, of its last argument, null when that is no constant; may be
  // nothing.
  StatusOr<Prepared> (*prepare)(const Value& constant) = nullptr;
  // Of several calls with the same slot as their first argument and constants behind it, all at
  // once: outs[i] becomes what `evaluate` makes of calls[i]. Null: they are evaluated one by one.
  Status (*evaluate_together)(const EvalContext& context,
                              const std::vector<std::vector<const Operand*>>& calls,
                              const std::vector<Operand*>& outs) = nullptr;
};
struct ScalarFunction {
  const plan::FunctionTraits* traits = nullptr;
  const ScalarKernel* kernel = nullptr;  // null: there is none of the name
};
ScalarFunction FindFunction(std::string_view name);
// All kernels.
const std::vector<const ScalarKernel*>& ScalarKernels();

// An evaluation that may take several calls. It points to the batch's columns and into itself.
struct Evaluation {
  std::vector<Operand> operands;
  size_t next = 0;                             // the node to evaluate,
  std::unique_ptr<FunctionProgress> progress;  // and how far its function has got
  size_t looked_at = 0;  // bytes of all operands that are columns, those too that are gone
  size_t made = 0;       // of large ones that are there,
  MemoryCharge held;     // and what of that is charged, until there is a result

  void Begin(size_t num_nodes) {
    operands.clear();
    operands.resize(num_nodes);
    next = looked_at = made = 0;
    progress.reset();
    held.Reset();
  }
};

// Takes bytes before they are held, or refuses them.
using ChargeFunction = std::function<Status(int64_t bytes)>;

class Expression {
 public:
  // What functions prepare of constants is charged to `account`, which outlives this; null: nothing
  // is.
  // INTERNAL for unknown functions, wrong counts of arguments, arguments that must be constants of
  // a kind and are not, forward references. INVALID_ARGUMENT for constants that mean nothing.
  static StatusOr<Expression> Bind(const plan::Expr& expr, uint32_t num_slots,
                                   MemoryAccount* account = nullptr);

  void Begin(Evaluation* evaluation) const { evaluation->Begin(nodes_.size()); }
  // A bounded share of the work. The result is null as long as there is more to do, then it lives
  // in the evaluation. What is made on the way is dropped with its last reader, so that sixty
  // functions of a large text hold two of it, and charged. REQUIRES: begun, and the same batch each
  // time.
  Status Proceed(const Batch& batch, const EvalSources& sources, Evaluation* evaluation,
                 const Operand** result) const;
  // All of it. `operands` is scratch that the result lives in until the next call.
  Status Evaluate(const Batch& batch, const EvalSources& sources, std::vector<Operand>* operands,
                  const Operand** result) const;

 private:
  struct Node {
    enum class Kind { kConstant, kSlot, kCall };
    Kind kind = Kind::kConstant;
    Value constant;
    uint32_t slot = 0;
    ScalarFunction function;
    std::vector<uint32_t> args;
    std::shared_ptr<const void> prepared;
    std::shared_ptr<MemoryCharge> charge;  // of that
    // Of the first of calls that are evaluated together: all of these. The others are done with it.
    std::vector<uint32_t> together;
    bool done_before = false;
    std::vector<uint32_t> last_read;  // results of calls that nobody reads behind it
  };
  Status CheckArguments(const Node& call) const;
  void FindCallsTogether();
  void FindLastReaders();
  Status Hold(const EvalSources& sources, Evaluation* evaluation) const;
  static Status Charge(const EvalSources& sources, size_t bytes, Evaluation* evaluation);
  static void Drop(const EvalSources& sources, Operand* read);
  Status EvaluateTogether(const Node& first, const EvalContext& context,
                          std::vector<Operand>* operands) const;
  static void ReadSlot(const Batch& batch, uint32_t slot, Operand* out);

  std::vector<Node> nodes_;
};

// Rows whose predicate has this result: present and true, of `rows`. A number: as SelectRows.
void SelectRows(const Operand& result, size_t rows, std::vector<uint32_t>* selected,
                std::vector<int64_t>* bulks);
// Rows of `batch` whose predicate is present and true. A predicate may be a number (coin): so many
// of the row's traversers pass; `bulks` then gets that of each selected row, else nothing.
Status SelectRows(const Expression& predicate, const Batch& batch, const EvalSources& sources,
                  std::vector<Operand>* scratch, std::vector<uint32_t>* selected,
                  std::vector<int64_t>* bulks = nullptr);

}  // namespace koios::engine
