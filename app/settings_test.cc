#include "app/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/limit_flags.h"

namespace koios::app {
namespace {

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    command_.add_option("--grpc-port", port_);
    command_.add_option("--listen", listen_);
    command_.add_option("--config", config_);
    command_.add_flag("--insecure", insecure_);
    command_.add_option("--data", data_)->excludes(command_.add_option("--server", server_));
    path_ = (std::filesystem::temp_directory_path() /
             ("koios-settings-" + std::to_string(getpid()) + ".yaml"))
                .string();
  }
  ~SettingsTest() override {
    unsetenv("KOIOS_GRPC_PORT");
    unsetenv("KOIOS_DATA");
    std::filesystem::remove(path_);
  }
  Status Apply(const std::string& arguments, const std::string& file) {
    std::ofstream(path_) << file;
    command_.parse(arguments);
    return ApplySettings(&command_, path_);
  }

  CLI::App command_;
  std::string path_;
  int port_ = 8183;
  std::string listen_ = "127.0.0.1";
  std::string config_;
  bool insecure_ = false;
  std::string data_, server_;
};

TEST_F(SettingsTest, TheFileFillsWhatNobodyElseSays) {
  ASSERT_TRUE(Apply("", "grpc-port: 9000\ninsecure: true\n").ok());
  EXPECT_EQ(port_, 9000);
  EXPECT_TRUE(insecure_);
  EXPECT_EQ(listen_, "127.0.0.1");
}

TEST_F(SettingsTest, TheEnvironmentWinsOverTheFile) {
  setenv("KOIOS_GRPC_PORT", "9001", 1);
  ASSERT_TRUE(Apply("", "grpc-port: 9000\n").ok());
  EXPECT_EQ(port_, 9001);
}

TEST_F(SettingsTest, TheCommandLineWinsOverBoth) {
  setenv("KOIOS_GRPC_PORT", "9001", 1);
  ASSERT_TRUE(Apply("--grpc-port 9002", "grpc-port: 9000\n").ok());
  EXPECT_EQ(port_, 9002);
}

TEST_F(SettingsTest, AFlagKeepsOutWhatItExcludes) {
  setenv("KOIOS_DATA", "folder", 1);
  ASSERT_TRUE(Apply("--server host:1", "").ok());
  EXPECT_EQ(server_, "host:1");
  EXPECT_EQ(data_, "");
}

TEST_F(SettingsTest, AnUnknownKeyIsAnErrorWithTheNearest) {
  const Status status = Apply("", "listen: ::1\ngrpc-prt: 9000\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(MessageOf(status).find("line 2"), std::string::npos) << MessageOf(status);
  EXPECT_NE(MessageOf(status).find("'grpc-port'"), std::string::npos) << MessageOf(status);
}

// The flags of limits, from a file, into what a server is started with.
TEST(LimitSettingsTest, AFileSetsEachLimit) {
  CLI::App command;
  LimitFlags flags;
  flags.AddTo(&command);
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("koios-limits-" + std::to_string(getpid()) + ".yaml"))
                               .string();
  std::ofstream(path) << "query-memory-mb: 1\nmemory-mb: 100\nheld-results-mb: 3\nmax-attempts: 4\n"
                         "query-max-text: 5\nquery-max-nesting: 6\nquery-max-steps: 7\n"
                         "query-max-list: 8\nspill-mb: 9\n";
  command.parse("");
  const Status applied = ApplySettings(&command, path);
  ASSERT_TRUE(applied.ok()) << MessageOf(applied);
  server::ServerOptions options;
  flags.ApplyTo("data", &options);
  EXPECT_EQ(options.engine.spill_folder, "data");
  EXPECT_EQ(options.engine.spill_bytes, 9u << 20);
  EXPECT_EQ(options.engine.query_memory_bytes, 1u << 20);
  EXPECT_EQ(options.engine.process_memory_bytes, PlanMemory(100u << 20, 0).queries_bytes);
  EXPECT_EQ(options.held_bytes, 3u << 20);
  EXPECT_EQ(options.max_attempts, 4);
  EXPECT_EQ(options.parser.max_text_bytes, 5u);
  EXPECT_EQ(options.parser.max_nesting, 6u);
  EXPECT_EQ(options.parser.max_steps, 7u);
  EXPECT_EQ(options.parser.max_list, 8u);
  std::ofstream(path) << "query-max-nesting: 1000\n";
  LimitFlags too_deep;
  CLI::App other;
  too_deep.AddTo(&other);
  other.parse("");
  EXPECT_EQ(ApplySettings(&other, path).code(), StatusCode::kInvalidArgument);
  std::filesystem::remove(path);
}

// What is set nowhere is what the server and the parser say by themselves.
TEST(LimitSettingsTest, TheDefaultsAreTheServers) {
  server::ServerOptions applied;
  LimitFlags().ApplyTo("data", &applied);
  const server::ServerOptions own;
  EXPECT_EQ(applied.held_bytes, own.held_bytes);
  EXPECT_EQ(applied.max_attempts, own.max_attempts);
  EXPECT_EQ(applied.engine.spill_bytes, own.engine.spill_bytes);
  EXPECT_EQ(applied.engine.spill_reserve_bytes, own.engine.spill_reserve_bytes);
  EXPECT_EQ(applied.parser.max_text_bytes, own.parser.max_text_bytes);
}

TEST_F(SettingsTest, WrongFilesAreErrors) {
  EXPECT_FALSE(Apply("", "grpc-port: many\n").ok());
  for (const char* file :
       {"- a\n", "grpc-port: {a: 1}\n", "a: [\n", "grpc-port: 1\ngrpc-port: 2\n", "[a]: 1\n"}) {
    EXPECT_EQ(Apply("", file).code(), StatusCode::kInvalidArgument) << file;
  }
  EXPECT_EQ(ApplySettings(&command_, "/nonexistent.yaml").code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace koios::app
