// SPDX-License-Identifier: Apache-2.0
#include "store/backup.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "base/hex.h"
#include "base/sha256_stream.h"
#include "store/blob_store.h"
#include "store/database_copy.h"
#include "store/database_look.h"
#include "store/history_index.h"
#include "store/journal_copy.h"
#include "store/salvage.h"
#include "store/seals.h"

namespace holdfast::store {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::uint64_t kSyncBytes = std::uint64_t{8} << 20;  // so little waits for a sync
constexpr int kPagesPerStep = 64;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kMaxSmallBytes = std::size_t{64} << 20;
constexpr const char* kPart = "part";  // the file that is being written

// Which are there depends on the world.
constexpr const char* kSmallFiles[] = {"WORLD", "keys/node", "tokens.json", kSalvagedFile};

class Backing {
 public:
  Backing(BackupSource& source, const BackupPlace& place, const BackupOptions& options)
      : source_(source), place_(place), options_(options), data_(place.path + "/" + kBackupData) {}

  base::Result<BackupReport> run() {
    TRY(begin());
    total_ = TRY(estimate());
    manifest_.first = source_.first();
    for (const char* name : {kKernelBlobs, kHistoryFile, kSealsFile}) TRY(copy_database(name));
    manifest_.last = source_.last();
    TRY(copy_segments());
    // Behind the records: a receipt in them may name what was put just then.
    TRY(copy_database(kEffectBlobs));
    for (const char* name : kSmallFiles) TRY(copy_small(name));
    TRY(source_.check());
    TRY(compare());
    TRY(finish());
    report_.manifest = std::move(manifest_);
    return std::move(report_);
  }

 private:
  base::Result<void> begin() {
    env::Disk& disk = place_.disk;
    TRY(disk.make_directory(place_.path));
    const std::vector<std::string> names = TRY(disk.list(place_.path));
    for (const std::string& name : names) {
      if (name != kBackupFile && name != std::string(kBackupFile) + ".new" && name != kBackupData &&
          name != "LOCK") {
        return base::Error(base::ErrorCode::kConflict, place_.path,
                           "is no backup: it holds " + name);
      }
    }
    // A folder that holds nothing but this name is not ours to clear: LOCK comes first, and
    // durably.
    const auto has = [&](const char* name) {
      return std::ranges::find(names, name) != names.end();
    };
    if (has(kBackupData) && !has("LOCK") && !has(kBackupFile)) {
      return base::Error(base::ErrorCode::kConflict, place_.path,
                         "is no backup: it holds " + std::string(kBackupData) + " and no LOCK");
    }
    lock_ = TRY(disk.lock(place_.path + "/LOCK", env::describe(place_.process)));
    TRY(disk.sync_directory(place_.path));
    TRY(disk.make_directory(data_));
    TRY(disk.sync_directory(place_.path));
    TRY(disk.sync_directory(env::parent_of(place_.path)));
    const auto before = TRY(read_backup_manifest(disk, place_.path));
    manifest_.world = source_.id();
    manifest_.time_ns = options_.time_ns;
    manifest_.number = before ? before->number + 1 : 1;
    if (!before) return {};
    if (before->world != source_.id()) {
      return base::Error(base::ErrorCode::kConflict, place_.path,
                         "holds a backup of another world");
    }
    before_ = std::move(before->files);
    return {};
  }

  // Of what is copied and compared.
  base::Result<std::uint64_t> estimate() {
    std::uint64_t bytes = 0;
    for (const char* name : {kKernelBlobs, kHistoryFile, kSealsFile, kEffectBlobs}) {
      auto file = source_.disk().open(source_.path() + "/" + name, env::OpenMode::kRead);
      if (file) bytes += TRY((*file)->size());
    }
    const std::string journal = source_.path() + "/journal";
    for (const SegmentHeader& header : TRY(segments_between(source_.disk(), journal, source_.id(),
                                                            source_.first(), source_.last())))
      bytes += header.bytes;
    return 2 * bytes;
  }

  base::Result<void> advance(std::uint64_t bytes) {
    done_ += bytes;
    if (!options_.progress) return {};
    return options_.progress(done_, std::max<std::uint64_t>(total_, done_));
  }

  std::string path_of(const std::string& stored) const { return data_ + "/" + stored; }
  std::string stored_as(std::string name) const {
    std::ranges::replace(name, '/', '-');
    return std::to_string(manifest_.number) + "-" + name;
  }

  base::Result<void> remove(const std::string& stored) {
    auto removed = place_.disk.remove(path_of(stored));
    if (!removed && removed.error().code() == base::ErrorCode::kNotFound) return {};
    return removed;
  }

