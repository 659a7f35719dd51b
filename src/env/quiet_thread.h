// SPDX-License-Identifier: Apache-2.0
// A thread that no signal is delivered to: signals are for the threads of the program around us.
// Those that say that the thread itself has gone wrong are not held back.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace holdfast::env {

namespace detail {
inline thread_local bool is_quiet = false;
}

template <class Function>
std::thread quiet_thread(Function&& function) {
  // It is born with the signals blocked: none can slip in before it blocks them itself.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, own);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } restore{before};  // also when there can be no thread
  return std::thread([function = std::forward<Function>(function)]() mutable {
    detail::is_quiet = true;
    function();
  });
}

// Whether the caller is such a thread.
inline bool on_quiet_thread() noexcept { return detail::is_quiet; }

}  // namespace holdfast::env
