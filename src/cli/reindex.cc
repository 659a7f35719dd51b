// SPDX-License-Identifier: Apache-2.0
// holdfast reindex: makes the index of instances again.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "node/history_feed.h"
#include "store/file_journal.h"

namespace holdfast::cli {
namespace {

struct Options {
  std::string world;
  bool json = false;
};

base::Result<store::HistoryCursor> reindex(const Options& options) {
  const auto world = TRY(ExistingWorld::open(options.world));
  // Opened in earnest, not only looked at: the index may hold nothing that is not durable.
  const store::OpenedJournal opened = TRY(store::open_file_journal(world->folder()));
  Progress progress("indexing", opened.journal->durable());
  const store::HistoryCursor cursor = TRY(node::rebuild_history(
      world->folder(), *opened.journal, [&](store::RecordNumber at) { progress.at(at); }));
  TRY(opened.journal->close());
  return cursor;
}

void print_result(const store::HistoryCursor& cursor, bool json) {
  if (!json) {
    return print_line(cursor.record < cursor.begins
                          ? "There are no records."
                          : "Indexed records " + std::to_string(cursor.begins) + " to " +
                                std::to_string(cursor.record) + ".");
  }
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "first");
  codec::write_nat(out, cursor.begins);
  codec::write_text(out, "last");
  codec::write_nat(out, cursor.record);
  print_line(codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented));
}

}  // namespace

void add_reindex(CLI::App& app, ExitCode& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "reindex", "make the index of a world's instances again, from its journal");
  command->add_option("world", options->world, "the folder of the world")->required();
  command->add_flag("--json", options->json, "print JSON");
  command->footer(
      "The old index stays until the new one is whole. Instances that no record of the journal\n"
      "touches, because records were trimmed, are not in the new one.\n"
      "Example: holdfast reindex ./world");
  command->callback([options, &exit_code] {
    const auto cursor = reindex(*options);
    if (cursor) print_result(*cursor, options->json);
    exit_code = cursor ? ExitCode::kDone : refuse(cursor.error());
  });
}

}  // namespace holdfast::cli
