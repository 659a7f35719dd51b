// SPDX-License-Identifier: Apache-2.0
// The commands that look: ls, show, state, timeline, why, trace, diagnose, cells, manifest.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/task_name.h"
#include "cli/trace.h"
#include "codec/cbor_writer.h"
#include "defs/system_names.h"
#include "gateway/documents.h"
#include "gateway/field_match.h"

namespace holdfast::cli {
namespace {

struct InspectOptions {
  Where where;
  std::string id;
  ListQuery list;
  std::uint64_t at = 0;
  std::uint64_t from = 0;
  std::uint64_t limit = 100;
  std::uint64_t since_seconds = 0;
  bool all = false;
};

// A name that nobody knows is a mistake. One that the manifest does not have any more is known as
// long as there are instances of it.
base::Result<void> check_workflow(WorldSource& source, const std::string& name) {
  const Document present = TRY(source.workflows());
  for (const codec::View each : list_in(present.view(), "workflows"))
    if (text_in(each, "workflow") == name) return {};
  ListQuery any;
  any.workflow = name;
  any.limit = 1;
  const Document left = TRY(source.instances(any));
  if (list_in(left.view(), "instances").empty()) return no_workflow(name);
  return {};
}

base::Result<ExitCode> list_instances(const InspectOptions& options, WorldSource& source,
                                      const Where& where) {
  ListQuery query = options.list;
  if (options.since_seconds != 0) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    query.since_ns = now_ns - std::min(now_ns, options.since_seconds * 1'000'000'000);
  }
  const Document document = TRY(source.instances(query));
  if (!query.workflow.empty() && list_in(document.view(), "instances").empty())
    TRY(check_workflow(source, query.workflow));
  print_either(where, document.view(), print_instances);
  const auto next = document.view().find("next");
  if (!where.json && next && !next->is_null())
    print_line("There are more: --after " + key_word(next));
  const std::uint64_t lag = number_in(document.view(), "lag");
  if (!where.json && lag != 0) {
    print_line("The index of the server is " + std::to_string(lag) +
               (lag == 1 ? " record" : " records") + " behind: what came last may be missing.");
  }
  return ExitCode::kDone;
}

void print_state(codec::View document) { print_json(*document.find("state")); }

// Errors of what the states need besides the records.
bool is_of_states(base::ErrorCode code) {
  return code == base::ErrorCode::kTooLarge || code == base::ErrorCode::kUnavailable ||
         code == base::ErrorCode::kConflict || code == base::ErrorCode::kNotFound ||
         code == base::ErrorCode::kCorrupt || code == base::ErrorCode::kIo;
}

// With the states, unless that would go too far back, or there is too much of them, or they cannot
// be come to. What is wrong with the instance itself is said when it is asked for without.
base::Result<Document> timeline_of(const InspectOptions& options, WorldSource& source,
                                   const InstanceId& id) {
  auto whole = source.timeline_with_states(id, options.from, options.limit);
  if (whole) return whole;
  if (!is_of_states(whole.error().code())) return whole;
  auto without = TRY(source.timeline(id, options.from, options.limit));
  remark("states that the records do not have are not shown: " + whole.error().to_string());
  return without;
}

base::Result<ExitCode> show_timeline(const InspectOptions& options, WorldSource& source,
                                     const Where& where) {
  const InstanceId id = TRY(resolve(source, options.id));
  const Document document = TRY(timeline_of(options, source, id));
  if (where.json) {
    print_json(document.view());
    return ExitCode::kDone;
  }
  std::vector<codec::View> records = list_in(document.view(), "records");
  std::ranges::reverse(records);
  print_records(records);
  const std::uint64_t next = number_in(document.view(), "next");
  if (flag_in(document.view(), "trimmed"))
    print_line("The journal does not have what was before any more.");
  else if (next != 0)
    print_line("There is more before: --from " + std::to_string(next));
  return ExitCode::kDone;
}

// Every instance that has not ended, and why.
base::Result<ExitCode> show_all_reasons(const InspectOptions& options, WorldSource& source,
                                        const Where& where) {
  codec::Buffer out;
  std::vector<std::vector<std::string>> rows{{"INSTANCE", "STATUS", "WHY"}};
  std::uint64_t count = 0;
  codec::Buffer entries;
  for (const char* status : {"running", "waiting"}) {
    ListQuery query;
    query.status = status;
    query.limit = options.limit;
    const Document document = TRY(source.instances(query));
    const auto next = document.view().find("next");
    if (next && !next->is_null())
      remark("not all that are " + std::string(status) + " were looked at: say a larger --limit");
    for (const codec::View row : list_in(document.view(), "instances")) {
      const InstanceId id = id_in(row);
      const auto why = source.why(id);
      // A world that runs may have ended it meanwhile.
      if (!why && why.error().code() == base::ErrorCode::kNotFound) continue;
      if (!why) return base::Error(why.error().code(), why.error().where(), why.error().message());
      ++count;
      codec::write_map_head(entries, 3);
      gateway::put(entries, "instance", id.text());
      gateway::put(entries, "sentence", text_in(why->view(), "sentence"));
      codec::write_text(entries, "reasons");
      entries.append(why->view().find("reasons")->encoded());
      rows.push_back(
          {printable(id.text()), status_in(row), printable(text_in(why->view(), "sentence"))});
    }
  }
  if (!where.json) {
    print_table(rows);
    return ExitCode::kDone;
  }
  codec::write_map_head(out, 1);
  codec::write_text(out, "instances");
  codec::write_list_head(out, count);
  out.append(entries.view());
  print_json(codec::View::of(out.view()));
  return ExitCode::kDone;
}

// Nothing: it can be asked.
std::optional<ExitCode> check_why(const InspectOptions& options) {
  if (options.all || !options.id.empty()) return std::nullopt;
  return misused("id is required, or --all\nSee --help.");
}

// An instance, or a task of a server: GRAPH/TASK.
base::Result<InstanceId> resolve_or_task(WorldSource& source, const std::string& text,
                                         const Where& where) {
  auto found = resolve(source, text);
  const bool may_be_task = !found && found.error().code() == base::ErrorCode::kNotFound &&
                           !where.is_offline() && std::ranges::count(text, '/') == 1;
  if (!may_be_task) return found;
  const ServerApi api = TRY(ServerApi::at(where));
  const auto task = find_task(api, text);
  if (!task) return found;
  return InstanceId{std::string(defs::kTaskWorkflow), task->text()};
}

// What a run of steps keeps of its failed attempts, others have in their records only.
void print_trouble(WorldSource& source, const InstanceId& id) {
  const auto trouble = last_trouble(source, id);
  if (trouble && !trouble->empty()) print_line("Last trouble: " + printable(*trouble));
}

base::Result<ExitCode> show_why(const InspectOptions& options, WorldSource& source,
                                const Where& where) {
  if (options.all) return show_all_reasons(options, source, where);
  const InstanceId id = TRY(resolve_or_task(source, options.id, where));
  const Document why = TRY(source.why(id));
  print_either(where, why.view(), print_why);
  if (!where.json && list_in(why.view(), "failed_attempts").empty()) print_trouble(source, id);
  return ExitCode::kDone;
}

// Of an instance, or of an event that has this id.
base::Result<TraceStart> start_of(WorldSource& source, const std::string& text) {
  auto id = resolve(source, text);
  if (id) {
    return first_record_of(source, *id);
  }
  const bool is_several = id.error().code() == base::ErrorCode::kConflict;
  if (!is_several && id.error().code() != base::ErrorCode::kNotFound) return std::move(id).error();
  auto event = record_of_event(source, text);
  if (event) return TraceStart{*event};
  return is_several ? std::move(id).error() : std::move(event).error();
}

base::Result<ExitCode> show_trace(const InspectOptions& options, WorldSource& source,
                                  const Where& where) {
  TraceStart start;
  const char* const end = options.id.data() + options.id.size();
  const auto number = std::from_chars(options.id.data(), end, start.record);
  if (number.ec != std::errc() || number.ptr != end) {
    start = TRY(start_of(source, options.id));
  }
  const Document document = TRY(trace(source, start, options.limit));
  if (where.json) {
    print_json(document.view());
    return ExitCode::kDone;
  }
  print_records(list_in(document.view(), "records"));
  const std::size_t open = list_in(document.view(), "open").size();
  const bool is_trimmed = flag_in(document.view(), "trimmed");
  if (is_trimmed) print_line("The journal does not have what was before any more.");
  print_line(open == 0 && is_trimmed ? "Nothing that these records opened is under way any more."
             : open == 0             ? "Nothing of it is under way any more."
                         : std::to_string(open) + " of its effects " + (open == 1 ? "is" : "are") +
                               " still open.");
  if (!flag_in(document.view(), "complete")) {
    print_line("It was followed up to record " +
               std::to_string(number_in(document.view(), "looked_up_to")) +
               " only; there may be more: say a larger --limit.");
  }
  return ExitCode::kDone;
}

void print_diagnosis(codec::View document) {
  // "cancelled by local: a mistake" says the verdict itself.
  const std::string verdict = text_in(document, "verdict");
  const std::string explanation = text_in(document, "explanation");
  print_line((explanation.starts_with(verdict) ? "" : verdict + ": ") + printable(explanation));
  const std::string trouble = text_in(document, "trouble");
  if (!trouble.empty()) print_line("Last trouble: " + printable(trouble));
}

// The instances of one workflow.
base::Result<ExitCode> list_cells(const InspectOptions& options, WorldSource& source,
                                  const Where& where) {
  InspectOptions all = options;
  all.list.workflow = options.id;
  all.list.limit = options.limit;
  return list_instances(all, source, where);
}

using InspectRun = base::Result<ExitCode> (*)(const InspectOptions&, WorldSource&, const Where&);
using Check =
    std::optional<ExitCode> (*)(const InspectOptions&);  // of a command line, before anything

struct InspectAdder {
  CLI::App& app;
  ExitCode& exit_code;
  const std::vector<Module>& modules;

