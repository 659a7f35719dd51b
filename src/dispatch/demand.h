// SPDX-License-Identifier: Apache-2.0
// Demand: what a waiting task asks of a worker. Tasks that ask for the same share one, so that the
// workers that fit are found once for all of them.
#pragma once

#include <string>
#include <vector>

#include "tasks/resources.h"

namespace holdfast::dispatch {

struct Demand {
  std::string queue = {};
  std::string type = {};
  tasks::Resources resources = {};
  std::vector<std::string>
      selected;  // names or ids of the only workers that may run it; empty: all
  std::vector<std::string> avoided = {};  // ids of workers that failed it, in order

  friend bool operator==(const Demand&, const Demand&) = default;
};

// The same text for equal demands, and for no others.
std::string key_of(const Demand& demand);

}  // namespace holdfast::dispatch
