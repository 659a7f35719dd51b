// SPDX-License-Identifier: Apache-2.0
#include "executors/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/sha256_stream.h"
#include "env/system_error.h"

namespace holdfast::executors {
namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

struct OpenFile {
  env::Descriptor descriptor;
  struct stat found {};
};

// For O_PATH a file need not be readable, and nobody waits for the other end of a FIFO.
std::optional<OpenFile> open_at(const std::string& path) {
  OpenFile file{env::Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC))};
  if (!file.descriptor.is_open() || ::fstat(file.descriptor.number(), &file.found) != 0)
    return std::nullopt;
  return file;
}

// Of a regular file. Nothing: it may not be read, or cannot be.
std::optional<base::Hash> contents_of(const env::Descriptor& file) {
  const std::string name = "/proc/self/fd/" + std::to_string(file.number());
  const env::Descriptor readable(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!readable.is_open()) return std::nullopt;
  base::Sha256Stream hash;
  std::array<std::uint8_t, 65536> piece;
  while (true) {
    const auto got = env::again_after_signals(
        [&] { return ::read(readable.number(), piece.data(), piece.size()); });
    if (got < 0) return std::nullopt;
    if (got == 0) return hash.finish();
    hash.add({piece.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace

FileIdentity FileIdentity::of(const struct stat& found) noexcept {
  return {found.st_dev, found.st_ino, found.st_size, ns_of(found.st_mtim), ns_of(found.st_ctim)};
}

base::Result<Program> Program::allow(const std::string& path) {
  const std::string quoted = "'" + path + "'";
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    return base::invalid("process", quoted + " is not the whole path of a program");
  const auto file = open_at(path);
  if (!file)
    return base::invalid("process",
                         quoted + " is not there: " + std::system_category().message(errno));
  const mode_t mode = file->found.st_mode;
  if (!S_ISREG(mode) || (mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
    return base::invalid("process", quoted + " is not a file that can be run");
  return Program{path, FileIdentity::of(file->found), contents_of(file->descriptor)};
}

base::Result<env::Descriptor> Program::open() {
  auto now = open_at(path);
  if (!now)
    return base::Error(base::ErrorCode::kCorrupt, path,
                       "is not there any more: " + std::system_category().message(errno));
  const FileIdentity found = FileIdentity::of(now->found);
  if (found == file) return std::move(now->descriptor);
  FileIdentity linked = file;
  linked.changed_ns = found.changed_ns;
  // It must not change while it is read, either.
  struct stat afterwards {};
  const bool is_same = found == linked && contents && contents_of(now->descriptor) == contents &&
                       ::fstat(now->descriptor.number(), &afterwards) == 0 &&
                       FileIdentity::of(afterwards) == found;
  if (!is_same)
    return base::Error(base::ErrorCode::kCorrupt, path,
                       "is not the file that it was when it was allowed");
  file = found;
  return std::move(now->descriptor);
}

}  // namespace holdfast::executors
