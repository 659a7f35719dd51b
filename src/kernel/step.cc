// SPDX-License-Identifier: Apache-2.0
// One step: the machine runs, then everything it put out is checked, and only when all of it is
// good does anything of it become true. A step that is not good fails its instance and leaves
// nothing else behind.
#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/identity.h"
#include "kernel/parts_of_cell.h"
#include "kernel/record_view.h"
#include "kernel/step_context.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

base::Bytes bytes_of(base::ByteView view) { return {view.begin(), view.end()}; }

struct Objection {
  std::string code;
  std::string message;
};

// In the words that are recorded: they say the same wherever a record is replayed.
std::string more_than(std::size_t most, std::string_view what) {
  return "more than " + std::to_string(most) + " " + std::string(what);
}

static_assert(kMaxStepOutputBytes == std::size_t{1} << 20);
constexpr std::string_view kTooLarge = "more than 1 MiB of output";

class Checker {
 public:
  Checker(WorldState& world, const WorkflowProgram& workflow, const Cell& cell,
          const StepOutput& output)
      : world_(world), workflow_(workflow), cell_(cell), output_(output) {}

  // What was found good is together so large, with the names of effects and events.
  std::size_t bytes() const noexcept { return bytes_; }

  std::optional<Objection> check(Plan& plan) {
    if (output_.effects().size() > kMaxEffectsPerStep)
      return Objection{"step.too_many_effects", more_than(kMaxEffectsPerStep, "effects")};
    if (output_.events().size() > kMaxEventsPerStep)
      return Objection{"step.too_many_events", more_than(kMaxEventsPerStep, "events")};
    if (output_.annotations().size() > kMaxAnnotationsPerStep)
      return Objection{"step.too_many_annotations",
                       more_than(kMaxAnnotationsPerStep, "annotations")};
    if (output_.stops().size() > kMaxOpenIntents)
      return Objection{"step.too_many_stops", more_than(kMaxOpenIntents, "effects to stop")};
    if (output_.size() > kMaxStepOutputBytes)
      return Objection{"step.output_too_large", std::string(kTooLarge)};
    if (too_many_open())
      return Objection{"step.too_many_open", more_than(kMaxOpenIntents, "effects would be open")};
    if (output_.fate() != Fate::kGoesOn && !output_.effects().empty())
      return Objection{"step.effects_at_end", "an instance that ends cannot wait for effects"};
    if (output_.fate() == Fate::kGoesOn && !output_.state())
      return Objection{"step.no_state", "the step gave neither a state nor an end"};
    if (output_.state() && !canonical(workflow_.state, *output_.state(), plan.state))
      return Objection{"step.bad_state", why_};
    if (auto objection = check_parts()) return objection;
    if (!output_.annotations().empty() && !workflow_.annotations)
      return Objection{"step.undeclared_annotations", "the workflow declares no annotations"};
    for (const StepOutput::Slice annotation : output_.annotations()) {
      if (!canonical(*workflow_.annotations, output_.value(annotation),
                     plan.annotations.emplace_back()))
        return Objection{"step.bad_annotations", why_};
    }
    if (output_.result() && !canonical(codec::Schema::any(), *output_.result(), plan.result)) {
      return Objection{"step.bad_result", why_};
    }
    for (const StepOutput::Effect& asked : output_.effects()) {
      if (auto objection = check_effect(asked, plan)) return objection;
    }
    for (const StepOutput::Event& emitted : output_.events()) {
      if (auto objection = check_event(emitted, plan)) return objection;
    }
    // What the machine leaves out, such as options that are absent, is written out by now.
    if (bytes_ > kMaxStepOutputBytes)
      return Objection{"step.output_too_large", std::string(kTooLarge) + " in canonical form"};
    return std::nullopt;
  }

 private:
  // An effect is open until its answer is heard.
  bool too_many_open() const {
    if (output_.effects().empty()) return false;
    const std::size_t open = output_.effects().size() + cell_.intents.size();
    return open + (cell_.mail.size() - cell_.mail.counted()) > kMaxOpenIntents;
  }

  // Those of before are in the order in which they were, so that one walk finds them.
  std::optional<Objection> check_parts() {
    if (output_.parts().size() > kMaxStateParts)
      return Objection{"step.too_many_parts", more_than(kMaxStateParts, "parts of a state")};
    auto before = cell_.parts.begin();
    for (const StepOutput::Part& part : output_.parts()) {
      bytes_ += part.bytes.end - part.bytes.begin;
      if (part.bytes.begin != part.bytes.end) continue;
      before = std::find_if(before, cell_.parts.end(),
                            [&](const StatePart& known) { return known.hash == part.hash; });
      if (before == cell_.parts.end())
        return Objection{"step.unknown_part", "the state has no such part"};
      ++before;
    }
    return std::nullopt;
  }

