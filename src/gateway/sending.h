// SPDX-License-Identifier: Apache-2.0
// Sending an event for an exchange: the answer comes when it is durable and, if that is asked for,
// when the instance that it is for has ended, or the time is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gateway/exchange.h"

namespace holdfast::gateway {

// Who may be waited for.
struct Awaited {
  std::string workflow;
  Bytes key;
  std::uint64_t wait_ms = 0;  // 0: nobody waits
};

// The status is 200, 201 for what starts an instance, and 202 if its end was not waited for long
// enough.
void send(Exchange& exchange, const Engine::RawEvent& event, std::optional<Awaited> awaited);

}  // namespace holdfast::gateway
