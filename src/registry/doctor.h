// SPDX-License-Identifier: Apache-2.0
// The doctor: looks at everything in the folder, says what is odd, and what will come of it. It
// changes nothing; what it only finds odd mends itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "registry/host.h"

namespace holdfast::registry {

struct Finding {
  std::string place;
  std::string problem;
  std::string remedy;  // what will be done, or what somebody has to do
  bool needs_somebody = false;
};

base::Result<std::vector<Finding>> diagnose(const Site& site);

}  // namespace holdfast::registry
