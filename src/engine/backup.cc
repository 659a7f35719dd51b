// SPDX-License-Identifier: Apache-2.0
// Backups of the world that runs, on a thread of their own that yields to all others.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/backup_source.h"
#include "engine/body.h"
#include "engine/translate.h"

namespace holdfast {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::chrono::milliseconds kLongestPause(100);  // so that it can be stopped

bool is_backup_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kMaxNameBytes && is_letter(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_letter(c) || c == '.' || c == '-' || c == '_'; });
}

void describe(BackupInfo& info, const store::BackupManifest& manifest) {
  info.number = manifest.number;
  info.time_ns = manifest.time_ns;
  info.first_record = manifest.first;
  info.last_record = manifest.last;
  info.bytes = manifest.bytes();
}

// The pages of the databases are written while the world waits. A disk behind a network may not
// answer for minutes.
base::Result<void> check_backup_folder(env::Disk& disk, const std::string& folder) {
  const env::FileSystem system = TRY(disk.file_system_of(folder));
  if (system.kind != env::FileSystemKind::kNetwork) return {};
  return base::Error(base::ErrorCode::kConflict, folder,
                     "is on a network file system (" + system.name +
                         "), which can stop a world that runs: back up to a local disk, and copy "
                         "the finished backup from there");
}

// Keeps to a rate on average, whatever the pieces are.
class Pacer {
 public:
  Pacer(env::Clock& clock, std::uint64_t bytes_per_second)
      : clock_(clock), rate_(bytes_per_second), begun_ns_(clock.since_boot_ns()) {}

  template <class Stopped>
  void wait_until_due(std::uint64_t bytes, const Stopped& stopped) {
    if (rate_ == 0) return;
    const double due_ns = static_cast<double>(bytes) / static_cast<double>(rate_) * 1e9;
    for (;;) {
      const std::int64_t ahead_ns =
          static_cast<std::int64_t>(due_ns) - (clock_.since_boot_ns() - begun_ns_);
      if (ahead_ns <= 0 || stopped()) return;
      std::this_thread::sleep_for(
          std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds(ahead_ns), kLongestPause));
    }
  }

 private:
  env::Clock& clock_;
  const std::uint64_t rate_;
  const std::int64_t begun_ns_;
};

}  // namespace

base::Result<BackupInfo> Engine::Body::make_backup(const std::string& name,
                                                   const BackupOptions& how) {
  TRY(check_backup_folder(*disk, options.backup_folder));
  engine::RunningBackup source(*world, *blobs, history.get(),
                               [this] { return backups.is_cancelled(); });
  Pacer pacer(*machine_clock, how.bytes_per_second);
  store::BackupOptions inside;
  inside.time_ns = static_cast<std::uint64_t>(machine_clock->wall_ns());
  inside.progress = [&](std::uint64_t done, std::uint64_t total) -> base::Result<void> {
    backup_desk.at(done, total);
    pacer.wait_until_due(done, [this] { return backups.is_cancelled(); });
    if (backups.is_cancelled())
      return base::Error(base::ErrorCode::kEnded, "the engine closes: the backup is not finished");
    return source.check();
  };
  const store::BackupPlace place{*disk, *random, *process, options.backup_folder + "/" + name};
  const store::BackupReport report = TRY(store::make_backup(source, place, inside));
  BackupInfo info{.name = name, .status = BackupInfo::Status::kFinished};
  describe(info, report.manifest);
  info.copied_bytes = report.copied_bytes;
  return info;
}

Result<Done> Engine::backup(const std::string& name, BackupOptions options, Then<BackupInfo> then) {
  if (body_->options.backup_folder.empty())
    return Error{ErrorCode::kConflict, "there is no folder for backups: it has to be named first"};
  if (!is_backup_name(name)) {
    return Error{ErrorCode::kInvalid,
                 "the name of a backup has 1 to 64 letters, digits, dots, hyphens and underscores, "
                 "and begins with a letter or a digit"};
  }
  Body* const body = body_.get();
  if (!body->backup_desk.begin(name))
    return Error{ErrorCode::kUnavailable, "another backup is running"};
  const auto ticket = engine::ticket(std::move(then));
  // What became of it is said when the next one may begin.
  const auto job = [body, name, options, ticket]() -> std::function<void()> {
    auto made = body->make_backup(name, options);
    if (made) {
      return [body, ticket, info = std::move(*made)] {
        body->backup_desk.end(info);
        ticket->tell(info);
      };
    }
    body->log("backup " + name + ": " + made.error().to_string());
    return [body, ticket, name, error = engine::outside(made.error()),
            message = made.error().message()] {
      body->backup_desk.end_badly(name, message);
      ticket->tell(error);
    };
  };
  if (body->backups.begin(job)) return Done{};
  const Error closed{ErrorCode::kEnded, "the engine is closed"};
  body->backup_desk.end_badly(name, closed.message);
  ticket->tell(closed);
  return closed;
}

Result<BackupInfo> Engine::backup(const std::string& name, BackupOptions options) {
  return wait_for<BackupInfo>([&](Then<BackupInfo> then) {
    // What is refused before it begins is not told otherwise.
    const auto shared = std::make_shared<Then<BackupInfo>>(std::move(then));
    const auto begun = backup(name, options, [shared](Result<BackupInfo> made) {
      if (auto tell = std::exchange(*shared, nullptr)) tell(std::move(made));
    });
    if (begun) return;
    if (auto tell = std::exchange(*shared, nullptr)) tell(begun.error());
  });
}

Result<std::vector<BackupInfo>> Engine::list_backups() {
  const std::string& folder = body_->options.backup_folder;
  if (folder.empty())
    return Error{ErrorCode::kConflict, "there is no folder for backups: it has to be named first"};
  const std::optional<BackupInfo> present = body_->backup_desk.present();
  std::vector<BackupInfo> all;
  const auto names = body_->disk->list(folder);
  if (!names) return engine::outside(names.error());
  for (const std::string& name : *names) {
    if (!is_backup_name(name)) continue;
    BackupInfo info{.name = name};
    if (present && present->name == name) info = *present;
    const auto manifest = store::read_backup_manifest(*body_->disk, folder + "/" + name);
    if (manifest && *manifest) {
      describe(info, **manifest);
      if (info.status == BackupInfo::Status::kUnfinished)
        info.status = BackupInfo::Status::kFinished;
    } else if (!manifest) {
      info.status = BackupInfo::Status::kFailed;
      info.error = manifest.error().message();  // without the path
    }
    all.push_back(std::move(info));
  }
  // It may have failed before there was a folder.
  if (present && std::ranges::find(all, present->name, &BackupInfo::name) == all.end())
    all.push_back(*present);
  return all;
}

std::vector<RestoredLife> Engine::restored_lives() const {
  std::vector<RestoredLife> lives;
  for (const store::Restored& each : body_->world->folder().restored())
    lives.push_back({each.life, each.after, each.time_ns});
  return lives;
}

std::uint64_t Engine::last_durable() const noexcept { return body_->world->journal().durable(); }

}  // namespace holdfast
