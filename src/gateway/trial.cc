// SPDX-License-Identifier: Apache-2.0
// The trial of a proposal: /v1/proposals/{proposal}/shadow. The engine runs it, on a thread of its
// own; it is given up when the client leaves, or the server stops.
#include <atomic>
#include <memory>
#include <utility>

#include "codec/view.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/proposal_path.h"

namespace holdfast::gateway {
namespace {

// What the body asks for, within what is allowed. Nothing: it is answered already.
std::optional<TrialOptions> options_in(Exchange& exchange, const Envelope& body) {
  TrialOptions options = exchange.service().limits.trial;
  const auto from = number_from_1(exchange, body, "from");
  if (!from) return std::nullopt;
  const auto to = number_from_1(exchange, body, "to");
  if (!to) return std::nullopt;
  const auto records = number_from_1(exchange, body, "records");
  if (!records) return std::nullopt;
  if (*records != 0 && *from != 0) {
    refuse_body(exchange, base::invalid("$.records", "there is from, too"));
    return std::nullopt;
  }
  if (*records > options.records) {
    refuse_body(exchange, base::invalid("$.records", "at most " + std::to_string(options.records) +
                                                         " are fed again"));
    return std::nullopt;
  }
  options.from = *from;
  options.to = *to;
  if (*records != 0) options.records = *records;
  return options;
}

void answer_tried(Exchange& exchange, const Result<Tried>& tried) {
  if (!tried) return exchange.refuse(tried.error());
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 2);
  put_number(out, "record", tried->record);
  codec::write_text(out, "report");
  out.append(codec::View::of(tried->report).encoded());
  exchange.answer(200);
}

}  // namespace

void try_proposal(Exchange& exchange) {
  const auto proposal = proposal_in_path(exchange);
  if (!proposal) return;
  const auto body = read_body(exchange, {"from", "to", "records"});
  if (!body) return;
  auto options = options_in(exchange, *body);
  if (!options) return;
  options->by = exchange.asked_by();
  Service& service = exchange.service();
  const auto is_given_up = std::make_shared<std::atomic<bool>>(false);
  // A server that stops runs all timers: nobody is waited for then. The engine keeps the time.
  const auto timer = service.timers.add(
      std::chrono::steady_clock::now() + options->time + service.limits.wait_time,
      [is_given_up] { is_given_up->store(true); });
  exchange.if_let_go([&service, timer, is_given_up] {
    service.timers.remove(timer);
    is_given_up->store(true);
  });
  options->stopped = [is_given_up, also = options->stopped] {
    return is_given_up->load() || (also && also());
  };
  service.engine.try_proposal_raw(
      *proposal, std::move(*options),
      exchange.later<Tried>([timer](Exchange& self, const Result<Tried>& tried) {
        self.service().timers.remove(timer);
        answer_tried(self, tried);
      }));
}

}  // namespace holdfast::gateway
