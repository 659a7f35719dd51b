// SPDX-License-Identifier: Apache-2.0
// Signal files: that one is there asks its workflow to yield. Who asked is in the state, so what a
// file holds is only for people. They need not survive a power cut, which no owner survives.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "registry/host.h"
#include "registry/state.h"

namespace holdfast::registry {

// Content if there is one already.
base::Result<void> raise_signal(const Site& site, const Workflow& workflow,
                                std::string_view recipe);

// Content if there is none. The workflow need not be preemptible.
base::Result<void> remove_signal(const Site& site, const Workflow& workflow);

base::Result<bool> is_signalled(const Site& site, std::string_view signal_name);

// Those that this swap asked, and nobody else: changes the state, which is to be saved afterwards.
base::Result<bool> withdraw_signals(const Site& site, State& state, std::string_view swap_id);

}  // namespace holdfast::registry
