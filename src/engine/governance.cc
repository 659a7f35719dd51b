// SPDX-License-Identifier: Apache-2.0
// Other definitions: applied, tried, proposed and decided.
#include <utility>
#include <variant>

#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"

namespace holdfast {
namespace {

Applied outside(const kernel::Blocked& blocked) {
  Applied applied;
  applied.blocking_count = blocked.count;
  for (const kernel::Blocker& blocker : blocked.blockers) {
    applied.blocking.push_back({.workflow = blocker.workflow,
                                .key = blocker.key,
                                .status = std::string(name_of(blocker.status)),
                                .is_paused = blocker.paused,
                                .effects = blocker.intents.size(),
                                .mail = blocker.mail});
  }
  return applied;
}

Result<Applied> applied(const kernel::Answer& answer) {
  if (const auto* blocked = std::get_if<kernel::Blocked>(&answer)) return outside(*blocked);
  if (const auto error = engine::refusal(answer)) return engine::outside(*error);
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  return Applied{.record = accepted->record};
}

Result<std::uint64_t> record_of(const kernel::Answer& answer) {
  if (const auto error = engine::refusal(answer)) return engine::outside(*error);
  return std::get_if<kernel::Accepted>(&answer)->record;
}

ProposalInfo outside(kernel::ProposalView&& view) {
  return {.id = view.id,
          .stage = std::string(view.stage),
          .base = {view.base.bytes},
          .manifest = {view.manifest.bytes},
          .description = std::move(view.description),
          .report = std::move(view.report),
          .by = std::move(view.by),
          .reason = std::move(view.reason)};
}

}  // namespace

base::Result<void> Engine::Body::check_performed(base::ByteView document) const {
  codec::Normaliser normaliser;
  auto value = normaliser.from_cbor(codec::Schema::any(), document, codec::Strictness::kLenient);
  if (!value) return std::move(value).error().within("definitions");
  const codec::View view = codec::View::of(*value);
  if (view.kind() != codec::ViewKind::kList) return {};  // a patch: the kernel knows of what
  const defs::Catalogue builtin = defs::builtin_catalogue();
  return performers.check(defs::load(view, "$", &builtin));
}

// Behind the tick that may have changed them, and before anything that it opens is started.
void Engine::Body::refresh_definitions(const std::function<void()>& then) {
  const auto looked = node->look(
      [this, then](node::Core& core) {
        core.ask([this, then](kernel::World& present) -> std::function<void()> {
          use_definitions(
              base::Bytes(present.program().closure().begin(), present.program().closure().end()));
          return then;
        });
      },
      node::Loop::LookKind::kTakesBack);
  if (!looked && then) then();
}

// Whoever is told that other definitions are applied can use them from then on.
void Engine::Body::apply(node::Input input, std::shared_ptr<engine::Ticket<Applied>> ticket) {
  send(std::move(input), [this, ticket = std::move(ticket)](Result<kernel::Answer> answer) {
    if (!answer) return ticket->tell(answer.error());
    auto told = std::make_shared<Result<Applied>>(applied(*answer));
    refresh_definitions([ticket, told] { ticket->tell(std::move(*told)); });
  });
  refresh_definitions();
}

void Engine::Body::use_definitions(base::Bytes closure) {
  const std::lock_guard lock(defining);
  if (closure == definitions) return;
  if (closure.empty()) {
    secrets.declare({});
  } else if (const auto declared = executors::secrets_of(closure)) {
    secrets.declare(*declared);
  } else {
    log("the secrets of the definitions cannot be read: " + declared.error().to_string());
  }
  definitions = std::move(closure);
  ++definitions_version;
}

void Engine::apply_raw(Bytes definitions, ApplyMode mode, Then<Applied> then, std::string_view by) {
  if (const auto performed = body_->check_performed(definitions); !performed)
    return then(engine::outside(performed.error()));
  const auto ticket = engine::ticket(std::move(then));
  if (mode == ApplyMode::kApply) return body_->apply(node::Input::apply({definitions, by}), ticket);
  const auto asked =
      body_->node->look([definitions = std::move(definitions), ticket](node::Core& core) {
        core.ask([&](kernel::World& world) -> std::function<void()> {
          auto seen = std::make_shared<Result<Applied>>(applied(world.try_apply(definitions)));
          return [ticket, seen] { ticket->tell(std::move(*seen)); };
        });
      });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::propose_raw(Bytes document, std::string_view description, Then<std::uint64_t> then,
                         std::string_view by) {
  if (const auto performed = body_->check_performed(document); !performed)
    return then(engine::outside(performed.error()));
  body_->send(node::Input::propose({document, description, by}),
              [then = std::move(then)](Result<kernel::Answer> answer) {
                then(answer ? record_of(*answer) : Result<std::uint64_t>(answer.error()));
              });
}

void Engine::proposals_raw(Then<std::vector<ProposalInfo>> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen = std::make_shared<std::vector<ProposalInfo>>();
      for (kernel::ProposalView& view : world.proposals())
        seen->push_back(outside(std::move(view)));
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::decide_raw(const ProposalDecision& decision, Then<std::uint64_t> then) {
  body_->send(
      node::Input::decide({decision.proposal, decision.approve, decision.by, decision.reason}),
      [then = std::move(then)](Result<kernel::Answer> answer) {
        then(answer ? record_of(*answer) : Result<std::uint64_t>(answer.error()));
      });
}

// A patch does not say all that it comes to, and those who perform effects may be others than when
// it was proposed: so it is looked at as it is to be.
void Engine::apply_proposal_raw(std::uint64_t proposal, Then<Applied> then, std::string_view by) {
  const auto ticket = engine::ticket(std::move(then));
  Body* const body = body_.get();
  const auto asked =
      body->node->look([body, proposal, ticket, by = std::string(by)](node::Core& core) {
        core.ask([&](kernel::World& world) -> std::function<void()> {
          auto definitions =
              std::make_shared<base::Result<base::Bytes>>(world.proposed_definitions(proposal));
          return [body, proposal, ticket, definitions, by] {
            // Of one that is not there, the world says so.
            if (*definitions) {
              if (const auto performed = body->check_performed(**definitions); !performed)
                return ticket->tell(engine::outside(performed.error()));
            }
            body->apply(node::Input::apply_proposal({proposal, by}), ticket);
          };
        });
      });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

}  // namespace holdfast
