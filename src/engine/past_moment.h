// SPDX-License-Identifier: Apache-2.0
// A world that stands behind a record, as whoever looks back is shown it.
#pragma once

#include <string>

#include "engine/translate.h"
#include "holdfast/engine.h"
#include "kernel/world.h"

namespace holdfast::engine {

class WorldMoment final : public PastMoment {
 public:
  WorldMoment(kernel::World& world, std::uint64_t record) : world_(world), record_(record) {}

  std::uint64_t record() const override { return record_; }
  const Bytes& definitions() const override { return world_.program().closure(); }
  Result<RawInstance> read(std::string_view workflow, const Bytes& key) override {
    return engine::read(world_, {std::string(workflow), key});
  }

 private:
  kernel::World& world_;
  const std::uint64_t record_;
};

}  // namespace holdfast::engine
