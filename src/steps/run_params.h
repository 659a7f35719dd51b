// SPDX-License-Identifier: Apache-2.0
// What whoever runs a step is given: a sys/StepRun@1. Everything that its body may look at is in
// it, as it is now (docs/formats/steps.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "codec/buffer.h"
#include "steps/graph.h"
#include "steps/state.h"

namespace holdfast::steps {

struct RunParams {
  const Graph& graph;
  const State& state;
  base::ByteView key;  // of the instance
  std::uint64_t now_ns = 0;

  void write(codec::Buffer& out, StepIndex step, const Running& running) const;

  // At most so many bytes.
  std::size_t weight(StepIndex step, const Running& running) const;

 private:
  void write_work(codec::Buffer& out, StepIndex step, const Running& running) const;
};

}  // namespace holdfast::steps
