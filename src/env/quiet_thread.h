// SPDX-License-Identifier: Apache-2.0
// A thread that no signal is delivered to: signals are for the threads of the program around us.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace holdfast::env {

template <class Function>
std::thread quiet_thread(Function&& function) {
  // It is born with the signals blocked: none can slip in before it blocks them itself.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<Function>(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace holdfast::env
