// SPDX-License-Identifier: Apache-2.0
// What a worker may know of: the effects that are performed outside. Of all others it is told that
// they are not there, whatever it asks: what else the server does is no worker's affair.
#pragma once

#include <string_view>

#include "gateway/exchange.h"

namespace holdfast::gateway {

inline constexpr std::string_view kOutside = "outside";

// True: it is answered already. Whoever lost their token meanwhile may see no more than a worker.
[[nodiscard]] inline bool refuse_hidden(Exchange& exchange, const OpenEffect& effect) {
  if (effect.executor == kOutside || allows(exchange.caller().role, Role::kViewer)) return false;
  exchange.refuse({ProblemCode::kNotFound, "no open effect " + to_text(effect.intent)});
  return true;
}

}  // namespace holdfast::gateway
