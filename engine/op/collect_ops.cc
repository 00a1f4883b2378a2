#include "engine/op/collect_ops.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <utility>

#include "core/compare/order_prefix.h"
#include "core/memory/charged_growth.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "engine/account/values_left.h"
#include "engine/expr/slice_sort.h"
#include "engine/expr/typed_compare.h"
#include "engine/op/collect_op.h"
#include "engine/op/state/sort_keys.h"

namespace koios::engine {
namespace {

class OrderOp : public CollectOp {
 public:
  OrderOp(const plan::Order& op, uint32_t num_slots, OperatorHost* host)
      : CollectOp(host), keys_(SortKeysOf(op)), num_slots_(num_slots), limit_(op.limit()) {
    SpillBy(&keys_, num_slots);
  }

 protected:
  // A row that is worse than all that are kept, by its first key alone, is not even copied.
  bool Select(const State& state, const Batch& input, size_t begin, uint32_t count,
              std::vector<uint32_t>* picked) override {
    if (state.worst.is_null() || keys_[0].ordinal() || !input.Has(keys_[0].slot())) return false;
    const Column column = input.slots[keys_[0].slot()].Slice(begin, count);
    if (column.has_absent()) return false;
    Operand key, worst;
    key.column = &column;
    worst.is_constant = true;
    worst.constant = state.worst;
    const Relation is_worse =
        keys_[0].direction() == plan::SortKey::DESC ? Relation::kLt : Relation::kGt;
    std::vector<uint8_t> marks;
    if (!CompareTyped(is_worse, key, worst, count, &marks)) return false;
    for (uint32_t row = 0; row < count; ++row) {
      if (marks[row] == 0) picked->push_back(static_cast<uint32_t>(begin + row));
    }
    return true;
  }

  // Top-k: once twice the limit is kept, or twice the bytes, the worse half goes.
  StatusOr<bool> Prune(State* state) override {
    if (limit_ <= 0) return false;
    if (state->progress == nullptr && !HasManyTooMany(*state)) return false;
    ASSIGN_OR_RETURN(const bool sorted, SortSome(state));
    if (!sorted) return true;
    auto* sorting = static_cast<Sorting*>(state->progress.get());
    if (sorting->kept == 0) {
      sorting->sorted.resize(static_cast<size_t>(limit_));
      // For a moment both are there: what was kept, and what stays.
      const double share = static_cast<double>(limit_) / static_cast<double>(state->rows.size());
      const auto bytes = static_cast<int64_t>(share * static_cast<double>(state->rows.ByteSize()));
      RETURN_IF_ERROR(Charge(bytes, state));
      sorting->bytes += bytes;
    }
    if (!sorting->is_over) {
      sorting->best.AddSome(state->rows, sorting->sorted, &sorting->kept, kSliceRows);
      if (sorting->kept < sorting->sorted.size()) return true;
      const size_t last = sorting->sort.order()[static_cast<size_t>(limit_) - 1];
      if (keys_[0].direction() != plan::SortKey::SHUFFLE) {
        state->worst = sorting->keys[last * keys_.size()];
      }
      std::swap(state->rows, sorting->best);
      state->pruned_bytes = state->rows.ByteSize();
      sorting->bytes += sorting->best.ByteSize() - state->rows.ByteSize();
    }
    ASSIGN_OR_RETURN(const bool is_free, EndSorting(state));
    return !is_free;
  }

  StatusOr<bool> Arrange(State* state) override {
    ASSIGN_OR_RETURN(const bool sorted, SortSome(state));
    if (!sorted) return false;
    auto* sorting = static_cast<Sorting*>(state->progress.get());
    if (!sorting->is_over) {
      state->order = std::move(sorting->sorted);
      sorting->bytes -= BytesOfMany(static_cast<int64_t>(state->order.size()), sizeof(Position));
      // Of bulks above 1 it is even fewer.
      const auto most = static_cast<uint64_t>(this->most());
      state->order.resize(std::min<uint64_t>(state->order.size(), most));
    }
    return EndSorting(state);
  }

