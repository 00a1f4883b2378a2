// ValuesLeft: values that nobody needs any more. They are taken apart where nobody else has them.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "core/column.h"
#include "core/value.h"
#include "engine/account/leftover.h"

namespace koios::engine {

class ValuesLeft final : public Leftover {
 public:
  void Add(ValueList list) { lists_.emplace_back(std::move(list)); }
  void Add(ValueMap map) { lists_.emplace_back(std::move(map)); }
  void Add(const Column& column);  // what values it has
  bool FreeSome(int64_t* freed) override;

 private:
  // Takes the value apart, or frees it. Returns how many bytes of it are free, beside its place.
  size_t Free(Value value);

  std::vector<std::variant<ValueList, ValueMap>> lists_;  // the last one is freed first
};

}  // namespace koios::engine
