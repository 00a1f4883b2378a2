#include "server/rpc/connections.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "proto/service.grpc.pb.h"
#include "server/fake_engine.h"
#include "server/fake_graphs.h"
#include "server/rpc/connect_to.h"
#include "server/rpc/event_queue.h"
#include "server/server.h"

namespace koios::server {
namespace {

TEST(ConnectionCountsTest, AreReadFromWhatGrpcSays) {
  const ConnectionCounts counts = ParseConnectionCounts(R"({"socket": {"ref": {"socketId": "7"},
          "remote": {"tcpip_address": {"port": 258, "ip_address": "fwAAAQ=="}},
          "data": {"streamsStarted": "12", "streamsSucceeded": "3", "streamsFailed": "4",
                   "messagesReceived": "5"}}})")
                                      .value();
  EXPECT_EQ(counts.peer, std::string("\x7f\0\0\1\1\2", 6));
  EXPECT_EQ(counts.begun, 12);
  EXPECT_EQ(counts.ended, 7);
  EXPECT_EQ(counts.messages, 5);
  for (const char* none : {"", "{", "[]", "7", R"({"socket": {"data": {"streamsStarted": "1"}}})",
                           R"({"socket": {"remote": {"tcpip_address": {"ip_address": 3}}}})"}) {
    EXPECT_FALSE(ParseConnectionCounts(none).ok()) << none;
  }
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame.push_back(static_cast<char>(payload.size() >> shift));
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  for (const int shift : {24, 16, 8, 0}) frame.push_back(static_cast<char>(stream >> shift));
  return frame + payload;
}

std::string Header(const std::string& name, const std::string& value) {
  std::string header(1, '\x10');  // a literal that is never indexed
  header.push_back(static_cast<char>(name.size()));
  header += name;
  header.push_back(static_cast<char>(value.size()));
  return header + value;
}

// Calls of which no message comes; `flags`: of their only frames.
constexpr uint8_t kEndHeaders = 4, kEndStream = 1;
std::string BegunCalls(uint32_t count, uint8_t flags = kEndHeaders) {
  const std::string headers = Header(":method", "POST") + Header(":scheme", "http") +
                              Header(":path", "/koios.v1.Koios/Submit") +
                              Header(":authority", "localhost") +
                              Header("content-type", "application/grpc") + Header("te", "trailers");
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, "");
  for (uint32_t i = 0; i < count; ++i) bytes += Frame(1, flags, 2 * i + 1, headers);
  return bytes;
}

class ConnectionsTest : public testing::Test {
 protected:
  // `rest_bytes`: 0: nobody looks.
  void Start(uint64_t rest_bytes, const std::string& listen = "127.0.0.1") {
    ServerOptions options;
    options.listen = listen;
    options.grpc_port = 0;
    options.rest_bytes = rest_bytes;
    server_ = Server::Start(std::make_unique<MemoryGraphs>(),
                            std::make_unique<FakeEngine>(kNoMemoryLimit), options)
                  .value();
  }
  int Begin(uint32_t num_calls, uint32_t from = INADDR_LOOPBACK) {
    const int fd = ConnectTo(server_->port(), from);
    const std::string bytes = BegunCalls(num_calls);
    CHECK(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    return fd;
  }

  std::unique_ptr<Server> server_;
};

constexpr uint64_t kMuch = uint64_t{1} << 40;

// Whether the other side has closed it, or will soon.
bool IsClosed(int fd) {
  timeval wait{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  char buffer[4096];
  ssize_t got = 1;
  while (got > 0) got = read(fd, buffer, sizeof(buffer));
  return got == 0 || errno == ECONNRESET;
}

bool IsOpen(int fd) {
  char buffer[4096];
  ssize_t got = 1;
  while (got > 0) got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
  return got < 0 && errno == EAGAIN;
}

TEST_F(ConnectionsTest, ThoseWithManyCallsWithoutAMessageAreClosed) {
  Start(kMuch);
  const auto channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()),
                                           grpc::InsecureChannelCredentials());
  const auto stub = v1::Koios::NewStub(channel);
  for (int i = 0; i < 200; ++i) {
    grpc::ClientContext context;
    v1::ListQueriesResponse response;
    ASSERT_TRUE(stub->ListQueries(&context, {}, &response).ok());
  }
  const int few = Begin(200), many = Begin(4 * kMaxCallsPerConnection);
  EXPECT_TRUE(IsClosed(many));
  EXPECT_TRUE(IsOpen(few));
  EXPECT_EQ(channel->GetState(false), GRPC_CHANNEL_READY);
  close(many);
  close(few);
}

