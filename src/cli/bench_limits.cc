// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_limits.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "env/posix_disk.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kFileBytes = std::size_t{32} << 20;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// Microseconds of each write, one behind the other through the file.
base::Result<std::vector<double>> write_and_sync(env::File& file, std::size_t bytes,
                                                 std::size_t times) {
  const base::Bytes block(bytes, 0x5a);
  std::vector<double> took;
  std::size_t at = 0;
  for (std::size_t i = 0; i < times; ++i) {
    const auto begin = Clock::now();
    TRY(env::write_all(file, at, block));
    TRY(file.sync_data());
    took.push_back(us_since(begin));
    at = (at + bytes) % kFileBytes;
  }
  return took;
}

}  // namespace

base::Result<DiskLimits> measure_disk(const std::string& folder) {
  const auto disk = env::posix_disk();
  const std::string path = folder + "/limits";
  auto file = TRY(disk->open(path, env::OpenMode::kCreate));
  // As a journal's segments are: written once, so that a sync has no metadata to write.
  const base::Bytes zeros(std::size_t{1} << 20);
  for (std::size_t at = 0; at < kFileBytes; at += zeros.size())
    TRY(env::write_all(*file, at, zeros));
  TRY(file->sync_data());

  DiskLimits limits;
  std::vector<double> small = TRY(write_and_sync(*file, 4096, 400));
  std::nth_element(small.begin(), small.begin() + 200, small.end());
  limits.sync_p50_us = small[200];
  constexpr std::size_t kLarge = std::size_t{256} << 10;
  double sum_us = 0;
  const std::vector<double> large = TRY(write_and_sync(*file, kLarge, 200));
  for (const double us : large) sum_us += us;
  limits.append_mb_per_s = static_cast<double>(kLarge * large.size()) / sum_us;
  TRY(disk->remove(path));
  return limits;
}

}  // namespace holdfast::cli
