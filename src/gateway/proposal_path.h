// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "gateway/exchange.h"

namespace holdfast::gateway {

// The proposal that the path names. Nothing: it is answered already.
std::optional<std::uint64_t> proposal_in_path(Exchange& exchange);

}  // namespace holdfast::gateway
