// SPDX-License-Identifier: Apache-2.0
// Schedules: /v1/schedules. A new one is held against the definitions beside the thread that
// serves; all else is asked of the world.
#include "holdfast/schedules.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "codec/scalar_text.h"
#include "codec/time_text.h"
#include "codec/view.h"
#include "gateway/body.h"
#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::uint64_t kMostSchedulesPerPart = 1000;
constexpr std::uint64_t kMostSchedulePlace = std::uint64_t{1} << 62;
constexpr std::string_view kOverlapWords[] = {"skip", "queue", "allow", "cancel"};
constexpr std::string_view kCatchUpWords[] = {"none", "latest", "all"};

std::uint64_t ns_since_1970(Time time) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(time.time_since_epoch().count(), 0));
}

void put_span(codec::Buffer& out, std::string_view name, std::chrono::nanoseconds span) {
  put(out, name, codec::duration_text(static_cast<std::uint64_t>(span.count())));
}

void put_rule(codec::Buffer& out, const ScheduleSpec& spec) {
  if (!spec.cron.empty()) {
    put(out, "cron", spec.cron);
    put(out, "zone", spec.zone);
  }
  if (spec.every.count() != 0) put_span(out, "every", spec.every);
  if (spec.at != Time()) put_number(out, "at_ns", ns_since_1970(spec.at));
  if (spec.from != Time()) put_number(out, "from_ns", ns_since_1970(spec.from));
  if (spec.until != Time()) put_number(out, "until_ns", ns_since_1970(spec.until));
}

std::size_t members_of_rule(const ScheduleSpec& spec) {
  return (spec.cron.empty() ? 0u : 2u) + (spec.every.count() == 0 ? 0u : 1u) +
         (spec.at == Time() ? 0u : 1u) + (spec.from == Time() ? 0u : 1u) +
         (spec.until == Time() ? 0u : 1u);
}

void put_due(codec::Buffer& out, const ScheduleDue& due) {
  codec::write_map_head(out, 2 + (due.key.empty() ? 0u : 1u) + (due.note.empty() ? 0u : 1u));
  put_number(out, "due_ns", due.due_ns);
  put(out, "outcome", due.outcome);
  if (!due.key.empty()) put(out, "key", due.key);
  if (!due.note.empty()) put(out, "note", due.note);
}

void put_schedule(codec::Buffer& out, const ScheduleInfo& schedule) {
  const ScheduleSpec& spec = schedule.spec;
  codec::write_map_head(out, 20 + members_of_rule(spec) + (schedule.error.empty() ? 0u : 1u));
  put(out, "name", spec.name);
  put(out, "status", schedule.status);
  put_rule(out, spec);
  put(out, "workflow", spec.workflow);
  put(out, "event", spec.event);
  put_value(out, "input", spec.value);
  put(out, "key", spec.key);
  put(out, "overlap", kOverlapWords[static_cast<std::size_t>(spec.overlap)]);
  put(out, "catch_up", kCatchUpWords[static_cast<std::size_t>(spec.catch_up)]);
  put_span(out, "catch_up_window", spec.catch_up_window);
  put_span(out, "jitter", spec.jitter);
  put_number_or_null(out, "next_ns", schedule.next_ns);
  if (!schedule.error.empty()) put(out, "error", schedule.error);
  put_number(out, "started", schedule.started);
  put_number(out, "completed", schedule.completed);
  put_number(out, "failed", schedule.failed);
  put_number(out, "cancelled", schedule.cancelled);
  put_number(out, "skipped", schedule.skipped);
  put_number(out, "missed", schedule.missed);
  codec::write_text(out, "running");
  codec::write_list_head(out, schedule.running.size());
  for (const std::string& key : schedule.running) codec::write_text(out, key);
  codec::write_text(out, "queued_ns");
  codec::write_list_head(out, schedule.queued.size());
  for (const std::uint64_t due : schedule.queued) codec::write_nat(out, due);
  codec::write_text(out, "recent");
  codec::write_list_head(out, schedule.recent.size());
  for (const ScheduleDue& due : schedule.recent) put_due(out, due);
}

// Takes the members of a body into a spec. The first that is not good is answered.
class ScheduleBody {
 public:
  ScheduleBody(Exchange& exchange, const Envelope& body) : exchange_(exchange), body_(body) {}

