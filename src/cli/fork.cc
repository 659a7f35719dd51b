// SPDX-License-Identifier: Apache-2.0
// holdfast fork: a new world whose state is that of another one behind a record.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/looking.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"
#include "native/machines.h"
#include "node/fork_world.h"

namespace holdfast::cli {
namespace {

struct ForkOptions {
  Where where;
  std::uint64_t at = 0;
  std::string into;
  bool any_file_system = false;
};

base::Result<node::ForkReport> fork(const ForkOptions& options, const std::string& from,
                                    const std::vector<Module>& modules) {
  const auto world = TRY(ExistingWorld::open(from));
  const auto blobs = TRY(store::BlobsLook::open(store::WorldPlace::of(world->folder())));
  const auto journal = TRY(store::JournalFiles::open(world->folder()));
  const native::Machines machines(modules);
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  const node::ForkPlace to{*disk,        *random,  *process,
                           options.into, now_ns(), options.any_file_system};
  Progress progress("replaying", journal.last());
  return node::fork_world(store::WorldPlace::of(world->folder()), journal, blobs.get(), machines,
                          options.at == 0 ? journal.last() : options.at, to,
                          [&](store::RecordNumber record) { progress.at(record); });
}

ExitCode run(const ForkOptions& options, const std::vector<Module>& modules) {
  const auto where = settle(options.where, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto report = fork(options, where->world, modules);
  if (!report) return refuse_or_retry(report.error());
  if (where->json) {
    codec::Buffer out;
    codec::write_map_head(out, 4);
    gateway::put_number(out, "record", report->record);
    gateway::put_number(out, "paused", report->paused);
    gateway::put_number(out, "settled", report->settled);
    gateway::put_number(out, "timers", report->timers);
    print_json(codec::View::of(out.view()));
    return ExitCode::kDone;
  }
  print_line("forked    " + printable(options.into) + " has the state behind record " +
             std::to_string(report->record));
  print_line("paused    " + std::to_string(report->paused) + " instances that had not ended");
  print_line("settled   " + std::to_string(report->settled) +
             " open effects with the error world.forked; they are not performed here");
  print_line("timers    " + std::to_string(report->timers) + " kept; they come when they are due");
  return ExitCode::kDone;
}

}  // namespace

void add_fork(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto options = std::make_shared<ForkOptions>();
  CLI::App* command = app.add_subcommand(
      "fork", "create a new world with the state after a record of another world");
  add_where(*command, options->where, Reach::kWorldOnly);
  command->add_option("--at", options->at, "the record; default: the last one")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000'000'000'000}));
  command->add_option("new", options->into, "folder of the new world; it must not exist")
      ->required();
  command->add_flag("--any-file-system", options->any_file_system,
                    "allow file systems that lose data in a power cut");
  command->footer(
      "The old world stays as it is. In the new one every instance that has not ended is paused, "
      "and\n"
      "what was open is settled with the error world.forked: nothing is performed twice. Resume "
      "an\ninstance to let it go on with that.\n"
      "Example: holdfast fork --world ./world --at 100 ./what-if");
  command->callback([options, &exit_code, &modules] { exit_code = run(*options, modules); });
}

}  // namespace holdfast::cli