  bool Abandon(State* state) override {
    FreeRoom(&state->order);
    if (state->progress == nullptr) return true;
    const auto* sorting = static_cast<const Sorting*>(state->progress.get());
    if (!Charge(-sorting->bytes, state).ok()) return false;
    state->progress.reset();
    return true;
  }

  // Its keys are still there when it is written.
  StatusOr<bool> SortPiece(State* piece) override {
    ASSIGN_OR_RETURN(const bool sorted, SortSome(piece));
    if (sorted) piece->order = std::move(static_cast<Sorting*>(piece->progress.get())->sorted);
    return sorted;
  }
  void AppendKeys(const State& piece, size_t begin, Batch* rows) const override {
    const auto& sorting = static_cast<const Sorting&>(*piece.progress);
    rows->slots.resize(num_slots_ + keys_.size());
    for (size_t i = begin; i < piece.next; ++i) {
      const size_t row = sorting.sort.order()[i];
      for (size_t k = 0; k < keys_.size(); ++k) {
        rows->slots[num_slots_ + k].Append(sorting.keys[row * keys_.size() + k]);
      }
    }
  }
  int64_t most() const override { return limit_ > 0 ? limit_ : INT64_MAX; }

 private:
  bool HasManyTooMany(const State& state) const {
    const size_t size = state.rows.size(), limit = static_cast<size_t>(limit_);
    if (size <= limit) return false;
    if (size >= kBatchRows && (size - kBatchRows) / 2 >= limit) return true;
    const int64_t bytes = state.rows.ByteSize();
    const double share = static_cast<double>(size - limit) / static_cast<double>(size);
    return share * static_cast<double>(bytes) >= kManyBytes && bytes / 2 >= state.pruned_bytes;
  }

  // Rows being sorted: first their keys are gathered, then compared.
  struct Sorting : Progress {
    bool FreeSome(int64_t* freed) override {
      if (!prefixes.empty()) {
        *freed += RoomOf(prefixes);
        FreeRoom(&prefixes);
        return false;
      }
      if (!keys.empty()) left.Add(std::exchange(keys, {}));
      return left.FreeSome(freed) && best.FreeSome(freed);
    }

    std::vector<Position> all;
    Position next_key;        // of the row whose keys come next
    std::vector<Value> keys;  // keys_.size() of each row
    size_t key_bytes = 0;     // for who reads all of them
    // Of the first key of each row, in its direction; of no use unless all are of one kind.
    std::vector<uint64_t> prefixes;
    std::optional<OrderPrefix::Kind> prefix_kind;
    SliceSort sort;
    bool has_begun = false;  // the sort: all keys are there
    bool wide = false;       // what a comparison costs depends on the keys
    bool is_sorted = false;
    std::vector<Position> sorted;
    bool is_over = false;  // what came of it has been taken; what is left is freed
    ValuesLeft left;
    int64_t bytes = 0;  // charged while it lasts
    KeptRows best;      // what stays of `sorted`,
    size_t kept = 0;    // and how many rows of it there are
  };

  // For each row, as long as it is sorted.
  Status ChargeRows(int64_t bytes, Sorting* sorting, State* state) const {
    const int64_t all = BytesOfMany(static_cast<int64_t>(state->rows.size()), bytes);
    RETURN_IF_ERROR(Charge(all, state));
    sorting->bytes += all;
    return OkStatus();
  }

  Status BeginSorting(State* state) const {
    auto sorting = std::make_unique<Sorting>();
    const size_t per_row =
        sizeof(Position) + keys_.size() * sizeof(Value) + sizeof(sorting->prefixes[0]);
    RETURN_IF_ERROR(ChargeRows(static_cast<int64_t>(per_row), sorting.get(), state));
    sorting->all.reserve(state->rows.size());
    sorting->keys.reserve(state->rows.size() * keys_.size());
    sorting->prefixes.reserve(state->rows.size());
    state->progress = std::move(sorting);
    return OkStatus();
  }

