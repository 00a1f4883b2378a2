#include "client/print/column_printer.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/print/text_width.h"
#include "core/print/value_print.h"

namespace koios::client {
namespace {

constexpr char kResultColumn[] = "result";

// A cell of one row. `number` cells stand to the right in a table.
struct Cell {
  std::string text;
  bool number = false;
};

// Gathers the first rows, then knows the columns, then hands out every row as cells.
class ColumnPrinter : public ResultPrinter {
 public:
  void Row(const Value& value) final {
    if (started_) {
      PrintRow(Cells(value));
      return;
    }
    sample_.push_back(value);
    if (sample_.size() == kSampledRows) Start();
  }
  void Finish() final {
    if (!started_) Start();
    End();
  }
  uint64_t num_left_out() const final { return num_left_out_; }

 protected:
  // Once, before the first row; `rows` are the sampled ones.
  virtual void PrintHeader(const std::vector<std::string>& columns,
                           const std::vector<std::vector<Cell>>& rows) = 0;
  virtual void PrintRow(const std::vector<Cell>& cells) = 0;
  virtual void End() {}
  virtual Cell MakeCell(const Value& value) const = 0;

 private:
  void Start() {
    started_ = true;
    for (const Value& value : sample_) {
      if (value.kind() != ValueKind::kMap) {
        AddColumn(kResultColumn, &result_column_);
        continue;
      }
      for (const auto& [key, item] : value.AsMap()) {
        size_t column = kNoColumn;
        AddKey(PrintValue(key), &column);
      }
    }
    std::vector<std::vector<Cell>> rows;
    rows.reserve(sample_.size());
    for (const Value& value : sample_) rows.push_back(Cells(value));
    sample_.clear();
    PrintHeader(columns_, rows);
    for (const auto& row : rows) PrintRow(row);
  }

  void AddColumn(const std::string& name, size_t* column) {
    if (*column != kNoColumn) return;
    *column = columns_.size();
    columns_.push_back(name);
  }
  void AddKey(const std::string& key, size_t* column) {
    const auto [it, added] = key_columns_.try_emplace(key, columns_.size());
    *column = it->second;
    if (added) columns_.push_back(key);
  }

  std::vector<Cell> Cells(const Value& value) {
    std::vector<Cell> cells(columns_.size());
    if (value.kind() != ValueKind::kMap) {
      Put(result_column_, value, &cells);
      return cells;
    }
    for (const auto& [key, item] : value.AsMap()) {
      const auto it = key_columns_.find(PrintValue(key));
      Put(it == key_columns_.end() ? kNoColumn : it->second, item, &cells);
    }
    return cells;
  }
  void Put(size_t column, const Value& value, std::vector<Cell>* cells) {
    if (column == kNoColumn) {
      ++num_left_out_;
    } else {
      (*cells)[column] = MakeCell(value);
    }
  }

  static constexpr size_t kNoColumn = static_cast<size_t>(-1);
  bool started_ = false;
  std::vector<Value> sample_;
  std::vector<std::string> columns_;
  std::unordered_map<std::string, size_t> key_columns_;
  size_t result_column_ = kNoColumn;
  uint64_t num_left_out_ = 0;
};

class TablePrinter final : public ColumnPrinter {
 public:
  explicit TablePrinter(std::ostream& out) : out_(out) {}

 protected:
  Cell MakeCell(const Value& value) const override {
    return {EscapedControls(PrintValue(value)), value.is_number()};
  }

  void PrintHeader(const std::vector<std::string>& columns,
                   const std::vector<std::vector<Cell>>& rows) override {
    std::vector<Cell> header;
    for (const std::string& column : columns) header.push_back({EscapedControls(column), false});
    widths_.assign(columns.size(), 0);
    Widen(header);
    for (const auto& row : rows) Widen(row);
    if (columns.empty()) return;
    PrintRow(header);
    for (size_t i = 0; i < widths_.size(); ++i) {
      out_ << (i > 0 ? "-+-" : "") << std::string(widths_[i], '-');
    }
    out_ << '\n';
  }

  void PrintRow(const std::vector<Cell>& cells) override {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t width = DisplayWidth(cells[i].text);
      const std::string padding(widths_[i] > width ? widths_[i] - width : 0, ' ');
      if (i > 0) line += " | ";
      line += cells[i].number ? padding + cells[i].text : cells[i].text + padding;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out_ << line << '\n';
  }

 private:
  void Widen(const std::vector<Cell>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths_[i] = std::max(widths_[i], DisplayWidth(cells[i].text));
    }
  }

  std::ostream& out_;
  std::vector<size_t> widths_;
};

class CsvPrinter final : public ColumnPrinter {
 public:
  explicit CsvPrinter(std::ostream& out) : out_(out) {}

 protected:
  // Null and a missing key are both empty; an empty string is "".
  Cell MakeCell(const Value& value) const override {
    switch (value.kind()) {
      case ValueKind::kNull:
        return {};
      case ValueKind::kList:
      case ValueKind::kSet:
      case ValueKind::kMap:
      case ValueKind::kPath:
        return {Quoted(Json(value)), false};
      case ValueKind::kString:
        return {value.AsString().empty() ? "\"\"" : Quoted(value.AsString()), false};
      default:
        return {Quoted(PrintValue(value)), false};
    }
  }

  void PrintHeader(const std::vector<std::string>& columns,
                   const std::vector<std::vector<Cell>>&) override {
    if (columns.empty()) return;
    for (size_t i = 0; i < columns.size(); ++i) out_ << (i > 0 ? "," : "") << Quoted(columns[i]);
    out_ << "\n";
  }

  void PrintRow(const std::vector<Cell>& cells) override {
    for (size_t i = 0; i < cells.size(); ++i) out_ << (i > 0 ? "," : "") << cells[i].text;
    out_ << "\n";
  }

 private:
  static std::string Json(const Value& value) {
    std::string text;
    PrintJson(value, &text);
    return text;
  }
  static std::string Quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"') quoted += '"';
      quoted += c;
    }
    return quoted + "\"";
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<ResultPrinter> MakeTablePrinter(std::ostream& out) {
  return std::make_unique<TablePrinter>(out);
}
std::unique_ptr<ResultPrinter> MakeCsvPrinter(std::ostream& out) {
  return std::make_unique<CsvPrinter>(out);
}

}  // namespace koios::client
