// SPDX-License-Identifier: Apache-2.0
#include "env/thread_priority.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace holdfast::env {

void lower_priority_of_this_thread() noexcept {
#ifdef __linux__
  // On Linux a thread has a nice value of its own. To raise it is always allowed.
  constexpr int kNice = 10;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice));
#endif
}

}  // namespace holdfast::env