  // The keys of the next rows.
  Status AddKeys(State* state, Sorting* sorting) const {
    std::vector<Value> keys;
    size_t bytes = 0;
    Position at = sorting->next_key;
    for (size_t i = 0; i < kSliceRows && bytes < kSliceBytes && state->rows.HasRowAt(&at); ++i) {
      sorting->all.push_back(at);
      for (const plan::SortKey& key : keys_) {
        if (key.direction() == plan::SortKey::SHUFFLE) {
          keys.push_back(Value::Long(static_cast<int64_t>(host_->random().Next() >> 1)));
        } else {
          keys.push_back(SortKeyAt(state->rows.ChunkAt(at), at.row, key));
        }
        bytes += keys.back().FlatBytes();
      }
      ++at.row;
    }
    sorting->next_key = at;
    RETURN_IF_ERROR(ElementsToIds(host_->view(), &keys));
    bytes = 0;
    for (const Value& key : keys) {
      bytes += key.ByteSize() - sizeof(Value);
      sorting->key_bytes += key.FlatBytes();
    }
    RETURN_IF_ERROR(Charge(static_cast<int64_t>(bytes), state));
    sorting->bytes += static_cast<int64_t>(bytes);
    for (size_t i = 0; i < keys.size(); i += keys_.size()) AddPrefix(keys[i], sorting);
    std::move(keys.begin(), keys.end(), std::back_inserter(sorting->keys));
    return OkStatus();
  }

  void AddPrefix(const Value& key, Sorting* sorting) const {
    const OrderPrefix prefix = keys_[0].ordinal() ? OrderPrefix() : OrderPrefixOf(key);
    const bool descends = keys_[0].direction() == plan::SortKey::DESC;
    sorting->prefixes.push_back(descends ? ~prefix.bits : prefix.bits);
    if (!sorting->prefix_kind.has_value()) sorting->prefix_kind = prefix.kind;
    if (sorting->prefix_kind != prefix.kind) sorting->prefix_kind = OrderPrefix::Kind::kNone;
  }

  // A slice of the work; true: the rows' order is in `sorted`.
  StatusOr<bool> SortSome(State* state) const {
    if (state->progress == nullptr) RETURN_IF_ERROR(BeginSorting(state));
    auto* sorting = static_cast<Sorting*>(state->progress.get());
    if (sorting->is_sorted) return true;
    const size_t num_rows = state->rows.size();
    const size_t num_keys = num_rows * keys_.size();
    if (sorting->keys.size() < num_keys) RETURN_IF_ERROR(AddKeys(state, sorting));
    if (sorting->keys.size() < num_keys) return false;
    const std::vector<Value>& keys = sorting->keys;
    if (!sorting->has_begun) {
      RETURN_IF_ERROR(ChargeRows(SliceSort::kBytes, sorting, state));
      sorting->has_begun = true;
      sorting->wide = sorting->key_bytes > kWideBytes * num_keys;
      sorting->sort.Begin(num_rows, sorting->wide);
    }
    size_t work = kSliceWork;
    const bool has_prefixes =
        sorting->prefix_kind.value_or(OrderPrefix::Kind::kNone) != OrderPrefix::Kind::kNone;
    const std::vector<uint64_t>& prefixes = sorting->prefixes;
    const auto less = [&](uint32_t a, uint32_t b) {
      if (has_prefixes && prefixes[a] != prefixes[b]) return prefixes[a] < prefixes[b];
      work -= std::min(work, kLookWork);
      for (size_t k = 0; k < keys_.size(); ++k) {
        const Value& left = keys[a * keys_.size() + k];
        const Value& right = keys[b * keys_.size() + k];
        if (sorting->wide) {
          const size_t bytes = std::min(left.FlatBytes(), right.FlatBytes());
          work -= std::min(work, bytes / kBytesPerWork);
        }
        const std::strong_ordering order = CompareSortKeys(keys_[k], left, right);
        if (order == std::strong_ordering::equal) continue;
        return order == std::strong_ordering::less;
      }
      return false;
    };
    if (!sorting->sort.Step(less, &work)) return false;
    std::vector<Position>& sorted = sorting->sorted;
    if (sorted.capacity() == 0) {
      RETURN_IF_ERROR(ChargeRows(sizeof(Position), sorting, state));
      sorted.reserve(num_rows);
    }
    const auto order = std::span(sorting->sort.order()).subspan(sorted.size());
    for (const uint32_t i : order.first(std::min(order.size(), kSliceWork))) {
      sorted.push_back(sorting->all[i]);
    }
    sorting->is_sorted = sorted.size() == num_rows;
    return sorting->is_sorted;
  }

