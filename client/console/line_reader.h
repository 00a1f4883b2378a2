// Where a console's lines come from: a terminal with editing, history and completion, or a stream.
#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace koios::client {

class LineReader {
 public:
  enum class Outcome { kLine, kEnd, kInterrupted };
  virtual ~LineReader() = default;
  // One line without its end; of an interrupted one what was typed of it, on a terminal.
  virtual Outcome Read(const std::string& prompt, std::string* line) = 0;
  virtual bool is_interactive() const = 0;
  // Whether what comes next is here already, in a script or in pasted text, and starts with
  // `character` behind blanks, comments and empty lines.
  virtual bool ContinuesWith(char character) = 0;
  // Forgets what was looked at: whoever typed it has given it up.
  virtual void DropAhead() {}
};

// What may stand instead of the last `replaced` bytes of a text.
struct Completions {
  size_t replaced = 0;
  std::vector<std::string> words;
};
using CompleteFunction = std::function<Completions(std::string_view text_before_cursor)>;

std::unique_ptr<LineReader> MakeStreamReader(std::istream& in);

struct TerminalOptions {
  std::string history_path;  // empty: none is kept
  CompleteFunction complete;
  int interrupt_fd = -1;  // readable: the line is given up (Interrupts::prompt_fd)
};
// Over libedit, on the process's stdin and stdout. One may exist at a time.
std::unique_ptr<LineReader> MakeTerminalReader(const TerminalOptions& options);

// $XDG_STATE_HOME/koios/history or ~/.local/state/koios/history; empty when neither is known.
std::string DefaultHistoryPath();

}  // namespace koios::client
