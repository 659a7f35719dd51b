// SPDX-License-Identifier: Apache-2.0
#include "env/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "env/descriptor.h"
#include "env/system_error.h"

namespace holdfast::env {
namespace {

// Whether `path` still names the file that was opened: it may have been removed, or another file
// put in its place, and two processes would then each hold a lock.
base::Result<bool> is_still(const std::string& path, int descriptor) {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor, &opened) != 0) return system_error(path, "fstat");
  if (::stat(path.c_str(), &named) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return system_error(path, "stat");
  }
  return opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

class PosixFile : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  base::Result<std::size_t> read_at(std::uint64_t offset,
                                    std::span<std::uint8_t> into) const override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t count = again_after_signals([&] {
        return ::pread(number(), into.data() + done, into.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (count < 0) return system_error(path_, "pread");
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  base::Result<std::size_t> write_at(std::uint64_t offset, base::ByteView bytes) override {
    const ssize_t count =
        ::pwrite(number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) return std::size_t{0};
    return system_error(path_, "pwrite");
  }

  base::Result<void> sync_data() override {
    if (::fdatasync(number()) != 0) return system_error(path_, "fdatasync");
    return {};
  }

  base::Result<void> truncate(std::uint64_t size) override {
    const auto call = [&] { return ::ftruncate(number(), static_cast<off_t>(size)); };
    if (again_after_signals(call) != 0) return system_error(path_, "ftruncate");
    return {};
  }

  base::Result<void> preallocate(std::uint64_t size) override {
    int problem = EINTR;  // posix_fallocate returns it and leaves errno alone
    while (problem == EINTR) problem = ::posix_fallocate(number(), 0, static_cast<off_t>(size));
    if (problem != 0) return system_error(path_, "posix_fallocate", problem);
    return {};
  }

  base::Result<std::uint64_t> size() const override {
    struct stat status {};
    if (::fstat(number(), &status) != 0) return system_error(path_, "fstat");
    return static_cast<std::uint64_t>(status.st_size);
  }

  base::Result<bool> is_at(const std::string& path) const override {
    return is_still(path, number());
  }

  Descriptor release() && { return std::move(descriptor_); }

 private:
  int number() const noexcept { return descriptor_.number(); }

  Descriptor descriptor_;
  std::string path_;
};

class PosixLock : public FileLock {
 public:
  PosixLock(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), process_(::getpid()) {}
  ~PosixLock() override {
    // A forked child shares the lock: to close it here would leave it to the child. And the child,
    // which has this object too, must not give away what is its parent's.
    if (::getpid() == process_) ::flock(descriptor_.number(), LOCK_UN);
  }

  base::Result<void> check() const override {
    if (TRY(is_still(path_, descriptor_.number()))) return {};
    return base::Error(base::ErrorCode::kConflict, path_, std::string(kLockLost));
  }

 private:
  Descriptor descriptor_;
  std::string path_;
  pid_t process_;
};

// Regular files and folders only. Nobody waits for the other end of a FIFO that has the name of a
// file of ours.
base::Result<Descriptor> open_descriptor(const std::string& path, int flags, mode_t mode = 0) {
  // Never inherited: a child that lives on would keep our locks.
  const int number = again_after_signals(
      [&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode); });
  if (number < 0) return system_error(path, "open");
  Descriptor descriptor(number);
  struct stat found {};
  if (::fstat(number, &found) != 0) return system_error(path, "fstat");
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
    return base::Error(base::ErrorCode::kIo, path, "is not a regular file");
  return descriptor;
}

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead: return O_RDONLY;
    case OpenMode::kReadWrite: return O_RDWR;
    case OpenMode::kCreate: return O_RDWR | O_CREAT | O_TRUNC;
  }
  return O_RDONLY;
}

// A lock says who has it on one line, which always has the same length: it is written over the one
// before, at once, so that nobody reads half of it, and a disk that has become full refuses nobody.
constexpr std::size_t kHolderBytes = 256;

std::string holder_line(std::string_view holder) {
  std::string line(holder.substr(0, kHolderBytes - 1));
  std::replace(line.begin(), line.end(), '\n', ' ');
  line.resize(kHolderBytes - 1, ' ');
  return line + '\n';
}

