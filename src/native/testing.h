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

// The schemas of the events that a tick's steps emitted.
inline std::vector<std::string> emitted(const kernel::Outcome& outcome) {
  const auto record = kernel::read_record(outcome.record);
  EXPECT_TRUE(record) << record.error().to_string();
  std::vector<std::string> schemas;
  for (const kernel::EmittedView& event : record->emitted) schemas.emplace_back(event.schema);
  return schemas;
}

}  // namespace holdfast::native::testing