  base::Result<void> copy_database(const std::string& name) {
    const std::string stored = stored_as(name);
    TRY(remove(stored));
    auto copied = copy_pages(name, stored);
    if (!copied) {
      static_cast<void>(remove(stored).has_value());  // gives back the space
      return std::move(copied).error();
    }
    if (!*copied) return {};  // there is none
    const auto file = TRY(place_.disk.open(path_of(stored), env::OpenMode::kReadWrite));
    TRY(file->sync_data());  // what is left
    const std::uint64_t bytes = TRY(file->size());
    report_.copied_bytes += bytes;
    const base::Hash hash = TRY(hash_of(*file, bytes, false));
    manifest_.files.push_back({name, stored, bytes, bytes, hash});
    return {};
  }

  // False: there is no such database.
  base::Result<bool> copy_pages(const std::string& name, const std::string& stored) {
    // Only the step owns the copy: it goes with it.
    return source_.visit_database(
        name,
        [this, copy = std::make_shared<std::unique_ptr<DatabaseCopy>>(),
         path = path_of(stored)](SqliteDatabase& from) -> base::Result<bool> {
          if (!*copy) *copy = TRY(DatabaseCopy::begin(from, place_.disk, place_.random, path));
          auto more = (*copy)->step(kPagesPerStep);
          if (!more || !*more) copy->reset();
          return more;
        },
        [this, stored, unsynced = std::uint64_t{0}]() mutable -> base::Result<void> {
          unsynced += kPagesPerStep * kPageBytes;
          if (unsynced >= kSyncBytes) {
            unsynced = 0;
            TRY(TRY(place_.disk.open(path_of(stored), env::OpenMode::kReadWrite))->sync_data());
          }
          return advance(kPagesPerStep * kPageBytes);
        });
  }

  base::Result<void> copy_segments() {
    const std::string journal = source_.path() + "/journal";
    const std::vector<SegmentHeader> headers = TRY(
        segments_between(source_.disk(), journal, source_.id(), manifest_.first, manifest_.last));
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const Segment segment = TRY(open_segment(source_.disk(), journal, source_.id(),
                                               headers[i].number, env::OpenMode::kRead));
      const std::string path = segment_path(journal, headers[i].number);
      if (i + 1 < headers.size()) {
        TRY(copy_whole(segment, path, headers[i + 1]));
      } else {
        TRY(copy_last(segment, path));
      }
    }
    return {};
  }

  // A segment that others follow stays as it is. A copy that the finished backup names and that is
  // not the same, because it is of another life of the world, stays as well: this one gets another
  // name.
  base::Result<void> copy_whole(const Segment& segment, const std::string& path,
                                const SegmentHeader& next) {
    const std::string name = segment_name(segment.header.number);
    std::array<std::uint8_t, 8> nonce{};
    for (std::size_t i = 0; i < nonce.size(); ++i)
      nonce[i] = static_cast<std::uint8_t>(segment.header.nonce >> (8 * i));
    std::string stored = name.substr(0, name.find('.')) + "-" + base::to_hex(nonce) + ".log";
    const std::uint64_t bytes = TRY(segment.file->size());
    if (auto kept = TRY(find_kept(stored, *segment.file, bytes))) {
      kept->name = "journal/" + name;
      manifest_.files.push_back(std::move(*kept));
      ++report_.kept_segments;
      return {};
    }
    TRY(check_whole(segment, path, next));
    if (std::ranges::find(before_, stored, &BackupFile::stored) != before_.end())
      stored = stored_as(name);
    const base::Hash hash = TRY(copy_bytes(*segment.file, bytes, stored));
    manifest_.files.push_back({"journal/" + name, stored, bytes, bytes, hash});
    return {};
  }

  // What is behind the last record is left out: the journal may be writing there.
  base::Result<void> copy_last(const Segment& segment, const std::string& path) {
    const std::uint64_t end = TRY(find_end(segment, path, manifest_.last));
    const std::string name = segment_name(segment.header.number);
    const std::string stored = stored_as(name);
    const base::Hash hash = TRY(copy_bytes(*segment.file, end, stored));
    manifest_.files.push_back({"journal/" + name, stored, end, segment.header.bytes, hash});
    return {};
  }

  // A copy that is there and the same as the world's file.
  base::Result<std::optional<BackupFile>> find_kept(const std::string& stored,
                                                    const env::File& original,
                                                    std::uint64_t bytes) {
    const auto opened = place_.disk.open(path_of(stored), env::OpenMode::kRead);
    if (!opened || TRY((*opened)->size()) != bytes) return std::optional<BackupFile>();
    const base::Hash hash = TRY(hash_of(**opened, bytes, true));
    if (hash != TRY(hash_of(original, bytes, true))) return std::optional<BackupFile>();
    compared_.insert(stored);
    return std::optional(BackupFile{{}, stored, bytes, bytes, hash});
  }

