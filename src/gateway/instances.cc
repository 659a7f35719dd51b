// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances/{workflow}/{key}, its parts, and what people may do to an instance.
#include <memory>
#include <utility>

#include "codec/view.h"
#include "defs/system_names.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"
#include "gateway/media.h"
#include "gateway/one_instance.h"
#include "gateway/past_state.h"
#include "gateway/timeline_states.h"
#include "gateway/wait_reasons.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostRecord = std::uint64_t{1} << 62;

PastLimits limited(PastLimits limits, std::function<bool()> stopped) {
  limits.stopped = [stopped = std::move(stopped), also = std::move(limits.stopped)] {
    return stopped() || (also && also());
  };
  return limits;
}

void control(Exchange& exchange, Control control) {
  const auto key = exchange.key_in_path();
  if (!key) return;
  const auto body = read_body(exchange, {"reason"});
  if (!body) return;
  const auto reason = text_in(exchange, *body, "reason");
  if (!reason) return;
  exchange.service().engine.control_raw(
      control, exchange.path_value(0), *key, *reason,
      exchange.later<Done>([](Exchange& self, const Result<Done>& done) {
        if (!done) return self.refuse(done.error());
        codec::write_map_head(self.document(), 0);
        self.answer(200);
      }),
      exchange.asked_by());
}

// With the definitions of that moment, and what it says is made beside the serving thread, too.
void get_past_state(Exchange& exchange, std::uint64_t at) {
  Engine& engine = exchange.service().engine;
  auto reader = std::make_shared<PastReader>(exchange.path_value(0), exchange.path_value(1));
  exchange.look_back(
      [&engine, reader = std::move(reader), at,
       most = exchange.service().limits.past](std::function<bool()> stopped) -> Result<Bytes> {
        codec::Buffer document;
        const auto shown = engine.look_back(
            {at}, limited(most, std::move(stopped)), [&](PastMoment& moment) -> Result<Done> {
              const auto found = reader->read(moment);
              if (!found) return found.error();
              put_state_of(document, found->instance, at, found->graph);
              return Done{};
            });
        if (!shown) return shown.error();
        return document.to_bytes();
      },
      [](Exchange& self, const Result<Bytes>& document) {
        if (!document) return self.refuse(document.error());
        self.document().append(*document);
        self.answer(200);
      });
}

void answer_timeline(Exchange& exchange, const TimelinePart& part) {
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 3);
  put_records(out, part.records);
  put_number_or_null(out, "next", part.next);
  put_flag(out, "trimmed", part.is_trimmed);
  exchange.answer(200);
}

void answer_with_states(Exchange& exchange, const TimelinePart& part,
                        std::shared_ptr<TimelineStates> seen, std::vector<std::uint64_t> wanted) {
  Engine& engine = exchange.service().engine;
  exchange.look_back(
      [&engine, part, seen = std::move(seen), wanted = std::move(wanted),
       most =
           exchange.service().limits.past](std::function<bool()> stopped) -> Result<TimelinePart> {
        const auto looked =
            engine.look_back(wanted, limited(most, std::move(stopped)),
                             [&](PastMoment& moment) { return seen->look(moment); });
        // The instance is there: nothing leads to any of these moments any more.
        const bool is_gone = !looked && looked.error().code == ErrorCode::kNotFound;
        if (!looked && !is_gone) return looked.error();
        TimelinePart filled = part;
        filled.records = seen->filled(part.records);
        return filled;
      },
      [](Exchange& self, const Result<TimelinePart>& filled) {
        if (!filled) return self.refuse(filled.error());
        answer_timeline(self, *filled);
      });
}

}  // namespace

void get_instance(Exchange& exchange) {
  with_instance(exchange, [](Exchange& self, const Bytes& key, const RawInstance& instance) {
    put_instance(self.document(), self.path_value(0), key, instance,
                 self.service().definitions.graph_of(self.path_value(0)));
    self.answer(200);
  });
}

