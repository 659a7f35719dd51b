// SPDX-License-Identifier: Apache-2.0
#include "gateway/sending.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "defs/name.h"
#include "gateway/documents.h"

namespace holdfast::gateway {
namespace {

void put_sent(codec::Buffer& out, const Sent& sent, bool has_instance) {
  codec::write_map_head(out, has_instance ? 6 : 5);
  put_number(out, "record", sent.record);
  put_number(out, "deliveries", sent.deliveries);
  put_number(out, "ignored", sent.ignored);
  put_number(out, "unhandled", sent.unhandled);
  put_flag(out, "repeated", sent.is_repeated);
  if (has_instance) codec::write_text(out, "instance");
}

// What a request waits with.
struct Waiting {
  Sent sent;
  Awaited awaited;
  bool starts = false;
  WaitId question;
  Timers::Id timer{};
  std::shared_ptr<void> place = {};  // among those that wait
};

// Given back with the last who has it, on whichever thread. Null: too many wait.
std::shared_ptr<void> take_place_of_wait(Service& service) {
  const auto waits = service.waits;
  if (waits->load() >= service.limits.waits) return nullptr;
  waits->fetch_add(1);
  return {waits.get(), [waits](void*) { waits->fetch_sub(1); }};
}

void answer_with(Exchange& exchange, const Waiting& waiting, const Result<RawInstance>& found) {
  if (!found && found.error().code != ErrorCode::kNotFound) return exchange.refuse(found.error());
  codec::Buffer& out = exchange.document();
  put_sent(out, waiting.sent, true);
  if (!found) {  // it was deleted meanwhile
    codec::write_null(out);
    return exchange.answer(200);
  }
  put_instance(out, waiting.awaited.workflow, waiting.awaited.key, *found,
               exchange.service().definitions.graph_of(waiting.awaited.workflow));
  exchange.answer(has_ended(*found) ? 200 : 202);
}

void answer_as_it_stands(Exchange& exchange, const std::shared_ptr<Waiting>& waiting) {
  exchange.service().engine.query_raw(
      waiting->awaited.workflow, waiting->awaited.key,
      exchange.later<RawInstance>([waiting](Exchange& self, const Result<RawInstance>& found) {
        answer_with(self, *waiting, found);
      }));
}

void stop_waiting(Exchange& exchange, const std::shared_ptr<Waiting>& waiting) {
  exchange.service().engine.stop_waiting(waiting->question);
  if (exchange.is_let_go()) return;
  exchange.forget();
  answer_as_it_stands(exchange, waiting);
}

void wait_for_end(Exchange& exchange, const std::shared_ptr<Waiting>& waiting) {
  Service& service = exchange.service();
  waiting->place = take_place_of_wait(service);
  if (!waiting->place) return answer_as_it_stands(exchange, waiting);
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(waiting->awaited.wait_ms);
  waiting->timer = service.timers.add(
      service.is_stopping ? Timers::Time::min() : until,
      [self = exchange.shared_from_this(), waiting] { stop_waiting(*self, waiting); });
  waiting->question = service.engine.wait_raw(
      waiting->awaited.workflow, waiting->awaited.key,
      exchange.later<RawInstance>([waiting](Exchange& self, const Result<RawInstance>& found) {
        self.service().timers.remove(waiting->timer);
        answer_with(self, *waiting, found);
      }));
  exchange.if_let_go([&service, waiting] {
    service.timers.remove(waiting->timer);
    service.engine.stop_waiting(waiting->question);
  });
}

// It is recorded, and nothing came of it.
void refuse_unhandled(Exchange& exchange, const Sent& sent) {
  exchange.refuse({ProblemCode::kUnhandled, "record " + std::to_string(sent.record) + ": " +
                                                sent.why_unhandled +
                                                (sent.is_repeated ? "; it was sent before" : "")});
}

}  // namespace

void send(Exchange& exchange, const Engine::RawEvent& event, std::optional<Awaited> awaited) {
  // What graphs and tasks tell each other is theirs: an event from elsewhere could end a task that
  // nobody has run.
  if (defs::is_reserved(event.workflow)) {
    return exchange.refuse(
        {ProblemCode::kConflict, "'" + std::string(event.workflow) +
                                     "' takes no events; see /v1/graphs and /v1/schedules"});
  }
  const bool starts = !event.workflow.empty() && event.starts;
  const bool returns = event.reuse == KeyReuse::kReturn;
  exchange.service().engine.send_raw(
      event, exchange.later<Sent>([awaited = std::move(awaited), starts, returns](
                                      Exchange& self, const Result<Sent>& sent) {
        if (!sent) return self.refuse(sent.error());
        if (sent->is_unhandled()) return refuse_unhandled(self, *sent);
        if (awaited && awaited->wait_ms != 0)
          return wait_for_end(self,
                              std::make_shared<Waiting>(Waiting{*sent, *awaited, starts, {}, {}}));
        if (awaited && returns && sent->is_repeated)
          return answer_as_it_stands(
              self, std::make_shared<Waiting>(Waiting{*sent, *awaited, starts, {}, {}}));
        put_sent(self.document(), *sent, false);
        self.answer(starts && !sent->is_repeated ? 201 : 200);
      }));
}

}  // namespace holdfast::gateway
