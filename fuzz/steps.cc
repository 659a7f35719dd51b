// SPDX-License-Identifier: Apache-2.0
// Whoever runs a step may send any bytes, and a state may be any bytes: they are refused or taken,
// never half, and what comes of them can be written, read and reduced again. The first byte chooses
// what the rest is, and whether it replaces a part of something good.
#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "holdfast/detail/step_call.h"
#include "kernel/limits.h"
#include "steps/broker.h"
#include "steps/machine.h"
#include "steps/reduce.h"
#include "steps/results_codec.h"
#include "steps/run_params.h"
#include "steps/state_codec.h"
#include "steps/testing_context.h"

namespace {

using namespace holdfast;
using namespace holdfast::steps;

enum Type : TypeIndex { kStart, kA, kB, kC, kD, kAsk, kAnswer, kStop, kFailed };
enum Step : StepIndex { kHear, kPack, kRescue, kSplit, kSum, kWork };

Graph graph() {
  std::vector<EventType> types;
  const auto add = [&](std::string schema, Role role) {
    EventType& type = types.emplace_back();
    type.schema = std::move(schema);
    type.role = role;
  };
  add("t/Start@1", Role::kStart);
  for (const char* const plain : {"t/A@1", "t/B@1", "t/C@1", "t/D@1"}) add(plain, Role::kPlain);
  add("t/Ask@1", Role::kInputRequired);
  add("t/Answer@1", Role::kResponse);
  add("t/Stop@1", Role::kStop);
  add("sys/StepFailed@1", Role::kStepFailed);
  std::vector<StepDef> steps(6);
  steps[kHear].name = "hear";
  steps[kHear].accepts = {kAnswer};
  steps[kHear].returns = {kC};
  steps[kPack].name = "pack";
  steps[kPack].slots = {kB, kC};
  steps[kPack].returns = {kD};
  steps[kRescue].name = "rescue";
  steps[kRescue].accepts = {kFailed};
  steps[kRescue].returns = {kB};
  steps[kRescue].is_handler = true;
  steps[kRescue].workers = 1;
  steps[kSplit].name = "split";
  steps[kSplit].accepts = {kStart};
  steps[kSplit].returns_list = {kA};
  steps[kSum].name = "sum";
  steps[kSum].join = Join{kD, 0};
  steps[kSum].returns = {kStop};
  steps[kWork].name = "work";
  steps[kWork].accepts = {kA};
  steps[kWork].returns = {kB, kC};
  steps[kWork].workers = 2;
  return {types, steps, 1000, {}, kNewestRules};
}

const base::Bytes kOne = {0x01};

Event event(TypeIndex type) { return {type, false, kOne}; }

Attempt attempt(TypeIndex type, std::uint64_t item, std::uint64_t stream = 0) {
  Attempt made;
  made.event = event(type);
  made.item = item;
  made.stream = stream;
  made.first_ns = 3;
  made.lineage = {{kRescue, 1}};
  return made;
}

Running running(Attempt tried, std::uint32_t slot, std::uint64_t run) {
  Running made;
  made.attempt = std::move(tried);
  made.slot = slot;
  made.run = run;
  made.seen = 2;
  made.is_issued = true;
  return made;
}

// Something of everything.
Broker broker_of_much() {
  Broker broker(6);
  broker.outbox.alarms = {7, 9};
  broker.outbox.open_runs = 3;
  State& state = broker.state;
  state.is_running = true;
  state.deadline_ns = 45;
  state.last_item = 9;
  state.last_run = 8;
  state.last_stream = 2;
  state.last_change = 3;
  state.steps[kSplit].running = {running(attempt(kStart, 1), 0, 1)};
  StepState& work = state.steps[kWork];
  work.running = {running(attempt(kA, 2, 1), 0, 2), running(attempt(kA, 3, 2), 1, 3)};
  work.running[0].unjudged = Failure{"oops", "it did not work"};
  work.queue = {attempt(kA, 4, 1), attempt(kA, 5)};
  work.queue[0].not_before_ns = 70;
  work.buffers = {{"default", 1, {event(kA), event(kA)}}, {"other", 3, {}}};
  for (std::uint64_t item = 6; item <= 8; ++item) {
    Waiter& waiter = work.waiters.emplace_back();
    waiter.id = "w";
    waiter.type = kAnswer;
    waiter.trigger = attempt(kA, item);
  }
  work.waiters[0].requirements = {{"n", kOne}};
  work.waiters[0].deadline_ns = 9;
  work.waiters[1].resolved = event(kAnswer);
  work.waiters[2].is_timed_out = true;
  state.steps[kPack].held = {{event(kB), 1, {}}, {event(kC), 2, {{kRescue, 1}}}};
  for (std::uint64_t id = 1; id <= 2; ++id) {
    Stream& stream = state.streams.emplace_back();
    stream.id = id;
    stream.parent = id - 1;
    stream.open = 3 - id;
    JoinState& join = stream.joins.emplace_back();
    join.step = kSum;
    join.members = {event(kD), event(kD)};
  }
  state.store = {{"a", 2, kOne}, {"b", 3, {}}};
  state.early = {{event(kAnswer), std::nullopt}, {event(kStop), kWork}};
  return broker;
}

struct Subject {
  Subject() : machine(graph(), "t/Flow@1") {
    const Broker made = broker_of_much();
    codec::Buffer out;
    write_broker(out, made.state, made.outbox);
    broker = out.to_bytes();
    CHECK(read_broker(broker, machine.graph()).has_value());
    codec::Buffer run;
    RunParams{machine.graph(), made.state, kOne, 5}.write(run, kWork,
                                                          made.state.steps[kWork].running[1]);
    params = run.to_bytes();
    results = done([](detail::StepCall& call) {
      call.send("t/B@1", kOne, "pack");
      call.put("t/A@1", kOne);
      call.collect("default", "t/A@1", kOne);
      call.empty("other");
      call.saw("default");
      call.store("a", kOne, true);
      call.cancel_step("hear");
      call.return_list({{"t/A@1", kOne}, {"t/A@1", kOne}});
    });
    waiting = done([](detail::StepCall& call) {
      call.send("t/B@1", kOne, "");
      call.wait("w", "t/Answer@1", {{"n", kOne}}, Duration(9), std::pair("t/Ask@1", kOne));
    });
  }

