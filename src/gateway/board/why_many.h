// SPDX-License-Identifier: Apache-2.0
// Why many instances have not ended, asked for some at a time so that other requests have their
// turn in between.
#pragma once

#include <functional>
#include <vector>

#include "codec/view.h"
#include "gateway/exchange.h"

namespace holdfast::gateway {

// What put_why writes for each name (gateway/wait_reasons.h), in their order; empty: the instance
// has ended, or there is none. An error refuses the request, and `then` is not called.
using Explained = std::function<void(Exchange&, std::vector<Bytes>)>;
void explain_many(Exchange& exchange, std::vector<Engine::RawName> names, Explained then);

// The reason that people want to hear first, of a document that put_why wrote. Nothing: it has
// none, because the instance has ended.
std::optional<codec::View> main_reason(codec::View why);

// What a reason is about, so that alike ones can be counted together: {"receipt", "demo/charge@1"}.
struct WaitKind {
  std::string kind;
  std::string subject;  // an effect, a step, events, a task's state; empty: nothing further
  auto operator<=>(const WaitKind&) const = default;
};
WaitKind wait_kind(codec::View reason);

}  // namespace holdfast::gateway
