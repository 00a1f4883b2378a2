// Joins the rows of core/plan/function_table.h with the kernels, which are listed with their
// families.
#include <map>
#include <string_view>

#include "engine/expr/cast_functions.h"
#include "engine/expr/collection_functions.h"
#include "engine/expr/compare_functions.h"
#include "engine/expr/detached_functions.h"
#include "engine/expr/effect_functions.h"
#include "engine/expr/element_functions.h"
#include "engine/expr/list_functions.h"
#include "engine/expr/map_functions.h"
#include "engine/expr/math_functions.h"
#include "engine/expr/path_functions.h"
#include "engine/expr/text_functions.h"

namespace koios::engine {

const std::vector<const ScalarKernel*>& ScalarKernels() {
  static const std::vector<const ScalarKernel*> kAll = [] {
    std::vector<const ScalarKernel*> kernels;
    for (const auto* family :
         {&CompareFunctions(), &ElementFunctions(), &MapFunctions(), &ListFunctions(),
          &CollectionFunctions(), &TextFunctions(), &CastFunctions(), &MathFunctions(),
          &PathFunctions(), &EffectFunctions(), &DetachedFunctions()}) {
      for (const ScalarKernel& kernel : *family) kernels.push_back(&kernel);
    }
    return kernels;
  }();
  return kAll;
}

ScalarFunction FindFunction(std::string_view name) {
  static const std::map<std::string_view, ScalarFunction> kTable = [] {
    std::map<std::string_view, ScalarFunction> functions;
    for (const ScalarKernel* kernel : ScalarKernels()) {
      const plan::FunctionTraits* traits = plan::FindFunction(kernel->name);
      if (traits != nullptr) functions[traits->name] = {traits, kernel};
    }
    return functions;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? ScalarFunction() : found->second;
}

}  // namespace koios::engine
