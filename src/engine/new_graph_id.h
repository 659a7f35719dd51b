// SPDX-License-Identifier: Apache-2.0
// An id for a graph whose sender gave none.
#pragma once

#include <array>
#include <string>

#include "base/hex.h"
#include "env/random.h"

namespace holdfast::engine {

inline std::string new_graph_id() {
  std::array<std::uint8_t, 10> bytes{};
  env::posix_random()->fill(bytes);
  return "g-" + base::to_hex(bytes);
}

}  // namespace holdfast::engine