  bool good() const { return is_good_; }

  void text(std::string_view name, std::string& into) {
    if (auto given = given_text(name)) into = std::move(*given);
  }
  void span(std::string_view name, std::chrono::nanoseconds& into) {
    const auto given = given_text(name);
    std::int64_t ns = 0;
    if (!given) return;
    if (!codec::parse_duration(*given, ns) || ns < 0)
      return refuse(name, "expected a duration such as 30s, 15m or 7d");
    into = std::chrono::nanoseconds(ns);
  }
  void time(std::string_view name, Time& into) {
    const auto given = given_text(name);
    std::uint64_t ns = 0;
    if (!given) return;
    if (!codec::parse_time(*given, ns) || ns > INT64_MAX)
      return refuse(name, "expected a time such as 2026-11-18T06:00:00Z");
    into = Time(Duration(static_cast<std::int64_t>(ns)));
  }
  template <class Enum, std::size_t Size>
  void word(std::string_view name, const std::string_view (&words)[Size], Enum& into) {
    const auto given = given_text(name);
    if (!given) return;
    std::string all;
    for (std::size_t i = 0; i < Size; ++i) {
      if (words[i] == *given) {
        into = static_cast<Enum>(i);
        return;
      }
      all += (all.empty() ? "" : ", ") + std::string(words[i]);
    }
    refuse(name, "expected one of " + all);
  }
  void flag(std::string_view name, bool& into) {
    const auto given = any(name);
    if (!given) return;
    const auto value = codec::View::of(*given).boolean();
    if (!value) return refuse(name, "expected true or false");
    into = *value;
  }
  std::optional<std::uint64_t> number(std::string_view name) {
    const auto given = any(name);
    return given ? codec::View::of(*given).nat() : std::nullopt;
  }
  void rule(ScheduleSpec& spec) {
    text("cron", spec.cron);
    text("zone", spec.zone);
    span("every", spec.every);
    time("at", spec.at);
    time("from", spec.from);
    time("until", spec.until);
  }
  // JSON stays as it was written: its schema is known later.
  void input(ScheduleSpec& spec) {
    if (!is_good_) return;
    const auto written = body_.find("input");
    if (!written) return;
    if (written->form == Form::kJson) {
      spec.input = written->text;
    } else if (auto value = any("input")) {
      spec.value = std::move(*value);
    }
  }

 private:
  std::optional<std::string> given_text(std::string_view name) {
    if (!is_good_) return std::nullopt;
    auto given = body_.text(name);
    if (given) return std::move(*given);
    is_good_ = false;
    refuse_body(exchange_, given.error());
    return std::nullopt;
  }
  std::optional<Bytes> any(std::string_view name) {
    if (!is_good_ || !body_.find(name)) return std::nullopt;
    auto value = needed_any(exchange_, body_, name);
    is_good_ = value.has_value();
    return value;
  }
  void refuse(std::string_view name, const std::string& why) {
    is_good_ = false;
    refuse_body(exchange_, base::invalid("$." + std::string(name), why));
  }

  Exchange& exchange_;
  const Envelope& body_;
  bool is_good_ = true;
};

void answer_schedule(Exchange& exchange, const Result<ScheduleInfo>& schedule) {
  if (!schedule) return exchange.refuse(schedule.error());
  put_schedule(exchange.document(), *schedule);
  exchange.answer(200);
}

void change_schedule(Exchange& exchange, ScheduleAction action) {
  Schedules(exchange.service().engine)
      .change(exchange.path_value(0), action,
              exchange.later<Done>([](Exchange& self, const Result<Done>& done) {
                if (!done) return self.refuse(done.error());
                codec::write_map_head(self.document(), 0);
                self.answer(200);
              }));
}

void act_on_schedule(Exchange& exchange, ScheduleAction action) {
  if (read_body(exchange, {})) change_schedule(exchange, action);
}

}  // namespace

