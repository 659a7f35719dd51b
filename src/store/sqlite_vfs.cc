// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_vfs.h"

#include <sqlite3.h>

#include <atomic>
#include <cstring>
#include <new>

#include "base/check.h"

namespace holdfast::store {

struct SqliteVfs::Body {
  env::Disk& disk;
  env::Random& random;
  std::string name;
  sqlite3_vfs vfs{};
};

namespace {

// What SQLite allocates for us begins with its own part.
struct OpenFile {
  sqlite3_file base;
  std::unique_ptr<env::File> file;
  env::Disk* disk;
  std::string folder;
  bool is_name_durable;
};

OpenFile& of(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
SqliteVfs::Body& of(sqlite3_vfs* vfs);

int close(sqlite3_file* file) {
  of(file).~OpenFile();
  return SQLITE_OK;
}

int read(sqlite3_file* file, void* into, int bytes, sqlite3_int64 offset) {
  const std::span<std::uint8_t> out(static_cast<std::uint8_t*>(into),
                                    static_cast<std::size_t>(bytes));
  const auto count = of(file).file->read_at(static_cast<std::uint64_t>(offset), out);
  if (!count) return SQLITE_IOERR_READ;
  if (*count == out.size()) return SQLITE_OK;
  std::memset(out.data() + *count, 0, out.size() - *count);  // SQLite asks for this
  return SQLITE_IOERR_SHORT_READ;
}

int full_or(int otherwise, const base::Error& error) {
  return error.code() == base::ErrorCode::kUnavailable ? SQLITE_FULL : otherwise;
}

int write(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  const auto written =
      env::write_all(*of(file).file, static_cast<std::uint64_t>(offset),
                     {static_cast<const std::uint8_t*>(from), static_cast<std::size_t>(bytes)});
  return written ? SQLITE_OK : full_or(SQLITE_IOERR_WRITE, written.error());
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
  const auto cut = of(file).file->truncate(static_cast<std::uint64_t>(size));
  return cut ? SQLITE_OK : full_or(SQLITE_IOERR_TRUNCATE, cut.error());
}

// A new file's name is made durable with its contents; SQLite leaves that to its files. A sync that
// failed is never a matter of space, whatever the system says: what it dropped cannot be had again.
int sync(sqlite3_file* file, int) {
  OpenFile& open = of(file);
  if (!open.file->sync_data()) return SQLITE_IOERR_FSYNC;
  if (open.is_name_durable) return SQLITE_OK;
  if (!open.disk->sync_directory(open.folder)) return SQLITE_IOERR_DIR_FSYNC;
  open.is_name_durable = true;
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  const auto bytes = of(file).file->size();
  if (!bytes) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(*bytes);
  return SQLITE_OK;
}

int lock(sqlite3_file*, int) { return SQLITE_OK; }
int check_reserved_lock(sqlite3_file*, int* is_reserved) {
  *is_reserved = 0;
  return SQLITE_OK;
}
int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return 4096; }
// A write changes no byte beside it, also when the power is cut.
int device_characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = lock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

SqliteVfs::Body& of(sqlite3_vfs* vfs) { return *static_cast<SqliteVfs::Body*>(vfs->pAppData); }

int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;  // until it is open: then SQLite does not close it
  if (path == nullptr) return SQLITE_CANTOPEN;
  env::Disk& disk = of(vfs).disk;
  auto opened = disk.open(path, env::OpenMode::kReadWrite);
  if (!opened && (flags & SQLITE_OPEN_CREATE) != 0 &&
      opened.error().code() == base::ErrorCode::kNotFound)
    opened = disk.open(path, env::OpenMode::kCreate);
  // A want of descriptors is no want of room.
  if (!opened && opened.error().lacks_descriptors()) return SQLITE_CANTOPEN;
  if (!opened) return full_or(SQLITE_CANTOPEN, opened.error());
  // Also the name of a file that is there may not be durable yet: nobody knows who made it.
  new (file) OpenFile{{&kMethods}, std::move(*opened), &disk, env::parent_of(path), false};
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* path, int sync_folder) {
  env::Disk& disk = of(vfs).disk;
  const auto removed = disk.remove(path);
  if (!removed) {
    return removed.error().code() == base::ErrorCode::kNotFound
               ? SQLITE_IOERR_DELETE_NOENT
               : full_or(SQLITE_IOERR_DELETE, removed.error());
  }
  if (sync_folder != 0 && !disk.sync_directory(env::parent_of(path))) return SQLITE_IOERR_DIR_FSYNC;
  return SQLITE_OK;
}

int access(sqlite3_vfs* vfs, const char* path, int, int* is_there) {
  const auto file = of(vfs).disk.open(path, env::OpenMode::kRead);
  if (!file && file.error().code() != base::ErrorCode::kNotFound) return SQLITE_IOERR_ACCESS;
  *is_there = file.has_value() ? 1 : 0;
  return SQLITE_OK;
}

int full_path_name(sqlite3_vfs*, const char* path, int size, char* out) {
  if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::strcpy(out, path);  // NOLINT(clang-analyzer-security.insecureAPI.strcpy): it fits
  return SQLITE_OK;
}

int randomness(sqlite3_vfs* vfs, int bytes, char* out) {
  of(vfs).random.fill({reinterpret_cast<std::uint8_t*>(out), static_cast<std::size_t>(bytes)});
  return bytes;
}

// Nobody else has the database, so there is nothing to wait for; and nothing of ours asks for time.
int sleep(sqlite3_vfs*, int) { return 0; }
int current_time(sqlite3_vfs*, double* day) {
  *day = 0;
  return SQLITE_OK;
}

std::string new_name() {
  static std::atomic<std::uint64_t> next = 1;
  return "holdfast-" + std::to_string(next++);
}

}  // namespace

SqliteVfs::SqliteVfs(env::Disk& disk, env::Random& random)
    : body_(new Body{disk, random, new_name()}) {
  sqlite3_vfs& vfs = body_->vfs;
  vfs.iVersion = 1;
  vfs.szOsFile = sizeof(OpenFile);
  vfs.mxPathname = 4096;
  vfs.zName = body_->name.c_str();
  vfs.pAppData = body_.get();
  vfs.xOpen = open;
  vfs.xDelete = remove;
  vfs.xAccess = access;
  vfs.xFullPathname = full_path_name;
  vfs.xRandomness = randomness;
  vfs.xSleep = sleep;
  vfs.xCurrentTime = current_time;
  CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

SqliteVfs::~SqliteVfs() { sqlite3_vfs_unregister(&body_->vfs); }

const std::string& SqliteVfs::name() const noexcept { return body_->name; }

}  // namespace holdfast::store
