// SPDX-License-Identifier: Apache-2.0
// World: one durable state machine. `reduce` is the whole of it: state and tick in, state and
// outcome out. It does no I/O, reads no clock, throws nothing, and comes to the same outcome for
// the same state and tick on every machine; so the journal of its records is its state.
//
// Invariants: (1) a terminal instance never changes; (2) an intent settles once; (3) a receipt
// reaches only the instance that opened its intent; (4) a step is kept whole or not at all; (5) a
// tick that is refused changes nothing.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "kernel/blobs.h"
#include "kernel/cells.h"
#include "kernel/event_ids.h"
#include "kernel/instance_image.h"
#include "kernel/open_intents.h"
#include "kernel/outcome.h"
#include "kernel/program.h"
#include "kernel/tick.h"
#include "kernel/verifier.h"
#include "kernel/why.h"

namespace holdfast::kernel {

struct WorldState;

struct InstanceName {
  std::string workflow;
  base::Bytes key;
};

// An instance that a record touched, and that came out differently when it was replayed.
struct ReplayDifference {
  std::string workflow;  // empty: what differs is not about an instance
  base::Bytes key;
  std::string why;
};

struct InstanceValues {
  Status status = Status::kRunning;
  bool paused = false;
  base::Bytes state;    // canonical, without the self-describe tag; empty: it has none
  base::Bytes outcome;  // the result, or a sys/EffectError@1; empty: it has not ended
  const WorkflowProgram* workflow = nullptr;  // until the next tick; null: it is gone
};

struct WorldOptions {
  CellLimits cells;
  const ReceiptVerifier* verifier = nullptr;  // without one, signed receipts are refused
  EventIdLimits event_ids = {};
  // As long as a world lives: who waited for room is found out again on replay.
  std::size_t mail_per_instance = kMaxMailPerInstance;

  // WorkNews also of effects that end without having been leased.
  bool tells_of_work = false;

