// SPDX-License-Identifier: Apache-2.0
// What the runs of one trial share, and where they begin.
#pragma once

#include <memory>

#include "node/past_world.h"
#include "node/shadow.h"

namespace holdfast::node {

struct ShadowSetting {
  const PastSource& source;
  const kernel::MachineSource& machines;
  store::RecordNumber to;  // the last that is fed
  const ShadowOptions& options;
  const ReplayProgress& progress;

  base::Result<std::unique_ptr<PastWorld>> world_at(store::RecordNumber record) const {
    return PastWorld::at(source, machines, record, options.limits, progress);
  }
  base::Result<void> goes_on() const {
    if (!options.limits.goes_on) return {};
    return options.limits.goes_on();
  }
};

struct ShadowBeginning {
  store::RecordNumber behind = 0;    // the state behind this record, when nothing was under way
  store::RecordNumber replaced = 0;  // the record whose definitions are replaced; 0: none
};

inline base::Error copy_of(const base::Error& error) {
  return {error.code(), error.where(), error.message()};
}

// kNotFound: the journal has not, or not any more, what the options ask for. kConflict: there is no
// moment in it when nothing was under way. kTooLarge: it is more than they allow.
base::Result<ShadowBeginning> find_beginning(const ShadowSetting& setting);

}  // namespace holdfast::node
