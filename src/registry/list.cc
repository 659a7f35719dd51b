// SPDX-License-Identifier: Apache-2.0
#include "registry/list.h"

#include <utility>

namespace holdfast::registry {

base::Result<State> reconciled_state(const Site& site) {
  auto state = read_state(site);
  if (state && !state->swap) return state;
  // Also for a file that cannot be read: it is put aside by somebody who has the lock.
  Session session = TRY(Session::open(site, Access::kLook));
  if (TRY(session.reconcile())) TRY(session.save());
  return std::move(session.state());
}

base::Result<Listing> list(const Site& site) {
  State state = TRY(reconciled_state(site));
  Listing listing;
  const Witness witness(site.host);
  for (Workflow& workflow : state.workflows) {
    const Standing standing = TRY(standing_of(site, witness, workflow));
    listing.workflows.push_back({std::move(workflow), standing});
  }
  listing.swap = std::move(state.swap);
  return listing;
}

}  // namespace holdfast::registry
