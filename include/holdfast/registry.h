// SPDX-License-Identifier: Apache-2.0
// Registry: who needs which recipe on this machine, and who is about to change it. A machine with
// one GPU serves one recipe (a model and how it is run) at a time. Jobs take a lease that names the
// recipe they need; a swap replaces it. A swap does not begin under a job that needs the old
// recipe, and no job that needs another one begins under a swap.
//
//   auto registry = holdfast::Registry::open({.dir = "/var/lib/gpu0"});
//   auto lease = (*registry)->take_lease({.name = "train-3", .recipe = "llama-70b"});
//   while (work()) lease->renew();          // more often than the time to live
//   lease->release();
//
// It is files and locks in a folder (docs/formats/registry.md), without a server and without the
// engine; any number of processes may use it at once, and `holdfast registry` is one of them. What
// a call returns is durable. A process that dies, at any moment, blocks no other: its lease and its
// swap are gone for the next one that looks. All of it is for any thread; one Lease or Swap is for
// one at a time.
//
// Errors: kUnavailable: another process is busy (a swap to another recipe, EAgain; another swap;
// the lock); trying again helps. kConflict: a process that is alive blocks it, and is named.
// kNotFound: there is no such lease. kCorrupt: the file cannot be read; it is left as it is.
//
// Link holdfast::registry for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/result.h"

namespace holdfast {

struct RegistryOptions {
  std::string dir;  // on a disk of this machine; it is made at the first write
  std::chrono::milliseconds lock_timeout = std::chrono::seconds(30);
};

struct LeaseOptions {
  std::string name;
  std::string recipe;
  std::chrono::seconds ttl = std::chrono::seconds(60);  // it is over when not renewed for longer
  bool preemptible = false;                             // a swap may ask for it to yield
  std::string signal_path = {};  // "preempt-..." in the folder; made up where it is empty
  std::int64_t pid = 0;          // the owner, whose end ends the lease; 0: this process
};

// Who wants to renew, release or clear: the owner, or another process for it.
struct LeaseClaim {
  std::int64_t pid = 0;      // 0: this process
  std::string nonce = {};    // of the lease; empty: whichever that process has
  bool is_operator = false;  // an operator has decided it, against the owner if need be
};

enum class LeaseStanding : std::uint8_t {
  kLive,
  kDead,     // its owner has ended
  kExpired,  // it was not renewed in time
};

struct LeaseView {
  std::string name;
  std::string recipe;
  std::int64_t owner_pid = 0;
  std::int64_t owner_start_ns = 0;  // since the machine started
  std::string nonce;
  std::int64_t started_at_ns = 0;  // since 1970
  std::int64_t last_renewed_at_ns = 0;
  std::chrono::seconds ttl{0};
  bool preemptible = false;
  std::string signal_path;           // whole; empty: not preemptible
  std::string preempt_requested_by;  // the id of a swap, or "operator"; empty: nobody
  LeaseStanding standing = LeaseStanding::kLive;
};

struct SwapView {
  std::string id;
  std::string recipe;  // that comes
  std::int64_t holder_pid = 0;
  std::int64_t holder_start_ns = 0;
  std::int64_t started_at_ns = 0;
};

struct RegistryView {
  std::vector<LeaseView> workflows;
  std::optional<SwapView> swap;
};

struct SwapOptions {
  std::string recipe;

  // How long to wait for those who were asked to yield.
  std::chrono::milliseconds deadline = std::chrono::seconds(60);

  // Asked now and then while waiting; true: give up.
  std::function<bool()> is_given_up = {};
};

// What is odd in the folder, and what comes of it.
struct RegistryFinding {
  std::string place;
  std::string problem;
  std::string remedy;
  bool needs_somebody = false;  // false: it mends itself
};

class Registry;

// It is over when it is released, when its owner ends, or when it is not renewed: not when this
// object goes.
class Lease {
 public:
  const std::string& name() const noexcept { return name_; }
  const std::string& nonce() const noexcept { return nonce_; }
  const std::string& signal_path() const noexcept { return signal_path_; }

  // kNotFound: it has expired, or was released. kConflict: the name was registered anew.
  Result<Done> renew();

  // False: it was gone already.
  Result<bool> release();

  // For a preemptible one, at safe points: whether a swap asks for it. Then save what must be
  // saved, and release.
  Result<bool> is_preempt_requested() const;

  // The request has been seen. False: there was none.
  Result<bool> clear_preempt();

 private:
  friend class Registry;
  Lease(std::shared_ptr<Registry> registry, std::string name, std::string nonce,
        std::string signal_path, std::int64_t pid);

  std::shared_ptr<Registry> registry_;
  std::string name_;
  std::string nonce_;
  std::string signal_path_;
  std::int64_t pid_;
};

// The swap is over.
struct SwapEnd {
  // Why the log does not say so; empty: it does. Nothing depends on that line.
  std::string not_logged;
};

// A swap under way. It holds a lock of this process: when the object goes, or the process dies,
// before it was finished, the swap was aborted.
class Swap {
 public:
  ~Swap();
  Swap(Swap&&) noexcept;
  Swap& operator=(Swap&&) noexcept;

  const std::string& id() const noexcept;
  const std::string& recipe() const noexcept;

  // The new recipe is there. An error: the swap is not over, or nobody knows; try again.
  Result<SwapEnd> finish();

  // It is not, and nobody is to yield for it any more. Of a long reason the beginning is logged.
  Result<SwapEnd> abort(std::string_view reason);

 private:
  friend class Registry;
  struct Body;
  explicit Swap(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

class Registry : public std::enable_shared_from_this<Registry> {
 public:
  static Result<std::shared_ptr<Registry>> open(RegistryOptions options);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Whole, as it is seen from everywhere.
  const std::string& dir() const noexcept;

  // kUnavailable: EAgain, a swap to another recipe is under way. kConflict: another process that
  // is alive has the name. What the same process had under the name is replaced.
  Result<Lease> take_lease(LeaseOptions options);

  // kNotFound: there is none, or it has expired. kConflict: it is another's.
  Result<Done> renew(std::string_view name, const LeaseClaim& claim);

  // False: there was none. kConflict: it is another's.
  Result<bool> release(std::string_view name, const LeaseClaim& claim);

  // Everybody, also those who are no longer live and have not been removed yet. A marker that is
  // nobody's is cleared, which is the only thing for which this needs a right to write.
  Result<RegistryView> list();

  // kUnavailable: another swap is under way, or an owner did not yield in time. kConflict:
  // workflows that are not preemptible need another recipe; the message names them.
  Result<Swap> begin_swap(SwapOptions options);

  // kNotFound: there is none. kConflict: it is not preemptible.
  Result<Done> request_preempt(std::string_view name);
  Result<bool> is_preempt_requested(std::string_view name);
  Result<bool> clear_preempt(std::string_view name, const LeaseClaim& claim);

  // Changes nothing.
  Result<std::vector<RegistryFinding>> diagnose();

 private:
  friend class Lease;
  friend class Swap;
  struct Body;
  explicit Registry(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace holdfast
