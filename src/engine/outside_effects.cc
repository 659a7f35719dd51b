// SPDX-License-Identifier: Apache-2.0
// Effects that are performed outside: which are open, and what those who perform them report.
#include <utility>
#include <variant>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "executors/outside.h"

namespace holdfast {
namespace {

constexpr kernel::ReceiptStatus kStatuses[] = {
    kernel::ReceiptStatus::kOk, kernel::ReceiptStatus::kError, kernel::ReceiptStatus::kTimeout,
    kernel::ReceiptStatus::kCancelled};

Status outside(kernel::ReceiptStatus status) {
  switch (status) {
    case kernel::ReceiptStatus::kOk: return Status::kOk;
    case kernel::ReceiptStatus::kError: return Status::kError;
    case kernel::ReceiptStatus::kTimeout: return Status::kTimeout;
    case kernel::ReceiptStatus::kCancelled: break;
  }
  return Status::kCancelled;
}

Result<Reported> reported(const kernel::Answer& answer) {
  if (const auto error = engine::refusal(answer)) return engine::outside(*error);
  if (const auto* repeated = std::get_if<kernel::Repeated>(&answer)) {
    Reported before{.record = repeated->record, .is_repeated = true};
    if (repeated->settled) before.settled = outside(*repeated->settled);
    return before;
  }
  return Reported{.record = std::get_if<kernel::Accepted>(&answer)->record};
}

Result<OpenEffect> read_effect(kernel::World& world, const base::Hash& intent) {
  const auto found = world.find_intent(intent);
  if (!found) return engine::outside(found.error());
  if (*found == nullptr) return Error{ErrorCode::kNotFound, "no open effect " + intent.to_text()};
  const kernel::OpenIntent open = world.command_of(intent, **found);
  return OpenEffect{.intent = {intent.bytes},
                    .effect = open.effect->name,
                    .executor = open.effect->executor.kind,
                    .workflow = std::string(open.workflow),
                    .key = Bytes(open.key.begin(), open.key.end()),
                    .params = Bytes(open.params.begin(), open.params.end()),
                    .opened_at = (*found)->opened_at(),
                    .opened_ns = (*found)->opened_ns(),
                    .last_progress = (*found)->last_progress};
}

// What is performed in here is nobody else's to settle.
Result<Done> check_outside(kernel::World& world, const base::Hash& intent) {
  const auto effect = read_effect(world, intent);
  if (!effect && effect.error().code == ErrorCode::kNotFound)
    return Done{};  // the kernel knows why
  if (!effect) return effect.error();
  if (effect->executor == executors::kOutside) return Done{};
  return Error{ErrorCode::kConflict, "'" + effect->effect + "' is performed by '" +
                                         effect->executor + "', and not outside"};
}

}  // namespace

// First it is looked whose effect it is, which does not change, and then it is reported.
void Engine::Body::report_from_outside(const base::Hash& intent, node::Input input,
                                       Then<Reported> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto held = std::make_shared<node::Input>(std::move(input));
  const auto asked = node->look([this, intent, held, ticket](node::Core& core) {
    core.ask([&](kernel::World& present) -> std::function<void()> {
      if (const auto may = check_outside(present, intent); !may)
        return [ticket, error = may.error()] { ticket->tell(error); };
      return [this, held, ticket] {
        send(std::move(*held), [ticket](Result<kernel::Answer> answer) {
          ticket->tell(answer ? reported(*answer) : Result<Reported>(answer.error()));
        });
      };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::effect_raw(const Hash& intent, Then<OpenEffect> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([hash = base::Hash{intent.bytes}, ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen = std::make_shared<Result<OpenEffect>>(read_effect(world, hash));
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::settle_raw(const RawReceipt& receipt, Then<Reported> then) {
  kernel::ReceiptArrived arrived;
  arrived.intent = {receipt.intent.bytes};
  arrived.status = kStatuses[static_cast<std::size_t>(receipt.status)];
  arrived.payload = receipt.payload;
  arrived.cost_cents = receipt.cost_cents;
  body_->report_from_outside(arrived.intent, node::Input::receipt(arrived), std::move(then));
}

void Engine::progress_raw(const RawProgress& progress, Then<Reported> then) {
  kernel::ProgressArrived arrived;
  arrived.intent = {progress.intent.bytes};
  arrived.sequence = progress.sequence;
  arrived.kind = progress.kind;
  arrived.payload = progress.payload;
  body_->report_from_outside(arrived.intent, node::Input::progress(arrived), std::move(then));
}

}  // namespace holdfast
