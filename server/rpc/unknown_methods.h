// Answers in words to calls of methods that nobody has. gRPC by itself answers with UNIMPLEMENTED
// and no word.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "server/rpc/event_queue.h"

namespace koios::server {

// Takes them from now on; both outlive the calls.
void RefuseUnknownMethods(grpc::AsyncGenericService* service, EventQueue* queue);

}  // namespace koios::server
