// SPDX-License-Identifier: Apache-2.0
// Proposal: a manifest that somebody would like to have. It is known by the record that proposed
// it.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::kernel {

enum class Stage : std::uint8_t { kProposed, kShadowed, kApproved, kRejected, kApplied };

struct Proposal {
  Stage stage = Stage::kProposed;
  base::Hash base;         // the manifest that it would follow
  base::Hash manifest;     // the manifest that it would put in its place
  base::Hash definitions;  // the blob with the closure of that
  std::string description;
  base::Bytes report;  // of the last trial run; empty: none yet
  std::string by;      // who decided
  std::string reason;
};

// Its entry in a snapshot.
void write_proposal(codec::Buffer& out, std::uint64_t id, const Proposal& proposal);
bool read_proposal(codec::View entry, std::uint64_t& id, Proposal& proposal);

}  // namespace holdfast::kernel
