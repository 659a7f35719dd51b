// SPDX-License-Identifier: Apache-2.0
// WorldState: everything a world knows, and the few operations that all kinds of ticks share.
// Internal to the kernel; one file per kind of tick works on it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "codec/buffer.h"
#include "codec/normaliser.h"
#include "kernel/cells.h"
#include "kernel/draft.h"
#include "kernel/limits.h"
#include "kernel/machine.h"
#include "kernel/open_intents.h"
#include "kernel/outcome.h"
#include "kernel/program.h"
#include "kernel/tick.h"
#include "kernel/window.h"

namespace holdfast::kernel {

struct SettledIntent {
  std::uint64_t record;
  ReceiptStatus status;
};

struct WorldState {
  WorldState(std::shared_ptr<const Program> the_program, Blobs& the_blobs, CellLimits limits);

  std::shared_ptr<const Program> program;
  Blobs& blobs;
  std::uint64_t next_record = 1;
  std::vector<Cells> cells;  // by workflow
  OpenIntents intents;
  std::deque<Cell*> ready;  // instances with mail, in the order of their turns
  Window<std::string, std::uint64_t> event_ids{kEventIdWindow};
  Window<base::Hash, SettledIntent> settled{kSettledWindow};

  // Reused from tick to tick; nothing in them outlives one.
  const Tick* tick = nullptr;
  Draft draft;
  codec::Normaliser normaliser;
  codec::Buffer scratch;
  StepOutput output;
};

// The entry of a cell in the present draft.
Touched& touch(WorldState& world, Cell& cell);

// Finds the instance, or begins a new one.
Cell& instance(WorldState& world, std::uint32_t workflow, base::ByteView key);

// Puts a message in the mailbox of an instance; one that has ended ignores it.
void deliver(WorldState& world, Cell& cell, Mail mail);

// One instance that an event goes to.
struct Target {
  std::uint32_t workflow;
  base::Bytes key;
};

// Adds everybody who subscribes to the event. False: some mailbox is full or some key does not
// fit; `refusal` says why.
bool find_targets(WorldState& world, const EventProgram& event, base::ByteView value,
                  std::vector<Target>& targets, Refused& refusal);

void deliver_event(WorldState& world, const EventProgram& event, base::ByteView value,
                   const Target& target);

// Lets ready instances take turns, one message each, until no mail is left or the budget is spent.
void take_turns(WorldState& world);

// One step of one instance with one message.
void step(WorldState& world, Cell& cell, const Mail& mail, std::uint64_t delivery);

void settle(WorldState& world, Cell& cell, const base::Hash& intent, ReceiptStatus status);

// Ends an instance for good, and settles what it has open.
void end(WorldState& world, Cell& cell, Phase phase, base::Bytes outcome);

// The same with a sys/EffectError@1 as outcome.
void fail(WorldState& world, Cell& cell, std::string_view code, std::string_view message);

// The handlers, one per kind of tick. A refusal has changed nothing.
Answer reduce_event(WorldState& world, const EventArrived& event);
Answer reduce_receipt(WorldState& world, const ReceiptArrived& receipt);
Answer reduce_progress(WorldState& world, const ProgressArrived& progress);
Answer reduce_continue(WorldState& world, const Continue& unused);
Answer reduce_control(WorldState& world, const ControlRequested& request);

// The record of the present tick.
base::Bytes encode_record(WorldState& world);

}  // namespace holdfast::kernel
