// SPDX-License-Identifier: Apache-2.0
// TokenWatch: notices that somebody has changed the tokens of a server that runs. The file is read
// on the thread that reads files: a disk that hangs holds up nobody who is served.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "env/disk.h"
#include "gateway/helper.h"
#include "gateway/tokens.h"
#include "gateway/wake.h"

namespace holdfast::gateway {

class TokenWatch {
 public:
  // The helper must be stopped before this goes.
  TokenWatch(const std::string& world, Helper& helper, std::shared_ptr<Wake> wake,
             std::function<void(std::string_view)> log);

  // Called with the tokens when they have changed; with none if the file cannot be read. On the
  // serving thread.
  using Changed = std::function<void(std::optional<Tokens>)>;
  void tell(Changed changed) { changed_ = std::move(changed); }

  // Called when what `look_after_pause` was to find out is known. On the serving thread.
  void tell_when_known(std::function<void()> known) { known_ = std::move(known); }

  // The serving thread's; once a second at most.
  void look(std::chrono::steady_clock::time_point now);

  // Nobody has looked for a while, and the tokens may be others by now. True: that is not known
  // before `known` is told. False: it was looked at a moment ago.
  [[nodiscard]] bool look_after_pause(std::chrono::steady_clock::time_point now);

 private:
  // What tells one state of the file from another; replacing it makes a new file.
  struct Stamp {
    std::uint64_t file = 0;
    std::int64_t changed_ns = 0;
    std::int64_t size = -1;  // -1: there is none
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stamp() const;
  void post();
  void read(const std::optional<Stamp>& seen);
  void take(const Stamp& found, base::Result<Tokens>& tokens);
  void have_looked();

  std::unique_ptr<env::Disk> disk_;
  const std::string file_;
  Helper& helper_;
  const std::shared_ptr<Wake> wake_;
  std::function<void(std::string_view)> log_;
  Changed changed_;
  std::function<void()> known_;
  std::optional<Stamp> seen_;  // nothing: it was not looked at yet
  bool is_looking_ = false;
  bool is_awaited_ = false;   // by whoever `known` tells
  bool looks_again_ = false;  // the look under way began before the pause
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace holdfast::gateway