// An address of IPv4 is one of IPv6 to a socket that listens to both.
TEST_F(ConnectionsTest, TheyAreFoundWhereBothKindsOfAddressesAreListenedTo) {
  Start(kMuch, "::");
  const int many = Begin(4 * kMaxCallsPerConnection);
  EXPECT_TRUE(IsClosed(many));
  close(many);
}

// Calls that the other side has ended, by the frames that have come from it (RFC 9113, 4.1).
size_t NumResets(std::string_view heard) {
  size_t count = 0;
  for (size_t at = 0; at + 9 <= heard.size();) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(heard[at + i]); };
    if (byte(3) == 3) ++count;
    at += 9u + (byte(0) << 16 | byte(1) << 8 | byte(2));
  }
  return count;
}

TEST_F(ConnectionsTest, TheOldestCallWithoutAMessageMakesRoomForTheNext) {
  Start(0);
  constexpr uint32_t kOther = INADDR_LOOPBACK + 1;
  const int other = Begin(3, kOther);  // older, of a host that has few
  char buffer[4096];
  std::string others;
  // It is answered when its frames have been read: the calls have begun.
  const std::string ping("\0\0\x8\x6\0\0\0\0\0koios...", 17);
  ASSERT_EQ(write(other, ping.data(), ping.size()), 17);
  while (others.find("koios...") == std::string::npos) {
    const ssize_t got = read(other, buffer, sizeof(buffer));
    ASSERT_GT(got, 0);
    others.append(buffer, static_cast<size_t>(got));
  }
  const int fd = Begin(ArrivingCalls::kMost + 7);
  std::string heard;
  while (NumResets(heard) < 10) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    ASSERT_GT(got, 0);
    heard.append(buffer, static_cast<size_t>(got));
  }
  EXPECT_EQ(NumResets(heard), 10);
  EXPECT_TRUE(IsOpen(fd));
  const ssize_t more = recv(other, buffer, sizeof(buffer), MSG_DONTWAIT);
  if (more > 0) others.append(buffer, static_cast<size_t>(more));
  EXPECT_EQ(NumResets(others), 0);
  close(fd);
  close(other);
}

TEST_F(ConnectionsTest, ACallThatEndsWithoutAMessageIsToldSo) {
  Start(0);
  const int fd = ConnectTo(server_->port());
  const std::string bytes = BegunCalls(1, kEndHeaders | kEndStream);
  ASSERT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  std::string heard;
  char buffer[4096];
  while (heard.find("The call has no message.") == std::string::npos) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    ASSERT_GT(got, 0);
    heard.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
}

size_t NumThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

// gRPC answers each stream of reflection by a thread of its own.
TEST_F(ConnectionsTest, ReflectionHasFewThreads) {
  Start(0);
  const auto channel = grpc::CreateChannel("127.0.0.1:" + std::to_string(server_->port()),
                                           grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  const size_t before = NumThreads();
  grpc::CompletionQueue queue;
  std::deque<grpc::ClientContext> contexts(100);
  std::vector<std::unique_ptr<grpc::GenericClientAsyncReaderWriter>> calls;
  const grpc::Slice list_services(std::string("\x3a\0", 2));
  void* tag = nullptr;
  bool ok = false;
  for (grpc::ClientContext& context : contexts) {
    calls.push_back(stub.PrepareCall(
        &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue));
    calls.back()->StartCall(nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
    calls.back()->Write(grpc::ByteBuffer(&list_services, 1), nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
  }
  size_t answered = 0;
  for (const auto& call : calls) {
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    ASSERT_TRUE(queue.Next(&tag, &ok));
    answered += ok ? 1 : 0;
  }
  EXPECT_GT(answered, 0);
  EXPECT_LT(NumThreads(), before + 50);
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
}

}  // namespace
}  // namespace koios::server
