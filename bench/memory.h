// SPDX-License-Identifier: Apache-2.0
// How much memory a benchmark has.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <fstream>
#include <string>

namespace holdfast::bench {

// The memory that only this process has, in bytes, without what it has freed.
inline std::size_t own_memory() {
  ::malloc_trim(0);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoul(line.substr(8)) * 1024;
  }
  return 0;
}

}  // namespace holdfast::bench
