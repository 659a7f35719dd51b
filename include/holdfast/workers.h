// SPDX-License-Identifier: Apache-2.0
// Workers and leases: effects that are performed by other processes, one holder at a time.
//
// An effect whose executor is `worker` and that has no handler in this program waits for a worker.
// A worker enrols, is leased open effects, and reports how each of them ended. A lease is durable
// before the answer that grants it, and has a dispatch number that is unique in the world and
// grows.
//
// Invariants: (1) an effect has at most one lease at a time; (2) a report with another dispatch
// than the present one is stale and changes nothing, not even usage; (3) an effect that is returned
// keeps its intent, which is its idempotency key; (4) a loss is counted once, however often it is
// reported.
//
// Placement, heartbeats and sessions are left to the caller: the world records only verdicts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/effect.h"
#include "holdfast/result.h"
#include "holdfast/types.h"

namespace holdfast {

// Limits. Beyond them a call is refused with kInvalid, or kUnavailable where noted.
inline constexpr std::size_t kMaxWorkers = 65'536;     // kUnavailable; see Engine::enroll_worker
inline constexpr std::size_t kMaxWorkerIdBytes = 128;  // also of node and name
inline constexpr std::size_t kMaxWorkerDescriptionBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxLeasesPerCall = 256;  // also of returns
inline constexpr std::size_t kMaxLeaseDetailBytes = std::size_t{4} << 10;
inline constexpr std::size_t kMaxResumeBytes = std::size_t{64} << 10;

enum class WorkerMode : std::uint8_t {
  kActive,    // can be leased work, unless it is cordoned
  kDraining,  // gets no new work; what it holds it may end
  kLost,      // declared dead: what it held was returned
  kLeft,      // left in good order: what it still held was returned
};

std::string_view name_of(WorkerMode mode) noexcept;  // "active", "draining", "lost", "left"

struct WorkerEnrolment {
  std::string worker;      // its stable id
  std::string node;        // the machine it runs on
  std::string name;        // unique on the node; cordons are kept by node and name
  Hash secret;             // a hash of its secret; the world never has the secret itself
  Bytes description = {};  // CBOR, any value: queues, slots, types, labels, resources, hosts
};

struct WorkerInfo {
  std::string worker;
  std::string node;
  std::string name;
  Hash secret;
  Bytes description;  // canonical CBOR, without the self-describe tag
  WorkerMode mode = WorkerMode::kActive;
  bool is_cordoned = false;
  std::string reason;  // of the last change, with who asked for it
  std::string by;
  std::uint64_t enrolled_ns = 0;  // the last time
  std::uint64_t changed_ns = 0;
  std::uint64_t leases = 0;  // that it holds

  bool can_lease() const noexcept { return mode == WorkerMode::kActive && !is_cordoned; }
};

struct WorkerChange {
  enum class Kind : std::uint8_t {
    kActivate,  // ends a drain; a lost worker is back. A cordon stays
    kDrain,
    kCordon,  // its node and name: also of workers that enrol later under them
    kUncordon,
    kLose,   // returns what it holds as lost, which spends an attempt of each
    kLeave,  // returns what it holds as drained, which is free
  };
  std::string worker;
  Kind kind = Kind::kActivate;
  std::string reason = {};  // up to 4096 bytes
  std::string by = {};      // who asked; empty: the program itself
};

struct WorkerChanged {
  std::uint64_t record = 0;    // 0: it was so already
  std::uint64_t returned = 0;  // kLose, kLeave: leases that were given back
  std::uint64_t settled = 0;   // and those that ended instead (IfLost::kFail, or stopping)
};

// What becomes of an effect whose worker is lost.
enum class IfLost : std::uint8_t {
  kReturn,  // it waits for a worker again
  kFail,    // it settles with the error `worker.lost`: attempts are spent, or it must not run twice
};

struct LeaseRequest {
  Hash intent;
  Bytes detail = {};  // CBOR, any value: devices and the like, for who reads the lease again
  // From the lease; nothing: the timeout of the effect's definition, if it has one.
  std::optional<std::uint64_t> time_limit_ns = {};
  IfLost if_lost = IfLost::kReturn;
};

struct LeaseVerdict {
  enum class Kind : std::uint8_t {
    kGranted,
    kNotOpen,    // settled, or never opened
    kHeld,       // leased already, to this worker or another one; or named twice in the call
    kNotLeased,  // it is not performed by workers
  };
  Hash intent;
  Kind kind = Kind::kNotOpen;
  std::uint64_t dispatch = 0;  // kGranted: the new one; kHeld: the present one
};

struct Leased {
  std::uint64_t record = 0;            // 0: nothing was granted
  std::vector<LeaseVerdict> verdicts;  // in the order of the requests
};

enum class ReturnReason : std::uint8_t {
  kLost,     // the worker died or forgot it: spends an attempt. All others are free
  kDrain,    // the worker shuts down
  kDenied,   // it was never begun: the worker denies that it got it
  kYield,    // stopped at a checkpoint for other work
  kRefused,  // the worker would not take it
};

std::string_view name_of(ReturnReason reason) noexcept;

struct WorkReturn {
  Hash intent;
  std::uint64_t dispatch = 0;
  ReturnReason reason = ReturnReason::kDrain;
  Bytes resume = {};  // kYield: what the next execution resumes with
};

// Of a return or a report. None of them is an error: the worker may forget the dispatch.
enum class WorkVerdict : std::uint8_t {
  kOk,        // it counts
  kRepeated,  // the same dispatch has settled before: nothing happened now
  kStale,     // another dispatch holds it, or none, or it is not known (any more): nothing happened
  kSettled,   // a return: the effect ended instead of waiting again (IfLost::kFail, or stopping)
};

struct WorkAnswer {
  WorkVerdict verdict = WorkVerdict::kStale;
  std::uint64_t record = 0;            // that holds it; 0: none
  std::optional<Status> settled = {};  // kOk, kRepeated, kSettled: how the effect ended
};

// Each answer stands alone: an error is about that one, and it may be sent again (kUnavailable), or
// never will fit (kInvalid).
using WorkAnswers = std::vector<Result<WorkAnswer>>;

// How an effect ended. Without `dispatch` (0) it is the word of the program itself about an effect
// that nobody holds, such as that no worker fits; one that is leased refuses it as stale.
struct WorkReceipt {
  Hash intent;
  std::uint64_t dispatch = 0;
  Status status = Status::kOk;
  Bytes payload = {};  // by the receipt schema of the effect, or sys/EffectError@1 if it is not ok
  std::optional<std::uint64_t> cost_cents = {};
};

// A sign of life for the instance. Sequences begin at 1 with each dispatch.
struct WorkProgress {
  Hash intent;
  std::uint64_t dispatch = 0;
  std::uint64_t sequence = 0;
  std::string kind = {};
  Bytes payload = {};
};

// A lease as it stands. Views hold during the call that they are given to.
struct WorkLease {
  std::string_view worker;
  std::uint64_t dispatch = 0;
  std::uint64_t leased_ns = 0;
  std::optional<std::uint64_t> time_limit_ns = {};
  IfLost if_lost = IfLost::kReturn;
  bool is_stopping = false;  // it was asked to stop, and settles as cancelled
  std::span<const std::uint8_t> detail = {};
};

// An open effect that is performed by workers.
struct WorkView {
  Hash intent;
  std::string_view effect;
  std::string_view queue;     // of its definition
  std::string_view workflow;  // of the instance that opened it
  std::span<const std::uint8_t> key;
  std::span<const std::uint8_t> params;
  std::span<const std::uint8_t> trace;  // 25 bytes, or empty
  std::uint64_t opened_ns = 0;
  std::uint64_t queued_ns = 0;                // since when it waits, or waited before the lease
  std::uint64_t losses = 0;                   // attempts that lost workers have spent
  std::uint64_t leases = 0;                   // how often it was leased
  std::span<const std::string> lost_by = {};  // the last workers that lost it, up to 8
  std::span<const std::uint8_t> resume = {};  // of the last yield
  std::optional<WorkLease> lease = {};        // nothing: it waits for a worker
};

// The same, with its own copy of the bytes.
struct LeaseInfo {
  explicit LeaseInfo(const WorkLease& view)
      : worker(view.worker),
        dispatch(view.dispatch),
        leased_ns(view.leased_ns),
        time_limit_ns(view.time_limit_ns),
        if_lost(view.if_lost),
        is_stopping(view.is_stopping),
        detail(view.detail.begin(), view.detail.end()) {}

