// SPDX-License-Identifier: Apache-2.0
// holdfast reindex: makes the index of instances again.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/where.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "native/machines.h"
#include "node/history_feed.h"
#include "node/past_world.h"
#include "store/file_journal.h"

namespace holdfast::cli {
namespace {

// What no record tells of, the oldest snapshot does. Null: all records are there, or there is none.
// `stored` is opened for it, and must live as long.
base::Result<std::unique_ptr<node::PastWorld>> oldest_snapshot(
    const store::WorldFolder& world, std::unique_ptr<store::BlobsLook>& stored,
    const native::Machines& machines) {
  const auto journal = TRY(store::JournalFiles::open(world));
  if (journal.first() == 1) return std::unique_ptr<node::PastWorld>();
  stored = TRY(store::BlobsLook::open(store::WorldPlace::of(world)));
  if (stored == nullptr) return std::unique_ptr<node::PastWorld>();
  const std::vector<store::SnapshotEntry> all = TRY(stored->snapshots());
  if (all.empty()) return std::unique_ptr<node::PastWorld>();
  const node::PastSource source = TRY(node::PastSource::of(journal, stored.get()));
  return node::PastWorld::at(source, machines, all.back().next_record - 1);
}

base::Result<store::HistoryCursor> reindex(const std::string& folder,
                                           const std::vector<Module>& modules) {
  const auto world = TRY(ExistingWorld::open(folder));
  // Opened in earnest, not only looked at: the index may hold nothing that is not durable.
  const store::OpenedJournal opened = TRY(store::open_file_journal(world->folder()));
  remark_recovery(opened.report);
  const native::Machines machines(modules);
  std::unique_ptr<store::BlobsLook> stored;
  const auto before = oldest_snapshot(world->folder(), stored, machines);
  if (!before) {
    remark(
        "instances that no record touches are left out, as the oldest snapshot cannot be used: " +
        before.error().to_string());
  }
  Progress progress("indexing", opened.journal->durable());
  kernel::World* const seeds = before && *before ? &(*before)->world() : nullptr;
  const store::HistoryCursor cursor = TRY(node::rebuild_history(
      world->folder(), *opened.journal, seeds, [&](store::RecordNumber at) { progress.at(at); }));
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
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

ExitCode run(const Where& said, const std::vector<Module>& modules) {
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto cursor = reindex(where->world, modules);
  if (!cursor) return refuse(cursor.error());
  print_result(*cursor, where->json);
  return ExitCode::kDone;
}

}  // namespace

void add_reindex(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto where = std::make_shared<Where>();
  CLI::App* command =
      app.add_subcommand("reindex", "rebuild the index of a world from its journal");
  add_where(*command, *where, Reach::kWorldOnly);
  add_folder(*command, *where);
  command->footer(
      "The old index stays until the new one is whole. Of instances that no record of the journal\n"
      "touches, because records were trimmed, it has what the oldest snapshot knows.\n"
      "Example: holdfast reindex ./world");
  command->callback([where, &exit_code, &modules] { exit_code = run(*where, modules); });
}

}  // namespace holdfast::cli
