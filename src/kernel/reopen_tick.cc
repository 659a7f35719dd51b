// SPDX-License-Identifier: Apache-2.0
// An instance that has failed or was cancelled begins again as it was once. Its life before ends in
// the same record, which names the record before it: so its history stays whole. All that could be
// wrong with the image is found before anything changes.
#include <memory>
#include <utility>

#include "kernel/cell_codec.h"
#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {
namespace {

// Behind all steps that a tick can take: the identities of what is opened again are its own.
constexpr std::uint64_t kReopenDelivery = kMaxDeliveriesPerTick;

Refused does_not_fit(const WorkflowProgram& workflow, const std::string& what) {
  return {base::ErrorCode::kConflict,
          "what the instance was does not fit '" + workflow.name + "' any more: " + what};
}

std::optional<Refused> check_effects(WorldState& world, const WorkflowProgram& workflow,
                                     const InstanceImage& image, Plan& plan) {
  for (const InstanceImage::Effect& effect : image.effects) {
    const auto* allowed = workflow.effects.find(effect.name);
    if (allowed == nullptr) return does_not_fit(workflow, "it has no effect '" + effect.name + "'");
    const auto params = world.normaliser.part_from_cbor(
        world.program->effect(allowed->second.effect).params, effect.params);
    if (!params || !base::equal(*params, effect.params))
      return does_not_fit(workflow, "the params of '" + effect.name + "'");
    if (!is_text(effect.issuer_ref, kMaxReferenceBytes))
      return Refused{base::ErrorCode::kInvalid, "a reference in the image is too long"};
    plan.effects.push_back({&allowed->second, effect.params, {}, effect.issuer_ref});
    world.draft.output_bytes += effect.params.size() + effect.name.size();
  }
  return std::nullopt;
}

std::optional<Refused> check_image(WorldState& world, std::uint32_t number,
                                   const InstanceImage& image, Plan& plan) {
  const WorkflowProgram& workflow = world.program->workflow(number);
  if (image.state) {
    const auto state = world.normaliser.part_from_cbor(workflow.state, *image.state);
    if (!state || !base::equal(*state, *image.state)) return does_not_fit(workflow, "its state");
  }
  if (!image.state && image.mail.empty())
    return Refused{base::ErrorCode::kInvalid, "the image has neither state nor mail"};
  for (const Mail& mail : image.mail) {
    if (!world.read_back.mail_fits(number, mail))
      return does_not_fit(workflow, "a message that waited for it");
  }
  return check_effects(world, workflow, image, plan);
}

void restore_image(WorldState& world, Cell& cell, InstanceImage& image, const Plan& plan) {
  Cells& cells = world.cells[cell.workflow];
  if (image.state) {
    cells.set_state(cell, *image.state);
    cells.set_parts(cell, image.parts);
  }
  cell.trace = std::move(image.trace);
  touch(world, cell);
  for (Mail& mail : image.mail) {
    std::unique_ptr<Letter> letter = world.letters.take();
    letter->mail = std::move(mail);
    deliver(world, cell, std::move(letter));
  }
  world.reopening = true;
  open_intents(world, cell, plan, kReopenDelivery);
  world.reopening = false;
}

}  // namespace

Answer reduce_reopen(WorldState& world, const ReopenInstance& reopen) {
  if (!is_text(reopen.reason, kMaxReasonBytes))
    return Refused{base::ErrorCode::kInvalid, "the reason is too long, or not UTF-8"};
  if (const auto refused = check_by(reopen.by)) return *refused;
  const auto present = world.program->workflow_named(reopen.workflow);
  const base::Hash id = key_hash(reopen.key);
  const std::uint32_t number = present ? version_of(world, *present, id) : 0;
  Cell* const cell = present ? world.cells[number].find(id) : nullptr;
  if (cell == nullptr) return Refused{base::ErrorCode::kNotFound, "there is no such instance"};
  const WorkflowProgram& workflow = world.program->workflow(number);
  if (workflow.is_system)
    return Refused{base::ErrorCode::kConflict, "a task or graph is run again by its own request"};
  if (!cell->terminal()) return Refused{base::ErrorCode::kConflict, "the instance has not ended"};
  if (cell->phase == Phase::kCompleted)
    return Refused{base::ErrorCode::kConflict, "the instance has completed"};
  if (!workflow.objection.empty() && !world.replaying) {
    return Refused{base::ErrorCode::kConflict,
                   "the code of '" + workflow.name + "' does not fit: " + workflow.objection};
  }
  auto image = read_image(reopen.image);
  if (!image) return Refused{base::ErrorCode::kInvalid, "it is no image of an instance"};
  Plan plan;  // borrows from the image
  if (auto refused = check_image(world, number, *image, plan)) return std::move(*refused);
  const base::Bytes key = cell->key;
  end_life(world, *cell, number);
  Cell& begun = world.cells[number].begin(id, key);
  begun.last_record = world.draft.record_before(begun);
  restore_image(world, begun, *image, plan);
  note(world, "instance.reopened", {std::string(reopen.workflow), std::to_string(reopen.from)});
  return Accepted{};
}

}  // namespace holdfast::kernel
