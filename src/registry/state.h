// SPDX-License-Identifier: Apache-2.0
// State: what workflows.json holds (docs/formats/registry.md), as values. Members that we do not
// know are kept and written again: another version, or somebody else, may need them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "registry/identity.h"

namespace holdfast::registry {

inline constexpr std::size_t kMaxStateBytes = std::size_t{8} << 20;
inline constexpr std::size_t kMaxWorkflows = 4096;
inline constexpr std::size_t kMaxName = 255;  // of a workflow or a recipe, in bytes
inline constexpr std::size_t kMaxId = 64;     // of a lease or a swap: letters, digits and '-'
inline constexpr std::int64_t kMaxTtlSeconds = 366 * 24 * 3600;

// By name, with the value in canonical bytes.
using UnknownMembers = std::vector<std::pair<std::string, base::Bytes>>;

struct Workflow {
  std::string name = {};
  std::string recipe = {};
  Identity owner = {};
  std::int64_t started_at_ns = 0;          // wall time, for people
  std::int64_t last_renewed_at_ns = 0;     // wall time, for people
  std::int64_t renewed_since_boot_ns = 0;  // what expiry is measured from
  std::int64_t ttl_seconds = 0;
  bool preemptible = false;
  std::string signal_name = {};           // in the folder; empty: not preemptible
  std::string preempt_requested_by = {};  // the id of a swap, or "operator"; empty: nobody
  UnknownMembers unknown = {};
};

struct SwapMarker {
  std::string recipe = {};
  Identity holder = {};  // its nonce is the id of the swap
  std::int64_t started_at_ns = 0;
  UnknownMembers unknown = {};

  const std::string& id() const { return holder.nonce; }
};

struct State {
  std::vector<Workflow> workflows;
  std::optional<SwapMarker> swap;
  UnknownMembers unknown;

  Workflow* find(std::string_view name);
};

inline constexpr std::string_view kOperator = "operator";

// kCorrupt: these are not the bytes of a state; the error names the place in them.
base::Result<State> parse_state(std::string_view json);

// kTooLarge: it would not be read again.
base::Result<std::string> to_json(const State& state);

// A name that people and terminals can read: not empty, UTF-8, no control characters.
base::Result<void> check_name(std::string_view what, std::string_view name);

}  // namespace holdfast::registry
