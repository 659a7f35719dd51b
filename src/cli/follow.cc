// SPDX-License-Identifier: Apache-2.0
// holdfast tail: the records of a world as they come. holdfast stream: what an instance puts out.
// Both follow an event stream of a server until it ends or somebody interrupts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/server_api.h"

namespace holdfast::cli {
namespace {

struct Options {
  Where where;
  std::string id;
  std::uint64_t after = 0;
  bool is_after_said = false;
  std::uint64_t count = 0;  // 0: until it ends
};

struct StreamEvent {
  std::string id;
  std::string name;
  std::string data;
};

// Lines of an event stream, put together to events.
class EventReader {
 public:
  // The event that ends with this line, if one does.
  std::optional<StreamEvent> take(std::string_view line) {
    if (line.empty()) {
      if (present_.data.empty() && present_.name.empty()) return std::nullopt;
      return std::exchange(present_, {});
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    const std::string_view field = line.substr(0, colon);
    if (field == "id") present_.id = value;
    if (field == "event") present_.name = value;
    if (field == "data") {
      if (!present_.data.empty()) present_.data += '\n';
      present_.data += value;
    }
    return std::nullopt;
  }

 private:
  StreamEvent present_;
};

// Says whether it wants more.
using Print = std::function<bool(const StreamEvent&)>;

base::Result<ExitCode> follow(const ServerApi& api, const std::string& path, const Print& print) {
  HttpRequest request;
  request.path = path;
  request.accept = "text/event-stream";
  EventReader reader;
  bool streams = false;
  std::string problem;
  const HttpClient::LineReader lines{[&](long status, const std::string& type) {
                                       return streams = status == 200 &&
                                                        type.starts_with("text/event-stream");
                                     },
                                     [&](std::string_view line) {
                                       const auto event = reader.take(line);
                                       if (!event) return true;
                                       if (event->name == "problem") {
                                         problem = event->data;
                                         return false;
                                       }
                                       return print(*event) && flush_output();
                                     }};
  const HttpAnswer answer = TRY(api.client().follow(request, lines));
  // Whoever comes again goes on behind the last event.
  if (!problem.empty()) return base::Error(base::ErrorCode::kUnavailable, path, problem);
  if (streams) return ExitCode::kDone;
  if (answer.status != 200) return problem_in(answer, path);
  return base::Error(base::ErrorCode::kIo, path,
                     "the server answers with " + answer.type + ", not with a stream");
}

bool concerns(codec::View record, const std::string& instance) {
  if (instance.empty()) return true;
  for (const codec::View each : list_in(record, "instances"))
    if (id_in(each).text() == instance) return true;
  return false;
}

base::Result<ExitCode> tail(const Options& options, const ServerApi& api, const Where& where) {
  std::string instance;
  if (!options.id.empty()) {
    const auto source = TRY(server_source(where));
    instance = TRY(resolve(*source, options.id)).text();
  }
  std::uint64_t after = options.after;
  if (!options.is_after_said) after = number_in(TRY(api.get("/v1/journal?limit=1")).view(), "last");
  std::uint64_t printed = 0;
  return follow(api, "/v1/journal?from=" + std::to_string(after + 1),
                [&](const StreamEvent& event) {
                  const auto record = Document::of_json(event.data);
                  if (!record || record->view().kind() != codec::ViewKind::kMap) return true;
                  if (!concerns(record->view(), instance)) return true;
                  print_line(where.json ? event.data : record_line(record->view()));
                  return options.count == 0 || ++printed < options.count;
                });
}

base::Result<ExitCode> stream(const Options& options, const ServerApi& api, const Where& where) {
  const auto source = TRY(server_source(where));
  const InstanceId id = TRY(resolve(*source, options.id));
  std::uint64_t printed = 0;
  const std::string from = options.after == 0 ? "" : "?after=" + std::to_string(options.after);
  return follow(api, path_of(id) + "/stream" + from, [&](const StreamEvent& event) {
    if (where.json) {
      print_line(event.data);
    } else {
      print_line((event.id.empty() ? "" : event.id + "  ") +
                 (event.name.empty() ? "" : event.name + "  ") + printable(event.data));
    }
    return options.count == 0 || ++printed < options.count;
  });
}

using Run = base::Result<ExitCode> (*)(const Options&, const ServerApi&, const Where&);

ExitCode run(const Options& options, Run what) {
  const auto where = settle(options.where, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto done = what(options, *api, *where);
  return done ? *done : refuse_or_retry(done.error());
}

CLI::App* add(CLI::App& app, ExitCode& exit_code, const char* name, const char* what,
              const char* example, Run run_it, const std::shared_ptr<Options>& options) {
  CLI::App* command = app.add_subcommand(name, what);
  add_where(*command, options->where, Reach::kServerOnly);
  CLI::Option* after =
      command->add_option("--after", options->after, "only what is behind this number");
  command->add_option("--count", options->count, "end after so many");
  command->footer(std::string("Until it ends, or is interrupted.\nExample: holdfast ") + example);
  command->callback([options, &exit_code, run_it, after] {
    options->is_after_said = after->count() > 0;
    exit_code = run(*options, run_it);
  });
  return command;
}

}  // namespace

void add_follow(CLI::App& app, ExitCode& exit_code) {
  auto tails = std::make_shared<Options>();
  add(app, exit_code, "tail", "print records as they become durable",
      "tail --server http://127.0.0.1:7411 demo/Order@1/o-1", tail, tails)
      ->add_option("id", tails->id, "only of this instance: WORKFLOW/KEY, or how only it begins");
  auto streams = std::make_shared<Options>();
  add(app, exit_code, "stream", "print what an instance puts out, until it ends",
      "stream --server http://127.0.0.1:7411 demo/Order@1/o-1", stream, streams)
      ->add_option("id", streams->id, "WORKFLOW/KEY, or how only it begins")
      ->required();
}

}  // namespace holdfast::cli
