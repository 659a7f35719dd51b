// SPDX-License-Identifier: Apache-2.0
// holdfast schedule: starts of workflows at times, through a server. `next` needs none.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "codec/scalar_text.h"
#include "codec/time_text.h"
#include "errors/translate.h"
#include "holdfast/schedules.h"

namespace holdfast::cli {
namespace {

struct ScheduleCommand {
  Where where;
  std::string name;
  // As the members of the document that a server takes; empty: not given.
  std::string cron, zone, every, at, from, until;
  std::string workflow, event, input, key;
  std::string overlap, catch_up, catch_up_window, jitter;
  bool paused = false;
  bool replace = false;
  bool cancel = false;
  std::string after;
  std::uint64_t count = 10;
};

std::string second_text(std::uint64_t ns) {
  if (ns == 0) return "-";
  std::string text = codec::time_text(ns);
  return text.substr(0, text.size() - 5) + "Z";
}

std::string rule_text(codec::View schedule) {
  if (const std::string cron = text_in(schedule, "cron"); !cron.empty())
    return cron + " " + text_in(schedule, "zone");
  if (const std::string every = text_in(schedule, "every"); !every.empty()) return "every " + every;
  return "at " + second_text(number_in(schedule, "at_ns"));
}

std::vector<std::string> schedule_row(codec::View schedule) {
  return {text_in(schedule, "name"),
          text_in(schedule, "status"),
          rule_text(schedule),
          text_in(schedule, "workflow"),
          second_text(number_in(schedule, "next_ns")),
          std::to_string(number_in(schedule, "started")),
          std::to_string(number_in(schedule, "failed")),
          std::to_string(number_in(schedule, "skipped") + number_in(schedule, "missed"))};
}

void print_schedules(const std::vector<codec::View>& schedules) {
  std::vector<std::vector<std::string>> rows{
      {"SCHEDULE", "STATUS", "DUE", "WORKFLOW", "NEXT", "STARTED", "FAILED", "LEFT OUT"}};
  for (const codec::View schedule : schedules) rows.push_back(schedule_row(schedule));
  print_table(rows);
}

void print_schedule(codec::View schedule) {
  print_schedules({schedule});
  if (const std::string error = text_in(schedule, "error"); !error.empty())
    print_line("error: " + printable(error));
  print_line("key: " + printable(text_in(schedule, "key")) +
             "  overlap: " + text_in(schedule, "overlap") +
             "  catch-up: " + text_in(schedule, "catch_up") + " within " +
             text_in(schedule, "catch_up_window") + "  jitter: " + text_in(schedule, "jitter"));
  print_line("input: " + shown(schedule.find("input"), 1000));
  const auto recent = list_in(schedule, "recent");
  if (recent.empty()) return;
  std::vector<std::vector<std::string>> rows{{"DUE", "STATUS", "KEY", "NOTE"}};
  for (const codec::View due : recent)
    rows.push_back({second_text(number_in(due, "due_ns")), text_in(due, "outcome"),
                    printable(text_in(due, "key")), printable(text_in(due, "note"))});
  print_table(rows);
}

std::string schedule_path(const ScheduleCommand& options) {
  return "/v1/schedules/" + path_part(options.name);
}

base::Result<ExitCode> list_schedules(const ScheduleCommand&, const ServerApi& api,
                                      const Where& where) {
  std::vector<Document> pages;
  for (std::uint64_t after = 0; pages.empty() || after != 0;) {
    pages.push_back(TRY(api.get("/v1/schedules?limit=1000&after=" + std::to_string(after))));
    after = number_in(pages.back().view(), "next");
  }
  std::vector<codec::View> rows;
  for (const Document& page : pages) {
    if (where.json) print_json(page.view());
    for (const codec::View schedule : list_in(page.view(), "schedules")) rows.push_back(schedule);
  }
  if (!where.json) print_schedules(rows);
  return ExitCode::kDone;
}

base::Result<ExitCode> show_schedule(const ScheduleCommand& options, const ServerApi& api,
                                     const Where& where) {
  const Document document = TRY(api.get(schedule_path(options)));
  return print_either(where, document.view(), print_schedule);
}

base::Result<ExitCode> add_one(const ScheduleCommand& options, const ServerApi& api,
                               const Where& where) {
  std::string body = R"({"name":)" + json_text(options.name);
  const auto member = [&](const char* name, const std::string& text) {
    if (!text.empty()) body += std::string(",\"") + name + "\":" + json_text(text);
  };
  member("cron", options.cron);
  member("zone", options.zone);
  member("every", options.every);
  member("at", options.at);
  member("from", options.from);
  member("until", options.until);
  member("workflow", options.workflow);
  member("event", options.event);
  member("key", options.key);
  member("overlap", options.overlap);
  member("catch_up", options.catch_up);
  member("catch_up_window", options.catch_up_window);
  member("jitter", options.jitter);
  if (!options.input.empty()) body += R"(,"input":)" + options.input;
  if (options.paused) body += R"(,"paused":true)";
  if (options.replace) body += R"(,"replace":true)";
  const ApiAnswer answer = TRY(api.post("/v1/schedules", body + "}"));
  return print_either(where, answer.document.view(), print_schedule);
}

template <const char* const& Action>
base::Result<ExitCode> change_one(const ScheduleCommand& options, const ServerApi& api,
                                  const Where& where) {
  const std::string body = options.cancel ? R"({"cancel":true})" : "{}";
  const ApiAnswer answer = TRY(api.post(schedule_path(options) + "/" + Action, body));
  if (where.json) print_json(answer.document.view());
  return ExitCode::kDone;
}

constexpr const char* kPauseWord = "pause";
constexpr const char* kResumeWord = "resume";
constexpr const char* kRunWord = "run";
constexpr const char* kRemoveWord = "remove";

base::Result<Time> time_given(const char* option, const std::string& text) {
  std::uint64_t ns = 0;
  if (text.empty()) return Time();
  if (!codec::parse_time(text, ns) || ns > INT64_MAX)
    return base::invalid(option, "expected a time such as 2026-11-18T06:00:00Z");
  return Time(Duration(static_cast<std::int64_t>(ns)));
}

// Of this machine: nobody is asked.
base::Result<ExitCode> print_next(const ScheduleCommand& options) {
  ScheduleSpec spec;
  spec.cron = options.cron;
  if (!options.zone.empty()) spec.zone = options.zone;
  std::int64_t every = 0;
  if (!options.every.empty() && !codec::parse_duration(options.every, every))
    return base::invalid("--every", "expected a duration such as 30s, 15m or 7d");
  spec.every = std::chrono::nanoseconds(every);
  spec.from = TRY(time_given("--from", options.from));
  spec.until = TRY(time_given("--until", options.until));
  Time after = TRY(time_given("--after", options.after));
  if (options.after.empty())
    after = Time(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  const auto times = Schedules::preview(spec, after, options.count);
  if (!times) return errors::inside(times.error());
  std::string list;
  for (const Time time : *times) {
    const auto ns = static_cast<std::uint64_t>(time.time_since_epoch().count());
    if (!options.where.json) print_line(second_text(ns));
    list += (list.empty() ? "" : ",") + std::to_string(ns);
  }
  if (options.where.json) print_line(R"({"due_ns":[)" + list + "]}");
  return ExitCode::kDone;
}

using ScheduleAct = base::Result<ExitCode> (*)(const ScheduleCommand&, const ServerApi&,
                                               const Where&);

ExitCode act_on_schedule(const ScheduleCommand& options, ScheduleAct run) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = run(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

void add_rule(CLI::App& command, ScheduleCommand& options) {
  command.add_option("--cron", options.cron,
                     "5 fields (minute hour day month weekday), 6 with seconds in front, or "
                     "@hourly, @daily, @weekly, @monthly, @yearly");
  command.add_option("--zone", options.zone,
                     "the time zone of the cron expression, such as Europe/Berlin; default UTC");
  command.add_option("--every", options.every, "an interval from 1s on, such as 15m");
  command.add_option("--from", options.from, "nothing is due before this time");
  command.add_option("--until", options.until, "nothing is due after this time");
}

}  // namespace

void add_schedule(CLI::App& app, ExitCode& exit_code) {
  CLI::App* schedule =
      app.add_subcommand("schedule", "start workflows at times: cron, intervals, one moment");
  schedule->require_subcommand(1);
  schedule->footer("Example: holdfast schedule ls");
  const auto add = [&](const char* name, const char* what, const char* example, bool is_named,
                       ScheduleAct run) {
    auto options = std::make_shared<ScheduleCommand>();
    CLI::App* command = schedule->add_subcommand(name, what);
    add_where(*command, options->where, Reach::kServerOnly);
    if (is_named)
      command->add_option("name", options->name, "the name of the schedule")
          ->required()
          ->check(not_empty());
    command->footer(std::string("Example: holdfast schedule ") + example);
    command->callback([options, run, &exit_code] { exit_code = act_on_schedule(*options, run); });
    return std::pair(command, options.get());
  };
  add("ls", "list schedules", "ls", false, list_schedules);
  add("show", "show a schedule and what became of its last due times", "show nightly", true,
      show_schedule);
  auto [added, given] =
      add("add", "add a schedule; adding the same again changes nothing",
          "add nightly --cron '30 2 * * *' --zone Europe/Berlin --workflow demo/Order@1 --input "
          "'{\"id\":\"{key}\",\"sku\":\"mug\",\"count\":1,\"cents\":1200}'",
          true, add_one);
  add_rule(*added, *given);
  added->add_option("--at", given->at, "one moment, such as 2026-11-18T06:00:00Z");
  added->add_option("--workflow", given->workflow, "the workflow that it starts")->required();
  added->add_option("--event", given->event,
                    "the event that starts it; default: the first that is routed to the workflow");
  added->add_option("--input", given->input,
                    "the event's value as JSON; {schedule}, {due} and {key} are replaced in texts");
  added->add_option("--key", given->key, "the key of the instances; default {schedule}@{due}");
  added
      ->add_option("--overlap", given->overlap,
                   "while an earlier run has not ended: skip, queue, allow, cancel; default skip")
      ->check(CLI::IsMember({"skip", "queue", "allow", "cancel"}));
  added
      ->add_option("--catch-up", given->catch_up,
                   "due times that passed while the server was down: none, latest, all; default "
                   "latest")
      ->check(CLI::IsMember({"none", "latest", "all"}));
  added->add_option("--catch-up-window", given->catch_up_window,
                    "due times that are older are not caught up; default 1d");
  added->add_option("--jitter", given->jitter, "spread starts over this time, such as 5m");
  added->add_flag("--paused", given->paused, "add it paused");
  added->add_flag("--replace", given->replace, "replace a schedule of this name");
  auto [removed, how] = add("rm", "remove a schedule; it is gone when its runs have ended",
                            "rm nightly", true, change_one<kRemoveWord>);
  removed->add_flag("--cancel", how->cancel, "cancel its runs, too");
  add("pause", "pause a schedule; due times that pass meanwhile are missed", "pause nightly", true,
      change_one<kPauseWord>);
  add("resume", "let a paused schedule go on", "resume nightly", true, change_one<kResumeWord>);
  add("run", "run a schedule now, beside its due times", "run nightly", true, change_one<kRunWord>);

  auto options = std::make_shared<ScheduleCommand>();
  CLI::App* next =
      schedule->add_subcommand("next", "print the next due times of a rule; needs no server");
  add_rule(*next, *options);
  next->add_flag("--json", options->where.json, "print JSON");
  next->add_option("--after", options->after, "begin after this time; default now");
  next->add_option("--count", options->count, "print at most this many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  next->footer(
      "Example: holdfast schedule next --cron '30 2 * * *' --zone Europe/Berlin --count 3");
  next->callback([options, &exit_code] {
    const auto done = print_next(*options);
    exit_code = done ? *done : refuse(done.error());
  });
}

}  // namespace holdfast::cli