  std::optional<Objection> check_effect(const StepOutput::Effect& asked, Plan& plan) {
    const std::string_view name = output_.text(asked.name);
    const auto* allowed = workflow_.effects.find(name);
    if (allowed == nullptr) {
      return Objection{"step.undeclared_effect",
                       "'" + std::string(name) + "' is not among the effects_emitted"};
    }
    Plan::Effect planned{
        &allowed->second, {}, output_.text(asked.requested_key), output_.text(asked.issuer_ref)};
    if (!is_text(planned.issuer_ref, kMaxReferenceBytes) ||
        !is_text(planned.requested_key, kMaxReferenceBytes)) {
      return Objection{"step.bad_reference",
                       "a reference or key of '" + allowed->first + "' is longer than " +
                           std::to_string(kMaxReferenceBytes) + " bytes, or not UTF-8"};
    }
    const EffectProgram& effect = world_.program->effect(allowed->second.effect);
    if (!canonical(effect.params, output_.value(asked.value), planned.params)) {
      return Objection{"step.bad_params", "the params of '" + allowed->first + "': " + why_};
    }
    bytes_ += effect.name.size();
    plan.effects.push_back(planned);
    return std::nullopt;
  }

  std::optional<Objection> check_event(const StepOutput::Event& emitted, Plan& plan) {
    const EventProgram* event = world_.program->event_of(workflow_, emitted.schema);
    if (event == nullptr)
      return Objection{"step.unknown_event", "the manifest has no schema '" + emitted.schema + "'"};
    Plan::Event planned{event, {}, 0};
    if (!canonical(event->schema, output_.value(emitted.value), planned.value)) {
      return Objection{"step.bad_event", "an event '" + emitted.schema + "': " + why_};
    }
    const std::size_t before = plan.targets.all.size();
    Refused refusal{};
    if (!find_targets(world_, *event, planned.value, plan.targets, refusal)) {
      return Objection{"step.undeliverable_event", refusal.message};
    }
    if (plan.targets.all.size() > kMaxDeliveriesPerStep)
      return Objection{"step.too_many_deliveries",
                       "the events become " + more_than(kMaxDeliveriesPerStep, "messages")};
    planned.targets = plan.targets.all.size() - before;
    bytes_ += event->schema_name.size();
    plan.events.push_back(planned);
    return std::nullopt;
  }

  bool canonical(const codec::Schema& schema, base::ByteView value, base::ByteView& out) {
    const auto made = world_.normaliser.part_from_cbor(schema, value);
    if (!made) {
      why_ = made.error().to_string();
      return false;
    }
    out = made->data() == value.data() ? value : world_.draft.keep(*made);
    bytes_ += out.size();
    return true;
  }

  WorldState& world_;
  const WorkflowProgram& workflow_;
  const Cell& cell_;
  const StepOutput& output_;
  std::size_t bytes_ = 0;
  std::string why_;
};

void open_intent(WorldState& world, Cell& cell, const Plan::Effect& planned,
                 const base::Hash& hash) {
  const EffectProgram& effect = world.program->effect(planned.allowed->effect);
  const Intent& intent = world.intents.add(
      hash, cell.workflow, planned.allowed->effect, world.next_record, world.tick->time_ns, cell.id,
      cell.key, planned.params, planned.issuer_ref, base::ByteView(cell.trace));
  cell.intents.push_back(hash);
  if (effect.in_kernel != InKernel::kNo) {
    ++world.draft.quiet_intents;
    touch(world, cell).opened.push_back({hash, effect.name, world.draft.keep(intent.params())});
    return perform_in_kernel(world, cell, hash, intent);
  }
  world.draft.commands.emplace_back(command_of(world, hash, intent));
  touch(world, cell).opened.push_back({hash, effect.name, intent.params()});
}

}  // namespace

