// The console on a terminal: the koios binary on a pty, with the server inside it.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "app/connection.h"
#include "client/console/query_session.h"

namespace koios::app {
namespace {

namespace fs = std::filesystem;

class ConsolePtyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "koios-pty-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    // Made before, so that the console has nothing to say about it.
    ASSERT_TRUE(OpenGraphs(folder_ + "/data", /*create=*/true).ok());
    const std::string data = folder_ + "/data";
    const std::string history = folder_ + "/history";
    pid_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      setenv("TERM", "xterm", 1);
      setenv("NO_COLOR", "1", 1);
      // libedit never frees the names of functions that were added to it.
      setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
      execl(KOIOS_BINARY, "koios", "console", "--data", data.c_str(), "--workers", "1", "--history",
            history.c_str(), nullptr);
      _exit(99);
    }
  }
  void TearDown() override {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
    fs::remove_all(folder_);
  }

  void Type(const std::string& keys) {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  // Reads until `text` has come; false when it has not within half a minute.
  bool Expect(const std::string& text) {
    while (true) {
      const size_t found = seen_.find(text);
      if (found != std::string::npos) {
        seen_.erase(0, found + text.size());
        return true;
      }
      pollfd fd = {terminal_, POLLIN, 0};
      char buffer[4096];
      if (poll(&fd, 1, 30'000) <= 0) break;
      const ssize_t got = read(terminal_, buffer, sizeof(buffer));
      if (got <= 0) break;
      seen_.append(buffer, static_cast<size_t>(got));
    }
    ADD_FAILURE() << "no \"" << text << "\" in: " << seen_;
    return false;
  }

  int ExitCode() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string folder_;
  std::string seen_;
  pid_t pid_ = -1;
  int terminal_ = -1;
};

TEST_F(ConsolePtyTest, RunsQueriesOverSeveralLinesAndRemembersThem) {
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.inject(\r");
  ASSERT_TRUE(Expect("......1> "));
  Type("42)\r");
  ASSERT_TRUE(Expect("==>42"));
  ASSERT_TRUE(Expect("1 result in "));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("\x04");
  EXPECT_EQ(ExitCode(), client::kExitOk);
  EXPECT_TRUE(fs::exists(folder_ + "/history"));
  EXPECT_EQ(fs::status(folder_ + "/history").permissions() & fs::perms::others_read,
            fs::perms::none);
}

TEST_F(ConsolePtyTest, PastedLinesThatBeginWithADotGoOn) {
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.inject(7, 8)\r  .count()\rg.inject('next')\r");
  ASSERT_TRUE(Expect("==>2"));
  ASSERT_TRUE(Expect("==>next"));
}

// What was looked at for a dot is not part of what is typed later.
TEST_F(ConsolePtyTest, CtrlCForgetsWhatWasPastedBehind) {
  ASSERT_TRUE(Expect("gremlin> "));
  std::string query = "g.inject(1,2,3)";
  for (int i = 0; i < 40; ++i) query += ".union(identity(),identity(),identity())";
  Type(query + "\rg.inject('given up')\r");
  ASSERT_TRUE(Expect("==>1"));
  Type("\x03");
  ASSERT_TRUE(Expect("Cancelled."));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.inject('typed')\r");
  ASSERT_TRUE(Expect("==>typed"));
}

TEST_F(ConsolePtyTest, TabCompletesCommandsAndSteps) {
  ASSERT_TRUE(Expect("gremlin> "));
  Type(":he\t\r");
  ASSERT_TRUE(Expect(":explain [QUERY]"));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.V().hasLab\t('x').coun\t()\r");
  ASSERT_TRUE(Expect("==>0"));
}

TEST_F(ConsolePtyTest, GoesOnAfterAnError) {
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.V().outt()\r");
  ASSERT_TRUE(Expect("did you mean \"out\""));
  ASSERT_TRUE(Expect("^^^^"));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("g.inject('still here')\r");
  ASSERT_TRUE(Expect("==>still here"));
}

TEST_F(ConsolePtyTest, CtrlCGivesTheLineUpAndTwiceLeaves) {
  ASSERT_TRUE(Expect("gremlin> "));
  for (const char* typed : {"g.V(\r", "g.E(\r"}) {
    Type(typed);
    ASSERT_TRUE(Expect("......1> "));
    Type("\x03");
    ASSERT_TRUE(Expect("gremlin> "));
  }
  for (const char* typed : {"g.V(", "g.E("}) {
    Type(typed);
    ASSERT_TRUE(Expect(typed));
    Type("\x03");
    ASSERT_TRUE(Expect("gremlin> "));
  }
  Type("g.inject(7)\r");
  ASSERT_TRUE(Expect("==>7"));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("\x03");
  ASSERT_TRUE(Expect("Once more leaves"));
  ASSERT_TRUE(Expect("gremlin> "));
  Type("\x03");
  EXPECT_EQ(ExitCode(), client::kExitInterrupted);
}

TEST_F(ConsolePtyTest, CtrlCCancelsTheRunningQuery) {
  ASSERT_TRUE(Expect("gremlin> "));
  // 3^40 rows, one after the other.
  std::string query = "g.inject(1,2,3)";
  for (int i = 0; i < 40; ++i) query += ".union(identity(),identity(),identity())";
  Type(query + "\r");
  ASSERT_TRUE(Expect("==>"));
  Type("\x03");
  ASSERT_TRUE(Expect("Cancelled."));
  ASSERT_TRUE(Expect("gremlin> "));
  Type(":quit\r");
  EXPECT_EQ(ExitCode(), client::kExitOk);
}

}  // namespace
}  // namespace koios::app
