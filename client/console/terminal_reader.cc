// The terminal's line reader, over libedit (BSD licence).
#include <histedit.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <filesystem>
#include <system_error>
#include <utility>

#include "client/console/comments.h"
#include "client/console/line_reader.h"

namespace koios::client {
namespace {

constexpr int kHistoryLines = 1000;
// More candidates than this are counted, not listed.
constexpr size_t kMaxListed = 200;

class TerminalReader final : public LineReader {
 public:
  explicit TerminalReader(const TerminalOptions& options) : options_(options) {
    // libedit decodes what is typed by the locale.
    if (std::setlocale(LC_CTYPE, "") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
    HistEvent event;
    history_ = history_init();
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    LoadHistory();
    edit_ = el_init("koios", stdin, stdout, stderr);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &TerminalReader::Prompt);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_ADDFN, "koios-complete", "complete a word", &TerminalReader::Complete);
    el_set(edit_, EL_BIND, "\t", "koios-complete", nullptr);
    el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(edit_, EL_GETCFN, &TerminalReader::ReadChar);
    el_source(edit_, nullptr);  // the user's ~/.editrc
  }
  ~TerminalReader() override {
    el_end(edit_);
    history_end(history_);
  }

  Outcome Read(const std::string& prompt, std::string* line) override {
    prompt_ = prompt;
    interrupted_ = false;
    // Before the prompt is there: libedit itself does it after, and a Ctrl-D in between is lost.
    el_set(edit_, EL_PREP_TERM, 1);
    int count = 0;
    const char* text = el_gets(edit_, &count);
    if (interrupted_) {
      el_set(edit_, EL_PREP_TERM, 0);
      *line = std::move(given_up_);
      std::fputs("^C\n", stdout);
      std::fflush(stdout);
      return Outcome::kInterrupted;
    }
    if (text == nullptr || count <= 0) {
      el_set(edit_, EL_PREP_TERM, 0);
      std::fputs("\n", stdout);
      return Outcome::kEnd;
    }
    line->assign(text, static_cast<size_t>(count));
    while (!line->empty() && (line->back() == '\n' || line->back() == '\r')) line->pop_back();
    Remember(*line);
    return Outcome::kLine;
  }
  bool is_interactive() const override { return true; }
  bool ContinuesWith(char character) override {
    constexpr size_t kMostBytes = 4096;
    constexpr int kPasteMs = 20;  // the rest of a pasted text comes at once, about
    while (waiting_.size() < kMostBytes) {
      const size_t start = LeadingComments(waiting_).bytes;
      if (start < waiting_.size()) return waiting_[start] == character;
      struct pollfd fd = {STDIN_FILENO, POLLIN, 0};
      char byte = 0;
      if (poll(&fd, 1, kPasteMs) <= 0) return false;
      const ssize_t got = read(STDIN_FILENO, &byte, 1);
      ended_ = got == 0;
      if (got != 1) return false;
      waiting_.push_back(byte);
    }
    return false;
  }
  void DropAhead() override { waiting_.clear(); }

 private:
  static TerminalReader* Of(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return static_cast<TerminalReader*>(data);
  }

  static char* Prompt(EditLine* edit) { return Of(edit)->prompt_.data(); }

  // 1 and a byte of the terminal; less: there is none, or Ctrl-C came.
  int ReadByte(char* byte) {
    if (std::exchange(ended_, false)) return 0;
    while (true) {
      struct pollfd fds[2] = {{STDIN_FILENO, POLLIN, 0}, {options_.interrupt_fd, POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) {
        if (errno == EINTR) continue;
        return -1;
      }
      if ((fds[1].revents & POLLIN) != 0 && read(fds[1].fd, byte, 1) == 1) {
        interrupted_ = true;
        waiting_.clear();
        const LineInfo* typed = el_line(edit_);
        given_up_.assign(typed->buffer, static_cast<size_t>(typed->lastchar - typed->buffer));
        return -1;
      }
      if (fds[0].revents == 0) continue;
      const ssize_t got = read(STDIN_FILENO, byte, 1);
      if (got < 0 && errno == EINTR) continue;
      return static_cast<int>(got);
    }
  }

  // One character from the terminal; gives the line up when Ctrl-C comes.
  static int ReadChar(EditLine* edit, wchar_t* out) {
    TerminalReader* self = Of(edit);
    std::mbstate_t state = {};
    while (true) {
      char byte = 0;
      if (!self->waiting_.empty()) {
        byte = self->waiting_.front();
        self->waiting_.erase(0, 1);
      } else if (const int got = self->ReadByte(&byte); got <= 0) {
        return got;
      }
      const size_t used = std::mbrtowc(out, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;  // the character has more bytes
      if (used == static_cast<size_t>(-1)) {
        state = {};
        *out = L'?';
      }
      return 1;
    }
  }

  static unsigned char Complete(EditLine* edit, int) {
    TerminalReader* self = Of(edit);
    if (!self->options_.complete) return CC_ERROR;
    const LineInfo* info = el_line(edit);
    const std::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    const Completions found = self->options_.complete(before);
    if (found.words.empty()) return CC_ERROR;
    std::string common = found.words.front();
    for (const std::string& word : found.words) {
      const auto end = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
      common.resize(static_cast<size_t>(end.first - common.begin()));
    }
    if (common.size() > found.replaced) {
      el_insertstr(edit, common.c_str() + found.replaced);
      return CC_REFRESH;
    }
    if (found.words.size() == 1) return CC_NORM;
    List(found.words);
    return CC_REDISPLAY;
  }

  static void List(const std::vector<std::string>& words) {
    std::fputs("\n", stdout);
    size_t width = 0;
    for (size_t i = 0; i < words.size() && i < kMaxListed; ++i) {
      if (width + words[i].size() > 78) {
        std::fputs("\n", stdout);
        width = 0;
      }
      std::fprintf(stdout, "%s  ", words[i].c_str());
      width += words[i].size() + 2;
    }
    if (words.size() > kMaxListed) std::fprintf(stdout, "and %zu more", words.size() - kMaxListed);
    std::fputs("\n", stdout);
  }

  void LoadHistory() {
    if (options_.history_path.empty()) return;
    HistEvent event;
    history(history_, &event, H_LOAD, options_.history_path.c_str());  // none yet: an empty one
  }

  void Remember(const std::string& line) {
    if (line.find_first_not_of(" \t") == std::string::npos) return;
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
    if (options_.history_path.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(options_.history_path).parent_path(),
                                        error);
    // Queries may hold secrets: the file is the user's alone. A history that can't be written is
    // no reason to stop working.
    const mode_t saved = umask(0077);
    history(history_, &event, H_SAVE, options_.history_path.c_str());
    umask(saved);
  }

  const TerminalOptions options_;
  EditLine* edit_ = nullptr;
  History* history_ = nullptr;
  std::string prompt_;
  std::string waiting_;  // was looked at
  bool ended_ = false;   // that look found Ctrl-D
  bool interrupted_ = false;
  std::string given_up_;  // of an interrupted line
};

}  // namespace

std::unique_ptr<LineReader> MakeTerminalReader(const TerminalOptions& options) {
  return std::make_unique<TerminalReader>(options);
}

}  // namespace koios::client
