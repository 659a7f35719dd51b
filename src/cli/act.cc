// SPDX-License-Identifier: Apache-2.0
// The commands that send events, all of them through a server: send, start, signal.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "codec/limits.h"
#include "gateway/limits.h"

namespace holdfast::cli {
namespace {

// What a server lets a request wait; whoever waits longer asks again.
const auto kLongestWaitMs = static_cast<std::uint64_t>(gateway::Limits{}.wait_time.count());

struct ActOptions {
  Where where;
  std::string name;                // of a schema, a workflow, an instance
  std::string event;               // its schema
  std::string value;               // JSON, or -
  std::optional<std::string> key;  // a key may be empty
  std::string id;
  std::string if_ended;
  std::uint64_t wait_ms = 0;
};

// JSON as it was given. It must be one value: it is put into a document.
base::Result<std::string> value_of(const std::string& given) {
  std::string json = given == "-" ? TRY(read_standard_input(codec::kMaxValueBytes)) : given;
  if (json.empty()) json = "{}";
  auto read = Document::of_json(json);
  if (!read) return std::move(read).error().within("the value");
  return json;
}

class Body {
 public:
  void add(std::string_view name, const std::string& json) {
    text_ += (text_.empty() ? "" : ",") + json_text(name) + ":" + json;
  }
  void add_text(std::string_view name, const std::string& text) {
    if (!text.empty()) add(name, json_text(text));
  }
  void add_number(std::string_view name, std::uint64_t number) {
    if (number != 0) add(name, std::to_string(number));
  }
  std::string json() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// What became of an instance that was waited for.
ExitCode exit_code_of(codec::View answer, std::uint64_t waited_ms) {
  const auto instance = answer.find("instance");
  if (waited_ms == 0) return ExitCode::kDone;
  const std::string status = instance ? text_in(*instance, "status") : "";
  if (status == "completed") return ExitCode::kDone;
  return status == "failed" || status == "cancelled" ? ExitCode::kRefused : ExitCode::kTryAgain;
}

ExitCode print_sent(const Where& where, codec::View answer, std::uint64_t waited_ms) {
  if (where.json) {
    print_json(answer);
    return exit_code_of(answer, waited_ms);
  }
  print_line("record " + std::to_string(number_in(answer, "record")) + ": " +
             std::to_string(number_in(answer, "deliveries")) + " delivered, " +
             std::to_string(number_in(answer, "ignored")) + " ignored" +
             (number_in(answer, "unhandled") == 0
                  ? ""
                  : ", " + std::to_string(number_in(answer, "unhandled")) + " unhandled") +
             (flag_in(answer, "repeated") ? "; it was sent before" : ""));
  const auto instance = answer.find("instance");
  if (instance && !instance->is_null()) print_instance(*instance);
  return exit_code_of(answer, waited_ms);
}

using Act = base::Result<ExitCode> (*)(const ActOptions&, const ServerApi&, const Where&);

ExitCode act(const ActOptions& options, Act run) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = run(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

base::Result<ExitCode> post_value(const ActOptions& options, const ServerApi& api,
                                  const Where& where, const std::string& path, const Body& body) {
  const ApiAnswer answer =
      TRY(api.post(path, body.json(), std::chrono::milliseconds(options.wait_ms)));
  return print_sent(where, answer.document.view(), options.wait_ms);
}

base::Result<ExitCode> signal(const ActOptions& options, const ServerApi& api, const Where& where) {
  const InstanceId id = TRY(parse_id(options.name));
  Body body;
  body.add_text("schema", options.event);
  body.add("value", TRY(value_of(options.value)));
  body.add_text("id", options.id);
  return post_value(options, api, where, path_of(id) + "/signal", body);
}

base::Result<ExitCode> send(const ActOptions& options, const ServerApi& api, const Where& where) {
  if (options.key) {
    if (options.wait_ms != 0)
      return base::invalid("--wait", "is for events that go by their routes, without --key");
    ActOptions one = options;
    one.event = options.name;
    one.name = *options.key;
    return signal(one, api, where);
  }
  Body body;
  body.add_text("schema", options.name);
  body.add("value", TRY(value_of(options.value)));
  body.add_text("id", options.id);
  body.add_number("wait", options.wait_ms);
  return post_value(options, api, where, "/v1/events", body);
}

base::Result<ExitCode> start(const ActOptions& options, const ServerApi& api, const Where& where) {
  // Without its slash it would name another route.
  if (std::ranges::count(options.name, '/') != 1) return no_workflow(options.name);
  Body body;
  body.add("input", TRY(value_of(options.value)));
  body.add_text("event", options.event);
  if (options.key) body.add("key", json_text(*options.key));
  body.add_text("id", options.id);
  body.add_text("if_ended", options.if_ended);
  body.add_number("wait", options.wait_ms);
  // The same escaping as for an instance, without its key.
  const std::string name =
      path_of({options.name, ""}).substr(std::string_view("/v1/instances/").size());
  return post_value(options, api, where, "/v1/workflows/" + name + "start", body);
}

struct ActAdder {
  CLI::App& app;
  ExitCode& exit_code;

  std::pair<CLI::App*, std::shared_ptr<ActOptions>> add(const char* name, const char* what,
                                                        const char* example, Act run) {
    auto options = std::make_shared<ActOptions>();
    CLI::App* command = app.add_subcommand(name, what);
    add_where(*command, options->where, Reach::kServerOnly);
    command->footer(std::string("Example: holdfast ") + example);
    command->callback([this_code = &exit_code, options, run] { *this_code = act(*options, run); });
    return {command, options};
  }
};

void add_wait(CLI::App& command, ActOptions& options) {
  command
      .add_option(
          "--wait", options.wait_ms,
          "how long to wait for the end of the instance, such as 500ms or 30s, up to 1m; exits "
          "with 0 if it completed, 1 if it failed, 75 if it has not ended")
      ->transform(milliseconds_of_duration())
      ->check(CLI::Range(std::uint64_t{1}, kLongestWaitMs));
}

}  // namespace

void add_act(CLI::App& app, ExitCode& exit_code) {
  ActAdder adder{app, exit_code};
  auto [sends, send_options] = adder.add(
      "send", "send an event to all its subscribers",
      R"(send demo/OrderPlaced@1 '{"id":"o-7","sku":"mug","count":2,"cents":1990}' --id web-4711)",
      send);
  sends->add_option("event", send_options->name, "name of the event's schema")->required();
  sends->add_option("value", send_options->value, "JSON; - reads standard input");
  sends->add_option("--key", send_options->key, "deliver to this instance only: WORKFLOW/KEY")
      ->check(not_empty());
  sends
      ->add_option("--id", send_options->id,
                   "idempotency id: an event sent twice with the same id happens once")
      ->check(not_empty());
  add_wait(*sends, *send_options);

  auto [starts, start_options] = adder.add(
      "start", "start an instance",
      R"(start demo/Order@1 '{"id":"o-8","sku":"mug","count":1,"cents":995}' --wait 5s)", start);
  starts->add_option("workflow", start_options->name, "its name")->required();
  starts->add_option("input", start_options->value,
                     "the event that starts it, as JSON; - reads standard input");
  starts
      ->add_option("--event", start_options->event,
                   "schema of the event; default: the first event routed to the workflow")
      ->check(not_empty());
  starts->add_option("--key", start_options->key,
                     "key of the instance; default: taken from the event");
  starts->add_option("--id", start_options->id, "idempotency id of the event")->check(not_empty());
  starts
      ->add_option("--if-ended", start_options->if_ended,
                   "if the key belongs to an instance that has ended: refuse (default), start "
                   "again, or return that instance with its result")
      ->check(CLI::IsMember({"refuse", "again", "return"}));
  add_wait(*starts, *start_options);

  auto [signals, signal_options] =
      adder.add("signal", "send an event to one instance only",
                R"(signal demo/Order@1/o-7 demo/OrderCancelled@1 '{"id":"o-7"}')", signal);
  signals->add_option("instance", signal_options->name, "WORKFLOW/KEY")
      ->required()
      ->check(not_empty());
  signals->add_option("event", signal_options->event, "name of the event's schema")->required();
  signals->add_option("value", signal_options->value, "JSON; - reads standard input");
  signals
      ->add_option("--id", signal_options->id,
                   "idempotency id: an event sent twice with the same id happens once")
      ->check(not_empty());
}

}  // namespace holdfast::cli
