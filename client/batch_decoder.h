// A result message to values. Trusts nothing: an unknown column or bulks that do not match are
// DATA_LOSS.
#pragma once

#include "client/client.h"
#include "core/status.h"
#include "proto/service.pb.h"

namespace koios::client {

Status DecodeBatch(const v1::ResultBatch& message, Batch* batch);

}  // namespace koios::client
