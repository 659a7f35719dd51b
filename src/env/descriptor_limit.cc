// SPDX-License-Identifier: Apache-2.0
#include "env/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace holdfast::env {
namespace {

// What POSIX guarantees, where the system does not say.
constexpr std::uint64_t kLeast = 20;

}  // namespace

std::uint64_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kLeast;
}

std::uint64_t raise_descriptor_limit(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeast;
  rlimit raised = limit;
  raised.rlim_cur = std::max<rlim_t>(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, wanted));
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace holdfast::env
