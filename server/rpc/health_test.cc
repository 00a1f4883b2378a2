#include "server/rpc/health.h"

#include <gtest/gtest.h>

namespace koios::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using Stream = std::unique_ptr<grpc::ClientReader<HealthCheckResponse>>;

class HealthTest : public testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    builder.RegisterService(health_.service());
    events_ = std::make_unique<EventQueue>(builder.AddCompletionQueue());
    server_ = builder.BuildAndStart();
    health_.Serve(events_.get());
    events_->Start(2);
    stub_ = grpc::health::v1::Health::NewStub(server_->InProcessChannel({}));
  }
  void TearDown() override {
    server_->Shutdown(std::chrono::system_clock::now());
    events_->Stop();
  }
  Stream Watch(const std::string& service, grpc::ClientContext* context) {
    HealthCheckRequest request;
    request.set_service(service);
    return stub_->Watch(context, request);
  }
  static HealthCheckResponse::ServingStatus Next(const Stream& stream) {
    HealthCheckResponse response;
    return stream->Read(&response) ? response.status() : HealthCheckResponse::UNKNOWN;
  }

  Health health_;
  std::unique_ptr<EventQueue> events_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> stub_;
};

TEST_F(HealthTest, WhoWatchesIsToldOfTheShutdown) {
  grpc::ClientContext all_context, one_context, none_context;
  const Stream all = Watch("", &all_context);
  const Stream one = Watch("koios.v1.Koios", &one_context);
  const Stream none = Watch("nope", &none_context);
  EXPECT_EQ(Next(all), HealthCheckResponse::SERVING);
  EXPECT_EQ(Next(one), HealthCheckResponse::SERVING);
  EXPECT_EQ(Next(none), HealthCheckResponse::SERVICE_UNKNOWN);
  health_.Shutdown();
  EXPECT_EQ(Next(all), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Next(one), HealthCheckResponse::NOT_SERVING);
  for (auto* context : {&all_context, &one_context, &none_context}) context->TryCancel();
  for (const Stream* stream : {&all, &one, &none}) {
    EXPECT_EQ(Next(*stream), HealthCheckResponse::UNKNOWN);
    EXPECT_EQ((*stream)->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
}

TEST_F(HealthTest, AStreamEndsWithItsClientOrTheServer) {
  for (int i = 0; i < 100; ++i) {
    grpc::ClientContext context;
    const Stream stream = Watch("", &context);
    if (i % 2 == 0) {
      EXPECT_EQ(Next(stream), HealthCheckResponse::SERVING);
    }
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  grpc::ClientContext context;
  const Stream left = Watch("", &context);
  EXPECT_EQ(Next(left), HealthCheckResponse::SERVING);
  server_->Shutdown(std::chrono::system_clock::now());
  EXPECT_FALSE(left->Finish().ok());
}

}  // namespace
}  // namespace koios::server
