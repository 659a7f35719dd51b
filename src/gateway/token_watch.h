// SPDX-License-Identifier: Apache-2.0
// TokenWatch: notices that somebody has changed the tokens of a server that runs.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "env/disk.h"
#include "gateway/access.h"

namespace holdfast::gateway {

class TokenWatch {
 public:
  TokenWatch(const std::string& world, std::function<void(std::string_view)> log);

  // Once a second at most. If the file cannot be read, nobody is let in.
  void look(std::chrono::steady_clock::time_point now, Access& access);

 private:
  // What tells one state of the file from another; replacing it makes a new file.
  struct Stamp {
    std::uint64_t file = 0;
    std::int64_t changed_ns = 0;
    std::int64_t size = -1;  // -1: there is none
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stamp() const;

  std::unique_ptr<env::Disk> disk_;
  std::string file_;
  std::function<void(std::string_view)> log_;
  Stamp seen_;
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace holdfast::gateway
