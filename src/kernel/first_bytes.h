// SPDX-License-Identifier: Apache-2.0
// FirstBytes: for tables of intents, whose hashes are as random as any. Such tables are only looked
// into; what walks over them would find another order elsewhere.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/hash.h"

namespace holdfast::kernel {

struct FirstBytes {
  std::size_t operator()(const base::Hash& hash) const noexcept {
    std::size_t first = 0;
    std::memcpy(&first, hash.bytes.data(), sizeof first);
    return first;
  }
};

}  // namespace holdfast::kernel
