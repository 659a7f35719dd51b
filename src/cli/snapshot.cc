// SPDX-License-Identifier: Apache-2.0
// holdfast snapshot ls: the snapshots of a world, from the newest to the oldest.
// holdfast snapshot take: lets a server take one.
// holdfast snapshot rm: takes one off the list, so that the world is restored without it. It is for
// a world that is refused because its journal has lost records that the snapshot has.
#include <CLI/CLI.hpp>
#include <charconv>
#include <ctime>
#include <memory>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/looking.h"
#include "cli/offline_world.h"
#include "cli/output.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"

namespace holdfast::cli {
namespace {

struct SnapshotRow {
  store::SnapshotEntry entry;
  std::string problem;  // with its bytes; empty: they are what they were
};

base::Result<std::vector<SnapshotRow>> rows_of(const std::string& path) {
  const auto world = TRY(OfflineWorld::open(path));
  std::vector<SnapshotRow> rows;
  for (const store::SnapshotEntry& entry : TRY(world->snapshots().list())) {
    const auto bytes = world->blobs().get(entry.hash);
    rows.push_back({entry, bytes ? "" : bytes.error().message()});
  }
  return rows;
}

std::string utc(std::int64_t time_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::time_t seconds = time_ns / kSecond;
  std::tm parts{};
  char text[sizeof "9999-12-31T23:59:59Z"];
  if (::gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return std::to_string(time_ns) + " ns";
  return text;
}

void print_snapshots_json(const std::vector<SnapshotRow>& rows) {
  codec::Buffer out;
  const auto text = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  codec::write_map_head(out, 1);
  codec::write_text(out, "snapshots");
  codec::write_list_head(out, rows.size());
  for (const SnapshotRow& row : rows) {
    codec::write_map_head(out, 5);
    codec::write_text(out, "next_record");
    codec::write_nat(out, row.entry.next_record);
    text("time", utc(row.entry.time_ns));
    text("hash", row.entry.hash.to_text());
    text("lineage", row.entry.lineage.to_text());
    text("problem", row.problem);
  }
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

ExitCode list_snapshots(const Where& said) {
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto rows = rows_of(where->world);
  if (!rows) return refuse(rows.error());
  if (where->json) {
    print_snapshots_json(*rows);
  } else {
    std::vector<std::vector<std::string>> table{{"NEXT RECORD", "TIME", "HASH"}};
    for (const SnapshotRow& row : *rows) {
      table.push_back({std::to_string(row.entry.next_record), utc(row.entry.time_ns),
                       row.entry.hash.to_text()});
    }
    print_table(table);
  }
  for (const SnapshotRow& row : *rows) {
    if (!row.problem.empty())
      return refuse({base::ErrorCode::kCorrupt, row.entry.hash.to_text(), row.problem});
  }
  return ExitCode::kDone;
}

// [FOLDER] RECORD
struct Removal {
  Where where;
  std::vector<std::string> words;
};

base::Result<void> remove(const std::string& path, store::RecordNumber next_record) {
  const auto world = TRY(OfflineWorld::open(path));
  std::vector<store::SnapshotEntry> chosen = TRY(world->snapshots().list());
  std::erase_if(
      chosen, [&](const store::SnapshotEntry& entry) { return entry.next_record != next_record; });
  if (!chosen.empty()) return world->snapshots().forget(chosen);
  return base::Error(base::ErrorCode::kNotFound, path,
                     "there is no snapshot before record " + std::to_string(next_record));
}

ExitCode remove(const Removal& removal) {
  Where said = removal.where;
  if (removal.words.size() > 1) said.folder = removal.words.front();
  const auto where = settle(said, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const std::string& number = removal.words.back();
  store::RecordNumber next_record = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), next_record);
  if (error != std::errc() || end != number.data() + number.size())
    return misused("record: " + printable(number) + " is not the number of a record");
  const auto removed = remove(where->world, next_record);
  if (!removed) return refuse(removed.error());
  if (where->json) {
    codec::Buffer out;
    codec::write_map_head(out, 1);
    codec::write_text(out, "removed");
    codec::write_nat(out, next_record);
    print_json(codec::View::of(out.view()));
  }
  return ExitCode::kDone;
}

ExitCode take(const Where& said) {
  const auto where = settle(said, Reach::kServerOnly);
  if (!where) return misused(where.error().to_string());
  const auto api = ServerApi::at(*where);
  if (!api) return refuse_or_retry(api.error());
  const auto taken = api->take_snapshot();
  if (!taken) return refuse_or_retry(taken.error());
  if (where->json) {
    print_json(taken->view());
  } else {
    print_line("taken before record " + std::to_string(number_in(taken->view(), "next_record")));
  }
  return ExitCode::kDone;
}

void add_take(CLI::App& snapshot, ExitCode& exit_code) {
  auto where = std::make_shared<Where>();
  CLI::App* command = snapshot.add_subcommand("take", "ask a server to take a snapshot now");
  add_where(*command, *where, Reach::kServerOnly);
  command->footer("Example: holdfast snapshot take --server http://127.0.0.1:7411");
  command->callback([where, &exit_code] { exit_code = take(*where); });
}

}  // namespace

void add_snapshot(CLI::App& app, ExitCode& exit_code) {
  CLI::App* snapshot = app.add_subcommand("snapshot", "list, take or remove snapshots of a world");
  snapshot->require_subcommand(1);
  snapshot->footer("Example: holdfast snapshot ls ./world");
  add_take(*snapshot, exit_code);
  auto listed = std::make_shared<Where>();
  CLI::App* ls = snapshot->add_subcommand("ls", "list snapshots, newest first");
  add_where(*ls, *listed, Reach::kWorldOnly);
  add_folder(*ls, *listed);
  ls->footer("Example: holdfast snapshot ls ./world");
  ls->callback([listed, &exit_code] { exit_code = list_snapshots(*listed); });
  auto removal = std::make_shared<Removal>();
  CLI::App* rm = snapshot->add_subcommand(
      "rm",
      "remove a snapshot from the list; the world then opens from an older one, or by replay");
  add_where(*rm, removal->where, Reach::kWorldOnly);
  rm->add_option("record", removal->words,
                 "the record that it is before; in front of it the folder, the same as --world")
      ->required()
      ->expected(1, 2)
      ->type_name("[FOLDER] RECORD")
      ->check(not_empty());
  rm->footer(
      "For a world that is refused because its journal has lost records that the snapshot has.\n"
      "Example: holdfast snapshot rm ./world 1200");
  rm->callback([removal, &exit_code] { exit_code = remove(*removal); });
}

}  // namespace holdfast::cli