std::string holder_in(int descriptor) {
  char text[kHolderBytes];
  const ssize_t count =
      again_after_signals([&] { return ::pread(descriptor, text, sizeof text, 0); });
  std::string holder(text, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  holder.resize(std::min(holder.find('\n'), holder.size()));
  holder.resize(holder.find_last_not_of(' ') + 1);
  return holder.empty() ? "a process that did not say its name" : holder;
}

base::Result<Descriptor> locked_descriptor(const std::string& path, int flags, mode_t mode = 0) {
  Descriptor descriptor = TRY(open_descriptor(path, flags, mode));
  const int number = descriptor.number();
  if (again_after_signals([&] { return ::flock(number, LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) return system_error(path, "flock");
    return base::Error(base::ErrorCode::kConflict, path, "is held by " + holder_in(number));
  }
  if (!TRY(is_still(path, number)))
    return base::Error(base::ErrorCode::kConflict, path, "was replaced while it was locked");
  return descriptor;
}

bool is_read_only(const std::string& path) {
  struct statvfs status {};
  return ::statvfs(path.c_str(), &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

class PosixDisk : public Disk {
 public:
  explicit PosixDisk(Readers readers)
      : mode_(readers == Readers::kOwner ? 0600 : 0644),
        folder_mode_(readers == Readers::kOwner ? 0700 : 0755) {}

  base::Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    Descriptor descriptor = TRY(open_descriptor(path, flags_of(mode), mode_));
    return std::unique_ptr<File>(std::make_unique<PosixFile>(std::move(descriptor), path));
  }

  base::Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return system_error(from, "rename");
    return {};
  }

  base::Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return system_error(path, "unlink");
    return {};
  }

  base::Result<void> make_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), folder_mode_) != 0 && errno != EEXIST)
      return system_error(path, "mkdir");
    return {};
  }

  base::Result<void> sync_directory(const std::string& path) override {
    const Descriptor descriptor = TRY(open_descriptor(path, O_RDONLY | O_DIRECTORY));
    if (::fsync(descriptor.number()) != 0) return system_error(path, "fsync of the folder");
    return {};
  }

  base::Result<std::vector<std::string>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder) return system_error(path, "opendir");
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(folder.get())) {
      std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(std::move(name));
      if (names.size() > kMaxListed)
        return base::Error(base::ErrorCode::kTooLarge, path, "too many files");
      errno = 0;
    }
    if (errno != 0) return system_error(path, "readdir");
    std::sort(names.begin(), names.end());
    return names;
  }

  base::Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                               std::string_view holder) override {
    // After damage a system mounts its disks so that they can be read only: that is when people
    // want to look, and there is nobody to keep from writing.
    const bool writes = !is_read_only(path);
    Descriptor descriptor =
        TRY(locked_descriptor(path, writes ? O_RDWR | O_CREAT : O_RDONLY, mode_));
    PosixFile file(std::move(descriptor), path);
    if (writes) TRY(write_all(file, 0, base::as_bytes(holder_line(holder))));
    return std::unique_ptr<FileLock>(std::make_unique<PosixLock>(std::move(file).release(), path));
  }

  base::Result<std::unique_ptr<FileLock>> lock_to_look(const std::string& path) override {
    Descriptor descriptor = TRY(locked_descriptor(path, O_RDONLY));
    return std::unique_ptr<FileLock>(std::make_unique<PosixLock>(std::move(descriptor), path));
  }

  base::Result<std::unique_ptr<FileLock>> lock_folder(const std::string& path) override {
    Descriptor descriptor = TRY(locked_descriptor(path, O_RDONLY | O_DIRECTORY));
    return std::unique_ptr<FileLock>(std::make_unique<PosixLock>(std::move(descriptor), path));
  }

  base::Result<FileSystem> file_system_of(const std::string& path) override {
    struct statfs status {};
    if (::statfs(path.c_str(), &status) != 0) return system_error(path, "statfs");
    return file_system_from(static_cast<std::uint64_t>(status.f_type));
  }

 private:
  mode_t mode_;  // of the files that it makes
  mode_t folder_mode_;
};

}  // namespace

std::unique_ptr<Disk> posix_disk(Readers readers) { return std::make_unique<PosixDisk>(readers); }

}  // namespace holdfast::env
