// The listener with real sockets and real limits of file descriptors.
#include "server/acceptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mutex.h"

namespace koios::server {
namespace {

int NextFd() {
  const int fd = dup(STDERR_FILENO);
  close(fd);
  return fd;
}

int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

class AcceptorTest : public testing::Test {
 protected:
  void Listen(int max_fd) {
    auto acceptor = Acceptor::Listen("127.0.0.1", 0, max_fd);
    ASSERT_TRUE(acceptor.ok()) << MessageOf(acceptor.status());
    acceptor_ = *std::move(acceptor);
    acceptor_->Start([this](int, int fd) {
      MutexLock lock(&mutex_);
      taken_.push_back(fd);
      changed_.NotifyAll();
    });
  }
  void TearDown() override {
    acceptor_ = nullptr;
    for (const int fd : taken_) close(fd);
  }
  void Connect(int fd) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(acceptor_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  // Waits until the connection is taken.
  void WaitForTaken(size_t count) {
    MutexLock lock(&mutex_);
    while (taken_.size() < count) changed_.Wait(&mutex_);
  }
  size_t num_taken() {
    MutexLock lock(&mutex_);
    return taken_.size();
  }
  // Waits until the other side closes. Ours stays open: its number must not be free.
  static void ExpectClosed(int fd) {
    char byte = 0;
    EXPECT_LE(read(fd, &byte, 1), 0);
  }

  std::unique_ptr<Acceptor> acceptor_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<int> taken_;
};

TEST_F(AcceptorTest, HandsConnectionsOn) {
  Listen(1'000'000);
  EXPECT_GT(acceptor_->port(), 0);
  const int fd = NewSocket();
  Connect(fd);
  WaitForTaken(1);
  ASSERT_EQ(write(taken_[0], "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(fd, &byte, 1), 1);
  close(fd);
}

TEST_F(AcceptorTest, AnAddressThatIsTakenOrNoneIsAnError) {
  Listen(1'000'000);
  const auto again = Acceptor::Listen("127.0.0.1", acceptor_->port(), 10);
  EXPECT_EQ(again.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(MessageOf(again.status()).find("in use"), std::string::npos) << again.status();
  EXPECT_FALSE(Acceptor::Listen("203.0.113.1", 0, 10).ok());
  EXPECT_FALSE(Acceptor::Listen("no such host", 0, 10).ok());
}

TEST_F(AcceptorTest, MoreThanTheBoundAreTurnedAwayUntilOthersGo) {
  std::vector<int> clients;
  for (int i = 0; i < 6; ++i) clients.push_back(NewSocket());
  Listen(1'000'000);
  const int first = NextFd();
  acceptor_ = nullptr;
  Listen(first + 2);  // room for two
  for (int i = 0; i < 2; ++i) Connect(clients[i]);
  WaitForTaken(2);
  for (int i = 2; i < 5; ++i) {
    Connect(clients[i]);
    ExpectClosed(clients[i]);
  }
  EXPECT_EQ(num_taken(), 2u);
  close(taken_[1]);
  {
    MutexLock lock(&mutex_);
    taken_.pop_back();
  }
  Connect(clients[5]);
  WaitForTaken(2);
  for (const int client : clients) close(client);
}

TEST_F(AcceptorTest, OutOfDescriptorsItTurnsAwayAndGoesOn) {
  std::vector<int> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(NewSocket());
  Listen(1'000'000);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit low{static_cast<rlim_t>(NextFd() + 4), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  std::vector<int> others;
  for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO)) others.push_back(fd);
  for (int i = 0; i < 7; ++i) {
    Connect(clients[i]);
    ExpectClosed(clients[i]);
  }
  EXPECT_EQ(num_taken(), 0u);
  for (const int fd : others) close(fd);
  Connect(clients[7]);
  WaitForTaken(1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  for (const int client : clients) close(client);
}

}  // namespace
}  // namespace koios::server
