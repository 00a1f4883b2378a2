#include "app/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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
