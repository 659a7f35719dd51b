// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/sha256.h"

namespace holdfast::base {
namespace {

TEST(Sha256, threads_do_not_disturb_each_other) {
  constexpr int kThreads = 4;
  std::vector<Hash> last(kThreads);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t, &hash = last[static_cast<std::size_t>(t)]] {
        for (int i = 0; i < 1000; ++i) {
          hash = sha256(as_bytes(std::to_string(t) + "/" + std::to_string(i)));
          static_cast<void>(HashOfHash{}(hash));
        }
      });
    }
  }
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(last[static_cast<std::size_t>(t)], sha256(as_bytes(std::to_string(t) + "/999")));
  }
}

}  // namespace
}  // namespace holdfast::base
