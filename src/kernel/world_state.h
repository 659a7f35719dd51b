// SPDX-License-Identifier: Apache-2.0
// WorldState: everything a world knows, and the few operations that all kinds of ticks share.
// Internal to the kernel; one file per kind of tick works on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "codec/buffer.h"
#include "codec/normaliser.h"
#include "kernel/draft.h"
#include "kernel/event_ids.h"
#include "kernel/event_source.h"
#include "kernel/instance_image.h"
#include "kernel/limits.h"
#include "kernel/plan.h"
#include "kernel/proposal.h"
#include "kernel/read_back.h"
#include "kernel/waiting.h"
#include "kernel/window.h"
#include "kernel/workers.h"
#include "kernel/world.h"

namespace holdfast::kernel {

struct SettledIntent {
  std::uint64_t record;
  ReceiptStatus status;
  std::uint64_t dispatch = 0;  // that held it; 0: none
};

// An instance as it was before the last step that it took in a tick.
struct Watch {
  std::string_view workflow;
  base::Hash id;
  std::optional<InstanceImage> image = {};
  std::optional<base::Error> error = {};  // why there is none
};

struct WorldState {
  WorldState(const MachineSource& the_machines, Blobs& the_blobs, WorldOptions the_options);

  const MachineSource& machines;
  Blobs& blobs;
  WorldOptions options;
  Entropy origin{};  // of the first record: no two worlds share it, nor the identity of an intent
  std::shared_ptr<const Program> program;
  std::uint64_t next_record = 1;
  std::uint64_t latest_ns = 0;                        // the latest time of all ticks
  std::vector<Cells> cells;                           // by workflow
  std::map<std::string, Cells, std::less<>> retired;  // ended ones of workflows that are gone
  ReadBack read_back;
  OpenIntents intents{&read_back};
  TurnOrder ready;                // instances with mail, in the order of their turns
  std::uint64_t mail_bytes = 0;   // of everything that waits in mailboxes, by weight
  std::uint64_t ready_bytes = 0;  // the same, of those that are ready
  Waiting waiting;                // for room
  EventIds event_ids{options.event_ids};
  std::vector<EventSource> sources;  // whose ids are kept apart, in the order of their names
  Window<base::Hash, SettledIntent, FirstBytes> settled{kSettledWindow};
  std::map<std::uint64_t, Proposal> proposals;
  Workers workers;
  std::size_t ahead = 0;  // the workflow whose cells are written ahead of a snapshot

  // Reused from tick to tick; nothing in them outlives one.
  const Tick* tick = nullptr;
  base::ByteView trace;  // of the event that is being delivered, for whoever is begun by it
  Counters counters;
  std::optional<base::Error> failure;  // of what cells and intents do not know of
  bool replaying = false;   // the tick comes from a record: what was admitted is not asked again
  bool has_rules_2 = true;  // false: the record came about by the rules of before, see kRules2
  bool has_rules_3 = true;
  bool has_rules_4 = true;
  Watch* watch = nullptr;  // null: nobody looks at steps
  // Where the instances are noted that cannot do again what they did; null: the world fails.
  std::vector<ReplayDifference>* differences = nullptr;
  bool reopening = false;  // effects are opened again: children that have ended may be there
  Draft draft;
  LetterPool letters;
  codec::Buffer record;
  codec::Buffer counted;  // of a tick that names leases or instances: the list of those that count
  codec::Normaliser normaliser;
  codec::Buffer scratch;
  StepOutput output;
  Plan plan;
  Targets targets;