  base::Result<void> copy_small(const std::string& name) {
    auto content = env::read_file(source_.disk(), source_.path() + "/" + name, kMaxSmallBytes);
    if (!content && content.error().code() == base::ErrorCode::kNotFound) return {};
    const base::Bytes bytes = TRY(std::move(content));
    const std::string stored = stored_as(name);
    TRY(env::replace_file(place_.disk, path_of(stored), bytes));
    base::Sha256Stream hash;
    hash.add(bytes);
    report_.copied_bytes += bytes.size();
    manifest_.files.push_back({name, stored, bytes.size(), bytes.size(), hash.finish()});
    return {};
  }

  // The first bytes of the file, under a name that it has when all of them are there.
  base::Result<base::Hash> copy_bytes(const env::File& from, std::uint64_t bytes,
                                      const std::string& stored) {
    auto hash = write_part(from, bytes);
    if (!hash) {
      static_cast<void>(remove(kPart).has_value());  // gives back the space
      return hash;
    }
    TRY(place_.disk.rename(path_of(kPart), path_of(stored)));
    report_.copied_bytes += bytes;
    return hash;
  }

  base::Result<base::Hash> write_part(const env::File& from, std::uint64_t bytes) {
    TRY(remove(kPart));
    const auto to = TRY(place_.disk.open(path_of(kPart), env::OpenMode::kCreate));
    base::Bytes chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, bytes)));
    base::Sha256Stream hash;
    std::uint64_t synced = 0;
    for (std::uint64_t at = 0; at < bytes;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, bytes - at));
      const std::span<std::uint8_t> part = std::span(chunk).first(size);
      TRY(env::read_all(from, at, part));
      hash.add(part);
      TRY(env::write_all(*to, at, part));
      at += size;
      // Little by little: a large sync would hold up those of the journal.
      if (at - synced >= kSyncBytes) {
        TRY(to->sync_data());
        synced = at;
      }
      TRY(advance(size));
    }
    TRY(to->sync_data());
    return hash.finish();
  }

  base::Result<base::Hash> hash_of(const env::File& file, std::uint64_t bytes, bool counts) {
    base::Bytes chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, bytes)));
    base::Sha256Stream hash;
    for (std::uint64_t at = 0; at < bytes;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, bytes - at));
      const std::span<std::uint8_t> part = std::span(chunk).first(size);
      TRY(env::read_all(file, at, part));
      hash.add(part);
      at += size;
      TRY(advance(counts ? size : 0));
    }
    return hash.finish();
  }

  // Reads everything back that was not read already, and asks SQLite about its files.
  base::Result<void> compare() {
    for (const BackupFile& file : manifest_.files) {
      if (compared_.contains(file.stored)) continue;
      const std::string path = path_of(file.stored);
      const auto opened = TRY(place_.disk.open(path, env::OpenMode::kRead));
      const bool is_same =
          TRY(opened->size()) == file.bytes && TRY(hash_of(*opened, file.bytes, true)) == file.hash;
      if (!is_same)
        return base::Error(base::ErrorCode::kCorrupt, path, "is not what was written to it");
      if (file.name.ends_with(".db")) TRY(check_database(file));
    }
    return {};
  }

  base::Result<void> check_database(const BackupFile& file) {
    const WorldPlace data{place_.disk, place_.random, data_, source_.id()};
    const auto look = TRY(DatabaseLook::open(data, file.stored));
    if (!look) return {};  // nobody has put anything into it yet
    auto check = TRY(look->database().prepare("PRAGMA quick_check(1)"));
    if (!TRY(check.step()) || check.text(0) == "ok") return {};
    return base::Error(base::ErrorCode::kCorrupt, source_.path() + "/" + file.name,
                       std::string(check.text(0)));
  }

  // Names of copies begin with a number.
  static bool is_ours(const std::string& name) {
    return name == kPart || (!name.empty() && name.front() >= '0' && name.front() <= '9');
  }

  // The manifest last, and only then is removed what the one before needed.
  base::Result<void> finish() {
    TRY(place_.disk.sync_directory(data_));
    const base::Bytes manifest = TRY(encode(manifest_));
    TRY(env::replace_file(place_.disk, place_.path + "/" + kBackupFile, manifest));
    std::set<std::string> needed;
    for (const BackupFile& file : manifest_.files) needed.insert(file.stored);
    for (const std::string& name : TRY(place_.disk.list(data_)))
      if (!needed.contains(name) && is_ours(name)) TRY(remove(name));
    return place_.disk.sync_directory(data_);
  }

  BackupSource& source_;
  const BackupPlace& place_;
  const BackupOptions& options_;
  const std::string data_;
  std::unique_ptr<env::FileLock> lock_;
  std::vector<BackupFile> before_;  // of the backup that was finished before
  std::set<std::string> compared_;  // as stored
  BackupManifest manifest_;
  BackupReport report_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

base::Result<BackupReport> make_backup(BackupSource& source, const BackupPlace& place,
                                       const BackupOptions& options) {
  return Backing(source, place, options).run();
}

}  // namespace holdfast::store