  // What came of it has been taken. A slice of freeing the rest; true: that was all.
  StatusOr<bool> EndSorting(State* state) const {
    auto* sorting = static_cast<Sorting*>(state->progress.get());
    const bool is_large = sorting->is_over || sorting->bytes >= Leftover::kLeastBytes;
    sorting->is_over = true;
    int64_t freed = 0;
    const bool all = !is_large || sorting->FreeSome(&freed);
    if (all) {
      freed = sorting->bytes;
      state->progress.reset();
    } else {
      freed = std::min(freed, sorting->bytes);
      sorting->bytes -= freed;
    }
    RETURN_IF_ERROR(Charge(-freed, state));
    return all;
  }

  static constexpr int64_t kManyBytes = 4 << 20;          // of rows too many: worth a look
  static constexpr size_t kSliceBytes = 4 * kBatchBytes;  // of keys, gathered in one call
  static constexpr size_t kLookWork = 5;                  // of values that are nowhere near
  static constexpr size_t kWideBytes = 512;               // of a key, on average
  static constexpr size_t kBytesPerWork = 256;            // compared for as much as one comparison

  const std::vector<plan::SortKey> keys_;
  const uint32_t num_slots_;
  const int64_t limit_;
};

// A worker's share of a top-k: of numbers by which rows are ordered first, those that are worse
// than so many that came before are no use to anybody. All other rows pass. One that only looks
// counts none of its rows, as they may lack another key: the bound tells what it drops.
class TopFilterOp : public StreamOperator {
 public:
  TopFilterOp(const plan::Order& op, OperatorHost* host)
      : slot_(op.keys(0).slot()),
        descending_(op.keys(0).direction() == plan::SortKey::DESC),
        looks_(op.looks()),
        limit_(static_cast<size_t>(op.limit())),
        bound_(op.bound() == 0 ? &own_bound_ : &host->top_bounds()[op.bound()]) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    const Column* keys = input.Has(slot_) ? &input.slots[slot_] : nullptr;
    if (keys == nullptr || keys->has_absent() || !IsOfKind(keys->kind())) {
      output->identity = true;
    } else {
      Pass(*keys, output);
    }
    return OkStatus();
  }
  bool keeps_cursor() const override { return false; }

 private:
  // Whether keys of this kind are compared: those of the first batch are.
  bool IsOfKind(Column::Kind kind) {
    if (looks_) kind_ = bound_->kind;
    const bool is_number = kind == Column::Kind::kInt || kind == Column::Kind::kLong;
    if (!looks_ && kind_ == Column::Kind::kEmpty && is_number) kind_ = kind;
    return is_number && kind == kind_;
  }
  void Pass(const Column& keys, OpOutput* output) {
    if (kind_ == Column::Kind::kInt) {
      PassNumbers(keys.ints(), output);
    } else {
      PassNumbers(keys.longs(), output);
    }
    output->identity = output->origin.size() == keys.size();
  }
  template <typename Number>
  void PassNumbers(std::span<const Number> keys, OpOutput* output) {
    for (size_t row = 0; row < keys.size(); ++row) {
      if (looks_ || best_.size() == limit_) row = NextThatPasses(keys, row);
      if (row == keys.size()) return;
      if (!looks_) Count(Placed(keys[row]));
      output->origin.push_back(static_cast<uint32_t>(row));
    }
  }
  void Count(int64_t placed) {
    if (best_.size() == limit_) best_.pop();
    best_.push(placed);
    if (best_.size() == limit_) *bound_ = {kind_, best_.top()};
  }
  // Descending order is the ascending one of the complements, which has no overflow.
  int64_t Placed(int64_t key) const { return descending_ ? ~key : key; }
  // From `row` on; the number of keys: none. Most rows are worse, so many are looked at at once.
  template <typename Number>
  size_t NextThatPasses(std::span<const Number> keys, size_t row) const {
    constexpr size_t kAtOnce = 32;
    const int64_t worst = bound_->worst;
    const int64_t flip = descending_ ? -1 : 0;
    for (; row + kAtOnce <= keys.size(); row += kAtOnce) {
      bool any = false;
      for (size_t i = 0; i < kAtOnce; ++i) any |= (int64_t{keys[row + i]} ^ flip) <= worst;
      if (any) break;
    }
    while (row < keys.size() && Placed(keys[row]) > worst) ++row;
    return row;
  }

