// SPDX-License-Identifier: Apache-2.0
// What another release wrote is not damaged: nothing may be thrown away or made anew because of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace holdfast::kernel {

inline base::Error other_version(std::string_view what, std::uint64_t version,
                                 std::uint64_t known) {
  return {base::ErrorCode::kConflict,
          std::string(what) + " is of version " + std::to_string(version) +
              ", and this program knows version " + std::to_string(known) +
              ": open the world with the release that wrote it"};
}

}  // namespace holdfast::kernel
