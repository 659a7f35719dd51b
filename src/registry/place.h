// SPDX-License-Identifier: Apache-2.0
// Place: the folder of a registry and the names in it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::registry {

inline constexpr std::string_view kBrokenLogPrefix = "swap_log.broken-";

struct Place {
  std::string folder;

  std::string state() const { return folder + "/workflows.json"; }
  std::string lock() const { return folder + "/.workflows.lock"; }
  std::string swap_lock() const { return folder + "/.swap.lock"; }
  std::string log() const { return folder + "/swap_log.jsonl"; }
  std::string older_log() const { return folder + "/swap_log.1.jsonl"; }
  // One of the places of a log that could not be used.
  std::string broken_log(std::size_t number) const {
    return folder + "/" + std::string(kBrokenLogPrefix) + std::to_string(number) + ".jsonl";
  }
  std::string signal(std::string_view name) const { return folder + "/" + std::string(name); }
};

inline constexpr std::string_view kSignalPrefix = "preempt-";
inline constexpr std::size_t kMaxSignalName = 200;

// A signal file is made and removed by whoever finds its name in an entry. So the name is one of
// the folder itself and begins with "preempt-": nothing else can be made or removed that way.
base::Result<void> check_signal_name(std::string_view name);

// The name in the folder that a path given by somebody stands for: "preempt-x", or the same with
// the folder in front.
base::Result<std::string> signal_name_of(const Place& place, std::string_view path);

// "preempt-train-3-0123456789ab": what it is for is readable, and no two are the same.
std::string made_up_signal_name(std::string_view workflow, std::string_view nonce);

}  // namespace holdfast::registry
