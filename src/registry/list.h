// SPDX-License-Identifier: Apache-2.0
// What a reader sees.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "registry/session.h"

namespace holdfast::registry {

struct Listed {
  Workflow workflow;
  Standing standing = Standing::kLive;
};

struct Listing {
  std::vector<Listed> workflows;
  std::optional<SwapMarker> swap;
};

// The state as a reader may see it: a marker that is there is somebody's.
base::Result<State> reconciled_state(const Site& site);

// Takes the lock only where there is a marker to judge, or a file that cannot be read.
base::Result<Listing> list(const Site& site);

}  // namespace holdfast::registry
