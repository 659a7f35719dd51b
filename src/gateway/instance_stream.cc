// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances/{workflow}/{key}/stream: what an instance puts out, until it ends.
#include <utility>

#include "defs/system_names.h"
#include "gateway/documents.h"
#include "gateway/event_stream.h"
#include "gateway/handlers.h"
#include "steps/readable.h"

namespace holdfast::gateway {
namespace {

constexpr PartLimits kPart{.records = kEventsAtOnce, .bytes = kEventBytesAtOnce};

std::string_view name_of(StreamEnd::Kind kind) noexcept {
  switch (kind) {
    case StreamEnd::Kind::kCompleted: return "completed";
    case StreamEnd::Kind::kFailed: return "failed";
    case StreamEnd::Kind::kCancelled: return "cancelled";
    case StreamEnd::Kind::kForgotten: return "forgotten";
    case StreamEnd::Kind::kRemoved: break;
  }
  return "deleted";
}

void write_end(codec::Buffer& out, const StreamEnd& end) {
  codec::Buffer value;
  codec::write_map_head(value, 1);
  put(value, "status", name_of(end.kind));
  write_event(out, end.sequence, "end", value.view());
}

class InstanceEvents final : public EventSource,
                             public std::enable_shared_from_this<InstanceEvents> {
 public:
  InstanceEvents(std::string workflow, Bytes key, std::uint64_t after, bool is_of_steps)
      : workflow_(std::move(workflow)),
        key_(std::move(key)),
        after_(after),
        is_of_steps_(is_of_steps) {}

  // What is there already decides whether there is a stream at all.
  void begin(Exchange& exchange) {
    exchange.service().engine.stream_raw(
        workflow_, key_, after_, kPart,
        exchange.later<RawStreamPage>(
            [self = shared_from_this()](Exchange& then, const Result<RawStreamPage>& page) {
              if (!page) return then.refuse(page.error(), ProblemCode::kHistory);
              then.begin_events(self);
              self->take(then, page);
            }));
  }

  void next(Exchange& exchange) override {
    stop_ = exchange.service().engine.go_on_raw(
        workflow_, key_, after_, kPart,
        exchange.later<RawStreamPage>(
            [self = shared_from_this()](Exchange& then, const Result<RawStreamPage>& page) {
              self->take(then, page);
            }));
  }

  void stop() override {
    if (const auto stop = std::exchange(stop_, nullptr)) stop();
  }

 private:
  void take(Exchange& exchange, const Result<RawStreamPage>& page) {
    stop_ = nullptr;
    if (!page) return exchange.fail_events(page.error(), ProblemCode::kHistory);
    codec::Buffer& out = exchange.events();
    std::size_t bytes = 0;
    for (const auto& entry : page->entries) bytes += entry.value.size();
    if (!exchange.has_room_for(bytes)) return exchange.fail_events(too_much_waits());
    if (page->truncated != 0) write_truncated(out, page->truncated);
    for (const auto& [sequence, value] : page->entries) {
      if (!is_of_steps_) {
        write_event(out, sequence, "", value);
        continue;
      }
      readable_.clear();
      steps::write_readable_entry(readable_, value);
      write_event(out, sequence, "", readable_.view());
    }
    after_ = page->last;
    if (!page->end) return exchange.events_are_there();
    write_end(out, *page->end);
    exchange.end_events();
  }

  const std::string workflow_;
  const Bytes key_;
  std::uint64_t after_;
  const bool is_of_steps_;  // its entries are sys/StepEntry@1
  codec::Buffer readable_;
  Engine::Stop stop_;
};

}  // namespace

void stream_instance(Exchange& exchange) {
  auto key = exchange.key_in_path();
  if (!key) return;
  const auto after = exchange.last_event("after");
  if (!after || !exchange.takes_place_of_stream()) return;
  const defs::WorkflowDef* workflow =
      exchange.service().definitions.workflow(exchange.path_value(0));
  const bool is_of_steps = workflow != nullptr && workflow->annotations == defs::kStepEntry;
  std::make_shared<InstanceEvents>(exchange.path_value(0), std::move(*key), *after, is_of_steps)
      ->begin(exchange);
}

}  // namespace holdfast::gateway
