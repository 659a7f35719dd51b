// SPDX-License-Identifier: Apache-2.0
// For routes about workers and what they wrote.
#pragma once

#include "gateway/exchange.h"
#include "workers/desk.h"

namespace holdfast::gateway {

// Null: it is answered already.
inline workers::Desk* desk_of(Exchange& exchange) {
  workers::Desk* const desk = exchange.service().desk;
  if (desk == nullptr)
    exchange.refuse({ProblemCode::kNotImplemented, "this server takes no workers"});
  return desk;
}

}  // namespace holdfast::gateway
