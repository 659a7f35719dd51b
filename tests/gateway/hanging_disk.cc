// SPDX-License-Identifier: Apache-2.0
// A disk that hangs, for one program that is started with this preloaded: as long as there is a
// file of the name HOLDFAST_HANGS, nothing that reads or writes a disk comes back. Sockets go on.
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

void wait() {
  static const char* const name = std::getenv("HOLDFAST_HANGS");
  while (name != nullptr && ::syscall(SYS_access, name, F_OK) == 0) ::usleep(10'000);
}

}  // namespace

extern "C" {

int fdatasync(int file) {
  wait();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

int fsync(int file) {
  wait();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

ssize_t pwrite(int file, const void* from, size_t size, off_t offset) {
  wait();
  return ::syscall(SYS_pwrite64, file, from, size, offset);
}

ssize_t pwrite64(int file, const void* from, size_t size, off_t offset) {
  wait();
  return ::syscall(SYS_pwrite64, file, from, size, offset);
}

ssize_t pread(int file, void* into, size_t size, off_t offset) {
  wait();
  return ::syscall(SYS_pread64, file, into, size, offset);
}

ssize_t pread64(int file, void* into, size_t size, off_t offset) {
  wait();
  return ::syscall(SYS_pread64, file, into, size, offset);
}

int stat(const char* path, struct stat* into) noexcept {
  wait();
  return static_cast<int>(::syscall(SYS_stat, path, into));
}

}  // extern "C"
