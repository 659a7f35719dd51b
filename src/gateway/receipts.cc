// SPDX-License-Identifier: Apache-2.0
// What those report who perform effects outside: POST /v1/receipts and /v1/progress.
#include <array>
#include <utility>

#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/outside.h"

namespace holdfast::gateway {
namespace {

constexpr std::array<std::string_view, 4> kReceiptStatuses{"ok", "error", "timeout", "cancelled"};
constexpr std::string_view kErrorSchema = "sys/EffectError@1";

std::optional<Status> status_named(std::string_view name) {
  for (std::size_t i = 0; i < kReceiptStatuses.size(); ++i)
    if (kReceiptStatuses[i] == name) return static_cast<Status>(i);
  return std::nullopt;
}

void answer_reported(Exchange& exchange, const Result<Reported>& reported) {
  if (!reported) return exchange.refuse(reported.error());
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, reported->settled ? 3 : 2);
  put_number(out, "record", reported->record);
  put_flag(out, "repeated", reported->is_repeated);
  if (reported->settled)
    put(out, "settled", kReceiptStatuses[static_cast<std::size_t>(*reported->settled)]);
  exchange.answer(200);
}

// The payload as it was written, which outlives the request.
struct HeldPayload {
  Form form = Form::kJson;
  std::string text;
  std::string place;
  Written written() const { return {form, text}; }
};

struct Held {
  RawReceipt receipt;
  HeldPayload payload;
};

// The schema of what the effect came to is known when the effect is.
void settle(Exchange& exchange, const Held& held, const Result<OpenEffect>& effect) {
  Service& service = exchange.service();
  const auto done = [&](const RawReceipt& receipt) {
    service.engine.settle_raw(receipt, exchange.later<Reported>(answer_reported));
  };
  if (!effect && effect.error().code != ErrorCode::kNotFound)
    return exchange.refuse(effect.error());
  if (!effect) return done(held.receipt);  // settled already, or never opened
  if (refuse_hidden(exchange, *effect)) return;
  const defs::EffectDef* known = service.definitions.effect(effect->effect);
  const std::string_view wanted = held.receipt.status == Status::kOk && known != nullptr
                                      ? std::string_view(known->receipt)
                                      : kErrorSchema;
  const codec::Schema* schema = service.definitions.schema(wanted);
  if (known == nullptr || schema == nullptr)
    return exchange.refuse({ProblemCode::kConflict, "the definitions have changed"});
  auto payload = read_value(exchange, *schema, held.payload.written(), held.payload.place);
  if (!payload) return;
  RawReceipt receipt = held.receipt;
  receipt.payload.assign(payload->begin(), payload->end());
  done(receipt);
}

}  // namespace

void post_receipt(Exchange& exchange) {
  const auto body = read_body(exchange, {"intent", "status", "payload", "error", "cost_cents"});
  if (!body) return;
  const auto intent = needed_intent(exchange, *body);
  if (!intent) return;
  const auto said = text_in(exchange, *body, "status");
  if (!said) return;
  const auto status = status_named(said->empty() ? "ok" : *said);
  if (!status)
    return refuse_body(exchange, base::invalid("$.status", "ok, error, timeout or cancelled"));
  Held held;
  held.receipt.intent = *intent;
  held.receipt.status = *status;
  if (body->find("cost_cents")) {
    held.receipt.cost_cents = needed_number(exchange, *body, "cost_cents");
    if (!held.receipt.cost_cents) return;
  }
  const bool is_ok = *status == Status::kOk;
  const std::string_view name = is_ok ? "payload" : "error";
  const std::string_view other = is_ok ? "error" : "payload";
  const auto written = body->find(name);
  held.payload.place = "$." + std::string(name);
  if (!written) return refuse_body(exchange, base::invalid(held.payload.place, "it is missing"));
  if (body->find(other)) {
    return refuse_body(exchange, base::invalid("$." + std::string(other),
                                               "a receipt that is ok has a payload, any other an "
                                               "error"));
  }
  held.payload.form = written->form;
  held.payload.text = written->text;
  exchange.service().engine.effect_raw(
      *intent, exchange.later<OpenEffect>(
                   [held = std::move(held)](Exchange& self, const Result<OpenEffect>& effect) {
                     settle(self, held, effect);
                   }));
}

void post_progress(Exchange& exchange) {
  const auto body = read_body(exchange, {"intent", "sequence", "kind", "payload"});
  if (!body) return;
  const auto intent = needed_intent(exchange, *body);
  if (!intent) return;
  const auto sequence = needed_number(exchange, *body, "sequence");
  if (!sequence) return;
  auto kind = text_in(exchange, *body, "kind");
  if (!kind) return;
  auto payload = needed_any(exchange, *body, "payload");
  if (!payload) return;
  RawProgress progress{.intent = *intent,
                       .sequence = *sequence,
                       .kind = std::move(*kind),
                       .payload = std::move(*payload)};
  exchange.service().engine.effect_raw(
      *intent, exchange.later<OpenEffect>([progress = std::move(progress)](
                                              Exchange& self, const Result<OpenEffect>& effect) {
        if (!effect && effect.error().code != ErrorCode::kNotFound)
          return self.refuse(effect.error());
        if (effect && refuse_hidden(self, *effect)) return;
        self.service().engine.progress_raw(progress, self.later<Reported>(answer_reported));
      }));
}

}  // namespace holdfast::gateway
