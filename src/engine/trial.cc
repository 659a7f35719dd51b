// SPDX-License-Identifier: Apache-2.0
// The trial run of a proposal, beside the world that runs.
#include <optional>
#include <utility>

#include "engine/body.h"
#include "engine/past_source.h"
#include "engine/translate.h"
#include "node/shadow.h"

namespace holdfast {
namespace {

Result<node::ShadowDefinitions> definitions_in(const kernel::World& world, std::uint64_t proposal) {
  auto definitions = node::definitions_to_try(world, proposal);
  if (!definitions) return engine::outside(definitions.error());
  return std::move(*definitions);
}

node::ShadowOptions inside(const TrialOptions& how, const engine::Trials& trials,
                           env::Clock& clock) {
  const std::int64_t end_ns = clock.since_boot_ns() + std::chrono::nanoseconds(how.time).count();
  node::ShadowOptions options;
  options.from = how.from;
  options.to = how.to;
  options.most_records = how.records;
  options.limits.records = PastLimits{}.records;  // to come to its beginning
  options.limits.bytes = how.bytes / 2;           // for each of the two runs
  options.limits.goes_on = [&trials, &clock, end_ns, &how]() -> base::Result<void> {
    if (trials.is_cancelled())
      return base::Error(base::ErrorCode::kEnded, "the engine closes: the trial was given up");
    if (how.stopped && how.stopped())
      return base::Error(base::ErrorCode::kEnded,
                         "the client that asked for the trial has gone away");
    if (clock.since_boot_ns() < end_ns) return {};
    return base::Error(base::ErrorCode::kTooLarge, "the trial takes more than " +
                                                       std::to_string(how.time.count()) +
                                                       " ms: a shorter stretch of records may do");
  };
  return options;
}

}  // namespace

Result<Tried> Engine::Body::try_proposal(std::uint64_t proposal, const TrialOptions& how) {
  const auto to_try = wait_for<node::ShadowDefinitions>([&](auto then) {
    const auto ticket = engine::ticket(std::move(then));
    const auto asked = node->look([proposal, ticket](node::Core& core) {
      core.ask([&](kernel::World& present) -> std::function<void()> {
        auto seen =
            std::make_shared<Result<node::ShadowDefinitions>>(definitions_in(present, proposal));
        return [ticket, seen] { ticket->tell(std::move(*seen)); };
      });
    });
    if (!asked) ticket->tell(engine::outside(asked.error()));
  });
  if (!to_try) return to_try.error();
  std::optional<base::Result<node::ShadowReport>> report;
  {
    engine::PinnedPast pinned(*world);
    const auto source = pinned.source(world->journal().durable(), engine::PinnedPast::kAll);
    if (!source) return engine::outside(source.error());
    report =
        pinned.judge(node::shadow(*source, machines, *to_try, inside(how, trials, *machine_clock)));
  }
  if (!*report) return engine::outside(report->error());
  Tried tried{.report = node::document_of(**report)};
  const auto answer = wait_for<kernel::Answer>([&](Then<kernel::Answer> then) {
    send(node::Input::shadow({proposal, tried.report, how.by}), std::move(then));
  });
  if (!answer) return answer.error();
  if (const auto error = engine::refusal(*answer)) return engine::outside(*error);
  tried.record = std::get_if<kernel::Accepted>(&*answer)->record;
  return tried;
}

void Engine::try_proposal_raw(std::uint64_t proposal, TrialOptions options, Then<Tried> then) {
  const auto ticket = engine::ticket(std::move(then));
  Body* const body = body_.get();
  const bool begun = body->trials.begin(
      [body, proposal, how = std::move(options), ticket]() -> std::function<void()> {
        auto tried = std::make_shared<Result<Tried>>(body->try_proposal(proposal, how));
        return [ticket, tried] { ticket->tell(std::move(*tried)); };
      });
  if (begun) return;
  if (body->trials.is_cancelled())
    return ticket->tell(Error{ErrorCode::kEnded, "the engine is closed"});
  ticket->tell(Error{ErrorCode::kUnavailable, "another trial is running"});
}

}  // namespace holdfast
