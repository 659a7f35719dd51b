// SPDX-License-Identifier: Apache-2.0
// What the allocator keeps.
#pragma once

#include <malloc.h>

namespace holdfast::env {

// Gives memory that was freed back to the system, where the allocator would keep it for later.
// Takes milliseconds, and holds up whoever allocates meanwhile.
inline void give_memory_back() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace holdfast::env
