// SPDX-License-Identifier: Apache-2.0
#include "gateway/token_watch.h"

#include <sys/stat.h>

#include <utility>

#include "env/posix_disk.h"

namespace holdfast::gateway {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

}  // namespace

TokenWatch::TokenWatch(const std::string& world, std::function<void(std::string_view)> log)
    : disk_(env::posix_disk()), file_(tokens_file(world)), log_(std::move(log)), seen_(stamp()) {}

TokenWatch::Stamp TokenWatch::stamp() const {
  struct stat found {};
  if (::stat(file_.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec,
          found.st_size};
}

void TokenWatch::look(std::chrono::steady_clock::time_point now, Access& access) {
  if (now - looked_ < kBetweenLooks) return;
  looked_ = now;
  const Stamp found = stamp();
  if (found == seen_) return;
  seen_ = found;
  auto tokens = Tokens::read(*disk_, file_);
  if (!tokens) {
    if (log_) log_("nobody is let in: " + tokens.error().to_string());
    return access.shut();
  }
  access.set_tokens(std::move(*tokens));
  if (log_) log_("the tokens have changed");
}

}  // namespace holdfast::gateway
