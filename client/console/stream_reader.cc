#include <cstdlib>
#include <optional>
#include <utility>

#include "client/console/line_reader.h"

namespace koios::client {
namespace {

class StreamReader final : public LineReader {
 public:
  explicit StreamReader(std::istream& in) : in_(in) {}
  Outcome Read(const std::string&, std::string* line) override {
    if (ahead_.has_value()) {
      *line = *std::exchange(ahead_, std::nullopt);
      return Outcome::kLine;
    }
    if (!std::getline(in_, *line)) return Outcome::kEnd;
    if (!line->empty() && line->back() == '\r') line->pop_back();
    return Outcome::kLine;
  }
  bool is_interactive() const override { return false; }
  bool NextLineStartsWith(char character) override {
    std::string line;
    if (Read("", &line) == Outcome::kEnd) return false;
    const size_t first = line.find_first_not_of(" \t");
    const bool starts = first != std::string::npos && line[first] == character;
    ahead_ = std::move(line);
    return starts;
  }

 private:
  std::istream& in_;
  std::optional<std::string> ahead_;  // was looked at
};

}  // namespace

std::unique_ptr<LineReader> MakeStreamReader(std::istream& in) {
  return std::make_unique<StreamReader>(in);
}

std::string DefaultHistoryPath() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/koios/history";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/koios/history";
  return "";
}

}  // namespace koios::client
