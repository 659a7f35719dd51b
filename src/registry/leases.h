// SPDX-License-Identifier: Apache-2.0
// Leases: a workflow says which recipe it needs, keeps saying that it is there, and says that it
// is done. All of it under the registry's lock.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "registry/host.h"
#include "registry/state.h"

namespace holdfast::registry {

struct NewLease {
  std::string name;
  std::string recipe;
  std::int64_t ttl_seconds = 60;
  bool preemptible = false;
  std::string signal_path = {};  // empty: one is made up
  std::int64_t pid = 0;          // of the owner; 0: this process
};

// Who wants something done with an entry.
struct Claim {
  std::int64_t pid = 0;      // 0: this process
  std::string nonce = {};    // of the lease; empty: whichever this process has
  bool is_operator = false;  // whoever the owner is, and whether it is alive or not
};

// kUnavailable: a swap to another recipe is under way (EAgain). kConflict: another process that is
// alive has the name, or the signal file. What the same process had under the name is replaced.
base::Result<Workflow> add_lease(const Site& site, const NewLease& lease);

// kNotFound: there is no such entry, or it has expired. kConflict: it is another's.
base::Result<Workflow> renew_lease(const Site& site, std::string_view name, const Claim& claim);

// False: there was no such entry, which is as well. kConflict: it is another's.
base::Result<bool> release_lease(const Site& site, std::string_view name, const Claim& claim);

// kNotFound: there is no such entry. kConflict: it is not preemptible.
base::Result<void> request_preempt(const Site& site, std::string_view name);

// kNotFound: there is no such entry.
base::Result<bool> is_preempt_requested(const Site& site, std::string_view name);

// When it yields. False: nothing was asked of it. kNotFound, kConflict: as renewing.
base::Result<bool> clear_preempt(const Site& site, std::string_view name, const Claim& claim);

}  // namespace holdfast::registry
