// The table of scalar functions that a plan's expressions may call. Adding one is a row in one of
// the lists that are joined here.
#include <map>
#include <string_view>

#include "engine/expr/compare_functions.h"
#include "engine/expr/effect_functions.h"
#include "engine/expr/element_functions.h"
#include "engine/expr/list_functions.h"
#include "engine/expr/map_functions.h"
#include "engine/expr/path_functions.h"

namespace koios::engine {

const ScalarFunction* FindFunction(const std::string& name) {
  static const std::map<std::string_view, const ScalarFunction*> kTable = [] {
    std::map<std::string_view, const ScalarFunction*> functions;
    for (const auto* list : {&CompareFunctions(), &ElementFunctions(), &MapFunctions(),
                             &ListFunctions(), &PathFunctions(), &EffectFunctions()}) {
      for (const ScalarFunction& function : *list) functions[function.name] = &function;
    }
    return functions;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace koios::engine