  // The command, and where its options go.
  std::pair<CLI::App*, std::shared_ptr<InspectOptions>> add(const char* name, const char* what,
                                                            const char* example, InspectRun run,
                                                            Check check = nullptr) {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand(name, what);
    add_where(*command, options->where);
    command->footer(std::string("Example: holdfast ") + example);
    command->callback([this_modules = &modules, this_code = &exit_code, options, run, check] {
      if (check != nullptr) {
        if (const auto misuse = check(*options)) {
          *this_code = *misuse;
          return;
        }
      }
      *this_code = look_at(
          options->where, *this_modules,
          [&](WorldSource& source, const Where& where) { return run(*options, source, where); });
    });
    return {command, options};
  }

  std::pair<CLI::App*, std::shared_ptr<InspectOptions>> add_for_id(const char* name,
                                                                   const char* what,
                                                                   const char* example,
                                                                   InspectRun run) {
    auto added = add(name, what, example, run);
    added.first->add_option("id", added.second->id, "WORKFLOW/KEY, or an unambiguous prefix")
        ->required()
        ->check(not_empty());
    return added;
  }
};

void add_lists(InspectAdder& adder) {
  auto [ls, options] = adder.add("ls", "list instances, newest first",
                                 "ls --world ./world --status waiting", list_instances);
  ls->add_option("--workflow", options->list.workflow, "only of this workflow")->check(not_empty());
  ls->add_option("--status", options->list.status,
                 "running, waiting, completed, failed or cancelled")
      ->check(CLI::IsMember({"running", "waiting", "completed", "failed", "cancelled"}));
  ls->add_option("--key", options->list.key, "only instances whose key is a text that begins so")
      ->check(not_empty());
  ls->add_option("--since", options->since_seconds,
                 "only instances updated in this last time, such as 90s, 15m or 7d")
      ->transform(seconds_of_duration())
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  ls->add_option("--limit", options->list.limit, "maximum number to show")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  ls->add_option("--after", options->list.after, "cursor from the previous page");
  ls->add_option(
        "--where", options->list.where,
        "FIELD=VALUE: only instances that match now. Fields are those of show --json: key, status, "
        "paused, state, result, error, or a member of the last three, such as state.sku")
      ->check([](const std::string& text) {
        const auto match = gateway::FieldMatch::parse(text);
        return match ? std::string() : printable(match.error().to_string());
      });

  auto [cells, cell_options] = adder.add("cells", "list the instances of one workflow",
                                         "cells --world ./world demo/Order@1", list_cells);
  cells->add_option("workflow", cell_options->id, "its name")->required()->check(not_empty());
  cells->add_option("--limit", cell_options->limit, "maximum number to show")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();

  cells->add_option("--after", cell_options->list.after, "cursor from the previous page");

  adder.add(
      "manifest", "show the definitions of the world", "manifest --server http://127.0.0.1:7411",
      [](const InspectOptions&, WorldSource& source, const Where& where) -> base::Result<ExitCode> {
        return print_either(where, TRY(source.manifest()).view(), print_definitions);
      });
}

void add_instance_commands(InspectAdder& adder) {
  adder.add_for_id("show", "show an instance: status, state and outcome",
                   "show --world ./world demo/Order@1/o-1",
                   [](const InspectOptions& options, WorldSource& source,
                      const Where& where) -> base::Result<ExitCode> {
                     const InstanceId id = TRY(resolve(source, options.id));
                     const Document shown = TRY(source.instance(id));
                     if (where.json) {
                       print_json(shown.view());
                       return ExitCode::kDone;
                     }
                     const bool is_cancelled = text_in(shown.view(), "status") == "cancelled";
                     print_instance(shown.view(),
                                    is_cancelled ? TRY(reason_of_end(source, id)) : "", true);
                     const auto state = shown.view().find("state");
                     if (!state || list_in(*state, "failures").empty()) print_trouble(source, id);
                     return ExitCode::kDone;
                   });
  auto [state, state_options] = adder.add_for_id(
      "state", "show the state of an instance, now or after any record",
      "state --world ./world demo/Order@1/o-1 --at 17",
      [](const InspectOptions& options, WorldSource& source,
         const Where& where) -> base::Result<ExitCode> {
        // As it was then: an instance that is gone now may have been there.
        std::optional<base::Error> was_not_there;
        const auto exact = parse_id(options.id);
        if (exact && options.at != 0) {
          auto found = source.state(*exact, options.at);
          if (found) return print_either(where, found->view(), print_state);
          was_not_there = std::move(found).error();
          if (was_not_there->code() != base::ErrorCode::kNotFound) return std::move(*was_not_there);
        }
        const InstanceId id = TRY(resolve(source, options.id));
        // Going back takes long: not twice for the same.
        if (was_not_there && id.text() == exact->text()) return std::move(*was_not_there);
        return print_either(where, TRY(source.state(id, options.at)).view(), print_state);
      });
  state->add_option("--at", state_options->at, "after this record")
      ->check(CLI::Range(std::uint64_t{1}, kMostRecordNumber));
  auto [timeline, timeline_options] =
      adder.add_for_id("timeline", "show what happened to an instance, record by record",
                       "timeline --world ./world demo/Order@1/o-1", show_timeline);
  timeline->add_option("--from", timeline_options->from, "start at this record and go back")
      ->check(CLI::Range(std::uint64_t{1}, kMostRecordNumber));
  timeline->add_option("--limit", timeline_options->limit, "maximum number of records")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  auto [why, why_options] = adder.add("why", "show what an instance waits for",
                                      "why --world ./world demo/Order@1/o-1", show_why, check_why);
  CLI::Option* id =
      why->add_option("id", why_options->id, "WORKFLOW/KEY, an unambiguous prefix, or GRAPH/TASK")
          ->check(not_empty());
  why->add_flag("--all", why_options->all, "all instances that have not ended")->excludes(id);
  why->add_option("--limit", why_options->limit, "with --all: maximum number per status")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  adder.add_for_id("diagnose", "show the state of an instance in one line",
                   "diagnose --server http://127.0.0.1:7411 demo/Order@1/o-3",
                   [](const InspectOptions& options, WorldSource& source,
                      const Where& where) -> base::Result<ExitCode> {
                     const InstanceId instance = TRY(resolve(source, options.id));
                     return print_either(where, TRY(diagnose(source, instance)).view(),
                                         print_diagnosis);
                   });
  auto [follow, follow_options] =
      adder.add("trace", "follow an event or an instance through effects and receipts",
                "trace --world ./world demo-o-1", show_trace);
  follow->add_option("what", follow_options->id, "record number, WORKFLOW/KEY, or event id")
      ->required()
      ->check(not_empty());
  follow_options->limit = 100'000;
  follow->add_option("--limit", follow_options->limit, "maximum number of records to search")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000}))
      ->capture_default_str();
}

}  // namespace

void add_inspect(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  InspectAdder adder{app, exit_code, modules};
  add_lists(adder);
  add_instance_commands(adder);
}

}  // namespace holdfast::cli
