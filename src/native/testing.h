// SPDX-License-Identifier: Apache-2.0
// For the tests of native workflows: a world out of types.
#pragma once

#include "kernel/testing.h"
#include "native/machines.h"

namespace holdfast::native::testing {

// A world of one module.
struct World {
  explicit World(const Module& made)
      : module(made), machines({&module, 1}), bench(definitions_of({&module, 1}), machines) {}

  Module module;
  Machines machines;
  kernel::testing::Bench bench;
};

}  // namespace holdfast::native::testing
