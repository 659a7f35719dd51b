// SPDX-License-Identifier: Apache-2.0
// Performers: what an engine can perform, to be asked before definitions are applied.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "defs/load.h"
#include "engine/handlers.h"
#include "node/effects.h"

namespace holdfast::engine {

class Performers {
 public:
  Performers() = default;
  // `leases`: what has no function is left to workers.
  Performers(const node::Executors& executors, const FunctionsByEffect& functions, bool leases);

  // kInvalid: an effect of the bundle has nobody who performs it.
  base::Result<void> check(const defs::Bundle& bundle) const;

 private:
  std::set<std::string, std::less<>> kinds_;    // of executors, but functions
  std::set<std::string, std::less<>> effects_;  // that have a function
  bool leases_ = false;
};

}  // namespace holdfast::engine
