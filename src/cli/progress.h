// SPDX-License-Identifier: Apache-2.0
// Progress: a bar on standard error for what takes more than a second, on a terminal only. It is
// gone when this is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast::cli {

class Progress {
 public:
  // `total` 0: nobody knows how much there is.
  Progress(std::string what, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap enough to be called often.
  void at(std::uint64_t done);

 private:
  std::string line(std::uint64_t done) const;

  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::uint64_t total_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::time_point next_;
};

}  // namespace holdfast::cli