  const uint32_t slot_;
  const bool descending_;
  const bool looks_;
  const size_t limit_;
  TopBound own_bound_;
  TopBound* const bound_;
  Column::Kind kind_ = Column::Kind::kEmpty;  // of the keys that are compared
  std::priority_queue<int64_t> best_;         // the worst of them on top
};

class TailOp : public CollectOp {
 public:
  TailOp(int64_t count, OperatorHost* host) : CollectOp(host), count_(std::max<int64_t>(count, 0)) {
    SpillBy(&kAsTheyCame, 0);
  }

 protected:
  StatusOr<bool> Prune(State* state) override {
    RETURN_IF_ERROR(Charge(-state->rows.DropOldest(static_cast<size_t>(count_)), state));
    return false;
  }

  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      ASSIGN_OR_RETURN(const bool listed, ListAll(state));
      if (!listed) return false;
      state->next = state->order.size();
      state->progress = std::make_unique<Counting>(count_);
    }
    int64_t* left = &static_cast<Counting*>(state->progress.get())->left;
    for (size_t work = kSliceWork; *left > 0 && state->next > 0; --work) {
      if (work == 0) return false;
      *left -= state->rows.BulkAt(state->order[--state->next]);
    }
    state->skip = std::max<int64_t>(-*left, 0);
    state->progress.reset();
    return true;
  }
  bool Abandon(State* state) override { return AbandonOrder(state); }
  int64_t newest() const override { return count_; }

 private:
  // From the last row back.
  struct Counting : Progress {
    explicit Counting(int64_t count) : left(count) {}
    int64_t left;  // traversers that are wanted, of rows before `next`
  };

  const int64_t count_;
};

// Draws `count` traversers without replacement. Each gets the key E/w of its weight w, E being
// exponentially distributed; the smallest keys win (Efraimidis and Spirakis, 2006, in logarithms).
// Of the n traversers of a row they come in order: the next one's E/w is an E/(w * those left) more
// (Renyi, 1953), so that a row needs no more draws than can win. It is drawn as rows come, and what
// has lost goes once it is half of what is kept.
class SampleOp : public CollectOp {
 public:
  SampleOp(const plan::Sample& op, OperatorHost* host)
      : CollectOp(host),
        count_(static_cast<size_t>(std::max<int64_t>(op.count(), 0))),
        weight_slot_(op.weight_slot()) {}

 protected:
  bool Select(const State&, const Batch&, size_t, uint32_t, std::vector<uint32_t>*) override {
    return count_ == 0;  // picks none
  }

  StatusOr<bool> Prune(State* state) override {
    ASSIGN_OR_RETURN(Drawing* const drawing, DrawSome(state));
    if (drawing == nullptr) return true;
    const size_t kept = drawing->wins.size();
    if (!drawing->prunes && (kept < kBatchRows || (kept - kBatchRows) / 2 < drawing->best.size())) {
      return false;
    }
    return PruneSome(state, drawing);
  }

  StatusOr<bool> Arrange(State* state) override {
    ASSIGN_OR_RETURN(Drawing* const drawing, DrawSome(state));
    if (drawing == nullptr) return false;
    ASSIGN_OR_RETURN(const bool listed, ListAll(state));
    if (!listed) return false;
    const size_t kept = state->order.size();
    if (!drawing->gives) {
      RETURN_IF_ERROR(Charge(BytesOfMany(static_cast<int64_t>(kept), sizeof(int64_t)), state));
      state->bulk.reserve(kept);
      drawing->next = 0;
      drawing->gives = true;
    }
    size_t* const row = &drawing->next;
    for (const size_t end = std::min(kept, *row + kSliceWork); *row < end; ++*row) {
      if (drawing->wins[*row] == 0) continue;
      state->order[state->bulk.size()] = state->order[*row];
      state->bulk.push_back(drawing->wins[*row]);
    }
    if (*row < kept) return false;
    state->order.resize(state->bulk.size());
    const int64_t drawn = drawing->bytes;
    state->progress.reset();
    RETURN_IF_ERROR(Charge(-drawn, state));
    return true;
  }

