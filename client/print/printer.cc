#include "client/print/printer.h"

#include "client/print/column_printer.h"
#include "client/print/text_width.h"
#include "core/print/value_print.h"
#include "core/text/name_distance.h"

namespace koios::client {
namespace {

class GremlinPrinter final : public ResultPrinter {
 public:
  GremlinPrinter(std::ostream& out, const PrinterOptions& options) : out_(out), options_(options) {}
  void Row(const Value& value) override {
    const std::string text = PrintValue(value);
    out_ << "==>" << (options_.escape_controls ? EscapedControls(text) : text) << '\n';
  }
  void Finish() override {}

 private:
  std::ostream& out_;
  const PrinterOptions options_;
};

class JsonLinesPrinter final : public ResultPrinter {
 public:
  explicit JsonLinesPrinter(std::ostream& out) : out_(out) {}
  void Row(const Value& value) override {
    std::string text;
    PrintJson(value, &text);
    out_ << text << '\n';
  }
  void Finish() override {}

 private:
  std::ostream& out_;
};

class JsonArrayPrinter final : public ResultPrinter {
 public:
  explicit JsonArrayPrinter(std::ostream& out) : out_(out) {}
  void Row(const Value& value) override {
    std::string text = any_ ? ",\n" : "[\n";
    PrintJson(value, &text);
    out_ << text;
    any_ = true;
  }
  void Finish() override { out_ << (any_ ? "\n]\n" : "[]\n"); }

 private:
  std::ostream& out_;
  bool any_ = false;
};

struct FormatRow {
  Format format;
  std::string_view name;
};
constexpr FormatRow kFormats[] = {
    {Format::kGremlin, "gremlin"}, {Format::kTable, "table"}, {Format::kJson, "json"},
    {Format::kJsonl, "jsonl"},     {Format::kCsv, "csv"},
};

}  // namespace

StatusOr<Format> ParseFormat(std::string_view name) {
  for (const FormatRow& row : kFormats) {
    if (row.name == name) return row.format;
  }
  const auto nearest = NearestName(name, FormatNames());
  return InvalidArgument("There is no output format '" + std::string(name.substr(0, 50)) + "'; " +
                         (nearest ? "did you mean " + *nearest + "? The" : "the") +
                         " formats are: " + std::string(kFormatNames) + ".");
}

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const FormatRow& row : kFormats) names.emplace_back(row.name);
  return names;
}

std::string_view FormatName(Format format) {
  for (const FormatRow& row : kFormats) {
    if (row.format == format) return row.name;
  }
  return "?";
}

std::unique_ptr<ResultPrinter> MakePrinter(Format format, std::ostream& out,
                                           const PrinterOptions& options) {
  switch (format) {
    case Format::kGremlin:
      return std::make_unique<GremlinPrinter>(out, options);
    case Format::kTable:
      return MakeTablePrinter(out);
    case Format::kJson:
      return std::make_unique<JsonArrayPrinter>(out);
    case Format::kJsonl:
      return std::make_unique<JsonLinesPrinter>(out);
    case Format::kCsv:
      return MakeCsvPrinter(out);
  }
  return nullptr;
}

}  // namespace koios::client
