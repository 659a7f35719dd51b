// SPDX-License-Identifier: Apache-2.0
// The commands that look: ls, show, state, timeline, why, trace, diagnose, cells, manifest.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "cli/trace.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMost = 1'000'000'000'000'000'000;

struct Options {
  Where where;
  std::string id;
  ListQuery list;
  std::uint64_t at = 0;
  std::uint64_t from = 0;
  std::uint64_t limit = 100;
  std::uint64_t since_seconds = 0;
  bool all = false;
};

ExitCode print_either(const Where& where, codec::View document, void (*print)(codec::View)) {
  where.json ? print_json(document) : print(document);
  return ExitCode::kDone;
}

base::Result<ExitCode> list(const Options& options, WorldSource& source, const Where& where) {
  ListQuery query = options.list;
  if (options.since_seconds != 0) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    query.since_ns = now_ns - std::min(now_ns, options.since_seconds * 1'000'000'000);
  }
  const Document document = TRY(source.instances(query));
  print_either(where, document.view(), print_instances);
  const auto next = document.view().find("next");
  if (!where.json && next && !next->is_null())
    print_line(where.is_offline() ? "There are more: --limit " + std::to_string(2 * query.limit)
                                  : "There are more: --after " + key_word(next));
  return ExitCode::kDone;
}

void print_state(codec::View document) { print_json(*document.find("state")); }

