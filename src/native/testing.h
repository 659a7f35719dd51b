// SPDX-License-Identifier: Apache-2.0
// For the tests of native workflows: a world out of types.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "kernel/testing.h"
#include "native/bundle.h"
#include "native/machines.h"

namespace holdfast::native::testing {

inline std::shared_ptr<const kernel::Program> program_of(const Module& module,
                                                         const Machines& machines) {
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = load({&module, 1}, &builtin);
  for (const base::Error& error : bundle.errors) ADD_FAILURE() << error.to_string();
  codec::Errors errors;
  auto program = kernel::Program::build(bundle, machines, errors);
  for (const base::Error& error : errors) ADD_FAILURE() << error.to_string();
  return program;
}

// A world of one module.
struct World {
  explicit World(const Module& made)
      : module(made), machines({&module, 1}), bench(program_of(module, machines)) {}

  Module module;
  Machines machines;
  kernel::testing::Bench bench;
};

}  // namespace holdfast::native::testing
