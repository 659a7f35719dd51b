// SPDX-License-Identifier: Apache-2.0
// GET /v1/graphs/{graph}/tasks/{task}/logs: the lines that a task wrote, and those to come as an
// event stream until the task ends.
#include <memory>
#include <string>
#include <utility>

#include "gateway/cursor.h"
#include "gateway/desk_of.h"
#include "gateway/documents.h"
#include "gateway/event_stream.h"
#include "gateway/handlers.h"

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

class LogEvents final : public EventSource, public std::enable_shared_from_this<LogEvents> {
 public:
  LogEvents(workers::Desk& desk, std::string task, std::uint64_t after)
      : desk_(desk), task_(std::move(task)), after_(after) {}

  void next(Exchange& exchange) override {
    if (take(exchange)) return;
    // `later` brings the call back to the serving thread, and drops it for a reader that left.
    auto told = exchange.later<Done>(
        [self = shared_from_this()](Exchange& then, const Result<Done>&) { self->next(then); });
    if (!desk_.wait_for_log(task_, after_, [told] { told(Done{}); })) {
      if (take(exchange)) return;
      exchange.fail_events({ErrorCode::kUnavailable, "too many follow this log"});
    }
  }

  void stop() override {}

 private:
  // True: there was something, or the end.
  bool take(Exchange& exchange) {
    const auto page = desk_.read_log(task_, after_, kEventsAtOnce);
    if (!page) return false;
    codec::Buffer& out = exchange.events();
    if (page->entries.empty()) {
      if (!page->has_ended) return false;
      codec::Buffer value;
      codec::write_map_head(value, 0);
      write_event(out, "", after_, "end", value.view());
      exchange.end_events();
      return true;
    }
    if (page->entries.front().sequence > after_ + 1)
      write_truncated(out, "", page->entries.front().sequence - 1);
    for (const workers::LogEntry& entry : page->entries) {
      codec::Buffer value;
      put_line(value, entry);
      write_event(out, "", entry.sequence, "", value.view());
    }
    after_ = page->entries.back().sequence;
    exchange.events_are_there();
    return true;
  }

  workers::Desk& desk_;
  const std::string task_;
  std::uint64_t after_;
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
    return exchange.begin_events(std::make_shared<LogEvents>(*desk, log_name(exchange), *after));
  }
  const auto after = exchange.number_in_query("after", 0, kMostSequence);
  if (!after) return;
  const auto page = desk->read_log(log_name(exchange), *after, *limit);
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, 4);
  codec::write_text(out, "lines");
  codec::write_list_head(out, page ? page->entries.size() : 0);
  if (page)
    for (const workers::LogEntry& entry : page->entries) put_line(out, entry);
  put_number(out, "first", page ? page->first : 1);
  put_number(out, "next", page && !page->entries.empty() ? page->entries.back().sequence : *after);
  put_flag(out, "ended", page && page->has_ended);
  exchange.answer(200);
}

}  // namespace holdfast::gateway
