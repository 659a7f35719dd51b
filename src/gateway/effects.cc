// SPDX-License-Identifier: Apache-2.0
// Effects that are open, for those who look and those who perform them: GET /v1/effects, and
// /v1/effects/{intent}. A worker sees those that are performed outside, and no others.
#include <string>

#include "base/hash.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/outside.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostEffects = 1000;

void put_effect(codec::Buffer& out, const OpenEffect& effect) {
  codec::write_map_head(out, 9);
  put(out, "intent", to_text(effect.intent));
  put(out, "effect", effect.effect);
  put(out, "executor", effect.executor);
  put(out, "workflow", effect.workflow);
  put_value(out, "key", effect.key);
  put_value(out, "params", effect.params);
  put_number(out, "opened_at", effect.opened_at);
  put_number(out, "since_ns", effect.opened_ns);
  put_number(out, "progress", effect.last_progress);
}

}  // namespace

void get_effect(Exchange& exchange) {
  const auto intent = base::Hash::parse(exchange.path_value(0));
  if (!intent) return exchange.refuse({ProblemCode::kNotFound, "it is no effect"});
  exchange.service().engine.effect_raw(
      {intent->bytes},
      exchange.later<OpenEffect>([](Exchange& self, const Result<OpenEffect>& effect) {
        if (!effect) return self.refuse(effect.error());
        if (refuse_hidden(self, *effect)) return;
        put_effect(self.document(), *effect);
        self.answer(200);
      }));
}

void list_effects(Exchange& exchange) {
  const std::string& effect = exchange.text_in_query("effect");
  if (effect.empty())
    return exchange.refuse({ProblemCode::kBadTarget, "'effect' must be the name of an effect"});
  const auto limit = exchange.limit_in_query(100, kMostEffects);
  if (!limit) return;
  exchange.service().engine.open_effects_raw(
      effect, exchange.text_in_query("after"), {.records = *limit},
      exchange.later<OpenEffectsPart>([](Exchange& self, const Result<OpenEffectsPart>& part) {
        if (!part && part.error().code == ErrorCode::kInvalid)
          return self.refuse({ProblemCode::kBadTarget, "'after' is no place among effects"});
        if (!part) return self.refuse(part.error());
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 2);
        codec::write_text(out, "effects");
        codec::write_list_head(out, part->effects.size());
        for (const OpenEffect& open : part->effects) put_effect(out, open);
        codec::write_text(out, "next");
        if (part->next.empty()) {
          codec::write_null(out);
        } else {
          codec::write_text(out, part->next);
        }
        self.answer(200);
      }));
}

}  // namespace holdfast::gateway
