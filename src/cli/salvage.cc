// SPDX-License-Identifier: Apache-2.0
// holdfast salvage: makes a new world of what can be read of a damaged one.
#include "store/salvage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/where.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "env/posix_disk.h"
#include "native/machines.h"
#include "node/blob_shapes.h"
#include "node/local_world.h"
#include "node/trial_replay.h"

namespace holdfast::cli {
namespace {

struct SalvageOptions {
  Where where;
  std::vector<std::string> folders;  // [FOLDER] NEW
};

std::string range(store::RecordNumber first, store::RecordNumber last) {
  return first == last ? "record " + std::to_string(first)
                       : "records " + std::to_string(first) + " to " + std::to_string(last);
}

void print_text(const store::SalvageReport& report) {
  print_line(report.last < report.first ? "salvaged  nothing"
                                        : "salvaged  " + range(report.first, report.last));
  for (const auto& aside : report.aside)
    print_line("aside     " + range(aside.first, aside.last) + " in " + aside.file);
  for (const auto& snapshot : report.snapshots) {
    const std::string name = "the snapshot before record " + std::to_string(snapshot.next_record);
    print_line(snapshot.left_out.empty()
                   ? "salvaged  " + name
                   : "left out  " + name + ": " + printable(snapshot.left_out));
  }
  if (report.effect_blobs > 0)
    print_line("salvaged  " + std::to_string(report.effect_blobs) + " blobs that workflows put");
  for (const store::LostRecords& lost : report.lost.records)
    print_line("lost      " + range(lost.first, lost.last));
  for (const store::LostBytes& lost : report.lost.bytes) {
    print_line("lost      " + printable(lost.path) +
               (lost.end == 0
                    ? ""
                    : " from " + std::to_string(lost.begin) + " to " + std::to_string(lost.end)) +
               ": " + printable(lost.why));
  }
  const bool has_all =
      report.lost.bytes.empty() && report.lost.records.empty() && report.aside.empty() &&
      std::ranges::all_of(report.snapshots,
                          [](const auto& snapshot) { return snapshot.left_out.empty(); });
  if (has_all) print_line("lost      nothing");
}

// Opens what was made, as a server would. What the code of this program is missing for cannot be
// told, which is said.
base::Result<void> check_that_it_opens(env::Disk& disk, env::Random& random, env::Process& process,
                                       const std::string& path,
                                       const std::vector<Module>& modules) {
  const native::Machines machines(modules);
  const node::WatchedMachines watched(machines);
  node::LocalWorldOptions options;
  options.any_file_system = true;  // it is there already
  auto opened = node::LocalWorld::open(disk, random, process, path, watched, options);
  if (opened) return (*opened)->journal().close();
  if (watched.missing().empty()) return std::move(opened).error();
  remark("whether the new world can be opened was not checked: this program has no code for " +
         watched.missing());
  return {};
}

bool saved_nothing(const store::SalvageReport& report) {
  return report.last < report.first && report.aside.empty() &&
         std::ranges::none_of(report.snapshots,
                              [](const auto& snapshot) { return snapshot.left_out.empty(); });
}

ExitCode run(const SalvageOptions& options, const std::vector<Module>& modules) {
  Where said = options.where;
  if (options.folders.size() > 1) said.folder = options.folders.front();
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  Progress progress("reading record", 0);
  const auto report =
      store::salvage(*disk, *random, *process, where->world, options.folders.back(),
                     node::blob_shapes(), [&](store::RecordNumber at) { progress.at(at); });
  if (!report) return refuse(report.error());
  if (where->json) {
    const base::Bytes document = store::document_of(*report, true);
    print_line(codec::printable_json(
        codec::to_json(codec::View::of(document), codec::JsonStyle::kIndented)));
  } else {
    print_text(*report);
  }
  if (saved_nothing(*report)) {
    return refuse(
        base::Error(base::ErrorCode::kCorrupt, where->world,
                    "there is nothing in it that could be saved: the new world is empty"));
  }
  const auto opens = check_that_it_opens(*disk, *random, *process, options.folders.back(), modules);
  if (!opens) {
    return refuse(base::Error(base::ErrorCode::kCorrupt, options.folders.back(),
                              "the new world cannot be opened: " + opens.error().to_string()));
  }
  return ExitCode::kDone;
}

}  // namespace

void add_salvage(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto options = std::make_shared<SalvageOptions>();
  CLI::App* command = app.add_subcommand(
      "salvage",
      "create a new world from the readable parts of a damaged one, and report what is lost");
  add_where(*command, options->where, Reach::kWorldOnly);
  command
      ->add_option("new", options->folders,
                   "the folder of the new world, which must not be there; in front of it the "
                   "damaged one, the same as --world: it stays as it is")
      ->required()
      ->expected(1, 2)
      ->type_name("[FOLDER] NEW")
      ->check(not_empty());
  command->footer(
      "The new world holds the records around its newest snapshot that is whole, and ends before "
      "the\n"
      "next loss: what was accepted and done after it is unknown to it, and effects may be "
      "started\n"
      "again. Readable records of other places are kept beside it. Exits with 1 when the new "
      "world\n"
      "cannot be opened.\n"
      "Example: holdfast salvage ./damaged ./saved");
  command->callback([options, &exit_code, &modules] { exit_code = run(*options, modules); });
}

}  // namespace holdfast::cli
