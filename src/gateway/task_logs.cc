// SPDX-License-Identifier: Apache-2.0
// GET /v1/graphs/{graph}/tasks/{task}/logs: the lines that a task wrote, and those to come as an
// event stream until the task ends.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "defs/system_names.h"
#include "gateway/cursor.h"
#include "gateway/desk_of.h"
#include "gateway/documents.h"
#include "gateway/event_stream.h"
#include "gateway/handlers.h"
#include "tasks/messages.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostLines = 1000;
constexpr std::uint64_t kMostSequence = std::uint64_t{1} << 53;

void put_line(codec::Buffer& out, const workers::LogEntry& entry) {
  codec::write_map_head(out, 6);
  put_number(out, "n", entry.sequence);
  put_number(out, "attempt", entry.attempt);
  put_number(out, "time_ns", entry.line.time_ns);
  put(out, "stream", entry.line.is_error ? "err" : "out");
  put_number(out, "missing", entry.missing);
  put(out, "text", entry.line.text);
}

std::string log_name(const Exchange& exchange) {
  return exchange.path_value(0) + "/" + exchange.path_value(1);
}

// Asks for the task that the path names: `then(exchange, has_ended)`.
template <class Function>
void with_task(Exchange& exchange, Function then) {
  const std::string name = log_name(exchange);
  exchange.service().engine.query_raw(
      defs::kTaskWorkflow, tasks::key_bytes(name),
      exchange.later<RawInstance>([name, then](Exchange& self, const Result<RawInstance>& task) {
        if (!task && task.error().code == ErrorCode::kNotFound)
          return self.refuse({ProblemCode::kNotFound, "there is no task '" + name + "'"});
        if (!task) return self.refuse(task.error());
        then(self, task->status >= InstanceStatus::kCompleted);
      }));
}

// The world knows when a task has ended, also one that wrote nothing, or before a restart; the desk
// has the lines.
class LogEvents final : public EventSource, public std::enable_shared_from_this<LogEvents> {
 public:
  LogEvents(Service& service, workers::Desk& desk, std::string task, std::uint64_t after)
      : engine_(service.engine), desk_(desk), task_(std::move(task)), after_(after) {}

  void begin(Exchange& exchange, bool has_ended) {
    has_ended_ = has_ended;
    exchange.begin_events(shared_from_this());
    if (!has_ended) {
      end_wait_ = engine_.wait_raw(
          defs::kTaskWorkflow, tasks::key_bytes(task_),
          exchange.later<RawInstance>(
              [self = shared_from_this()](Exchange& then, const Result<RawInstance>& ended) {
                self->end_wait_.reset();
                self->take_end(then, ended);
              }));
    }
    next(exchange);
  }

  void next(Exchange& exchange) override {
    is_asked_ = true;
    if (take(exchange)) return;
    if (has_ended_) return end(exchange);
    if (log_wait_ != 0) return;  // it still waits for the same
    // `later` brings the call back to the serving thread, and drops it for a reader that left.
    auto told =
        exchange.later<Done>([self = shared_from_this()](Exchange& then, const Result<Done>&) {
          self->log_wait_ = 0;
          if (self->is_asked_) self->next(then);
        });
    log_wait_ = desk_.wait_for_log(task_, after_, [told] { told(Done{}); });
    if (log_wait_ != 0 || take(exchange)) return;
    is_asked_ = false;
    exchange.fail_events({ErrorCode::kUnavailable, "too many follow this log"});
  }

  void stop() override {
    desk_.stop_waiting_for_log(task_, std::exchange(log_wait_, 0));
    if (end_wait_) engine_.stop_waiting(*end_wait_);
    end_wait_.reset();
  }

 private:
  void take_end(Exchange& exchange, const Result<RawInstance>& ended) {
    const bool is_gone = !ended && ended.error().code == ErrorCode::kNotFound;
    if (!ended && !is_gone) {
      if (!std::exchange(is_asked_, false)) return;
      return exchange.fail_events(ended.error());
    }
    has_ended_ = true;
    if (is_asked_) next(exchange);
  }

  void end(Exchange& exchange) {
    is_asked_ = false;
    codec::Buffer value;
    codec::write_map_head(value, 0);
    write_event(exchange.events(), "", after_, "end", value.view());
    exchange.end_events();
  }

  // True: there was something.
  bool take(Exchange& exchange) {
    const auto page = desk_.read_log(task_, after_, kEventsAtOnce);
    if (!page || page->entries.empty()) return false;
    codec::Buffer& out = exchange.events();
    if (page->entries.front().sequence > after_ + 1)
      write_truncated(out, "", page->entries.front().sequence - 1);
    for (const workers::LogEntry& entry : page->entries) {
      codec::Buffer value;
      put_line(value, entry);
      write_event(out, "", entry.sequence, "", value.view());
    }
    after_ = page->entries.back().sequence;
    is_asked_ = false;
    exchange.events_are_there();
    return true;
  }

  Engine& engine_;
  workers::Desk& desk_;
  const std::string task_;
  std::uint64_t after_;
  bool is_asked_ = false;
  bool has_ended_ = false;
  std::uint64_t log_wait_ = 0;
  std::optional<WaitId> end_wait_;
};

}  // namespace

void get_task_logs(Exchange& exchange) {
  workers::Desk* const desk = desk_of(exchange);
  if (desk == nullptr) return;
  const auto limit = exchange.limit_in_query(kMostLines, kMostLines);
  if (!limit) return;
  if (exchange.wants_events()) {
    const auto after = cursor_in(exchange, "after", CursorOf::kSequence);
    if (!after || !exchange.takes_place_of_stream()) return;
    const auto events =
        std::make_shared<LogEvents>(exchange.service(), *desk, log_name(exchange), *after);
    return with_task(exchange,
                     [events](Exchange& self, bool has_ended) { events->begin(self, has_ended); });
  }
  const auto after = exchange.number_in_query("after", 0, kMostSequence);
  if (!after) return;
  with_task(exchange, [desk, after = *after, limit = *limit](Exchange& self, bool has_ended) {
    const auto page = desk->read_log(log_name(self), after, limit);
    codec::Buffer& out = self.document();
    codec::write_map_head(out, 4);
    codec::write_text(out, "lines");
    codec::write_list_head(out, page ? page->entries.size() : 0);
    if (page)
      for (const workers::LogEntry& entry : page->entries) put_line(out, entry);
    put_number(out, "first", page ? page->first : 1);
    put_number(out, "next", page && !page->entries.empty() ? page->entries.back().sequence : after);
    put_flag(out, "ended", has_ended);
    self.answer(200);
  });
}

}  // namespace holdfast::gateway
