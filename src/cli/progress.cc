// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::size_t kWidth = 30;

// As wide as the terminal allows; a line that wraps could not be taken back.
std::size_t columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  return known ? size.ws_col : 80;
}

bool shows_bars() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      is_terminal_(shows_bars()),
      next_(Clock::now() + std::chrono::seconds(1)) {}

std::string Progress::line(std::uint64_t done) const {
  if (total_ == 0) return what_ + " " + std::to_string(done);
  const std::uint64_t part = std::min(done, total_);
  const std::string numbers = std::to_string(part) + " of " + std::to_string(total_);
  const std::size_t taken = what_.size() + numbers.size() + 5;  // blanks and brackets
  const std::size_t wide = columns();
  const std::size_t width = wide > taken ? std::min(kWidth, wide - taken) : 0;
  if (width == 0) return numbers;
  const auto filled = static_cast<std::size_t>(
      static_cast<double>(part) / static_cast<double>(total_) * static_cast<double>(width));
  return what_ + " [" + std::string(filled, '#') + std::string(width - filled, '.') + "] " +
         numbers;
}

void Progress::at(std::uint64_t done) {
  if (!is_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  is_shown_ = true;
  const std::string shown = line(done).substr(0, columns() - 1);
  std::fprintf(stderr, "\r\x1b[K%s", shown.c_str());
  std::fflush(stderr);
}

Progress::~Progress() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace holdfast::cli