void get_state(Exchange& exchange) {
  const auto at = exchange.number_in_query("at", 0, kMostRecord);
  if (!at) return;
  if (*at != 0) return get_past_state(exchange, *at);
  with_instance(exchange, [](Exchange& self, const Bytes&, const RawInstance& instance) {
    put_state_of(self.document(), instance, 0,
                 self.service().definitions.graph_of(self.path_value(0)));
    self.answer(200);
  });
}

namespace {

// Of a run of steps the state knows more than the kernel.
void answer_why(Exchange& exchange, const Engine::RawSituation& seen) {
  std::vector<steps::Reason> waits;
  if (const steps::Graph* graph = exchange.service().definitions.graph_of(exchange.path_value(0)))
    waits = steps::reasons_of(*graph, seen.instance.state, kMostStepReasons);
  put_why(exchange.document(), seen.instance, seen.reasons, waits, exchange.service().desk,
          seen.version);
  exchange.answer(200);
}

// Until it is ready a task waits for others, which only they can say.
void answer_why_of_task(Exchange& exchange, const Bytes& key, Engine::RawSituation seen) {
  Graphs(exchange.service().engine)
      .waits(std::string(codec::View::of(key).text().value_or("")),
             exchange.later<TaskWaits>(
                 [seen = std::move(seen)](Exchange& self, const Result<TaskWaits>& waits) {
                   if (!waits) return self.refuse(waits.error());
                   if (waits->count == 0 && waits->is_sealed) return answer_why(self, seen);
                   put_why(self.document(), *waits);
                   self.answer(200);
                 }));
}

}  // namespace

// One question for the state and for the reasons: the answer is of one moment.
void get_why(Exchange& exchange) {
  auto keys = exchange.keys_in_path();
  if (!keys) return;
  if (keys->size() != 1) {
    return with_one_of(exchange, std::move(*keys),
                       [](Exchange& self, const Bytes&, const RawInstance& instance) {
                         // All instances of a workflow that is gone have ended.
                         put_why(self.document(), instance, {}, {});
                         self.answer(200);
                       });
  }
  const Bytes key = keys->front();
  exchange.service().engine.situation_raw(
      exchange.path_value(0), key,
      exchange.later<Engine::RawSituation>(
          [key](Exchange& self, const Result<Engine::RawSituation>& seen) {
            if (!seen) return self.refuse(seen.error());
            if (self.path_value(0) == defs::kTaskWorkflow && !has_ended(seen->instance))
              return answer_why_of_task(self, key, *seen);
            answer_why(self, *seen);
          }));
}

// What the records do not have is looked back for, behind all who look back.
void get_timeline(Exchange& exchange) {
  const auto limit = exchange.limit_in_query(100, kMostRecordsPerAnswer);
  if (!limit) return;
  const auto from = exchange.number_in_query("from", 0, kMostRecord);
  if (!from) return;
  const auto states = exchange.number_in_query("states", 0, 1);
  if (!states) return;
  with_instance(exchange, [limit = *limit, from = *from, wants_states = *states == 1](
                              Exchange& self, const Bytes& key, const RawInstance& instance) {
    const std::uint64_t begin = from == 0 ? instance.last_record : from;
    Engine& engine = self.service().engine;
    self.read_files(
        [&engine, workflow = self.path_value(0), key, begin, limit] {
          return engine.read_timeline(workflow, key, begin, {.records = limit});
        },
        [key, wants_states](Exchange& then, const Result<TimelinePart>& part) {
          if (!part) return then.refuse(part.error());
          if (!wants_states) return answer_timeline(then, *part);
          auto seen = std::make_shared<TimelineStates>(then.path_value(0), key);
          auto wanted = seen->wanted(part->records);
          if (wanted.empty()) return answer_timeline(then, *part);
          answer_with_states(then, *part, std::move(seen), std::move(wanted));
        });
  });
}

void cancel_instance(Exchange& exchange) { control(exchange, Control::kCancel); }
void pause_instance(Exchange& exchange) { control(exchange, Control::kPause); }
void resume_instance(Exchange& exchange) { control(exchange, Control::kResume); }

}  // namespace holdfast::gateway