 private:
  struct Draw {
    double key;
    uint64_t row;  // its number, as rows come
    bool operator<(const Draw& other) const { return key < other.key; }
  };
  struct Drawing : Progress {
    std::vector<Draw> best;         // a heap, the worst of them first
    std::vector<uint64_t> numbers;  // of the rows that are kept,
    std::vector<int64_t> wins;      // and how many traversers of each are among the best
    uint64_t num_rows = 0;          // that have come
    Position at;                    // of the row that is drawn for,
    bool has_begun = false;         // for which there are its number and its wins,
    int64_t copy = 0;               // of its bulk
    double key = 0;                 // of its last one
    int64_t bytes = 0;              // charged for these lists
    bool prunes = false;
    bool gives = false;  // the rows before `next` have been looked at for the last time
    KeptRows winners;    // of the rows before `from`, the `next`th
    Position from;
    size_t next = 0;
    int64_t charged = 0;  // for them, while the others are there as well
  };

  // A slice of drawing for the rows that have come; nullptr: there are more.
  StatusOr<Drawing*> DrawSome(State* state) {
    if (state->progress == nullptr) state->progress = std::make_unique<Drawing>();
    auto* drawing = static_cast<Drawing*>(state->progress.get());
    const int64_t before = state->bytes;
    const StatusOr<bool> drawn = DrawEach(state, drawing);
    drawing->bytes += state->bytes - before;
    if (!drawn.ok()) return drawn.status();
    return *drawn ? drawing : nullptr;
  }
  StatusOr<bool> DrawEach(State* state, Drawing* drawing) {
    ChargeAhead charge(host_, &state->bytes);
    // One that wins sinks into a heap: some looks at memory.
    for (size_t work = kSliceRows / 4; state->rows.HasRowAt(&drawing->at); --work) {
      if (work == 0) return false;
      RETURN_IF_ERROR(DrawNext(*state, drawing, &charge));
    }
    return true;
  }

  // One traverser more of the row, or on to the next row.
  Status DrawNext(const State& state, Drawing* drawing, ChargeAhead* charge) {
    if (!drawing->has_begun) {
      RETURN_IF_ERROR(MakeRoom(&drawing->numbers, 1, charge));
      RETURN_IF_ERROR(MakeRoom(&drawing->wins, 1, charge));
      drawing->numbers.push_back(drawing->num_rows++);
      drawing->wins.push_back(0);
      drawing->has_begun = true;
    }
    ASSIGN_OR_RETURN(const double weight, WeightAt(state, drawing->at));
    const int64_t left = state.rows.BulkAt(drawing->at) - drawing->copy;
    drawing->key = weight > 0 ? drawing->key - std::log(host_->random().Double()) /
                                                   (weight * static_cast<double>(left))
                              : std::numeric_limits<double>::infinity();
    std::vector<Draw>& best = drawing->best;
    const bool full = best.size() == count_;
    const bool wins = !full || drawing->key < best.front().key;
    if (wins) {
      RETURN_IF_ERROR(MakeRoom(&best, full ? 0 : 1, charge));
      if (full) {
        std::pop_heap(best.begin(), best.end());
        --drawing->wins[IndexOf(best.back().row, *drawing)];
        best.pop_back();
      }
      best.push_back({drawing->key, drawing->numbers.back()});
      std::push_heap(best.begin(), best.end());
      ++drawing->wins.back();
    }
    if (wins && left > 1) {
      ++drawing->copy;
      return OkStatus();
    }
    ++drawing->at.row;
    drawing->has_begun = false;
    drawing->copy = 0;
    drawing->key = 0;
    return OkStatus();
  }
  static size_t IndexOf(uint64_t row, const Drawing& drawing) {
    const std::vector<uint64_t>& numbers = drawing.numbers;
    return static_cast<size_t>(std::lower_bound(numbers.begin(), numbers.end(), row) -
                               numbers.begin());
  }

