// SPDX-License-Identifier: Apache-2.0
// Outside: nobody here performs the effect. Whoever does finds it among those that are open, and
// reports to the node (Engine::settle_raw). Its time limit is the node's affair, as of all others.
#pragma once

#include "executors/executor.h"

namespace holdfast::executors {

inline constexpr const char* kOutside = "outside";

class Outside : public Executor {
 public:
  void start(const kernel::OpenIntent&, Reports&) override {}
  void stop(const base::Hash&) override {}
};

}  // namespace holdfast::executors
