// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances/{workflow}/{key}, its parts, and what people may do to an instance.
#include <utility>

#include "gateway/documents.h"
#include "gateway/event_body.h"
#include "gateway/handlers.h"
#include "gateway/media.h"
#include "gateway/wait_reasons.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostRecords = 1000;

void control(Exchange& exchange, Control control) {
  const auto key = exchange.key_in_path();
  if (!key) return;
  const auto form = form_of(exchange.request());
  if (!form)
    return exchange.refuse({ProblemCode::kMediaType, "application/json or application/cbor"});
  const auto envelope = Envelope::read(*form, exchange.request().body);
  const auto refuse = [&](const base::Error& error) {
    exchange.refuse(problem_of(error, "$", ProblemCode::kBadBody));
  };
  if (!envelope) return refuse(envelope.error());
  if (const auto known = envelope->check_members({"reason"}); !known) return refuse(known.error());
  const auto reason = envelope->text("reason");
  if (!reason) return refuse(reason.error());
  exchange.service().engine.control_raw(
      control, exchange.path_value(0), *key, reason->value_or(""),
      exchange.later<Done>([](Exchange& self, const Result<Done>& done) {
        if (!done) return self.refuse(done.error());
        codec::write_map_head(self.document(), 0);
        self.answer(200);
      }));
}

// Asks for the instance, and answers with what `put` makes of it.
template <class Put>
void with_instance(Exchange& exchange, Put put) {
  auto key = exchange.key_in_path();
  if (!key) return;
  exchange.service().queries.ask(
      exchange, exchange.path_value(0), std::move(*key),
      [put](Exchange& self, const Bytes& asked, const Result<RawInstance>& found) {
        if (!found) return self.refuse(found.error());
        put(self, asked, *found);
      });
}

}  // namespace

void get_instance(Exchange& exchange) {
  with_instance(exchange, [](Exchange& self, const Bytes& key, const RawInstance& instance) {
    put_instance(self.document(), self.path_value(0), key, instance);
    self.answer(200);
  });
}

void get_state(Exchange& exchange) {
  with_instance(exchange, [](Exchange& self, const Bytes&, const RawInstance& instance) {
    codec::Buffer& out = self.document();
    codec::write_map_head(out, 2);
    put_number(out, "record", instance.last_record);
    put_value(out, "state", instance.state);
    self.answer(200);
  });
}

void get_why(Exchange& exchange) {
  const auto key = exchange.key_in_path();
  if (!key) return;
  using Reasons = std::vector<WaitReason>;
  exchange.service().engine.why_raw(
      exchange.path_value(0), *key,
      exchange.later<Reasons>([](Exchange& self, const Result<Reasons>& reasons) {
        if (!reasons) return self.refuse(reasons.error());
        put_why(self.document(), *reasons);
        self.answer(200);
      }));
}

void get_timeline(Exchange& exchange) {
  const auto limit = exchange.limit_in_query(100, kMostRecords);
  if (!limit) return;
  const auto from = exchange.number_in_query("from", 0, std::uint64_t{1} << 62);
  if (!from) return;
  with_instance(exchange, [limit = *limit, from = *from](Exchange& self, const Bytes& key,
                                                         const RawInstance& instance) {
    const std::uint64_t begin = from == 0 ? instance.last_record : from;
    Engine& engine = self.service().engine;
    self.read_files(
        [&engine, workflow = self.path_value(0), key, begin, limit] {
          return engine.read_timeline(workflow, key, begin, {.records = limit});
        },
        [](Exchange& exchange_then, const Result<TimelinePart>& part) {
          if (!part) return exchange_then.refuse(part.error());
          codec::Buffer& out = exchange_then.document();
          codec::write_map_head(out, 3);
          codec::write_text(out, "records");
          codec::write_list_head(out, part->records.size());
          for (const Bytes& record : part->records) out.append(record);
          put_number_or_null(out, "next", part->next);
          put_flag(out, "trimmed", part->is_trimmed);
          exchange_then.answer(200);
        });
  });
}

void cancel_instance(Exchange& exchange) { control(exchange, Control::kCancel); }
void pause_instance(Exchange& exchange) { control(exchange, Control::kPause); }
void resume_instance(Exchange& exchange) { control(exchange, Control::kResume); }

}  // namespace holdfast::gateway
