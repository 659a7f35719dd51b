// SPDX-License-Identifier: Apache-2.0
// holdfast salvage: makes a new world of what can be read of a damaged one.
#include "store/salvage.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "codec/json_writer.h"
#include "env/posix_disk.h"
#include "node/blob_shapes.h"

namespace holdfast::cli {
namespace {

struct Options {
  std::string world;
  std::string into;
  bool json = false;
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
  for (const store::LostRecords& lost : report.lost.records)
    print_line("lost      " + range(lost.first, lost.last));
  for (const store::LostBytes& lost : report.lost.bytes) {
    print_line("lost      " + printable(lost.path) + " from " + std::to_string(lost.begin) +
               " to " + std::to_string(lost.end) + ": " + printable(lost.why));
  }
  if (report.lost.bytes.empty()) print_line("lost      nothing");
}

ExitCode run(const Options& options) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  Progress progress("reading record", 0);
  const auto report =
      store::salvage(*disk, *random, *process, options.world, options.into, node::blob_shapes(),
                     [&](store::RecordNumber at) { progress.at(at); });
  if (!report) return refuse(report.error());
  if (options.json) {
    const base::Bytes document = store::document_of(*report, true);
    print_line(codec::to_json(codec::View::of(document), codec::JsonStyle::kIndented));
  } else {
    print_text(*report);
  }
  return ExitCode::kDone;
}

}  // namespace

void add_salvage(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "salvage", "make a new world of what can be read of a damaged one, and say what is lost");
  command->add_option("world", options->world, "the folder of the damaged world; it stays as it is")
      ->required();
  command->add_option("new", options->into, "the folder of the new world; it must not be there")
      ->required();
  command->add_flag("--json", options->json, "print JSON");
  command->footer(
      "The new world holds the records around its newest snapshot that is whole, and ends before "
      "the\n"
      "next loss: what was accepted and done after it is unknown to it, and effects may be "
      "started\n"
      "again. Readable records of other places are kept beside it.\n"
      "Example: holdfast salvage ./damaged ./saved");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace holdfast::cli