// Two at a time, as their hashes cost less that way.
void open_intents(WorldState& world, Cell& cell, const Plan& plan, std::uint64_t delivery) {
  const std::size_t count = plan.effects.size();
  if (count == 0) return;
  world.draft.commands.reserve(world.draft.commands.size() + count);
  cell.intents.reserve(cell.intents.size() + count);
  const auto emission = [&](std::size_t index) {
    const Plan::Effect& planned = plan.effects[index];
    return Emission{
        &planned.allowed->site, cell.key, world.next_record, delivery, index, planned.params,
        planned.requested_key};
  };
  std::size_t index = 0;
  for (; index + 1 < count; index += 2) {
    base::Hash first;
    base::Hash second;
    intent_hashes(emission(index), first, emission(index + 1), second, world.scratch);
    open_intent(world, cell, plan.effects[index], first);
    open_intent(world, cell, plan.effects[index + 1], second);
  }
  if (index == count) return;
  open_intent(world, cell, plan.effects[index], intent_hash(emission(index), world.scratch));
}

namespace {

// This program, or this machine, is not able to run the step: what would come of it is not known,
// so the world ends before the record is written.
StepEnd cannot_step(WorldState& world, const Cell& cell, const std::string& why) {
  if (failure_of(world)) return {};
  const std::string& workflow = world.program->workflow(cell.workflow).name;
  world.failure =
      base::Error(base::ErrorCode::kUnavailable, "record " + std::to_string(world.next_record),
                  instance_text(workflow, cell.key) + " cannot be stepped: " + why);
  return {};
}

// What old records say of every exception.
constexpr std::string_view kThrewBefore = "the step threw an exception";

// The record has what was decided; a step that ends in this way leaves nothing else.
StepEnd halt(WorldState& world, Cell& cell, Halt halted) {
  ++touch(world, cell).steps;
  world.draft.output_bytes += kMaxReasonBytes + halted.text.size();  // with its note
  const std::string& workflow = world.program->workflow(cell.workflow).name;
  StepEnd end{StepEnd::Kind::kHalted};
  switch (halted.kind) {
    case HaltKind::kOutOfMemory:
      note(world, "step.out_of_memory", {instance_text(workflow, cell.key)});
      break;
    case HaltKind::kNoCode: note(world, "step.no_code", {instance_text(workflow, cell.key)}); break;
    case HaltKind::kUnreadable:
    case HaltKind::kStateUnread:
      note(world, "step.unreadable", {instance_text(workflow, cell.key)});
      break;
    case HaltKind::kThrew: fail(world, cell, "native.exception", halted.text); end = {};
  }
  world.draft.halts.push_back(std::move(halted));
  return end;
}

// The state or the message cannot be had. One whose blob is damaged is this instance's trouble; the
// rest is the world's, and so is everything on replay, where the record would say it.
StepEnd cannot_read(WorldState& world, Cell& cell, std::uint64_t delivery, base::Error error) {
  if (!failure_of(world) && is_damage(error) && !world.replaying)
    return halt(world, cell, {HaltKind::kUnreadable, delivery, {}});
  if (!failure_of(world)) world.failure = std::move(error);
  return {};
}

// The text as it stands in the record.
StepEnd fail_thrown(WorldState& world, Cell& cell, std::uint64_t delivery, std::string_view what) {
  if (!world.replaying)
    return halt(world, cell, {HaltKind::kThrew, delivery, shown(what.substr(0, kMaxThrownBytes))});
  ++touch(world, cell).steps;
  fail(world, cell, "native.exception", kThrewBefore);
  return {};
}

// What the instance is before the step, for one who looks at a replay.
void watch_step(WorldState& world, Cell& cell, const Mail& mail) {
  Watch& watch = *world.watch;
  if (cell.id != watch.id || world.program->workflow(cell.workflow).name != watch.workflow) return;
  auto image = image_of(world, cell);
  Mail taken = mail;
  if (image) {
    if (auto back = world.cells[cell.workflow].bring_back(taken); !back)
      image = std::move(back).error();
  }
  if (!image) {
    watch.error = std::move(image).error();
    return;
  }
  watch.image = std::move(*image);
  watch.image->taken = std::move(taken);
}

}  // namespace

