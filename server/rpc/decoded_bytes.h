// How much memory a request would take, told from its bytes before it is decoded: two bytes of a
// list of empty values become some forty. Pure, any thread.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>

#include <cstddef>

namespace koios::server {

// At least what the parser allocates for these bytes as a message of this type, as far as they are
// one: behind the first that are none it stops as well. Reads each byte of the structure once, and
// allocates nothing that grows with them.
size_t DecodedBytes(const google::protobuf::Descriptor* type, grpc::ByteBuffer* bytes);

}  // namespace koios::server
