// SPDX-License-Identifier: Apache-2.0
// What those ask who look after the server: is it there, does it take work.
#include "gateway/handlers.h"

namespace holdfast::gateway {

void get_health(Exchange& exchange) {
  exchange.answer_text(200, "application/json", R"({"status":"ok"})");
}

void get_ready(Exchange& exchange) {
  switch (exchange.service().engine.condition()) {
    case Condition::kReady:
      if (exchange.service().is_stopping) break;
      return exchange.answer_text(200, "application/json", R"({"status":"ready"})");
    case Condition::kDiskFull: return exchange.refuse({ProblemCode::kDiskFull, "no new work"});
    case Condition::kNoFiles:
      return exchange.refuse({ProblemCode::kStorage, "the journal gets no next file"});
    case Condition::kEnded: break;
  }
  exchange.refuse({ProblemCode::kUnavailable, "the engine has ended"});
}

}  // namespace holdfast::gateway
