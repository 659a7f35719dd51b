// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::size_t kWidth = 30;

}  // namespace

Progress::Progress(std::string what, std::uint64_t total)
    : what_(std::move(what)),
      total_(total),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::at(std::uint64_t done) {
  if (!is_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  is_shown_ = true;
  if (total_ == 0) {
    std::fprintf(stderr, "\r\x1b[K%s %llu", what_.c_str(), static_cast<unsigned long long>(done));
  } else {
    const std::uint64_t part = std::min(done, total_);
    const auto filled =
        static_cast<std::size_t>(static_cast<double>(part) / static_cast<double>(total_) * kWidth);
    const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
    std::fprintf(stderr, "\r\x1b[K%s [%s] %llu of %llu", what_.c_str(), bar.c_str(),
                 static_cast<unsigned long long>(part), static_cast<unsigned long long>(total_));
  }
  std::fflush(stderr);
}

Progress::~Progress() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace holdfast::cli
