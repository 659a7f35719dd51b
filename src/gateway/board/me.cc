// SPDX-License-Identifier: Apache-2.0
// What a page must know of the server before it offers anything: GET /v1/me. And the button of a
// supervised server that kills it.
#include <chrono>

#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

// So that the answer reaches the client first.
constexpr std::chrono::milliseconds kBeforeKill{100};

}  // namespace

void get_me(Exchange& exchange) {
  const Caller caller = exchange.caller();
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 4);
  put(out, "name", caller.name);
  put(out, "role", name_of(caller.role));
  put_flag(out, "open", caller.token.empty());
  put_flag(out, "supervised", exchange.service().kill != nullptr);
  exchange.answer(200);
}

void kill_server(Exchange& exchange) {
  if (!read_body(exchange, {})) return;
  Service& service = exchange.service();
  if (!service.kill)
    return exchange.refuse(
        {ProblemCode::kConflict, "nothing starts this server again: see holdfast dev --supervise"});
  service.timers.add(std::chrono::steady_clock::now() + kBeforeKill, service.kill);
  codec::write_map_head(exchange.document(), 0);
  exchange.answer(202);
}

}  // namespace holdfast::gateway
