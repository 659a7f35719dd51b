// SPDX-License-Identifier: Apache-2.0
// A sign of life of an effect that is under way. It settles nothing. Frames are numbered from 1:
// one that was there already is dropped, one that is missing is noted.
#include <utility>

#include "kernel/text.h"
#include "kernel/world_state.h"

namespace holdfast::kernel {

Answer reduce_progress(WorldState& world, const ProgressArrived& progress) {
  if (progress.sequence == 0)
    return Refused{base::ErrorCode::kInvalid, "progress is numbered from 1"};
  if (!is_text(progress.kind, kMaxProgressKindBytes))
    return Refused{base::ErrorCode::kInvalid, "the kind is too long, or not UTF-8"};
  const Intent* intent = world.intents.find(world.blobs, progress.intent);
  if (intent == nullptr)
    return answer_not_open(world, progress.intent, progress.fence,
                           world.counters.repeated_progress);
  if (auto refusal = refuse_in_kernel(world, *intent)) return std::move(*refusal);
  if (!is_present(*intent, progress.fence)) return stale(world);
  if (progress.sequence <= intent->last_progress) {
    ++world.counters.repeated_progress;
    return Repeated{intent->opened_at()};
  }
  Cell* cell = cell_of(world, *intent);
  if (cell == nullptr) return unreadable();
  Target target{intent->workflow(), intent->key(), intent->cell(), cell};
  if (world.program->workflow(cell->workflow).hears_progress) {
    target.bytes = Mail::kBesides + progress.payload.size() + intent->issuer_ref().size() +
                   progress.kind.size();
  }
  Refused refusal;
  Targets none;
  if (!has_room(world, target, none, refusal)) return refusal;
  const auto payload = world.normaliser.part_from_cbor(codec::Schema::item(), progress.payload);
  if (!payload)
    return Refused{base::ErrorCode::kInvalid,
                   "the progress payload: " + payload.error().to_string()};

  if (progress.sequence != intent->last_progress + 1) {
    note(world, "progress.gap",
         {progress.intent.to_text(), std::to_string(intent->last_progress + 1),
          std::to_string(progress.sequence)});
  }
  world.intents.progressed(progress.intent, progress.sequence);
  touch(world, *cell);
  if (target.bytes == 0) return Accepted{};
  std::unique_ptr<Letter> letter = world.letters.take();
  Mail& mail = letter->mail;
  mail.kind = MailKind::kProgress;
  write_origin(world, progress.intent, *intent, mail.origin);
  mail.sequence = progress.sequence;
  mail.note = progress.kind;
  mail.value.assign(payload->begin(), payload->end());
  deliver(world, *cell, std::move(letter));
  return Accepted{0, world.draft.deliveries, world.draft.ignored, false};
}

}  // namespace holdfast::kernel
