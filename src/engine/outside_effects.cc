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
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  if (accepted == nullptr)
    return Error{ErrorCode::kConflict, "a worker holds this effect under another dispatch"};
  return Reported{.record = accepted->record};
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

// Those that are still open, as many as fit: one at least.
Result<OpenEffectsPart> read_effects(kernel::World& world,
                                     const std::vector<executors::Outside::Place>& places,
                                     bool are_all, std::size_t most_bytes) {
  OpenEffectsPart part;
  std::size_t bytes = 0;
  for (const executors::Outside::Place& place : places) {
    auto effect = read_effect(world, place.intent);
    if (!effect && effect.error().code == ErrorCode::kNotFound) continue;
    if (!effect) return effect.error();
    bytes += effect->params.size() + effect->key.size();
    if (bytes > most_bytes && !part.effects.empty()) return part;
    part.effects.push_back(std::move(*effect));
    part.next = place.to_text();
  }
  part.next = are_all ? "" : places.back().to_text();
  return part;
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
      return [this, intent, held, ticket] {
        const bool settles = held->ends_work();
        send(std::move(*held), [this, intent, settles, ticket](Result<kernel::Answer> answer) {
          auto told = answer ? reported(*answer) : Result<Reported>(answer.error());
          if (settles && told) outside.stop(intent);
          ticket->tell(std::move(told));
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

void Engine::open_effects_raw(std::string_view effect, std::string_view after, PartLimits limits,
                              Then<OpenEffectsPart> then) {
  const auto place =
      after.empty() ? executors::Outside::Place() : executors::Outside::Place::parse(after);
  if (!place) return then(Error{ErrorCode::kInvalid, "after: it is no place among effects"});
  auto places = body_->outside.open(effect, *place, limits.records + 1);
  const bool are_all = places.size() <= limits.records;
  if (!are_all) places.pop_back();
  if (places.empty()) return then(OpenEffectsPart());
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([places = std::move(places), are_all, bytes = limits.bytes,
                                        ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen =
          std::make_shared<Result<OpenEffectsPart>>(read_effects(world, places, are_all, bytes));
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