  // A slice of leaving rows behind that have lost. True: there are more.
  StatusOr<bool> PruneSome(State* state, Drawing* drawing) const {
    const size_t all = drawing->wins.size();
    if (!drawing->prunes) {
      const double share = static_cast<double>(drawing->best.size()) / static_cast<double>(all);
      const auto bytes = static_cast<int64_t>(share * static_cast<double>(state->rows.ByteSize()));
      RETURN_IF_ERROR(Charge(bytes, state));
      drawing->charged = bytes;
      drawing->from = {};
      drawing->next = 0;
      drawing->prunes = true;
    }
    std::vector<Position> won;
    size_t kept = drawing->winners.size();
    for (const size_t end = std::min(all, drawing->next + kSliceRows); drawing->next < end;) {
      CHECK(state->rows.HasRowAt(&drawing->from));
      if (drawing->wins[drawing->next] > 0) {
        won.push_back(drawing->from);
        drawing->numbers[kept] = drawing->numbers[drawing->next];
        drawing->wins[kept++] = drawing->wins[drawing->next];
      }
      ++drawing->next;
      ++drawing->from.row;
    }
    size_t added = 0;
    drawing->winners.AddSome(state->rows, won, &added, won.size());
    if (drawing->next < all) return true;
    drawing->numbers.resize(kept);
    drawing->wins.resize(kept);
    drawing->at = drawing->winners.End();
    drawing->prunes = false;
    std::swap(state->rows, drawing->winners);
    const KeptRows gone = std::exchange(drawing->winners, {});
    RETURN_IF_ERROR(Charge(state->rows.ByteSize() - gone.ByteSize() - drawing->charged, state));
    return false;
  }

  StatusOr<double> WeightAt(const State& state, Position at) const {
    if (weight_slot_ == 0) return 1.0;
    const Value value = state.rows.Get(at, weight_slot_);
    if (value.is_number()) return NumberOf(value);
    return InvalidArgument("sample().by() needs numbers to weigh traversers with.");
  }

  static double NumberOf(const Value& value) {
    if (value.kind() == ValueKind::kDouble || value.kind() == ValueKind::kFloat) {
      return value.AsDouble();
    }
    return value.kind() <= ValueKind::kLong ? static_cast<double>(value.AsInteger()) : 1.0;
  }

  const size_t count_;
  const uint32_t weight_slot_;
};

class BarrierOp : public CollectOp {
 public:
  explicit BarrierOp(OperatorHost* host) : CollectOp(host) { SpillBy(&kAsTheyCame, 0); }

 protected:
  StatusOr<bool> Arrange(State* state) override { return ListAll(state); }
  bool Abandon(State* state) override { return AbandonOrder(state); }
};

template <typename Op, typename... Args>
OperatorBundle Bundle(Args&&... args) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<Op>(std::forward<Args>(args)...);
  return bundle;
}

}  // namespace

StatusOr<OperatorBundle> MakeOrder(const plan::Order& op, uint32_t num_slots, OperatorHost* host) {
  for (const plan::SortKey& key : op.keys()) {
    if (key.slot() >= num_slots) return Internal("The plan sorts by a slot that does not exist.");
  }
  if (op.stage() == plan::MERGED) return OperatorBundle();  // the driver's
  if (op.stage() == plan::PARTIAL) {
    if (op.keys_size() == 0 || op.limit() <= 0) return Internal("The plan keeps the first of all.");
    OperatorBundle bundle;
    bundle.stream = std::make_unique<TopFilterOp>(op, host);
    return bundle;
  }
  return Bundle<OrderOp>(op, num_slots, host);
}

OperatorBundle MakeTail(const plan::Tail& op, OperatorHost* host) {
  return Bundle<TailOp>(op.count(), host);
}

OperatorBundle MakeSample(const plan::Sample& op, OperatorHost* host) {
  return Bundle<SampleOp>(op, host);
}

OperatorBundle MakeBarrier(OperatorHost* host) { return Bundle<BarrierOp>(host); }

}  // namespace koios::engine
