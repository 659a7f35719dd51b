// SPDX-License-Identifier: Apache-2.0
// Other definitions: applied, tried, proposed and decided.
#include <algorithm>
#include <utility>
#include <variant>

#include "codec/normaliser.h"
#include "codec/view.h"
#include "defs/builtin.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "kernel/manifest_change.h"

namespace holdfast {
namespace {

constexpr std::size_t kMostNamesTold = 1000;

std::vector<std::string> first_names(const std::vector<std::string>& names) {
  const std::size_t count = std::min(names.size(), kMostNamesTold);
  return {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count)};
}

Applied applied_while_blocked(const kernel::Blocked& blocked) {
  Applied applied;
  applied.blocking_count = blocked.count;
  for (const kernel::BlockedWorkflow& each : blocked.workflows)
    applied.blocking_workflows.push_back({each.workflow, each.count, each.because});
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

void append_names(std::string& line, std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t kMostInLine = 5;
  if (names.empty()) return;
  line.append(line.empty() ? "" : "; ").append(what);
  for (std::size_t i = 0; i < names.size() && i < kMostInLine; ++i)
    line.append(i == 0 ? " " : ", ").append(names[i]);
  if (names.size() > kMostInLine)
    line.append(" and ").append(std::to_string(names.size() - kMostInLine)).append(" more");
}

}  // namespace

Result<Applied> engine::applied(const kernel::Answer& answer) {
  if (const auto* blocked = std::get_if<kernel::Blocked>(&answer))
    return applied_while_blocked(*blocked);
  if (const auto error = engine::refusal(answer)) return engine::outside(*error);
  Applied applied;
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  applied.unchanged = accepted == nullptr;
  if (accepted == nullptr) return applied;
  applied.record = accepted->record;
  if (accepted->change == nullptr) return applied;
  applied.added = first_names(accepted->change->added);
  applied.changed = first_names(accepted->change->changed);
  applied.removed = first_names(accepted->change->removed);
  for (const auto& [workflow, instances] : accepted->change->pinned)
    applied.pinned.push_back({workflow, instances});
  return applied;
}

std::string describe(const Applied& applied) {
  if (applied.unchanged) return "nothing changed";
  std::string line;
  if (applied.blocking_count != 0) {
    for (const BlockedWorkflow& each : applied.blocking_workflows)
      append_names(line, each.workflow + " uses", each.because);
    return std::to_string(applied.blocking_count) + " instances have not ended" +
           (line.empty() ? "" : " (" + line + ")");
  }
  append_names(line, "added", applied.added);
  append_names(line, "changed", applied.changed);
  append_names(line, "removed", applied.removed);
  std::vector<std::string> pinned;
  for (const BlockedWorkflow& each : applied.pinned)
    pinned.push_back(std::to_string(each.instances) + " instances of " + each.workflow);
  append_names(line, "pinned", pinned);
  return line.empty() ? "only routes changed" : line;
}

base::Result<void> Engine::Body::check_performed(base::ByteView document) const {
  codec::Normaliser normaliser;
  auto value = normaliser.from_cbor(codec::Schema::any(), document, codec::Strictness::kLenient);
  if (!value) return std::move(value).error().within("definitions");
  const codec::View view = codec::View::of(*value);
  if (view.kind() != codec::ViewKind::kList) return {};  // a patch: the kernel knows of what
  const defs::Catalogue& builtin = defs::builtin_catalogue();
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
    auto told = std::make_shared<Result<Applied>>(engine::applied(*answer));
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

void Engine::apply_raw(Bytes definitions, ApplyOptions options, Then<Applied> then,
                       std::string_view by) {
  if (const auto performed = body_->check_performed(definitions); !performed)
    return then(engine::outside(performed.error()));
  const auto ticket = engine::ticket(std::move(then));
  if (options.mode == ApplyMode::kApply)
    return body_->apply(node::Input::apply({definitions, by, options.strict, options.pin}), ticket);
  const auto asked =
      body_->node->look([definitions = std::move(definitions), ticket,
                         how = kernel::HowToApply{options.strict, options.pin}](node::Core& core) {
        core.ask([&](kernel::World& world) -> std::function<void()> {
          auto seen =
              std::make_shared<Result<Applied>>(engine::applied(world.try_apply(definitions, how)));
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
