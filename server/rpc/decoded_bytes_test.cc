#include "server/rpc/decoded_bytes.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/service.pb.h"

namespace koios::server {
namespace {

size_t Counted(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  grpc::ByteBuffer buffer(&slice, 1);
  const size_t counted = DecodedBytes(v1::SubmitRequest::descriptor(), &buffer);
  EXPECT_EQ(buffer.Length(), bytes.size());  // what is parsed next is whole
  return counted;
}

// What is counted, beside what the message has: no less, and not much more.
void ExpectHolds(const v1::SubmitRequest& request) {
  const size_t counted = Counted(request.SerializeAsString());
  EXPECT_GE(counted, request.SpaceUsedLong());
  EXPECT_LE(counted, 3 * request.SpaceUsedLong() + 1000);
}

TEST(DecodedBytesTest, CountsNoLessThanTheParserAllocates) {
  v1::SubmitRequest request;
  request.set_query(std::string(100'000, 'x'));
  ExpectHolds(request);
  request = v1::SubmitRequest();
  v1::ValueList* list = (*request.mutable_parameters())["x"].mutable_list_value();
  for (int i = 0; i < 10'000; ++i) list->add_items();  // two bytes each
  EXPECT_GT(Counted(request.SerializeAsString()), 15 * request.ByteSizeLong());
  ExpectHolds(request);
  for (int i = 0; i < 10'000; ++i) list->mutable_items(i)->set_string_value("text");
  ExpectHolds(request);
  for (int i = 0; i < 10'000; ++i) {
    list->mutable_items(i)->mutable_list_value()->add_items()->set_long_value(i);
  }
  ExpectHolds(request);
  v1::ValueMap* map = (*request.mutable_parameters())["y"].mutable_map_value();
  for (int i = 0; i < 10'000; ++i) {
    map->add_entries()->mutable_key()->set_string_value(std::to_string(i));
  }
  ExpectHolds(request);
}

TEST(DecodedBytesTest, CountsWhatIsUnknown) {
  // Field 1023; the query as a number, which the parser keeps as what it does not know.
  for (const std::string number : {"\xf8\x3f\x01", "\x08\x01"}) {
    std::string bytes;
    for (int i = 0; i < 10'000; ++i) bytes += number;
    v1::SubmitRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    EXPECT_GT(request.SpaceUsedLong(), 100'000u);
    EXPECT_GE(Counted(bytes), request.SpaceUsedLong());
  }
}

TEST(DecodedBytesTest, StopsAtWhatIsNoMessage) {
  EXPECT_GT(Counted(""), 0u);
  EXPECT_LT(Counted("\xff\xff\xff garbage"), 1000u);
  EXPECT_LT(Counted(std::string("\x0a\xff\xff\xff\x07", 5)), 1000u);  // longer than it is
  v1::Value deep;
  for (int i = 0; i < 200; ++i) {
    v1::Value outer;
    *outer.mutable_list_value()->add_items() = std::move(deep);
    deep = std::move(outer);
  }
  v1::SubmitRequest request;
  (*request.mutable_parameters())["x"] = std::move(deep);
  EXPECT_LT(Counted(request.SerializeAsString()), 20'000u);
}

}  // namespace
}  // namespace koios::server
