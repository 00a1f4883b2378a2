#include <cstdlib>

#include "client/console/line_reader.h"

namespace koios::client {
namespace {

class StreamReader final : public LineReader {
 public:
  explicit StreamReader(std::istream& in) : in_(in) {}
  Outcome Read(const std::string&, std::string* line) override {
    if (!std::getline(in_, *line)) return Outcome::kEnd;
    if (!line->empty() && line->back() == '\r') line->pop_back();
    return Outcome::kLine;
  }
  bool is_interactive() const override { return false; }

 private:
  std::istream& in_;
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
