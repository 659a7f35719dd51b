// SPDX-License-Identifier: Apache-2.0
// POST /v1/events, and what begins an instance or is for one.
#include <algorithm>
#include <utility>
#include <vector>

#include "codec/json_writer.h"
#include "codec/view.h"
#include "gateway/body.h"
#include "gateway/event_body.h"
#include "gateway/handlers.h"
#include "gateway/sending.h"

namespace holdfast::gateway {
namespace {

std::uint64_t most_wait_ms(const Service& service) {
  return static_cast<std::uint64_t>(service.limits.wait_time.count());
}

struct StartBody {
  std::string event;  // empty: what the workflow begins with
  std::string id;
  std::optional<Written> key;
  Written input;
  std::uint64_t wait_ms = 0;
  KeyReuse reuse = KeyReuse::kRefuse;
};

base::Result<KeyReuse> read_reuse(const Envelope& envelope) {
  const auto word = TRY(envelope.text("if_ended"));
  if (!word || *word == "refuse") return KeyReuse::kRefuse;
  if (*word == "again") return KeyReuse::kStartAgain;
  if (*word == "return") return KeyReuse::kReturn;
  return base::invalid("$.if_ended", "expected refuse, again or return");
}

base::Result<StartBody> read_start(const Envelope& envelope, std::uint64_t most_ms,
                                   std::optional<std::string>& id) {
  StartBody body;
  body.event = TRY(envelope.text("event")).value_or("");
  id = TRY(envelope.text("id"));
  body.key = envelope.find("key");
  body.wait_ms = TRY(envelope.wait_ms("wait", most_ms));
  body.reuse = TRY(read_reuse(envelope));
  const auto input = envelope.find("input");
  if (!input) return base::invalid("$.input", "it is missing");
  body.input = *input;
  return body;
}

// What the value has where the subscriptions of the workflow find its key; nothing: none does.
std::vector<base::ByteView> routed_keys(const Definitions& definitions,
                                        const defs::WorkflowDef& workflow, const std::string& event,
                                        const Bytes& value) {
  std::vector<base::ByteView> keys;
  for (const defs::Subscription& subscription : definitions.manifest()->subscriptions) {
    if (subscription.workflow != workflow.name || subscription.event != event) continue;
    if (!subscription.key_field) continue;
    if (const auto key = Definitions::key_in(value, *subscription.key_field)) keys.push_back(*key);
  }
  return keys;
}

// The key that the body says, or that the value has where its subscription finds it. If both are
// there, they are the same: the events that follow would go to another instance otherwise.
std::optional<Bytes> key_of(Exchange& exchange, const defs::WorkflowDef& workflow,
                            const StartBody& body, const Bytes& value) {
  Service& service = exchange.service();
  if (!workflow.key_schema) {
    if (!body.key) return Bytes();
    exchange.refuse({ProblemCode::kBadBody, "'" + workflow.name + "' has no key", "$.key"});
    return std::nullopt;
  }
  const auto routed = routed_keys(service.definitions, workflow, body.event, value);
  if (body.key) {
    const auto key = read_value(exchange, *workflow.key_schema, *body.key, "$.key");
    if (!key) return std::nullopt;
    const bool is_the_same =
        routed.empty() || std::ranges::any_of(routed, [&](base::ByteView each) {
          return std::ranges::equal(each, *key);
        });
    if (is_the_same) return Bytes(key->begin(), key->end());
    exchange.refuse({ProblemCode::kBadBody,
                     "the event has another key, " +
                         codec::to_json(codec::View::of(routed.front())) +
                         ", where its route finds it",
                     "$.key"});
    return std::nullopt;
  }
  if (!routed.empty()) return Bytes(routed.front().begin(), routed.front().end());
  exchange.refuse({ProblemCode::kBadBody, "the key is missing", "$.key"});
  return std::nullopt;
}

}  // namespace

void post_event(Exchange& exchange) {
  Service& service = exchange.service();
  auto read = read_event(exchange.request(), most_wait_ms(service));
  if (const auto* problem = std::get_if<Problem>(&read)) return exchange.refuse(*problem);
  const EventBody& body = *std::get_if<EventBody>(&read);
  const auto value = read_value(exchange, body.schema, body.value, body.place);
  if (!value) return;
  std::optional<Awaited> awaited;
  if (body.wait_ms != 0) {
    const defs::Subscription* route = service.definitions.only_route_of(body.schema);
    if (route == nullptr) {
      return exchange.refuse({ProblemCode::kBadBody,
                              "only an event that goes to one workflow can be waited for",
                              "$.wait"});
    }
    awaited = Awaited{route->workflow, {}, body.wait_ms};
    if (route->key_field) {
      if (const auto key = Definitions::key_in(*value, *route->key_field))
        awaited->key.assign(key->begin(), key->end());
    }
  }
  send(exchange,
       {.schema = body.schema,
        .value = Bytes(value->begin(), value->end()),
        .id = body.id,
        .trace = exchange.trace()},
       std::move(awaited));
}

void start_instance(Exchange& exchange) {
  Service& service = exchange.service();
  const std::string& name = exchange.path_value(0);
  const defs::WorkflowDef* workflow = service.definitions.workflow(name);
  if (workflow == nullptr) {
    return exchange.refuse({ProblemCode::kNotFound, "the manifest has no workflow '" + name + "'"});
  }
  const auto envelope = read_body(exchange, {"event", "key", "input", "id", "wait", "if_ended"});
  if (!envelope) return;
  std::optional<std::string> id;
  auto body = read_start(*envelope, most_wait_ms(service), id);
  if (!body) return refuse_body(exchange, body.error());
  if (const auto problem = take_id(exchange.request(), std::move(id), body->id))
    return exchange.refuse(*problem);
  if (body->event.empty()) {
    const defs::Subscription* first = service.definitions.first_event_of(name);
    body->event = first == nullptr ? workflow->event : first->event;
  }
  const auto made = read_value(exchange, body->event, body->input, "$.input");
  if (!made) return;
  const Bytes value(made->begin(), made->end());
  const auto key = key_of(exchange, *workflow, *body, value);
  if (!key) return;
  send(exchange,
       {.schema = body->event,
        .value = value,
        .id = body->id,
        .workflow = name,
        .key = *key,
        .reuse = body->reuse,
        .trace = exchange.trace()},
       Awaited{name, *key, body->wait_ms});
}

void signal_instance(Exchange& exchange) {
  const auto key = exchange.key_in_path();
  if (!key) return;
  auto read = read_event(exchange.request(), 0);
  if (const auto* problem = std::get_if<Problem>(&read)) return exchange.refuse(*problem);
  const EventBody& body = *std::get_if<EventBody>(&read);
  const auto value = read_value(exchange, body.schema, body.value, body.place);
  if (!value) return;
  struct Signal {
    std::string schema;
    std::string id;
    Bytes value;
    Bytes key;
  };
  // An event for an instance that is not there would begin it; a signal does not.
  Signal signal{body.schema, body.id, Bytes(value->begin(), value->end()), *key};
  exchange.service().engine.query_raw(
      exchange.path_value(0), *key,
      exchange.later<RawInstance>(
          [signal = std::move(signal)](Exchange& self, const Result<RawInstance>& found) {
            if (!found) return self.refuse(found.error());
            send(self,
                 {.schema = signal.schema,
                  .value = signal.value,
                  .id = signal.id,
                  .workflow = self.path_value(0),
                  .key = signal.key,
                  .starts = false},
                 std::nullopt);
          }));
}

}  // namespace holdfast::gateway
