// SPDX-License-Identifier: Apache-2.0
// Swaps: a coordinator takes the swap lock, then says in the state which recipe comes, asks those
// who need another one to yield, and waits. Held: nobody is admitted who needs another recipe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "registry/host.h"
#include "registry/state.h"

namespace holdfast::registry {

struct NewSwap {
  std::string recipe;
  std::int64_t deadline_ns = 0;            // how long to wait for those who were asked to yield
  std::function<bool()> is_given_up = {};  // asked now and then while waiting
};

// A swap that is over.
struct Ending {
  std::optional<base::Error> not_logged = {};  // why the log does not say so; nothing: it does
};

class HeldSwap {
 public:
  // The lock goes with it. The marker that is left then is nobody's.
  HeldSwap(std::string recipe, Identity holder, std::unique_ptr<env::FileLock> lock);

  const std::string& recipe() const { return recipe_; }
  const std::string& id() const { return holder_.nonce; }

  // What the swap asked for is withdrawn; then marker first, lock second. If it fails, it may be
  // tried again, or let go. Nothing depends on the line in the log, so that it could not be written
  // is no failure.
  base::Result<Ending> finish(const Site& site);
  base::Result<Ending> abort(const Site& site, const std::string& reason);

  bool is_over() const { return !lock_; }

 private:
  enum class End : std::uint8_t { kFinished, kAborted };
  base::Result<Ending> end(const Site& site, End how, const std::string& reason);

  std::string recipe_;
  Identity holder_;
  std::unique_ptr<env::FileLock> lock_;
  bool is_clearing_ = false;  // the marker may be gone, by our own hand
};

// kUnavailable: another swap is under way, or those who were asked have not yielded in time.
// kConflict: workflows that are not preemptible need another recipe; the message names them.
base::Result<HeldSwap> begin_swap(const Site& site, const NewSwap& swap);

// The live workflows that need another recipe.
base::Result<std::vector<Workflow>> conflicts_with(const Site& site, const Witness& witness,
                                                   const State& state, std::string_view recipe);

}  // namespace holdfast::registry