base::Result<ExitCode> show_timeline(const Options& options, WorldSource& source,
                                     const Where& where) {
  const InstanceId id = TRY(resolve(source, options.id));
  const Document document = TRY(source.timeline(id, options.from, options.limit));
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
base::Result<ExitCode> show_all_reasons(const Options& options, WorldSource& source,
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

base::Result<ExitCode> show_why(const Options& options, WorldSource& source, const Where& where) {
  if (options.all) return show_all_reasons(options, source, where);
  const InstanceId id = TRY(resolve(source, options.id));
  return print_either(where, TRY(source.why(id)).view(), print_why);
}

base::Result<ExitCode> show_trace(const Options& options, WorldSource& source, const Where& where) {
  std::uint64_t start = 0;
  const char* const end = options.id.data() + options.id.size();
  const auto number = std::from_chars(options.id.data(), end, start);
  if (number.ec != std::errc() || number.ptr != end) {
    const auto id = resolve(source, options.id);
    start = id ? TRY(first_record_of(source, *id)) : TRY(record_of_event(source, options.id));
  }
  const Document document = TRY(trace(source, start, options.limit));
  if (where.json) {
    print_json(document.view());
    return ExitCode::kDone;
  }
  print_records(list_in(document.view(), "records"));
  const std::size_t open = list_in(document.view(), "open").size();
  print_line(open == 0 ? "Nothing of it is under way any more."
                       : std::to_string(open) + " of its effects " + (open == 1 ? "is" : "are") +
                             " still open.");
  if (!flag_in(document.view(), "complete"))
    print_line("Not all records were looked through: say a larger --limit.");
  return ExitCode::kDone;
}

void print_diagnosis(codec::View document) {
  print_line(text_in(document, "verdict") + ": " + printable(text_in(document, "explanation")));
}

// The instances of one workflow.
base::Result<ExitCode> list_cells(const Options& options, WorldSource& source, const Where& where) {
  ListQuery query;
  query.workflow = options.id;
  query.limit = options.limit;
  const Document document = TRY(source.instances(query));
  return print_either(where, document.view(), print_instances);
}

using Run = base::Result<ExitCode> (*)(const Options&, WorldSource&, const Where&);

struct Adder {
  CLI::App& app;
  ExitCode& exit_code;
  const std::vector<Module>& modules;

  // The command, and where its options go.
  std::pair<CLI::App*, std::shared_ptr<Options>> add(const char* name, const char* what,
                                                     const char* example, Run run) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(name, what);
    add_where(*command, options->where);
    command->footer(std::string("Example: holdfast ") + example);
    command->callback([this_modules = &modules, this_code = &exit_code, options, run] {
      *this_code = look_at(
          options->where, *this_modules,
          [&](WorldSource& source, const Where& where) { return run(*options, source, where); });
    });
    return {command, options};
  }

  std::pair<CLI::App*, std::shared_ptr<Options>> add_for_id(const char* name, const char* what,
                                                            const char* example, Run run) {
    auto added = add(name, what, example, run);
    added.first->add_option("id", added.second->id, "WORKFLOW/KEY, or how only it begins")
        ->required();
    return added;
  }
};

void add_lists(Adder& adder) {
  auto [ls, options] = adder.add("ls", "list instances, those that were touched last first",
                                 "ls --world ./world --status waiting", list);
  ls->add_option("--workflow", options->list.workflow, "only of this workflow");
  ls->add_option("--status", options->list.status,
                 "running, waiting, completed, failed or cancelled")
      ->check(CLI::IsMember({"running", "waiting", "completed", "failed", "cancelled"}));
  ls->add_option("--since", options->since_seconds, "only what was touched in so many last seconds")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  ls->add_option("--limit", options->list.limit, "so many at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  ls->add_option("--after", options->list.after, "where the part before ended");

  auto [cells, cell_options] = adder.add("cells", "list the instances of one workflow",
                                         "cells --world ./world demo/Order@1", list_cells);
  cells->add_option("workflow", cell_options->id, "its name")->required();
  cells->add_option("--limit", cell_options->limit, "so many at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();

  adder.add("manifest", "the definitions of the world", "manifest --server http://127.0.0.1:7411",
            [](const Options&, WorldSource& source, const Where& where) -> base::Result<ExitCode> {
              return print_either(where, TRY(source.manifest()).view(), print_definitions);
            });
}

void add_instance_commands(Adder& adder) {
  adder.add_for_id("show", "an instance: its status, state and outcome",
                   "show --world ./world demo/Order@1/o-1",
                   [](const Options& options, WorldSource& source,
                      const Where& where) -> base::Result<ExitCode> {
                     const InstanceId id = TRY(resolve(source, options.id));
                     return print_either(where, TRY(source.instance(id)).view(), print_instance);
                   });
  auto [state, state_options] = adder.add_for_id(
      "state", "the state of an instance, now or behind any record",
      "state --world ./world demo/Order@1/o-1 --at 17",
      [](const Options& options, WorldSource& source,
         const Where& where) -> base::Result<ExitCode> {
        // As it was then: an instance that is gone now may have been there.
        if (const auto exact = parse_id(options.id); exact && options.at != 0) {
          const auto found = source.state(*exact, options.at);
          if (found) return print_either(where, found->view(), print_state);
          if (found.error().code() != base::ErrorCode::kNotFound)
            return base::Error(found.error().code(), found.error().where(),
                               found.error().message());
        }
        const InstanceId id = TRY(resolve(source, options.id));
        return print_either(where, TRY(source.state(id, options.at)).view(), print_state);
      });
  state->add_option("--at", state_options->at, "behind this record")
      ->check(CLI::Range(std::uint64_t{1}, kMost));
  auto [timeline, timeline_options] =
      adder.add_for_id("timeline", "what happened to an instance",
                       "timeline --world ./world demo/Order@1/o-1", show_timeline);
  timeline->add_option("--from", timeline_options->from, "go back from this record of it")
      ->check(CLI::Range(std::uint64_t{1}, kMost));
  timeline->add_option("--limit", timeline_options->limit, "so many records at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  auto [why, why_options] = adder.add("why", "why an instance has not ended",
                                      "why --world ./world demo/Order@1/o-1", show_why);
  CLI::Option* id = why->add_option("id", why_options->id, "WORKFLOW/KEY, or how only it begins");
  why->add_flag("--all", why_options->all, "of all that have not ended")->excludes(id);
  why->add_option("--limit", why_options->limit, "with --all: so many of each status at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}))
      ->capture_default_str();
  adder.add_for_id("diagnose", "where an instance stands, in one line",
                   "diagnose --server http://127.0.0.1:7411 demo/Order@1/o-3",
                   [](const Options& options, WorldSource& source,
                      const Where& where) -> base::Result<ExitCode> {
                     const InstanceId instance = TRY(resolve(source, options.id));
                     return print_either(where, TRY(diagnose(source, instance)).view(),
                                         print_diagnosis);
                   });
  auto [follow, follow_options] =
      adder.add("trace", "follow an event, or an instance, through effects and receipts",
                "trace --world ./world demo-o-1", show_trace);
  follow
      ->add_option("what", follow_options->id,
                   "the number of a record, WORKFLOW/KEY, or the id of an event")
      ->required();
  follow_options->limit = 100'000;
  follow->add_option("--limit", follow_options->limit, "look through so many records at most")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000}))
      ->capture_default_str();
}

}  // namespace

void add_inspect(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  Adder adder{app, exit_code, modules};
  add_lists(adder);
  add_instance_commands(adder);
}

}  // namespace holdfast::cli
