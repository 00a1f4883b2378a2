// koios::Status to gRPC: the canonical code, a message that starts with the position ("line 1,
// column 5: ..."), and koios.v1.ErrorDetail in `grpc-status-details-bin`. Rule: together they stay
// within the 8 KiB of headers that every client accepts; longer texts are cut.
#pragma once

#include <grpcpp/support/status.h>

#include "core/status.h"

namespace koios::server {

grpc::Status ToGrpcStatus(const Status& status);

}  // namespace koios::server
