// SPDX-License-Identifier: Apache-2.0
// A lease, and a swap that it stands in the way of until it is released.
#include <cstdio>

#include "holdfast/registry.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto registry = holdfast::Registry::open({.dir = argv[1]});
  if (!registry) return std::fprintf(stderr, "%s\n", registry.error().message.c_str()), 1;
  auto lease = (*registry)->take_lease({.name = "train", .recipe = "small"});
  if (!lease) return std::fprintf(stderr, "%s\n", lease.error().message.c_str()), 1;
  const auto refused = (*registry)->begin_swap({.recipe = "large"});
  if (refused || refused.error().code != holdfast::ErrorCode::kConflict) return 1;
  if (!lease->release()) return 1;
  auto swap = (*registry)->begin_swap({.recipe = "large"});
  if (!swap || !swap->finish()) return 1;
  std::printf("swapped to %s\n", swap->recipe().c_str());
}
