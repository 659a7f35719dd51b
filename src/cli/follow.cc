// SPDX-License-Identifier: Apache-2.0
// holdfast tail: the records of a world as they come. holdfast stream: what an instance puts out.
// Both follow an event stream of a server until it ends or somebody interrupts; a stream can be
// read in a folder, too.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/event_follow.h"
#include "cli/looking.h"
#include "cli/recorded_stream.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "codec/printable.h"
#include "steps/readable.h"

namespace holdfast::cli {
namespace {

struct FollowOptions {
  Where where;
  std::string id;
  std::string after = "0";  // a number, or LIFE.NUMBER of a world that was restored
  bool is_after_said = false;
  std::string kinds;        // of entries, with commas; empty: all
  std::uint64_t count = 0;  // 0: until it ends
};

// For --after: only what is published from now on.
constexpr std::string_view kNow = "now";

// A server that is killed closes its connections as one that has said everything.
base::Error cut_off(std::string where, const std::string& last) {
  return {base::ErrorCode::kUnavailable, std::move(where),
          "the stream was cut off; it goes on with --after " + last};
}

// The number of an id.
std::uint64_t number_of(const std::string& id) {
  std::uint64_t number = 0;
  const std::size_t begin = id.find('.') == std::string::npos ? 0 : id.find('.') + 1;
  std::from_chars(id.data() + begin, id.data() + id.size(), number);
  return number;
}

bool concerns(codec::View record, const std::string& instance) {
  if (instance.empty()) return true;
  for (const codec::View each : list_in(record, "instances"))
    if (id_in(each).text() == instance) return true;
  return false;
}

// Where the following of one instance ends: with the record that ends it. One that it had before,
// in an earlier life, is no end.
struct Followed {
  std::string instance;     // empty: all of them, without an end
  std::uint64_t known = 0;  // it was so far when we asked
  bool has_ended = false;   // it had ended then

