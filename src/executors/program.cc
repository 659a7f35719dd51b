// SPDX-License-Identifier: Apache-2.0
#include "executors/program.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

namespace holdfast::executors {
namespace {

std::int64_t ns_of(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

bool FileIdentity::read(const char* path, FileIdentity& identity, mode_t& mode) noexcept {
  struct stat found {};
  if (::stat(path, &found) != 0) return false;
  identity = {found.st_dev, found.st_ino, found.st_size, ns_of(found.st_mtim),
              ns_of(found.st_ctim)};
  mode = found.st_mode;
  return true;
}

base::Result<Program> Program::allow(const std::string& path) {
  const std::string quoted = "'" + path + "'";
  if (!path.starts_with('/') || path.find('\0') != std::string::npos)
    return base::invalid("process", quoted + " is not the whole path of a program");
  Program program{path, {}};
  mode_t mode = 0;
  if (!FileIdentity::read(path.c_str(), program.file, mode))
    return base::invalid("process",
                         quoted + " is not there: " + std::system_category().message(errno));
  if (!S_ISREG(mode) || (mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
    return base::invalid("process", quoted + " is not a file that can be run");
  return program;
}

}  // namespace holdfast::executors