  // What a body reports that did this.
  template <class Function>
  base::Bytes done(Function does) const {
    detail::StepCall call{Reader(params)};
    CHECK(call.good());
    does(call);
    codec::Buffer receipt;
    {
      Writer out(receipt);
      call.write_receipt(out);
    }
    const auto bytes = *codec::View::of(receipt.view()).find("results")->bytes();
    Arena arena;
    CHECK(read_results(bytes, machine.graph(), arena).has_value());
    return base::Bytes(bytes.begin(), bytes.end());
  }

  StepsMachine machine;
  base::Bytes broker;
  base::Bytes params;
  base::Bytes results;
  base::Bytes waiting;
};

const Subject& subject() {
  static const Subject made;
  return made;
}

// Two bytes say where to put the rest.
base::Bytes changed(base::Bytes good, base::ByteView bytes) {
  if (bytes.size() < 2) return good;
  std::size_t at = static_cast<std::size_t>(bytes[0]) << 8 | bytes[1];
  bytes = bytes.subspan(2);
  at %= good.size();
  const std::size_t count = std::min(good.size() - at, bytes.size());
  std::copy_n(bytes.begin(), count, good.begin() + static_cast<std::ptrdiff_t>(at));
  return good;
}

// What the state says can be written and read, and is the same then.
void check_same(const State& state, const Graph& graph) {
  codec::Buffer once;
  write_state(once, state);
  const auto again = read_state(once.view(), graph);
  CHECK(again.has_value());
  codec::Buffer twice;
  write_state(twice, *again);
  CHECK(base::equal(once.view(), twice.view()));
}

void reduce_some(State& state, const Graph& graph) {
  std::vector<Command> commands;
  for (const std::uint64_t run : {1U, 2U, 3U})
    reduce(graph, state, StepResult{run, {Returned{}}}, 9, commands);
  reduce(graph, state, WakeUp{100}, 9, commands);
  reduce(graph, state, IdleCheck{}, 9, commands);
  check_same(state, graph);
}

void read_as_state(base::ByteView bytes) {
  const Graph& graph = subject().machine.graph();
  auto broker = read_broker(bytes, graph);
  if (!broker) return;
  check_same(broker->state, graph);
  reduce_some(broker->state, graph);
}

// A whole turn of the machine: the receipt of a run, or progress of it.
void step_with(base::ByteView broker, const kernel::Mail& mail) {
  codec::Buffer value;
  codec::write_map_head(value, 2);
  codec::write_text(value, "broker");
  codec::write_bytes(value, broker);
  codec::write_text(value, "status");
  codec::write_text(value, "running");
  const steps::testing::FixedContext context;
  kernel::StepOutput output;
  subject().machine.step({value.view(), mail, context}, output);
  output.finish();
  CHECK(!output.gave_up());
  CHECK(output.size() <= kernel::kMaxStepOutputBytes);
  CHECK(output.annotations().size() <= kernel::kMaxAnnotationsPerStep);
  CHECK(output.effects().size() <= kernel::kMaxEffectsPerStep);
  if (!output.state()) return;
  const auto written = codec::View::of(*output.state()).find("broker")->bytes();
  CHECK(read_broker(*written, subject().machine.graph()).has_value());
}

void take_results(base::ByteView bytes) {
  Arena arena;
  const auto did = read_results(bytes, subject().machine.graph(), arena);
  codec::Buffer receipt;
  codec::write_map_head(receipt, 1);
  codec::write_text(receipt, "results");
  codec::write_bytes(receipt, bytes);
  for (const char* const run : {"r1", "r2", "r3"}) {
    kernel::Mail mail;
    mail.kind = kernel::MailKind::kReceipt;
    mail.status = kernel::ReceiptStatus::kOk;
    mail.origin.issuer_ref = run;
    mail.value = receipt.to_bytes();
    step_with(subject().broker, mail);
  }
  if (did) return;
  // What was refused has done nothing: the run is asked for a verdict, on its slot.
  auto before = read_broker(subject().broker, subject().machine.graph());
  std::vector<Command> commands;
  reduce(subject().machine.graph(), before->state,
         StepResult{1, {Failed{{"steps.bad_result", ""}, false, std::nullopt}}}, 9, commands);
  CHECK(commands.size() == 1 && std::holds_alternative<RunStep>(commands[0]));
}

void take_progress(base::ByteView bytes) {
  kernel::Mail mail;
  mail.kind = kernel::MailKind::kProgress;
  mail.origin.issuer_ref = "r3";
  mail.value.assign(bytes.begin(), bytes.end());
  step_with(subject().broker, mail);
}

void read_as_params(base::ByteView bytes) {
  detail::StepCall call{Reader(bytes)};
  if (!call.good()) return;
  static_cast<void>(call.buffer("default"));
  static_cast<void>(call.find_wait("w"));
  static_cast<void>(call.stored("a"));
  call.fail("oops", "it did not work");
  call.judge([](const StepFailure&) { return std::optional<Duration>(); }, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const base::ByteView rest(data + 1, size - 1);
  const bool is_whole = (data[0] & 0x80) != 0;
  const auto bytes = [&](const base::Bytes& good) {
    return is_whole ? base::Bytes(rest.begin(), rest.end()) : changed(good, rest);
  };
  switch (data[0] & 0x07) {
    case 0: read_as_state(bytes(subject().broker)); break;
    case 1: take_results(bytes(subject().results)); break;
    case 2: take_results(bytes(subject().waiting)); break;
    case 3: read_as_params(bytes(subject().params)); break;
    case 4: {
      codec::Buffer frame;
      codec::write_list_head(frame, 2);
      codec::write_text(frame, "t/A@1");
      codec::write_bytes(frame, kOne);
      take_progress(bytes(frame.to_bytes()));
      break;
    }
    case 5: {
      // A state that may be any, and a good result.
      codec::Buffer receipt;
      codec::write_map_head(receipt, 1);
      codec::write_text(receipt, "results");
      codec::write_bytes(receipt, subject().results);
      kernel::Mail mail;
      mail.kind = kernel::MailKind::kReceipt;
      mail.status = kernel::ReceiptStatus::kOk;
      mail.origin.issuer_ref = "r3";
      mail.value = receipt.to_bytes();
      step_with(bytes(subject().broker), mail);
      break;
    }
    default: break;
  }
  return 0;
}