StepEnd step(WorldState& world, Cell& cell, Mail& mail, std::uint64_t delivery) {
  if (world.watch != nullptr) [[unlikely]]
    watch_step(world, cell, mail);
  if (const Halt* halted = find_halt(world, delivery, false)) return halt(world, cell, *halted);
  const WorkflowProgram& workflow = world.program->workflow(cell.workflow);
  // What the definition says has happened so, and happens so again.
  const bool is_past = world.replaying && workflow.defined_machine != nullptr;
  if (!workflow.objection.empty() && workflow.is_pinned && !world.replaying)
    return halt(world, cell, {HaltKind::kNoCode, delivery, {}});
  if (!workflow.objection.empty() && !is_past && world.differences != nullptr) {
    world.differences->push_back(
        {workflow.name, cell.key, "its code does not fit: " + workflow.objection});
    return halt(world, cell, {HaltKind::kNoCode, delivery, {}});
  }
  if (!workflow.objection.empty() && !is_past)
    return cannot_step(world, cell, "its code does not fit: " + workflow.objection);
  if (auto back = world.cells[cell.workflow].bring_back(mail); !back)
    return cannot_read(world, cell, delivery, std::move(back).error());
  StepOutput& output = world.output;
  output.clear();
  const StepContext context(world, cell, delivery);
  auto state = world.cells[cell.workflow].state_of(cell);
  if (!state) return cannot_read(world, cell, delivery, std::move(state).error());
  const bool can_hold = mail.kind == MailKind::kEvent && world.has_rules_2 &&
                        workflow.hears_receipts &&
                        (!cell.intents.empty() || cell.mail.has_answers());
  PartsOfCell parts(world.cells[cell.workflow], cell);
  workflow.machine->step(
      StepInput{*state, mail, context, world.has_rules_2, can_hold, world.has_rules_3, &parts},
      output);
  output.finish();
  if (parts.error()) return cannot_read(world, cell, delivery, std::move(*parts.error()));
  if (output.gave_up()) {
    if (world.replaying) return cannot_step(world, cell, "there is not enough memory for it");
    return halt(world, cell, {HaltKind::kOutOfMemory, delivery, {}});
  }
  if (output.has_thrown()) return fail_thrown(world, cell, delivery, output.error_message());
  if (can_hold && output.holds()) return {StepEnd::Kind::kHolds};
  if (output.uses_rules_2()) world.draft.used_rules_2 = true;
  if (!output.parts().empty()) world.draft.used_rules_3 = true;
  world.draft.output_bytes += std::min(output.size(), kMaxStepOutputBytes);

  Plan& plan = world.plan;
  plan.clear();
  Checker checker(world, workflow, cell, output);
  auto objection = checker.check(plan);
  if (!objection && world.has_rules_2 && (!plan.targets.all.empty() || !plan.effects.empty())) {
    Room room = room_for(world, cell, mail, plan);
    if (room.verdict != Room::Verdict::kYes) world.draft.used_rules_2 = true;
    if (room.is_of_long_circle) world.draft.used_rules_4 = true;
    if (room.verdict == Room::Verdict::kWaits) return {StepEnd::Kind::kWaits, room.of};
    if (room.verdict == Room::Verdict::kNever)
      objection = Objection{"step.too_much_mail", std::move(room.why)};
  }
  ++touch(world, cell).steps;
  if (objection) return fail(world, cell, objection->code, objection->message), StepEnd();
  if (checker.bytes() > output.size()) world.draft.output_bytes += checker.bytes() - output.size();
  if (!plan.state.empty()) {
    world.cells[cell.workflow].set_state(cell, plan.state);
    if (!output.parts().empty() || !cell.parts.empty())
      world.cells[cell.workflow].set_parts(cell, output);
  }
  for (const base::ByteView annotation : plan.annotations)
    touch(world, cell).annotations.push_back(bytes_of(annotation));
  world.trace = cell.trace;
  auto target = plan.targets.all.begin();
  for (const Plan::Event& event : plan.events) {
    for (const auto stop = target + static_cast<std::ptrdiff_t>(event.targets); target != stop;
         ++target) {
      deliver_event(world, *event.event, event.value, *target);
    }
    world.draft.emitted.push_back({event.event->schema_name, bytes_of(event.value)});
  }
  if (output.fate() == Fate::kGoesOn) call_off_stopped(world, cell, output);
  open_intents(world, cell, plan, delivery);
  switch (output.fate()) {
    case Fate::kGoesOn: break;
    case Fate::kDeleted:
      if (output.is_unhandled()) touch(world, cell).is_unhandled = true;
      remove_instance(world, cell);
      break;
    case Fate::kCompleted: end(world, cell, Phase::kCompleted, bytes_of(plan.result)); break;
    case Fate::kFailed: fail(world, cell, output.error_code(), output.error_message()); break;
    case Fate::kCancelled: end(world, cell, Phase::kCancelled, {}); break;
  }
  return {};
}

}  // namespace holdfast::kernel
