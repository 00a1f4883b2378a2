// The formats with columns: table and csv. The columns are the keys of the maps among the first
// kSampledRows results, in order of first sight; results that are no maps stand in "result".
#pragma once

#include <memory>
#include <ostream>

#include "client/print/printer.h"

namespace koios::client {

std::unique_ptr<ResultPrinter> MakeTablePrinter(std::ostream& out);
std::unique_ptr<ResultPrinter> MakeCsvPrinter(std::ostream& out);

}  // namespace koios::client
