#include <cstdlib>
#include <deque>
#include <utility>

#include "client/console/comments.h"
#include "client/console/line_reader.h"

namespace koios::client {
namespace {

class StreamReader final : public LineReader {
 public:
  explicit StreamReader(std::istream& in) : in_(in) {}
  Outcome Read(const std::string&, std::string* line) override {
    if (!ahead_.empty()) {
      *line = std::move(ahead_.front());
      ahead_.pop_front();
      return Outcome::kLine;
    }
    return ReadLine(line) ? Outcome::kLine : Outcome::kEnd;
  }
  bool is_interactive() const override { return false; }
  bool ContinuesWith(char character) override {
    constexpr size_t kMostLines = 1000;
    std::string text;
    for (size_t i = 0; i < kMostLines; ++i) {
      std::string line;
      if (i == ahead_.size()) {
        if (!ReadLine(&line)) return false;
        ahead_.push_back(std::move(line));
      }
      text += ahead_[i] + "\n";
      const size_t start = LeadingComments(text).bytes;
      if (start < text.size()) return text[start] == character;
    }
    return false;
  }

 private:
  bool ReadLine(std::string* line) {
    if (!std::getline(in_, *line)) return false;
    if (!line->empty() && line->back() == '\r') line->pop_back();
    return true;
  }

  std::istream& in_;
  std::deque<std::string> ahead_;  // were looked at
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
