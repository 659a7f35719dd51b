// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gateway/exchange.h"

namespace holdfast::gateway {

// Answers with the records from this one on, as they become durable. 0: from the first there is.
void stream_journal(Exchange& exchange, std::uint64_t from);

}  // namespace holdfast::gateway
