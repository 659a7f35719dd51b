// SPDX-License-Identifier: Apache-2.0
// ManifestChange: what a candidate manifest adds, changes and removes, and which workflows of the
// present one it touches. A workflow is touched if anything that its definition leads to is another
// one, or if an event does not reach its instances as it did. What is only added touches nobody.
//
// Which events a workflow emits is not part of its definition; whether its code fits the candidate
// is asked of the code (MachineSource::objection).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernel/program.h"

namespace holdfast::kernel {

struct ManifestChange {
  // Names of definitions, in order.
  std::vector<std::string> added;
  std::vector<std::string> changed;
  std::vector<std::string> removed;

  struct Touched {
    std::uint32_t workflow = 0;  // its number in the present program
    std::vector<std::string> because;
    // Those of them that also touch instances which keep the version that they began with: the
    // workflow goes, an event or its route changes.
    std::vector<std::string> also_pinned;
  };
  std::vector<Touched> touched;

  // Workflows whose instances under way keep the version that they began with, and how many.
  std::vector<std::pair<std::string, std::uint64_t>> pinned;

  // Null: it is not touched.
  const Touched* find(std::uint32_t workflow) const;
};

// How many reasons are named for a workflow that is touched.
inline constexpr std::size_t kMaxReasonsForTouch = 16;

ManifestChange compare(const Program& present, const Program& candidate);

}  // namespace holdfast::kernel