  bool ends_with(codec::View record) const {
    if (instance.empty() || number_in(record, "record") < known) return false;
    return std::ranges::any_of(list_in(record, "instances"), [&](codec::View each) {
      return id_in(each).text() == instance && is_over(text_in(each, "status"));
    });
  }
};

base::Result<ExitCode> tail(const FollowOptions& options, const ServerApi& api,
                            const Where& where) {
  std::uint64_t after = number_of(options.after);
  if (!options.is_after_said) after = number_in(TRY(api.get("/v1/journal?limit=1")).view(), "last");
  Followed followed;
  if (!options.id.empty()) {
    const auto source = TRY(server_source(where));
    const InstanceId id = TRY(resolve(*source, options.id));
    const Document present = TRY(source->instance(id));
    followed = {id.text(), number_in(present.view(), "record"),
                is_over(text_in(present.view(), "status"))};
    // Nothing of it comes any more.
    if (followed.has_ended && after >= followed.known) return ExitCode::kDone;
  }
  std::uint64_t printed = 0;
  bool is_over = false;
  const std::string path = "/v1/journal?from=" + std::to_string(after + 1);
  const ExitCode done = TRY(follow_events(api, path, [&](const StreamEvent& event) {
    const auto record = Document::of_json(event.data);
    if (!record || record->view().kind() != codec::ViewKind::kMap) return true;
    after = std::max(after, number_in(record->view(), "record"));
    if (!concerns(record->view(), followed.instance)) return true;
    print_line(where.json ? codec::printable_json(event.data) : record_line(record->view()));
    is_over = followed.ends_with(record->view()) || ++printed == options.count;
    return !is_over;
  }));
  if (is_over || !output_is_wanted()) return done;
  return cut_off(followed.instance.empty() ? "journal" : followed.instance, std::to_string(after));
}

// What --after and whoever tells the end from an entry need. An entry has no name: it is a message,
// as in every event stream.
void print_event(const StreamEvent& event, bool json) {
  if (!json) {
    return print_line((event.id.empty() ? "" : printable(event.id) + "  ") +
                      (event.name.empty() ? "" : printable(event.name) + "  ") +
                      printable(event.data));
  }
  const bool has_number =
      !event.id.empty() && event.id.find_first_not_of("0123456789") == std::string::npos;
  const std::string id = event.id.empty() ? "null" : has_number ? event.id : json_text(event.id);
  print_line(codec::printable_json(
      "{\"id\":" + id + ",\"event\":" + json_text(event.name.empty() ? "message" : event.name) +
      ",\"data\":" + (event.data.empty() ? "null" : event.data) + "}"));
}

base::Result<ExitCode> stream(const FollowOptions& options, const ServerApi& api,
                              const Where& where) {
  const auto source = TRY(server_source(where));
  const InstanceId id = TRY(resolve(*source, options.id));
  std::uint64_t printed = 0;
  std::string last = options.after;
  bool is_over = false;
  bool is_known = false;
  std::string query = last != kNow && number_of(last) == 0 ? "" : "&after=" + last;
  if (!options.kinds.empty()) query += "&kinds=" + escaped(options.kinds);
  if (!query.empty()) query.front() = '?';
  const ExitCode followed =
      TRY(follow_events(api, path_of(id) + "/stream" + query, [&](const StreamEvent& event) {
        if (!event.id.empty()) last = event.id;
        if (event.name.empty() && event.data.empty()) return true;
        is_over = event.name == "end" || (options.count != 0 && ++printed == options.count);
        is_known = event.name == "end" && event.data.empty();
        if (is_known) return false;
        print_event(event, where.json);
        return !is_over;
      }));
  // The server does not send again what --after says was read. That it has ended is said anyway.
  if (is_known) {
    const std::string status = text_in(TRY(source->instance(id)).view(), "status");
    print_event({last, "end", "{\"status\":" + json_text(status) + "}"}, where.json);
  }
  if (is_over || !output_is_wanted()) return followed;
  return cut_off(id.text(), last);
}

// What a world in its folder has of it. Nothing more comes: nobody has the world open.
ExitCode stream_offline(const FollowOptions& options, const std::vector<Module>& modules) {
  return look_at(options.where, modules,
                 [&](WorldSource& source, const Where& where) -> base::Result<ExitCode> {
                   const InstanceId id = TRY(resolve(source, options.id));
                   std::uint64_t printed = 0;
                   const RecordedPart part{.after = number_of(options.after),
                                           .is_now = options.after == kNow,
                                           .kinds = steps::split_kinds(options.kinds)};
                   TRY(recorded_stream(source, id, part, [&](const StreamEvent& event) {
                     print_event(event, where.json);
                     return output_is_wanted() && (options.count == 0 || ++printed < options.count);
                   }));
                   return ExitCode::kDone;
                 });
}

using FollowRun = base::Result<ExitCode> (*)(const FollowOptions&, const ServerApi&, const Where&);

ExitCode run(const FollowOptions& options, const Where& where, FollowRun what) {
  const auto api = ServerApi::at(where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = what(options, *api, where);
  return done ? *done : refuse_or_retry(done.error());
}

ExitCode run_tail(const FollowOptions& options) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  return run(options, *where, tail);
}

ExitCode run_stream(const FollowOptions& options, const std::vector<Module>& modules) {
  const auto where = settle(options.where);
  if (!where) return misused(where.error().to_string());
  return where->is_offline() ? stream_offline(options, modules) : run(options, *where, stream);
}

// 4711, or 5f3a90c1.4711; `or_now`: or this word.
CLI::Validator is_event_id(bool or_now = false) {
  return CLI::Validator(
      [or_now](const std::string& text) -> std::string {
        if (or_now && text == kNow) return "";
        const std::size_t dot = text.find('.');
        const std::string number = dot == std::string::npos ? text : text.substr(dot + 1);
        const bool is_good = !number.empty() && number.size() <= 19 &&
                             number.find_first_not_of("0123456789") == std::string::npos &&
                             (dot == std::string::npos ||
                              (dot == 8 && text.find_first_not_of("0123456789abcdef") == dot));
        if (is_good) return "";
        return "'" + text +
               (or_now ? "' is neither the id of an event nor `now`"
                       : "' is not the id of an event");
      },
      or_now ? "ID or now" : "ID");
}

CLI::Validator is_kind_list() {
  return CLI::Validator(
      [](const std::string& text) { return steps::refuse_kind_list(text).value_or(""); }, "KINDS");
}

CLI::Option* add_options(CLI::App& command, FollowOptions& options, const std::string& after_what,
                         const CLI::Validator& is_after) {
  CLI::Option* after = command.add_option("--after", options.after, after_what)->check(is_after);
  command.add_option("--count", options.count, "stop after N entries");
  return after;
}

}  // namespace

void add_follow(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto tails = std::make_shared<FollowOptions>();
  CLI::App* tail = app.add_subcommand("tail", "print records as they become durable");
  add_where(*tail, tails->where, Reach::kServerOnly);
  CLI::Option* after =
      add_options(*tail, *tails, "start after the event with this id", is_event_id());
  tail->add_option("id", tails->id,
                   "only this instance, until it ends: WORKFLOW/KEY, or an unambiguous prefix")
      ->check(not_empty());
  tail->footer(
      "Runs until interrupted, or until the given instance has ended.\n"
      "Example: holdfast tail --server http://127.0.0.1:7411 demo/Order@1/o-1");
  tail->callback([tails, &exit_code, after] {
    tails->is_after_said = after->count() > 0;
    exit_code = run_tail(*tails);
  });

  auto streams = std::make_shared<FollowOptions>();
  CLI::App* stream =
      app.add_subcommand("stream", "print what an instance publishes, until it ends");
  add_where(*stream, streams->where);
  add_options(*stream, *streams,
              "start after the event with this id; now: only what is published from now on",
              is_event_id(true));
  stream
      ->add_option(
          "--kinds", streams->kinds,
          "only entries of these kinds of a step workflow, with commas between them, as in "
          "event,attempt_failed")
      ->check(is_kind_list());
  stream->add_option("id", streams->id, "WORKFLOW/KEY, or an unambiguous prefix")
      ->required()
      ->check(not_empty());
  stream->footer(
      "Runs until the instance ends or you interrupt it; with --world it prints what is stored. "
      "With --json each\n"
      "line is {\"id\", \"event\", \"data\"}: an entry is a message, the last line an end.\n"
      "Example: holdfast stream --server http://127.0.0.1:7411 demo/Order@1/o-1");
  stream->callback([streams, &exit_code, &modules] { exit_code = run_stream(*streams, modules); });
}

}  // namespace holdfast::cli
