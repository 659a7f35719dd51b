// SPDX-License-Identifier: Apache-2.0
// holdfast backup: a consistent copy of a world, which may be running, in a folder.
// holdfast restore: makes a world of a backup, and checks all of it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/existing_world.h"
#include "cli/looking.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "cli/server_api.h"
#include "cli/verify_world.h"
#include "codec/cbor_writer.h"
#include "gateway/documents.h"
#include "store/folder_backup.h"
#include "store/place.h"
#include "store/restore_backup.h"

namespace holdfast::cli {
namespace {

using gateway::put;
using gateway::put_number;

constexpr std::chrono::milliseconds kLookAgain(200);

std::uint64_t wall_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// A bar whose length is known when the work has begun.
class LateProgress {
 public:
  explicit LateProgress(std::string what) : what_(std::move(what)) {}
  void at(std::uint64_t done, std::uint64_t total) {
    if (!bar_) bar_.emplace(what_, total);
    bar_->at(done);
  }

 private:
  const std::string what_;
  std::optional<Progress> bar_;
};

struct BackupWords {
  Where where;
  std::vector<std::string> words;  // [FOLDER] DEST
};

base::Result<store::BackupReport> back_up(const std::string& world, const std::string& into) {
  const auto open = TRY(ExistingWorld::open(world));
  auto source = TRY(store::FolderBackup::open(open->folder()));
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  LateProgress progress("backing up");
  store::BackupOptions options;
  options.time_ns = wall_ns();
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.at(done, total);
    return base::Result<void>();
  };
  return store::make_backup(source, {*disk, *random, *process, into}, options);
}

void print_backup(const std::string& where, std::uint64_t first, std::uint64_t last,
                  std::uint64_t bytes) {
  const std::string records =
      last < first ? std::string("no records")
                   : "records " + std::to_string(first) + " to " + std::to_string(last);
  print_line("backed up " + records + ", " + std::to_string(bytes) + " bytes, in " +
             printable(where));
}

ExitCode back_up_folder(const Where& where, const std::string& into) {
  const auto report = back_up(where.world, into);
  if (!report) return refuse_or_retry(report.error());
  const store::BackupManifest& made = report->manifest;
  if (where.json) {
    codec::Buffer out;
    codec::write_map_head(out, 7);
    put(out, "folder", into);
    put_number(out, "number", made.number);
    put_number(out, "first_record", made.first);
    put_number(out, "last_record", made.last);
    put_number(out, "bytes", made.bytes());
    put_number(out, "copied_bytes", report->copied_bytes);
    put_number(out, "kept_segments", report->kept_segments);
    print_json(codec::View::of(out.view()));
    return ExitCode::kDone;
  }
  print_backup(into, made.first, made.last, made.bytes());
  print_line("copied    " + std::to_string(report->copied_bytes) + " bytes; " +
             std::to_string(report->kept_segments) + " segments were there already");
  return ExitCode::kDone;
}

// The backup of this name, as the server lists it.
base::Result<Document> wait_for_backup(const ServerApi& api, const std::string& name) {
  LateProgress progress("backing up");
  for (;;) {
    const Document listed = TRY(api.get("/v1/backups"));
    const std::vector<codec::View> all = list_in(listed.view(), "backups");
    const auto found = std::ranges::find_if(
        all, [&](const codec::View& each) { return text_in(each, "name") == name; });
    if (found == all.end())
      return base::Error(base::ErrorCode::kIo, name, "the server does not list the backup");
    if (text_in(*found, "status") != "running") return Document::of_cbor(found->encoded());
    progress.at(number_in(*found, "done_bytes"), number_in(*found, "total_bytes"));
    std::this_thread::sleep_for(kLookAgain);
  }
}

base::Result<Document> back_up_through(const ServerApi& api, const std::string& name) {
  TRY(api.post("/v1/backups", "{\"name\":" + json_text(name) + "}"));
  Document made = TRY(wait_for_backup(api, name));
  if (text_in(made.view(), "status") == "finished") return made;
  return base::Error(base::ErrorCode::kIo, name,
                     "the backup was not finished: " + text_in(made.view(), "error"));
}

ExitCode back_up_server(const Where& where, const std::string& name) {
  const auto api = ServerApi::at(where);
  if (!api) return refuse_or_retry(api.error());
  const auto made = back_up_through(*api, name);
  if (!made) return refuse_or_retry(made.error());
  if (where.json) {
    print_json(made->view());
  } else {
    print_backup("the server's folder " + name, number_in(made->view(), "first_record"),
                 number_in(made->view(), "last_record"), number_in(made->view(), "bytes"));
  }
  return ExitCode::kDone;
}

ExitCode run_backup(const BackupWords& said) {
  Where given = said.where;
  if (said.words.size() > 1) given.folder = said.words.front();
  const auto where = settle(given);
  if (!where) return misused(where.error().to_string());
  return where->is_offline() ? back_up_folder(*where, said.words.back())
                             : back_up_server(*where, said.words.back());
}

struct RestoreWords {
  std::string backup;
  std::string world;
  bool any_file_system = false;
  bool json = false;
};

base::Result<void> refuse_if_there(env::Disk& disk, const std::string& path) {
  const auto names = disk.list(path);
  if (names) return base::Error(base::ErrorCode::kConflict, path, "is there already");
  if (names.error().code() == base::ErrorCode::kNotFound) return {};
  return base::Error(names.error().code(), path, names.error().message());
}

// Under another name until everything is checked: what is there under its own name is whole.
base::Result<store::RestoredBackup> restore(const RestoreWords& said, const std::string& path,
                                            const native::Machines& machines, Findings& found) {
  const auto disk = env::posix_disk();
  const auto random = env::posix_random();
  const auto process = env::posix_process();
  const std::string unfinished = path + ".unfinished";
  TRY(refuse_if_there(*disk, path));
  TRY(refuse_if_there(*disk, unfinished));
  if (!said.any_file_system) TRY(store::check_place(*disk, path));
  store::RestoredBackup restored{};
  {
    LateProgress progress("restoring");
    restored = TRY(store::restore_backup(
        said.backup, {*disk, *random, *process, unfinished, wall_ns()},
        [&](std::uint64_t done, std::uint64_t total) { progress.at(done, total); }));
  }
  found = TRY(verify_world(unfinished, machines, {.blobs = true, .all = true}));
  if (!found.journal.errors.empty()) return restored;
  TRY(disk->rename(unfinished, path));
  TRY(disk->sync_directory(env::parent_of(path)));
  return restored;
}

ExitCode run_restore(const RestoreWords& said, const native::Machines& machines) {
  std::string path = said.world;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  Findings found;
  const auto restored = restore(said, path, machines, found);
  if (!restored) return refuse_or_retry(restored.error());
  const base::Errors& errors = found.journal.errors;
  if (!errors.empty()) {
    return refuse("the backup is damaged; what could be restored is in " + path + ".unfinished",
                  errors);
  }
  if (said.json) {
    codec::Buffer out;
    codec::write_map_head(out, 5);
    put_number(out, "first_record", restored->manifest.first);
    put_number(out, "last_record", restored->manifest.last);
    put_number(out, "backup_time_ns", restored->manifest.time_ns);
    put_number(out, "life", restored->restored.life);
    put(out, "replay_stopped", printable(found.journal.replay_stopped));
    print_json(codec::View::of(out.view()));
    return ExitCode::kDone;
  }
  print_line("restored  " + printable(path) + " up to record " +
             std::to_string(restored->manifest.last));
  print_line("checked   " + std::to_string(found.journal.records) + " records, " +
             std::to_string(found.journal.replayed) + " of them replayed, " +
             std::to_string(found.blobs.value_or(0)) + " blobs" +
             (found.journal.replay_stopped.empty()
                  ? ""
                  : "; the others were not replayed: " + printable(found.journal.replay_stopped)));
  return ExitCode::kDone;
}

void add_restore(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto words = std::make_shared<RestoreWords>();
  CLI::App* command = app.add_subcommand("restore", "create a world from a backup and verify it");
  command->add_option("backup", words->backup, "folder of the backup")
      ->required()
      ->check(not_empty());
  command->add_option("world", words->world, "folder of the new world; it must not exist")
      ->required()
      ->check(not_empty());
  command->add_flag("--any-file-system", words->any_file_system,
                    "allow file systems that lose data in a power cut");
  command->add_flag("--json", words->json, "print JSON");
  command->footer(
      "The same checks as `verify --all`, before it says that it is done. The world is that of "
      "the\n"
      "backup in a new life: readers of streams that have seen later records are told so. What "
      "was\n"
      "open then is performed again. Never let two copies of one world run.\n"
      "Example: holdfast restore ./backup ./world");
  command->callback([words, &exit_code, &modules] {
    exit_code = run_restore(*words, native::Machines(modules));
  });
}

}  // namespace

void add_backup(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto words = std::make_shared<BackupWords>();
  CLI::App* command =
      app.add_subcommand("backup", "back up a world, running or stopped, into a folder");
  add_where(*command, words->where);
  command
      ->add_option("into", words->words,
                   "the folder of the backup, which is made or brought up to date; with --server "
                   "its name below the server's --backup-folder; in front of it the folder of the "
                   "world, the same as --world")
      ->required()
      ->expected(1, 2)
      ->type_name("[FOLDER] DEST")
      ->check(not_empty());
  command->footer(
      "Repeated into the same folder it copies new segments, the databases and the last segment.\n"
      "The folder always holds the last finished backup, also while the next one is made.\n"
      "Example: holdfast backup ./world ./backup\n"
      "         holdfast backup --server http://127.0.0.1:7411 nightly");
  command->callback([words, &exit_code] { exit_code = run_backup(*words); });
  add_restore(app, exit_code, modules);
}

}  // namespace holdfast::cli
