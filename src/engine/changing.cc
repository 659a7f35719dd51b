// SPDX-License-Identifier: Apache-2.0
// Instances begin again, move to another version, or are tried under other definitions, each with
// the help of a copy of the world in memory.
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "codec/buffer.h"
#include "engine/body.h"
#include "engine/past_source.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "env/quiet_thread.h"
#include "env/thread_priority.h"
#include "kernel/record_view.h"
#include "node/rehearsal.h"
#include "node/reopening.h"

namespace holdfast {
namespace {

template <class Limits>
node::PastLimits limits_of(const Limits& limits, env::Clock& clock) {
  const std::int64_t end_ns = clock.since_boot_ns() + std::chrono::nanoseconds(limits.time).count();
  node::PastLimits made;
  made.records = limits.records;
  made.bytes = limits.bytes;
  made.goes_on = [&clock, end_ns, time = limits.time,
                  stopped = limits.stopped]() -> base::Result<void> {
    if (stopped && stopped())
      return base::Error(base::ErrorCode::kEnded, "the client that asked for it has gone away");
    if (clock.since_boot_ns() < end_ns) return {};
    return base::Error(base::ErrorCode::kTooLarge,
                       "it takes more than " + std::to_string(time.count()) + " ms");
  };
  return made;
}

}  // namespace

Result<Restarted> Engine::restart_raw(std::string_view workflow, const Bytes& key,
                                      const RestartFrom& from, std::string_view reason,
                                      const PastLimits& limits, std::string_view by) {
  if (from.record != 0 && !from.step.empty())
    return Error{ErrorCode::kInvalid,
                 "an instance restarts from a record or from a step, not both"};
  const auto instance = wait_for<RawInstance>(
      [&](Then<RawInstance> then) { query_raw(workflow, key, std::move(then)); });
  if (!instance) return instance.error();
  if (instance->status != InstanceStatus::kFailed && instance->status != InstanceStatus::kCancelled)
    return Error{
        ErrorCode::kConflict,
        kernel::instance_name(workflow, key) +
            (instance->status == InstanceStatus::kCompleted ? " has completed" : " has not ended")};
  std::optional<base::Result<node::Reopening>> found;
  {
    engine::PinnedPast pinned(*body_->world);
    const std::uint64_t moment =
        from.record != 0 && from.step.empty() ? from.record : instance->last_record;
    const auto source = pinned.source(moment, engine::PinnedPast::kAll);
    if (!source) return engine::outside(source.error());
    found = pinned.judge(node::find_reopening(
        *source, body_->machines, workflow, key, instance->last_record,
        {from.record, std::string(from.step)}, limits_of(limits, *body_->machine_clock)));
  }
  if (!*found) return engine::outside(found->error());
  codec::Buffer image;
  kernel::write_image(image, (*found)->image);
  const std::uint64_t moment = (*found)->from;
  const kernel::ReopenInstance reopen{workflow, key, image.view(), moment, reason, by};
  const auto answer = wait_for<kernel::Answer>([&](Then<kernel::Answer> then) {
    body_->send(node::Input::reopen(reopen), std::move(then));
  });
  if (!answer) return answer.error();
  if (const auto error = engine::refusal(*answer)) return engine::outside(*error);
  return Restarted{std::get_if<kernel::Accepted>(&*answer)->record, moment};
}

Result<Migrated> Engine::migrate(std::string_view workflow, std::string_view by,
                                 const PastLimits& limits) {
  std::vector<base::Bytes> lists;
  {
    engine::PinnedPast pinned(*body_->world);
    const std::uint64_t last = body_->world->journal().durable();
    const auto source = pinned.source(last, 2);
    if (!source) return engine::outside(source.error());
    const auto past = pinned.judge(node::PastWorld::at(*source, body_->machines, source->last,
                                                       limits_of(limits, *body_->machine_clock)));
    if (!past) return engine::outside(past.error());
    if (!(*past)->world().program().workflow_named(workflow))
      return Error{ErrorCode::kNotFound,
                   "the manifest has no workflow '" + std::string(workflow) + "'"};
    auto listed = node::list_earlier((*past)->world(), workflow);
    if (!listed) return engine::outside(listed.error());
    lists = std::move(*listed);
  }
  node::MigrationSum sum;
  for (const base::Bytes& names : lists) {
    const auto answer = wait_for<kernel::Answer>([&](Then<kernel::Answer> then) {
      body_->send(node::Input::migrate({names, by}), std::move(then));
    });
    if (!answer) return answer.error();
    if (const auto error = engine::refusal(*answer)) return engine::outside(*error);
    const auto* const accepted = std::get_if<kernel::Accepted>(&*answer);
    const auto* const same = std::get_if<kernel::Unchanged>(&*answer);
    const auto& migration = accepted != nullptr ? accepted->migration : same->migration;
    if (migration) sum.add(*migration);
  }
  return engine::migrated(sum);
}

Result<Rehearsed> Engine::rehearse_raw(const Bytes& definitions, const RehearseOptions& options) {
  if (const auto performed = body_->check_performed(definitions); !performed)
    return engine::outside(performed.error());
  std::optional<base::Result<node::Rehearsal>> rehearsal;
  {
    engine::PinnedPast pinned(*body_->world);
    const auto source = pinned.source(body_->world->journal().durable(), engine::PinnedPast::kAll);
    if (!source) return engine::outside(source.error());
    node::RehearsalOptions how;
    how.how = {options.strict, options.pin || options.migrate};
    how.migrate = options.migrate;
    how.limits = limits_of(options, *body_->machine_clock);
    // It takes seconds of one processor, and whatever is under way goes first. A thread cannot
    // raise its priority again, so it is not that of the caller.
    try {
      env::quiet_thread([&] {
        env::lower_priority_of_this_thread();
        rehearsal = pinned.judge(node::rehearse(*source, body_->machines, definitions, how));
      }).join();
    } catch (const std::system_error& problem) {
      return Error{ErrorCode::kUnavailable,
                   std::string("there is no thread for it: ") + problem.what()};
    }
  }
  if (!*rehearsal) return engine::outside(rehearsal->error());
  return engine::rehearsed(**rehearsal);
}

}  // namespace holdfast
