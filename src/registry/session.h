// SPDX-License-Identifier: Apache-2.0
// Session: the registry, locked and read; every change of it is one. Whoever admits or lists
// reconciles first. What was changed is lost unless it is saved.
//
// Invariant, outside of sessions: a coordinator that is alive has a marker if and only if it has
// the swap lock. Both are taken in one session and given back in one. So whoever finds the swap
// lock taken, or a marker without it, inside a session knows what that means.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "registry/host.h"
#include "registry/state.h"

namespace holdfast::registry {

enum class Access : std::uint8_t {
  kChange,
  kLook,  // needs no right to write, if there is nothing to clear
};

class Session {
 public:
  // kUnavailable: others have had the lock all the time. kCorrupt: the file is not a state; it is
  // left as it is, and there is a copy beside it, of as much as is ever read.
  static base::Result<Session> open(const Site& site, Access access = Access::kChange);

  State& state() { return state_; }
  const Witness& witness() const { return *witness_; }

  // Why the marker, if there is one, is nobody's any more. Nothing: somebody's swap is under way,
  // or there is none.
  base::Result<std::optional<std::string>> orphaned() const;

  // Clears a marker that is nobody's, withdraws what its swap asked for, and logs it, once. Does
  // nothing else. True: there was one; it is gone for good when the state is saved. A log that
  // cannot be written does not keep the marker: everybody would have to wait for it.
  base::Result<bool> reconcile();

  // The caller has the swap lock, so no marker can be anybody's.
  base::Result<bool> reconcile_as_coordinator();

  // Removes the entries of the dead and the late, with their signal files. True: there were some.
  base::Result<bool> sweep();

  base::Result<void> save();

 private:
  Session(const Site& site, std::unique_ptr<env::FileLock> lock);
  base::Result<bool> clear(std::string reason);

  const Site* site_;
  std::unique_ptr<env::FileLock> lock_;
  std::unique_ptr<Witness> witness_;
  State state_;
};

// Without the lock: the file is replaced whole, so this is the state of some moment. A registry
// that nobody has used yet is empty.
base::Result<State> read_state(const Site& site);

// The file as it is, for somebody who wants to see what is wrong with it.
struct StateFile {
  std::string bytes;       // no more than kMaxStateBytes of it
  std::uint64_t size = 0;  // of all of it

  bool is_whole() const { return bytes.size() == size; }
};

// Nothing: there is none.
base::Result<std::optional<StateFile>> read_state_file(const Site& site);

// kCorrupt: it is not a state, or is larger than one can be.
base::Result<State> parse_state(const StateFile& file);

enum class Standing : std::uint8_t { kLive, kDead, kExpired };

// Late is who has not renewed for longer than the time to live, by a clock that does not jump.
base::Result<Standing> standing_of(const Site& site, const Witness& witness,
                                   const Workflow& workflow);

}  // namespace holdfast::registry
