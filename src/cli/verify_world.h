// SPDX-License-Identifier: Apache-2.0
// Looking at every byte of a world: for verify, and for those who have made a world and say that it
// is whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "native/machines.h"
#include "node/verify.h"
#include "node/verify_history.h"

namespace holdfast::cli {

struct Findings {
  node::VerifyReport journal;
  std::optional<std::uint64_t> blobs;  // nothing: they were not looked at
  std::optional<node::HistoryFindings> history;
};

struct WorldChecks {
  bool blobs = false;
  bool all = false;
  node::SealTerms terms = {};
};

// Takes the lock of the world. What is wrong with it is among the findings.
base::Result<Findings> verify_world(const std::string& folder, const native::Machines& machines,
                                    const WorldChecks& options);

}  // namespace holdfast::cli