  // Whether mail for it waits on the disk, as its turn does not come: it is paused, or waits for
  // room, or for the answer of an effect.
  bool is_parked(const Cell& cell) const noexcept {
    return cell.paused || (!cell.ready && !cell.mail.empty());
  }
  std::uint64_t parked_bytes() const noexcept {
    return mail_bytes > ready_bytes ? mail_bytes - ready_bytes : 0;
  }
};

// The number of the version that an instance of this workflow goes on with, or would begin with.
inline std::uint32_t version_of(WorldState& world, std::uint32_t workflow, const base::Hash& id) {
  if (!world.program->has_pins()) return workflow;
  if (world.cells[workflow].find(id) != nullptr) return workflow;
  for (const std::uint32_t earlier : world.program->earlier_versions(workflow)) {
    if (world.cells[earlier].find(id) != nullptr) return earlier;
  }
  return workflow;
}

// The entry of a cell in the present draft.
Touched& touch(WorldState& world, Cell& cell);

// Puts a message in the mailbox of an instance; one that has ended ignores it.
void deliver(WorldState& world, Cell& cell, std::unique_ptr<Letter> letter);

// Whether an instance takes this event: an earlier version of its workflow may not know of it.
bool takes(const WorldState& world, const Target& target, std::string_view schema,
           base::ByteView value);

// Adds everybody who subscribes to the event to those who get mail already. False: some mailbox
// would be too full or some key does not fit; `refusal` says why.
bool find_targets(WorldState& world, const EventProgram& event, base::ByteView value,
                  Targets& targets, Refused& refusal);

// The same for an event that names its one instance.
bool find_addressee(WorldState& world, const EventArrived& event, Targets& targets,
                    Refused& refusal);

// Whether one message more from outside, of this weight, may wait for an instance; else `refusal`
// says why not. `planned` goes to mailboxes too, some of it perhaps to the same one.
bool has_room(const WorldState& world, const Target& target, Targets& planned, Refused& refusal);

// The same for a message of a step, as it was before steps could wait for room.
bool had_room_before(const WorldState& world, const Target& target, Targets& planned,
                     std::string& why);

// room.cc. Whether a step of this instance, with this message, may send what it plans to.
struct Room {
  enum class Verdict : std::uint8_t { kYes, kWaits, kNever };
  Verdict verdict = Verdict::kYes;
  CellName of = kWholeWorld;       // kWaits: whose room it waits for
  std::string why = {};            // kNever
  bool is_of_long_circle = false;  // kRules4 in record.h
};
Room room_for(const WorldState& world, const Cell& sender, const Mail& taken, const Plan& plan);

// The mail of this instance has become less, or it is gone, or one has given up its place among
// those that wait for its room: the next one may try.
void tell_room(WorldState& world, const CellName& of);

// It does not wait for room any more, if it did.
void stop_waiting(WorldState& world, const CellName& who);

inline CellName name_of(const Cell& cell) { return {cell.workflow, cell.id}; }

// Whoever got it.
Cell& deliver_event(WorldState& world, const EventProgram& event, base::ByteView value,
                    const Target& target);

// Lets ready instances take turns, one message each, until no mail is left or the budget is spent.
void take_turns(WorldState& world);

// One step of one instance with one message. Unless it is done, nothing has changed but what the
// record says of a halt, and the message is still to be delivered.
struct StepEnd {
  enum class Kind : std::uint8_t {
    kDone,
    kWaits,   // for the room of another instance
    kHolds,   // events, until an effect has answered
    kHalted,  // for a reason that is not in its input (kernel/halt.h); the instance is to be paused
  };
  Kind kind = Kind::kDone;
  CellName for_room_of = kWholeWorld;  // kWaits
};
StepEnd step(WorldState& world, Cell& cell, Mail& mail, std::uint64_t delivery);

// Opens the effects of a plan. `delivery` is the step of the tick that they are of.
void open_intents(WorldState& world, Cell& cell, const Plan& plan, std::uint64_t delivery);

// The instance as it is. kTooLarge: it is larger than an image may be.
base::Result<InstanceImage> image_of(WorldState& world, Cell& cell);

// What mail says of the intent that it answers.
void write_origin(const WorldState& world, const base::Hash& hash, const Intent& intent,
                  Origin& origin);

// Nobody outside has a say in what the kernel performs itself. Nothing: the intent is not such.
std::optional<Refused> refuse_in_kernel(const WorldState& world, const Intent& intent);

// What was read back contradicts itself: the world fails, unless it has already.
void contradiction(WorldState& world, std::string_view what);

// An instance that has mail gets a place among those that are ready; one that ends loses it.
inline void line_up(WorldState& world, Cell& cell) {
  cell.ready = true;
  world.ready.add_newest(cell);
  world.ready_bytes += cell.mail.bytes();
}
inline void leave_line(WorldState& world, Cell& cell) {
  cell.ready = false;
  world.ready.remove(cell);
  world.ready_bytes -= cell.mail.bytes();
}

// So much mail, by weight, does not wait any more.
inline void lighten(WorldState& world, std::size_t bytes) {
  if (bytes > world.mail_bytes)
    return contradiction(world, "more mail waits than is counted for the world");
  world.mail_bytes -= bytes;
}

// Why the world has failed; nothing: it has not.
std::optional<base::Error> failure_of(const WorldState& world);

// The same for one who only asked something of a world that had not failed: what could not be read
// is the answer to the question. Nothing has changed, so the world goes on.
std::optional<base::Error> take_failure(WorldState& world);

// What a record says was halted at this place; null: nothing.
inline const Halt* find_halt(const WorldState& world, std::uint64_t at, bool is_state) {
  if (!world.replaying) return nullptr;
  for (const Halt& halt : world.tick->halts) {
    if (halt.at == at && (halt.kind == HaltKind::kStateUnread) == is_state) return &halt;
  }
  return nullptr;
}

// The instance of an open intent, which has not ended. Null: the world has failed.
Cell* cell_of(WorldState& world, const Intent& intent);

// The answer when it is null.
Answer unreadable();

// The command that an intent is opened by, and started again. It holds what the intent holds.
OpenIntent command_of(const WorldState& world, const base::Hash& hash, const Intent& intent);

// Bounds what ticks and questions have left in memory. Between ticks only.
void trim(WorldState& world);

// Whose word it is that an effect has ended.
enum class SettledBy : std::uint8_t { kOthers, kItsWorker };
void settle(WorldState& world, Cell& cell, const base::Hash& intent, ReceiptStatus status,
            SettledBy by = SettledBy::kOthers);

// leases.cc. Whether a report counts that is fenced like this, and the answer to one that does not.
bool is_present(const Intent& intent, const Fence& fence);
Answer stale(WorldState& world);

// The answer to a report about an intent that is not open; one that is repeated is counted.
Answer answer_not_open(WorldState& world, const base::Hash& intent, const Fence& fence,
                       std::uint64_t& repeated);

// The lease of an effect that settles ends, and those who place work hear of it.
void end_lease(WorldState& world, const base::Hash& hash, const Intent& intent,
               ReceiptStatus status, SettledBy by);

// A lease ends without a result. The verdict: the effect waits again, or has settled. Nothing: the
// world has failed.
std::optional<WorkVerdict> give_back(WorldState& world, const base::Hash& hash,
                                     const Intent& intent, ReturnReason reason,
                                     base::ByteView resume);

// An effect that somebody holds is to be stopped by its worker; false: it was asked before.
bool ask_worker_to_stop(WorldState& world, const base::Hash& hash, const Intent& intent);

// Settles an effect as cancelled that nobody holds, and asks for it to be stopped; its instance
// hears of it.
void cancel_effect(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent,
                   std::string_view code, std::string_view message);

// Those who place work hear what a worker is now.
void tell_of_worker(WorldState& world, const std::string& id, const Worker& worker);

// Settles everything that an instance has open, and asks for it to be stopped.
void abandon(WorldState& world, Cell& cell);

// The same for what a step of it has given up; the instance hears of each.
void call_off_stopped(WorldState& world, Cell& cell, const StepOutput& output);

// How an instance hears of an effect that settles without anybody's receipt. Null: it does not.
std::unique_ptr<Letter> receipt_letter(WorldState& world, const Cell& cell, const base::Hash& hash,
                                       const Intent& intent, ReceiptStatus status,
                                       base::ByteView value);

// The instance that an effect of the kernel is about.
struct ChildName {
  std::string_view workflow;
  base::ByteView key;  // empty: the workflow has none
};
ChildName child_named_by(const Intent& intent);

// Performs an effect that was just opened (InKernel, kernel/children.cc).
void perform_in_kernel(WorldState& world, Cell& cell, const base::Hash& hash, const Intent& intent);

// Whoever waits for this instance hears how it has ended. One that has not is being deleted.
void tell_end(WorldState& world, Cell& cell);

// The instance that runs for this effect has nobody to run for any more.
void give_up_child(WorldState& world, const base::Hash& hash, const Intent& intent);

// Ends an instance for good, and settles what it has open.
void end(WorldState& world, Cell& cell, Phase phase, base::Bytes outcome);

// The same with a sys/EffectError@1 as outcome.
void fail(WorldState& world, Cell& cell, std::string_view code, std::string_view message);

// Deletes an instance. Events that wait for it begin it again; what came back from its effects is
// for nobody.
void remove_instance(WorldState& world, Cell& cell);

// Lets go of an instance that has ended: its key may begin again in this tick, as an instance of
// the workflow of this number.
void end_life(WorldState& world, Cell& cell, std::uint32_t next);

// The handlers, one per kind of tick. A refusal has changed nothing.
Answer reduce_event(WorldState& world, const EventArrived& event);
Answer reduce_receipt(WorldState& world, const ReceiptArrived& receipt);
Answer reduce_progress(WorldState& world, const ProgressArrived& progress);
Answer reduce_continue(WorldState& world, const Continue& unused);
// Why it cannot stand in the record who asked; nothing: it can.
std::optional<Refused> check_by(std::string_view by);

Answer reduce_control(WorldState& world, const ControlRequested& request);
Answer reduce_apply(WorldState& world, const ApplyManifest& apply);
Answer reduce_propose(WorldState& world, const Propose& propose);
Answer reduce_shadow(WorldState& world, const ReportShadow& shadow);
Answer reduce_decide(WorldState& world, const Decide& decide);
Answer reduce_apply_proposal(WorldState& world, const ApplyProposal& apply);
Answer reduce_forget(WorldState& world, const ForgetEnded& forget);
Answer reduce_enrolled(WorldState& world, const WorkerEnrolled& enrolled);
Answer reduce_worker(WorldState& world, const WorkerChanged& changed);
Answer reduce_leased(WorldState& world, const Leased& leased);
Answer reduce_returned(WorldState& world, const Returned& returned);
Answer reduce_stop(WorldState& world, const StopAsked& asked);
Answer reduce_marked(WorldState& world, const SourceMarked& marked);
Answer reduce_reopen(WorldState& world, const ReopenInstance& reopen);
Answer reduce_migrate(WorldState& world, const MigrateInstances& migrate);

// A program out of definitions, a canonical list of them, that could follow the present one; with
// pins for what is under way, if it is to have them.
// Nothing: `refusal` says why.
std::shared_ptr<const Program> load_program(const WorldState& world, base::ByteView definitions,
                                            bool pin, Refused& refusal);

// The same for what was applied once, with the numbers that it had then; null: those of its order.
// Of what has no code any more, nothing can be stepped.
std::shared_ptr<const Program> load_program_again(const WorldState& world,
                                                  base::ByteView definitions,
                                                  const Numbering* numbering,
                                                  const std::vector<Pin>& pins, Refused& refusal);

// The same for a proposal: such a list, or a patch of what runs.
std::shared_ptr<const Program> load_candidate(const WorldState& world, base::ByteView proposal,
                                              Refused& refusal);

// The numbers that a program must keep which follows the present one. Nothing: none, as every
// instance has ended.
std::optional<Numbering> numbers_to_keep(const WorldState& world);

// Runs another program from now on, unless instances are under way that it touches; strict: unless
// any is.
Answer replace_program(WorldState& world, std::shared_ptr<const Program> program, HowToApply how);

// The earlier versions that a program must keep which follows the present one; with the present
// versions of workflows that have instances under way, too.
std::vector<Pin> versions_to_keep(const WorldState& world, bool also_present);

// What a tick wanted to write or read in blobs it could not. Without room it is refused, and may be
// tried again: nothing has changed. (On replay there was room once, and the record says so.) With
// any other error the world has failed.
Answer could_not_keep(WorldState& world, base::Error error);

// Everything is empty, and the workflows are those of the program.
void begin_cells(WorldState& world);

// The cells of the next workflow: those that ended when it was there before, or none.
void begin_cells_of(WorldState& world, std::uint32_t workflow, const std::string& name);

// A world that has no record yet gets its origin.
void begin_world(WorldState& world, const Entropy& origin);

// The instances of a workflow that the program does not have, all of which have ended.
void retire(WorldState& world, const std::string& workflow, const HashTrie& index);

// The tick had this to say besides.
inline void note(WorldState& world, std::string_view what, std::vector<std::string> details) {
  world.draft.notes.push_back({what, std::move(details)});
}

// Writes the record of the present tick to world.record.
void encode_record(WorldState& world);

}  // namespace holdfast::kernel
