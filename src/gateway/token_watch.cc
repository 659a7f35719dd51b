// SPDX-License-Identifier: Apache-2.0
#include "gateway/token_watch.h"

#include <sys/stat.h>

#include <utility>

#include "env/posix_disk.h"

namespace holdfast::gateway {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

}  // namespace

TokenWatch::TokenWatch(const std::string& world, Helper& helper, std::shared_ptr<Wake> wake,
                       std::function<void(std::string_view)> log)
    : disk_(env::posix_disk()),
      file_(tokens_file(world)),
      helper_(helper),
      wake_(std::move(wake)),
      log_(std::move(log)) {}

TokenWatch::Stamp TokenWatch::stamp() const {
  struct stat found {};
  if (::stat(file_.c_str(), &found) != 0) return {};
  return {found.st_ino, found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec,
          found.st_size};
}

void TokenWatch::look(std::chrono::steady_clock::time_point now) {
  if (is_looking_ || now - looked_ < kBetweenLooks) return;
  looked_ = now;
  post();
}

bool TokenWatch::look_after_pause(std::chrono::steady_clock::time_point now) {
  if (!is_looking_ && now - looked_ < kBetweenLooks) return false;
  looked_ = now;
  is_awaited_ = true;
  if (is_looking_) {
    looks_again_ = true;
  } else {
    post();
  }
  return true;
}

void TokenWatch::post() {
  is_looking_ = true;
  helper_.post_first([this, seen = seen_] { read(seen); });
}

void TokenWatch::have_looked() {
  is_looking_ = false;
  if (std::exchange(looks_again_, false)) return post();
  if (std::exchange(is_awaited_, false) && known_) known_();
}

// On the thread that reads files.
void TokenWatch::read(const std::optional<Stamp>& seen) {
  const Stamp found = stamp();
  if (found == seen) return wake_->post([this] { have_looked(); });
  auto tokens = std::make_shared<base::Result<Tokens>>(Tokens::read(*disk_, file_));
  wake_->post([this, found, tokens] { take(found, *tokens); });
}

void TokenWatch::take(const Stamp& found, base::Result<Tokens>& tokens) {
  const bool is_first = !seen_;
  seen_ = found;
  if (log_ && !tokens) log_("nobody is let in: " + tokens.error().to_string());
  if (log_ && tokens && !is_first) log_("the tokens have changed");
  changed_(tokens ? std::optional(std::move(*tokens)) : std::nullopt);
  have_looked();
}

}  // namespace holdfast::gateway
