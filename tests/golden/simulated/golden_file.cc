#include "tests/golden/simulated/golden_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/testing/make_value.h"

namespace koios::golden {
namespace {

constexpr std::string_view kParameters = "with: ";
constexpr std::string_view kSeparator = "----";

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// As tests/driver/client.py: integers of 32 bits where they fit. The depth is the test file's.
Value FromJson(const nlohmann::ordered_json& json) {
  if (json.is_boolean()) return Value::Bool(json.get<bool>());
  if (json.is_number_integer()) {
    const auto number = json.get<int64_t>();
    return number == static_cast<int32_t>(number) ? Value::Int(static_cast<int32_t>(number))
                                                  : Value::Long(number);
  }
  if (json.is_number()) return Value::Double(json.get<double>());
  if (json.is_string()) return Value::String(json.get<std::string>());
  if (json.is_array()) {
    ValueList items;
    for (const auto& item : json) items.push_back(FromJson(item));
    return ListOf(std::move(items));
  }
  if (json.is_object()) {
    ValueMap entries;
    for (const auto& [key, item] : json.items()) {
      entries.emplace_back(Value::String(key), FromJson(item));
    }
    return MapOf(std::move(entries));
  }
  return Value::Null();
}

class Reader {
 public:
  Status Read(const std::string& path) {
    std::ifstream in(path);
    if (!in) return NotFound("There is no file " + path + ".");
    std::string line;
    while (std::getline(in, line)) {
      ++number_;
      if (Status read = ReadLine(Trimmed(line), line); !read.ok()) {
        return InvalidArgument(path + ":" + std::to_string(number_) + ": " + MessageOf(read));
      }
    }
    return EndCase();
  }
  File Take() { return std::move(file_); }

 private:
  Status ReadLine(const std::string& trimmed, const std::string& line) {
    if (trimmed.empty()) return EndCase();
    if (in_expected_) {
      case_.expected.push_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
      return OkStatus();
    }
    if (!in_case_ && ReadHeader(trimmed)) return OkStatus();
    if (in_case_ && trimmed.starts_with(kSeparator)) {
      std::istringstream flags(trimmed.substr(kSeparator.size()));
      for (std::string flag; flags >> flag;) case_.flags.push_back(flag);
      in_expected_ = true;
      return OkStatus();
    }
    if (!in_case_) case_.line = number_;
    in_case_ = true;
    if (trimmed.starts_with(kParameters)) return ReadParameters(trimmed);
    query_.push_back(line);
    return OkStatus();
  }

  bool ReadHeader(const std::string& line) {
    if (line.starts_with("#")) return true;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) return false;
    const std::string name = line.substr(0, colon);
    if (name == "graph") file_.graph = Trimmed(line.substr(colon + 1));
    if (name == "setup") file_.setup.push_back(Trimmed(line.substr(colon + 1)));
    // Nothing to clean up: here each case has the graph as it was.
    return name == "graph" || name == "setup" || name == "cleanup";
  }

  Status ReadParameters(const std::string& line) {
    const auto json = nlohmann::ordered_json::parse("{" + line.substr(kParameters.size()) + "}",
                                                    nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return InvalidArgument("these parameters are no JSON");
    for (const auto& [name, value] : json.items()) case_.parameters[name] = FromJson(value);
    return OkStatus();
  }

  Status EndCase() {
    if (in_case_ && !in_expected_) return InvalidArgument("a query without ----");
    if (in_case_) {
      std::string statement;
      for (const std::string& line : query_) {
        case_.query += (case_.query.empty() ? "" : " ") + Trimmed(line);
        statement += line + "\n";
        if (!line.ends_with(';')) continue;
        case_.statements.push_back(Trimmed(statement.substr(0, statement.size() - 2)));
        statement.clear();
      }
      if (!Trimmed(statement).empty()) case_.statements.push_back(Trimmed(statement));
      file_.cases.push_back(std::move(case_));
    }
    case_ = Case();
    query_.clear();
    in_case_ = in_expected_ = false;
    return OkStatus();
  }

  File file_;
  Case case_;
  std::vector<std::string> query_;
  size_t number_ = 0;
  bool in_case_ = false;
  bool in_expected_ = false;
};

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// "head ... words ... words": the head as it is, then the words in this order, in any case.
bool AgreesWithError(const std::string& expected, const std::string& found) {
  constexpr std::string_view kGap = " ... ";
  const std::string text = Lower(found);
  size_t at = 0;
  for (size_t begin = 0; begin <= expected.size();) {
    const size_t end = std::min(expected.find(kGap, begin), expected.size());
    const std::string piece = expected.substr(begin, end - begin);
    if (begin == 0) {
      if (!found.starts_with(piece)) return false;
      at = piece.size();
    } else {
      at = text.find(Lower(piece), at);
      if (at == std::string::npos) return false;
    }
    begin = end + kGap.size();
  }
  return true;
}

}  // namespace

bool Case::HasFlag(const std::string& flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

bool Case::WantsError() const { return !expected.empty() && expected[0].starts_with("error:"); }

bool Case::WantsPlan() const { return !expected.empty() && expected[0] == "plan:"; }

StatusOr<File> ReadFile(const std::string& path) {
  Reader reader;
  RETURN_IF_ERROR(reader.Read(path));
  return reader.Take();
}

bool Agrees(const Case& golden, std::vector<std::string> found) {
  if (golden.WantsError()) {
    return found.size() == 1 && AgreesWithError(golden.expected[0], found[0]);
  }
  std::vector<std::string> expected = golden.expected;
  if (!golden.HasFlag("ordered")) {
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
  }
  const auto any = std::find(golden.flags.begin(), golden.flags.end(), "any");
  if (any == golden.flags.end() || any + 1 == golden.flags.end()) return found == expected;
  return std::to_string(found.size()) == any[1] &&
         std::includes(expected.begin(), expected.end(), found.begin(), found.end());
}

}  // namespace koios::golden
