// For tests: a call whose messages are bytes.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace koios::server {

// The first message that a method answers to `request`, as bytes. Any kind of method.
inline std::string AnswerBytes(const std::shared_ptr<grpc::Channel>& channel,
                               const std::string& method, const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  auto call = stub.PrepareCall(&context, method, &queue);
  call->StartCall(nullptr);
  const grpc::Slice slice(request);
  grpc::ByteBuffer answer;
  bool got = wait();
  if (got) {
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    got = wait();
    call->Read(&answer, nullptr);
    got = wait() && got;
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  if (!got) return "error " + std::to_string(status.error_code()) + " " + status.error_message();
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(answer.Dump(&slices).ok());
  std::string bytes;
  for (const grpc::Slice& part : slices) {
    bytes.append(reinterpret_cast<const char*>(part.begin()), part.size());
  }
  return bytes;
}

}  // namespace koios::server