  std::string worker;
  std::uint64_t dispatch;
  std::uint64_t leased_ns;
  std::optional<std::uint64_t> time_limit_ns;
  IfLost if_lost;
  bool is_stopping;
  Bytes detail;
};

struct WorkInfo {
  explicit WorkInfo(const WorkView& view)
      : intent(view.intent),
        effect(view.effect),
        queue(view.queue),
        workflow(view.workflow),
        key(view.key.begin(), view.key.end()),
        params(view.params.begin(), view.params.end()),
        trace(view.trace.begin(), view.trace.end()),
        opened_ns(view.opened_ns),
        queued_ns(view.queued_ns),
        losses(view.losses),
        leases(view.leases),
        lost_by(view.lost_by.begin(), view.lost_by.end()),
        resume(view.resume.begin(), view.resume.end()) {
    if (view.lease) lease.emplace(*view.lease);
  }

  Hash intent;
  std::string effect;
  std::string queue;
  std::string workflow;
  Bytes key;
  Bytes params;
  Bytes trace;
  std::uint64_t opened_ns;
  std::uint64_t queued_ns;
  std::uint64_t losses;
  std::uint64_t leases;
  std::vector<std::string> lost_by;
  Bytes resume;
  std::optional<LeaseInfo> lease;
};

// How an effect that was performed by workers ended.
struct WorkEnd {
  Hash intent;
  Status status = Status::kOk;
  std::string_view worker;     // that held it; empty: none
  std::uint64_t dispatch = 0;  // 0: none
  bool by_worker =
      false;  // that worker reported it. If not, and it held it, it must be told to stop
};

// Hears of everything that a dispatcher derives its queues from, in the order of the records, when
// it is durable. It begins, inside Engine::open, with all workers and all effects that are open
// (those that are leased with their lease); `recovered` ends that. Entries come before the answers
// to the calls that they follow from.
//
// Called by one thread at a time, of the engine, which waits meanwhile: an implementation takes
// what it needs and returns. It may call functions of the engine that have a callback, but none
// that wait. Nothing is buffered: what is kept of it is the implementation's own.
class WorkFeed {
 public:
  virtual ~WorkFeed() = default;

  // Enrolled, or changed. One of many that were forgotten (see Engine::enroll_worker) is not told.
  virtual void worker_changed(const WorkerInfo& worker) = 0;

  virtual void opened(const WorkView& work) = 0;
  virtual void leased(const WorkView& work) = 0;
  virtual void returned(const WorkView& work, std::string_view worker, std::uint64_t dispatch,
                        ReturnReason reason) = 0;
  virtual void stop_asked(const WorkView& work) = 0;  // its lease says who is to be told
  virtual void ended(const WorkEnd& end) = 0;
  virtual void recovered() = 0;
};

}  // namespace holdfast