void post_schedule(Exchange& exchange) {
  const auto body = read_body(exchange, {"name", "cron", "zone", "every", "at", "from", "until",
                                         "workflow", "event", "input", "key", "overlap", "catch_up",
                                         "catch_up_window", "jitter", "paused", "replace"});
  if (!body) return;
  ScheduleSpec spec;
  bool replaces = false;
  ScheduleBody members(exchange, *body);
  members.text("name", spec.name);
  members.rule(spec);
  members.text("workflow", spec.workflow);
  members.text("event", spec.event);
  members.text("key", spec.key);
  members.word("overlap", kOverlapWords, spec.overlap);
  members.word("catch_up", kCatchUpWords, spec.catch_up);
  members.span("catch_up_window", spec.catch_up_window);
  members.span("jitter", spec.jitter);
  members.flag("paused", spec.is_paused);
  members.flag("replace", replaces);
  members.input(spec);
  if (!members.good()) return;
  auto told = exchange.later<ScheduleInfo>(answer_schedule);
  const bool is_posted = exchange.service().helper.post(
      [&engine = exchange.service().engine, spec = std::move(spec), replaces,
       told = std::move(told)] { Schedules(engine).add(spec, replaces, told); });
  if (!is_posted) exchange.refuse({ProblemCode::kFull, "too many requests wait"});
}

void list_schedules(Exchange& exchange) {
  const auto limit = exchange.limit_in_query(100, kMostSchedulesPerPart);
  if (!limit) return;
  const auto after = exchange.number_in_query("after", 0, kMostSchedulePlace);
  if (!after) return;
  Schedules(exchange.service().engine)
      .list(*after, *limit,
            exchange.later<ScheduleList>([](Exchange& self, const Result<ScheduleList>& list) {
              if (!list) return self.refuse(list.error(), ProblemCode::kHistory);
              codec::Buffer& out = self.document();
              codec::write_map_head(out, 2);
              codec::write_text(out, "schedules");
              codec::write_list_head(out, list->schedules.size());
              for (const ScheduleInfo& each : list->schedules) put_schedule(out, each);
              put_number_or_null(out, "next", list->next);
              self.answer(200);
            }));
}

void get_schedule(Exchange& exchange) {
  Schedules(exchange.service().engine)
      .schedule(exchange.path_value(0), exchange.later<ScheduleInfo>(answer_schedule));
}

void pause_schedule(Exchange& exchange) { act_on_schedule(exchange, ScheduleAction::kPause); }
void resume_schedule(Exchange& exchange) { act_on_schedule(exchange, ScheduleAction::kResume); }
void run_schedule(Exchange& exchange) { act_on_schedule(exchange, ScheduleAction::kRun); }

void remove_schedule(Exchange& exchange) {
  const auto body = read_body(exchange, {"cancel"});
  if (!body) return;
  bool cancels = false;
  ScheduleBody members(exchange, *body);
  members.flag("cancel", cancels);
  if (!members.good()) return;
  change_schedule(exchange, cancels ? ScheduleAction::kRemoveAndCancel : ScheduleAction::kRemove);
}

void preview_schedule(Exchange& exchange) {
  const auto body =
      read_body(exchange, {"cron", "zone", "every", "at", "from", "until", "after", "count"});
  if (!body) return;
  ScheduleSpec spec;
  Time after = Time(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  ScheduleBody members(exchange, *body);
  members.rule(spec);
  members.time("after", after);
  const std::uint64_t count = members.number("count").value_or(10);
  if (!members.good()) return;
  if (count == 0 || count > kMostSchedulesPerPart)
    return refuse_body(exchange, base::invalid("$.count", "expected a number from 1 to 1000"));
  auto told =
      exchange.later<std::vector<Time>>([](Exchange& self, const Result<std::vector<Time>>& times) {
        if (!times) return self.refuse(times.error());
        codec::Buffer& out = self.document();
        codec::write_map_head(out, 1);
        codec::write_text(out, "due_ns");
        codec::write_list_head(out, times->size());
        for (const Time time : *times) codec::write_nat(out, ns_since_1970(time));
        self.answer(200);
      });
  const bool is_posted = exchange.service().helper.post(
      [spec = std::move(spec), after, count, told = std::move(told)] {
        told(Schedules::preview(spec, after, count));
      });
  if (!is_posted) exchange.refuse({ProblemCode::kFull, "too many requests wait"});
}

}  // namespace holdfast::gateway
