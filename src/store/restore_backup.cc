// SPDX-License-Identifier: Apache-2.0
#include "store/restore_backup.h"

#include <algorithm>
#include <utility>

#include "base/sha256_stream.h"
#include "store/world_folder.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kRestoreChunkBytes = std::size_t{256} << 10;
constexpr std::string_view kNotWhole = "a restore that is not finished\n";

class Restoring {
 public:
  Restoring(const std::string& from, const RestorePlace& to,
            const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : from_(from), to_(to), progress_(progress) {}

  base::Result<RestoredBackup> run() {
    env::Disk& disk = to_.disk;
    // The lock also keeps a backup from removing files meanwhile. One that may only be read has no
    // writer.
    if (!TRY(is_there(from_))) return no_backup();
    lock_ = TRY(disk.lock(from_ + "/LOCK", env::describe(to_.process)));
    auto manifest = TRY(read_backup_manifest(disk, from_));
    if (!manifest) return no_backup();
    if (TRY(is_there(to_.path)))
      return base::Error(base::ErrorCode::kConflict, to_.path, "is there already");
    TRY(disk.make_directory(to_.path));
    TRY(disk.sync_directory(env::parent_of(to_.path)));
    const std::string marker = to_.path + "/" + kRestoringFile;
    TRY(env::replace_file(disk, marker, base::as_bytes(kNotWhole)));
    TRY(disk.make_directory(to_.path + "/journal"));
    total_ = manifest->bytes();
    for (const BackupFile& file : manifest->files) TRY(copy(file));
    RestoredBackup restored{std::move(*manifest), {}};
    restored.restored = TRY(begin_new_life(restored.manifest));
    TRY(disk.sync_directory(to_.path + "/journal"));
    TRY(disk.sync_directory(to_.path));
    TRY(disk.remove(marker));
    TRY(disk.sync_directory(to_.path));
    return restored;
  }

 private:
  base::Error no_backup() const {
    return {base::ErrorCode::kNotFound, from_, "there is no finished backup"};
  }

  base::Result<bool> is_there(const std::string& path) {
    const auto names = to_.disk.list(path);
    if (names) return true;
    if (names.error().code() == base::ErrorCode::kNotFound) return false;
    return base::Error(names.error().code(), path, names.error().message());
  }

  base::Result<void> copy(const BackupFile& file) {
    const std::string from = from_ + "/" + kBackupData + "/" + file.stored;
    const std::string to = to_.path + "/" + file.name;
    const auto source = to_.disk.open(from, env::OpenMode::kRead);
    if (!source && source.error().code() == base::ErrorCode::kNotFound)
      return base::Error(base::ErrorCode::kCorrupt, from, "the file is missing");
    if (!source) return base::Error(source.error().code(), from, source.error().message());
    const std::uint64_t size = TRY((*source)->size());
    if (size != file.bytes) {
      return base::Error(
          base::ErrorCode::kCorrupt, from,
          "the file has " + std::to_string(size) + " bytes and not " + std::to_string(file.bytes));
    }
    TRY(to_.disk.make_directory(env::parent_of(to)));
    const auto target = TRY(to_.disk.open(to, env::OpenMode::kCreate));
    if (TRY(copy_bytes(**source, *target, file.bytes)) != file.hash)
      return base::Error(base::ErrorCode::kCorrupt, from, "the file is not what was backed up");
    TRY(fill_with_zeros(*target, file.bytes, file.length));
    TRY(target->sync_data());
    return to_.disk.sync_directory(env::parent_of(to));
  }

  base::Result<base::Hash> copy_bytes(const env::File& from, env::File& to, std::uint64_t bytes) {
    base::Bytes chunk(kRestoreChunkBytes);
    base::Sha256Stream hash;
    for (std::uint64_t at = 0; at < bytes;) {
      const std::span<std::uint8_t> part = std::span(chunk).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(kRestoreChunkBytes, bytes - at)));
      TRY(env::read_all(from, at, part));
      hash.add(part);
      TRY(env::write_all(to, at, part));
      at += part.size();
      done_ += part.size();
      if (progress_) progress_(done_, total_);
    }
    return hash.finish();
  }

  // Written, and not left out: the journal counts on it that its last segment has its space.
  static base::Result<void> fill_with_zeros(env::File& file, std::uint64_t from, std::uint64_t to) {
    const base::Bytes zeros(static_cast<std::size_t>(
        std::min<std::uint64_t>(kRestoreChunkBytes, to - std::min(from, to))));
    while (from < to) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(kRestoreChunkBytes, to - from));
      TRY(env::write_all(file, from, base::ByteView(zeros).first(size)));
      from += size;
    }
    return {};
  }

  base::Result<Restored> begin_new_life(const BackupManifest& manifest) {
    WorldFile world = TRY(read_world_file(to_.disk, to_.path));
    if (world.id != manifest.world) {
      return base::Error(base::ErrorCode::kCorrupt, from_,
                         "its WORLD is not that of the world that was backed up");
    }
    Restored restored{0, manifest.last, to_.time_ns};
    const auto is_taken = [&](const Restored& each) { return each.life == restored.life; };
    while (restored.life == 0 || std::ranges::any_of(world.restored, is_taken))
      restored.life = static_cast<std::uint32_t>(to_.random.next_u64());
    world.restored.push_back(restored);
    TRY(env::replace_file(to_.disk, to_.path + "/WORLD", encode(world)));
    return restored;
  }

  const std::string from_;
  const RestorePlace& to_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  std::unique_ptr<env::FileLock> lock_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

base::Result<RestoredBackup> restore_backup(
    const std::string& from, const RestorePlace& to,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  return Restoring(from, to, progress).run();
}

}  // namespace holdfast::store