  // Effects that could be leased by their kind, and are not: this program performs them. Null:
  // none.
  const std::set<std::string, std::less<>>* performed_here = nullptr;
};

// A proposal, as people see it.
struct ProposalView {
  std::uint64_t id = 0;
  std::string_view stage;  // proposed, shadowed, approved, rejected, applied
  base::Hash base;         // the manifest that it would follow
  base::Hash manifest;     // that it would put in its place
  std::string description;
  base::Bytes report;  // of a trial run; empty: there is none
  std::string by;
  std::string reason;
};

// See ApplyManifest.
struct HowToApply {
  bool strict = false;
  bool pin = false;
};

// How often something was turned away since this world was opened; for metrics.
struct Counters {
  std::uint64_t refused = 0;
  std::uint64_t repeated_events = 0;
  std::uint64_t repeated_receipts = 0;
  std::uint64_t repeated_progress = 0;
  std::uint64_t bad_signatures = 0;       // of receipts; counted as refused, too
  std::uint64_t forgotten_event_ids = 0;  // before their time, as there were too many
  std::uint64_t stale_reports = 0;        // of leases that had ended
};

class World {
 public:
  // A world without a manifest: it accepts nothing but one. Machines and blobs must outlive it.
  World(const MachineSource& machines, Blobs& blobs, WorldOptions options = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  // Total: any tick gets an answer. Values in a tick that are not canonical are refused.
  // The second form writes over an outcome that nobody needs any more, and uses its memory again.
  Outcome reduce(const Tick& tick);
  void reduce(const Tick& tick, Outcome& outcome);

  // Does again what a record says was done, and compares: the error names the record, and the first
  // instance that came out differently, or that cannot be stepped because its code does not fit.
  // What was done is done when it is compared: after an error the world has failed.
  // Signatures were checked when the record was made.
  base::Result<Outcome> replay(base::ByteView record);

  // The same for one who wants to know all that differs: the world goes on with what came out now,
  // so the records after it are compared as well. An instance that differs once is not what it was,
  // and may differ in every later record, and those that it sends to as well. kConflict: the record
  // applies definitions and is refused now, so nothing after it can be compared.
  base::Result<std::vector<ReplayDifference>> replay_comparing(base::ByteView record);

  // The same as `replay`, and the instance as it was before the last step that it took in this
  // record, with the message of that step. Nothing: it took none.
  base::Result<std::optional<InstanceImage>> replay_watching(base::ByteView record,
                                                             std::string_view workflow,
                                                             base::ByteView key);

  // An instance that has not ended, as a value that it can begin again from. Nothing: there is no
  // such instance, or it has ended. kTooLarge: it is larger than kMaxImageBytes.
  base::Result<std::optional<InstanceImage>> image(std::string_view workflow, base::ByteView key);

  // Everything the world is, as one canonical value and the blobs it names. Between ticks only. A
  // world that has failed has none. kUnavailable: no room for the blobs now, and nothing is lost.
  // After any other error it has failed: some of it may have moved to blobs that nobody keeps.
  base::Result<base::Bytes> snapshot();

  // Puts some of what changed into blobs, so that less is left to the next snapshot, which is the
  // same for it. Between ticks only. False: it has come around once. Errors as of snapshot.
  base::Result<bool> write_ahead();

  // How many instances a snapshot would still have to put into blobs.
  std::size_t dirty_cells() const noexcept;

  // Something that the world stands on was lost, as blobs that were put and did not become durable.
  // It has failed then, unless it had before.
  void fail(const base::Error& error);

  // Fails closed: no code for a workflow, a missing blob, a damaged value.
  static base::Result<World> restore(const MachineSource& machines, Blobs& blobs,
                                     base::ByteView snapshot, WorldOptions options = {});

  // Whether every instance that has not ended has code that fits; kConflict: one has not, and is
  // named. To be asked before a world is used, and not before all of its records are replayed: they
  // may end the instance, or bring other definitions.
  base::Result<void> check_code();

  // What an instance waits for; nothing if it has ended, or is not there. This and the other
  // questions have an error when the answer cannot be read: it is the question's own, and the world
  // goes on. One that has failed before answers nothing.
  base::Result<std::vector<Reason>> why(std::string_view workflow, base::ByteView key);

  // Which earlier version of its workflow it goes on with, and whether it could move to the present
  // one: the migration is asked, and what it makes is dropped. Nothing: it goes on with the present
  // one, has ended, or is not there.
  base::Result<std::optional<KeptVersion>> kept_version(std::string_view workflow,
                                                        base::ByteView key);

  // All instances, by workflow, those of workflows that are gone too; within one in the order of
  // the hashes of their keys. The visitor says whether to go on, and keeps nothing of the cell.
  using InstanceVisitor = std::function<bool(std::string_view workflow, const Cell& cell)>;
  base::Result<void> visit_instances(const InstanceVisitor& visitor);
  std::uint64_t active_instances() const noexcept;  // those that have not ended

  // The snapshot of a world that is as this one, and another: what it opens from now on has
  // identities of its own. What is open already keeps the one it has. This world has failed then.
  base::Result<base::Bytes> snapshot_as_another(const Entropy& origin);

  const Program& program() const noexcept;
  std::uint64_t next_record() const noexcept;
  std::uint64_t latest_ns() const noexcept;  // of all ticks so far; time goes on from here
  bool has_ready() const noexcept;           // mail is left over: it wants a Continue tick

  // An instance; null: it is not there. It holds until the next tick or question. A large state or
  // outcome is in the blob that the cell names.
  base::Result<const Cell*> find(std::string_view workflow, base::ByteView key);

  // Whether an instance is in memory; nothing is brought there by asking, and nothing that is
  // decided depends on it. One that is not there is not.
  bool is_in_memory(std::string_view workflow, base::ByteView key) const;

  // The same as `find` with its values, wherever they are kept.
  base::Result<std::optional<InstanceValues>> read(std::string_view workflow, base::ByteView key);
  std::vector<ProposalView> proposals() const;

  // What a proposal would apply, as Program::closure. kNotFound: there is no such proposal.
  base::Result<base::Bytes> proposed_definitions(std::uint64_t proposal) const;
  const Counters& counters() const noexcept;

  // Open intents. Errors as of the questions above.
  std::uint64_t open_intents() const noexcept;
  base::Result<const Intent*> find_intent(const base::Hash& intent);  // null: it is not open
  base::Result<void> visit_intents(const OpenIntents::Visitor& visitor);

  // How many effects of each kind are open, and since when (kernel/open_counts.h): of those that
  // were opened by this world, and those that somebody counts who visits them anyway.
  struct OpenEffects {
    std::string_view effect;  // these two until the next tick
    std::string_view executor;
    std::uint64_t count = 0;
    std::uint64_t oldest_ns = 0;
  };
  std::vector<OpenEffects> open_effects() const;
  void begin_counting_intents() noexcept;
  void count_intent(const Intent& intent);

  // Those that have enrolled.
  const Workers& workers() const noexcept;

  // What would be answered to a tick that applies these definitions; nothing is applied. A
  // question, as those above.
  Answer try_apply(base::ByteView definitions, HowToApply how = {});

  // The command that an open intent was opened by, for whoever has to start it again.
  OpenIntent command_of(const base::Hash& hash, const Intent& intent) const;

 private:
  std::unique_ptr<WorldState> state_;
};

}  // namespace holdfast::kernel
