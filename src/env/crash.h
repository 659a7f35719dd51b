// SPDX-License-Identifier: Apache-2.0
// Crash: one way in which a power cut may leave the disk of a recorded run. Of what was not synced
// any part may have arrived, in any order: writes sector by sector, names one by one. What a
// failed sync was meant to save is never saved by a later one.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/disk_state.h"

namespace holdfast::env {

struct Crash {
  std::size_t at = 0;               // operations that were issued before the cut
  std::set<std::size_t> lost = {};  // of the pending ones: nothing of these arrived
  std::optional<std::size_t> torn = {};
  std::set<std::uint64_t> lost_sectors = {};  // of the torn one
  std::optional<std::pair<std::size_t, std::size_t>> swapped = {};

  // For the message of a test that fails.
  std::string to_string() const;
};

// Those of the operations that a power cut after the last of them may undo, by index.
std::vector<std::size_t> pending_operations(std::span<const DiskOperation> issued);

DiskState after_crash(const DiskState& start, std::span<const DiskOperation> recorded,
                      const Crash& crash);

// At every point of the run: all arrived; nothing pending arrived; each pending operation lost;
// each pair lost, and swapped; each write torn behind each of its sectors, and without each of
// them.
void for_each_crash(std::span<const DiskOperation> recorded,
                    const std::function<void(const Crash&)>& visit);

}  // namespace holdfast::env
