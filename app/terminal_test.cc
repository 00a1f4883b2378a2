// The console on a terminal, as a user types into it.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "storage/temp_folder.h"

namespace koios::app {
namespace {

// `koios console` on a terminal of its own.
class Terminal {
 public:
  explicit Terminal(const std::string& data) {
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      setenv("TERM", "dumb", 1);
      setenv("XDG_STATE_HOME", data.c_str(), 1);
      execl(KOIOS_BINARY, "koios", "console", "--data", data.c_str(), nullptr);
      _exit(127);
    }
  }
  ~Terminal() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(terminal_);
  }

  void Type(const std::string& text) const {
    ASSERT_EQ(write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  // What stands on it behind the last call, up to and with `end`; fails when that does not come.
  std::string Until(const std::string& end) {
    constexpr auto kLongest = std::chrono::seconds(60);
    const auto give_up = std::chrono::steady_clock::now() + kLongest;
    size_t found;
    while ((found = text_.find(end)) == std::string::npos) {
      struct pollfd fd = {terminal_, POLLIN, 0};
      char buffer[4096];
      ssize_t got = 0;
      if (poll(&fd, 1, 100) > 0) got = read(terminal_, buffer, sizeof(buffer));
      if (got < 0 || std::chrono::steady_clock::now() > give_up) {
        ADD_FAILURE() << "'" << end << "' did not come; there is: " << text_;
        return text_;
      }
      text_.append(buffer, static_cast<size_t>(got));
    }
    std::string before = text_.substr(0, found + end.size());
    text_.erase(0, before.size());
    return before;
  }

 private:
  int terminal_ = -1;
  pid_t child_ = -1;
  std::string text_;
};

TEST(TerminalTest, PastedLinesThatBeginWithADotGoOn) {
  const storage::TempFolder temp;
  Terminal terminal(temp / "data");
  terminal.Until("gremlin> ");
  terminal.Type("g.inject(7, 8)\n  .count()\ng.inject('next')\n");
  EXPECT_EQ(terminal.Until("==>").find("==>7"), std::string::npos);
  EXPECT_EQ(terminal.Until("\n").substr(0, 1), "2");
  terminal.Until("==>next");
}

TEST(TerminalTest, WhatIsTypedIsRunAtOnce) {
  const storage::TempFolder temp;
  Terminal terminal(temp / "data");
  terminal.Until("gremlin> ");
  terminal.Type("g.inject(7)\n");
  terminal.Until("==>7");
  terminal.Until("gremlin> ");
  terminal.Type("g.inject(\n");
  terminal.Until("1> ");
  terminal.Type("\x03");  // Ctrl-C gives the statement up
  terminal.Until("gremlin> ");
  terminal.Type(":quit\n");
}

}  // namespace
}  // namespace koios::app
