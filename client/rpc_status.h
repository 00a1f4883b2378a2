// gRPC's status back to koios::Status, with the ErrorDetail from `grpc-status-details-bin`. The
// message loses its "line L, column C: " in front, since the detail says the same.
#pragma once

#include <grpcpp/support/status.h>

#include "core/status.h"

namespace koios::client {

Status FromGrpcStatus(const grpc::Status& status);

}  // namespace koios::client
