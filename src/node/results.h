// SPDX-License-Identifier: Apache-2.0
// Results: where executors report to. The results of each workflow have a line of their own, and
// within it those of several groups of its instances: whoever has many results waiting holds up
// itself and few others.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "executors/executor.h"

namespace holdfast::node {

class Results {
 public:
  virtual ~Results() = default;

  // Of effects of this instance. From any thread; it lives as long as this does.
  virtual executors::Reports& reports_of(std::string_view workflow, base::ByteView key) = 0;

  // Of effects whose instance is not known.
  executors::Reports& own_reports() { return reports_of({}, {}); }
};

}  // namespace holdfast::node
