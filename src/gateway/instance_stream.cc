// SPDX-License-Identifier: Apache-2.0
// GET /v1/instances/{workflow}/{key}/stream: what an instance puts out, until it ends.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/view.h"
#include "defs/system_names.h"
#include "gateway/cursor.h"
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

void write_end(codec::Buffer& out, std::string_view life, const StreamEnd& end) {
  codec::Buffer value;
  codec::write_map_head(value, 1);
  put(value, "status", name_of(end.kind));
  write_event(out, life, end.sequence, "end", value.view());
}

// Where a reader begins.
struct StreamStart {
  std::uint64_t after = 0;
  bool has_read = false;  // it says itself what it has read, and does not only want what is new
  bool is_now = false;
};

class InstanceEvents final : public EventSource,
                             public std::enable_shared_from_this<InstanceEvents> {
 public:
  InstanceEvents(std::string life, std::string workflow, Bytes key, StreamStart start,
                 bool is_of_steps, steps::EntryKinds kinds)
      : life_(std::move(life)),
        workflow_(std::move(workflow)),
        key_(std::move(key)),
        after_(start.after),
        has_read_(start.has_read),
        is_from_now_(start.is_now),
        is_of_steps_(is_of_steps),
        kinds_(std::move(kinds)) {}

  // What is there already decides whether there is a stream at all.
  void begin(Exchange& exchange) {
    exchange.service().engine.stream_raw(
        workflow_, key_, after_, kPart,
        exchange.later<RawStreamPage>(
            [self = shared_from_this()](Exchange& then, const Result<RawStreamPage>& page) {
              if (!page) return then.refuse(page.error(), ProblemCode::kHistory);
              // A reader that has the end and comes again is told to stay away.
              if (page->end && page->entries.empty() && self->has_read_ &&
                  self->after_ >= page->end->sequence)
                return then.answer_text(204, "text/event-stream", "");
              then.begin_events(self);
              // So that a reader that is cut off before the first entry comes again with an id. One
              // that comes again to the end has its own.
              if (self->is_from_now_ && !page->end)
                write_id(then.events(), self->life_, self->after_);
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
    if (page->truncated != 0) write_truncated(out, life_, page->truncated);
    bool is_any_hidden = false;
    for (const auto& [sequence, value] : page->entries) {
      if (!is_of_steps_) {
        if (steps::is_shown(value, kinds_)) {
          write_event(out, life_, sequence, "", value);
        } else {
          is_any_hidden = true;
        }
        continue;
      }
      readable_.clear();
      if (steps::write_readable_entry(readable_, value, kinds_)) {
        write_event(out, life_, sequence, "", readable_.view());
      } else {
        is_any_hidden = true;
      }
    }
    after_ = page->last;
    if (is_any_hidden && !page->end) write_comment(out, "hidden");
    if (!page->end) return exchange.events_are_there();
    write_end(out, life_, *page->end);
    exchange.end_events();
  }

  const std::string life_;
  const std::string workflow_;
  const Bytes key_;
  std::uint64_t after_;
  const bool has_read_;
  const bool is_from_now_;
  const bool is_of_steps_;         // its entries are sys/StepEntry@2 or @1
  const steps::EntryKinds kinds_;  // that are shown
  codec::Buffer readable_;
  Engine::Stop stop_;
};

}  // namespace

namespace {

// What is put out from now on; a reader that comes again says where it was.
std::optional<StreamStart> start_of(Exchange& exchange) {
  const bool comes_again = !exchange.request().field(Field::kLastEventId).empty();
  if (!comes_again && exchange.text_in_query("after") == "now")
    return StreamStart{exchange.service().engine.sequence_now(), false, true};
  const auto after = cursor_in(exchange, "after", CursorOf::kSequence);
  if (!after) return std::nullopt;
  return StreamStart{*after, *after != 0};
}

}  // namespace

void stream_instance(Exchange& exchange) {
  auto key = exchange.key_in_path();
  if (!key) return;
  const auto start = start_of(exchange);
  if (!start) return;
  const defs::WorkflowDef* workflow =
      exchange.service().definitions.workflow(exchange.path_value(0));
  const bool is_of_steps = workflow != nullptr && (workflow->annotations == defs::kStepEntry ||
                                                   workflow->annotations == defs::kStepEntry1);
  const std::string& listed = exchange.text_in_query("kinds");
  if (exchange.is_in_query("kinds")) {
    if (const auto why = steps::refuse_kind_list(listed))
      return exchange.refuse({ProblemCode::kBadTarget, "kinds: " + *why});
  }
  steps::EntryKinds kinds = steps::split_kinds(listed);
  if (is_of_steps) {
    if (const auto why = steps::refuse_kinds(kinds))
      return exchange.refuse({ProblemCode::kBadTarget, "kinds: " + *why});
  }
  if (!exchange.takes_place_of_stream()) return;
  std::make_shared<InstanceEvents>(life_prefix(exchange.service().engine.restored_lives()),
                                   exchange.path_value(0), std::move(*key), *start, is_of_steps,
                                   std::move(kinds))
      ->begin(exchange);
}

}  // namespace holdfast::gateway
