// SPDX-License-Identifier: Apache-2.0
#include "holdfast/schedules.h"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "codec/buffer.h"
#include "defs/system_names.h"
#include "engine/schedule_check.h"
#include "engine/zones.h"
#include "env/posix_disk.h"
#include "errors/translate.h"
#include "schedules/cell.h"

namespace holdfast {
namespace {

constexpr std::size_t kMostPreviewed = 1000;

template <class T, class Ask>
Result<T> wait_for_schedule(Ask&& ask) {
  const auto answer = std::make_shared<std::promise<Result<T>>>();
  ask(Engine::Then<T>([answer](Result<T> told) { answer->set_value(std::move(told)); }));
  return answer->get_future().get();
}

Error no_schedule(const std::string& name) {
  return {ErrorCode::kNotFound, "there is no schedule '" + name + "'"};
}

Result<schedules::Cell> schedule_in(const std::string& name, const Result<RawInstance>& found) {
  if (!found && found.error().code == ErrorCode::kNotFound) return no_schedule(name);
  if (!found) return found.error();
  auto cell = schedules::read_cell(codec::View::of(found->state));
  if (!cell)
    return Error{ErrorCode::kCorrupt, "the state of schedule '" + name + "' cannot be read"};
  return std::move(*cell);
}

ScheduleInfo info_of_schedule(const std::string& name, const schedules::Cell& cell) {
  ScheduleInfo info;
  info.spec = engine::spec_outside(name, cell.spec);
  info.spec.is_paused = cell.phase == schedules::Phase::kPaused;
  info.status = schedules::name_of(cell.phase);
  info.next_ns = cell.next_ns.value_or(0);
  info.error = cell.error;
  info.started = cell.counts.started;
  info.completed = cell.counts.completed;
  info.failed = cell.counts.failed;
  info.cancelled = cell.counts.cancelled;
  info.skipped = cell.counts.skipped;
  info.missed = cell.counts.missed;
  for (const schedules::ScheduleRun& run : cell.runs) info.running.push_back(run.key);
  info.queued = cell.queued;
  for (const schedules::Due& due : cell.recent)
    info.recent.push_back(
        {due.due_ns, std::string(schedules::name_of(due.outcome)), due.key, due.note});
  return info;
}

// An interval that was given no beginning has one once it is kept.
bool is_same(schedules::Spec given, const schedules::Spec& kept) {
  if (given.rule.every_ns != 0 && given.rule.from_ns == 0) given.rule.from_ns = kept.rule.from_ns;
  return given == kept;
}

// Adds one schedule: looks, sends, and looks what became of it.
class ScheduleAddition : public std::enable_shared_from_this<ScheduleAddition> {
 public:
  ScheduleAddition(Engine& engine, std::string name, schedules::Spec spec, bool replaces,
                   bool is_paused, Engine::Then<ScheduleInfo> then)
      : engine_(engine),
        name_(std::move(name)),
        spec_(std::move(spec)),
        replaces_(replaces),
        is_paused_(is_paused),
        then_(std::move(then)) {}

  void begin() { look(false); }

 private:
  void look(bool is_sent) {
    engine_.query_raw(defs::kScheduleWorkflow, schedules::key_of(name_),
                      [self = shared_from_this(), is_sent](const Result<RawInstance>& found) {
                        if (!found && found.error().code == ErrorCode::kNotFound && !is_sent)
                          return self->send(true);
                        auto cell = schedule_in(self->name_, found);
                        if (!cell) return self->then_(cell.error());
                        self->compare(*cell, found->status, is_sent);
                      });
  }

  void compare(const schedules::Cell& cell, InstanceStatus status, bool is_sent) {
    const bool is_there = cell.phase != schedules::Phase::kRemoving;
    const bool has_ended = status >= InstanceStatus::kCompleted;
    if (is_there && is_same(spec_, cell.spec)) return then_(info_of_schedule(name_, cell));
    if (has_ended)
      return then_(Error{ErrorCode::kConflict, "schedule '" + name_ +
                                                   "' has ended; its name is free when it is "
                                                   "forgotten (retention)"});
    if (is_sent || (is_there && !replaces_))
      return then_(Error{ErrorCode::kConflict, "another schedule has the name '" + name_ + "'"});
    send(false);
  }

  void send(bool starts) {
    codec::Buffer event;
    schedules::write_set(event, name_, spec_, replaces_, is_paused_);
    engine_.send_raw({.schema = schedules::kScheduleSet,
                      .value = event.to_bytes(),
                      .workflow = defs::kScheduleWorkflow,
                      .key = schedules::key_of(name_),
                      .starts = starts},
                     [self = shared_from_this()](const Result<Sent>& sent) {
                       // Another caller was faster: what is there decides.
                       if (!sent && sent.error().code != ErrorCode::kConflict)
                         return self->then_(sent.error());
                       self->look(true);
                     });
  }

  Engine& engine_;
  std::string name_;
  schedules::Spec spec_;
  bool replaces_;
  bool is_paused_;
  Engine::Then<ScheduleInfo> then_;
};

schedules::Action inside(ScheduleAction action) {
  switch (action) {
    case ScheduleAction::kPause: return schedules::Action::kPause;
    case ScheduleAction::kResume: return schedules::Action::kResume;
    case ScheduleAction::kRun: return schedules::Action::kRun;
    case ScheduleAction::kRemove: return schedules::Action::kRemove;
    case ScheduleAction::kRemoveAndCancel: break;
  }
  return schedules::Action::kRemoveAndCancel;
}

}  // namespace

void Schedules::add(const ScheduleSpec& spec, bool replaces, Then<ScheduleInfo> then) {
  const auto disk = env::posix_disk();
  auto checked = engine::checked_spec(*disk, engine_.definitions(), spec);
  if (!checked) return then(errors::outside(checked.error()));
  std::make_shared<ScheduleAddition>(engine_, spec.name, std::move(*checked), replaces,
                                     spec.is_paused, std::move(then))
      ->begin();
}

Result<ScheduleInfo> Schedules::add(const ScheduleSpec& spec, bool replaces) {
  return wait_for_schedule<ScheduleInfo>(
      [&](Then<ScheduleInfo> then) { add(spec, replaces, std::move(then)); });
}

// An event for an instance that is not there would leave nothing, and say nothing.
void Schedules::change(const std::string& name, ScheduleAction action, Then<Done> then) {
  schedule(name, [&engine = engine_, name, action,
                  then = std::move(then)](const Result<ScheduleInfo>& info) mutable {
    if (!info) return then(info.error());
    const bool removes =
        action == ScheduleAction::kRemove || action == ScheduleAction::kRemoveAndCancel;
    if (!removes && (info->status == "removing" || info->status == "ended"))
      return then(Error{ErrorCode::kConflict, "schedule '" + name + "' has ended"});
    codec::Buffer event;
    schedules::write_control(event, name, inside(action));
    engine.send_raw(
        {.schema = schedules::kScheduleControl,
         .value = event.to_bytes(),
         .workflow = defs::kScheduleWorkflow,
         .key = schedules::key_of(name),
         .starts = false},
        [then = std::move(then), name](const Result<Sent>& sent) {
          if (!sent) return then(sent.error());
          if (sent->ignored != 0)
            return then(Error{ErrorCode::kConflict, "schedule '" + name + "' has ended"});
          then(Done{});
        });
  });
}

Result<Done> Schedules::change(const std::string& name, ScheduleAction action) {
  return wait_for_schedule<Done>([&](Then<Done> then) { change(name, action, std::move(then)); });
}

void Schedules::schedule(const std::string& name, Then<ScheduleInfo> then) {
  engine_.query_raw(defs::kScheduleWorkflow, schedules::key_of(name),
                    [name, then = std::move(then)](const Result<RawInstance>& found) {
                      const auto cell = schedule_in(name, found);
                      if (!cell) return then(cell.error());
                      then(info_of_schedule(name, *cell));
                    });
}

Result<ScheduleInfo> Schedules::schedule(const std::string& name) {
  return wait_for_schedule<ScheduleInfo>(
      [&](Then<ScheduleInfo> then) { schedule(name, std::move(then)); });
}

void Schedules::list(std::uint64_t after, std::size_t limit, Then<ScheduleList> then) {
  ListOptions options;
  options.workflow = defs::kScheduleWorkflow;
  options.limit = limit;
  options.after = after;
  engine_.list_raw(options, [&engine = engine_,
                             then = std::move(then)](const Result<InstanceList>& listed) mutable {
    if (!listed) return then(listed.error());
    std::vector<Engine::RawName> names;
    std::vector<std::string> keys;
    for (const ListedInstance& each : listed->instances) {
      keys.emplace_back(codec::View::of(each.key).text().value_or(""));
      names.push_back({each.workflow, each.key});
    }
    engine.query_raw(std::move(names),
                     [keys = std::move(keys), next = listed->next,
                      then = std::move(then)](const Result<Engine::RawInstances>& found) {
                       if (!found) return then(found.error());
                       ScheduleList list;
                       list.next = next;
                       for (std::size_t i = 0; i < found->size(); ++i) {
                         const auto cell = schedule_in(keys[i], (*found)[i]);
                         if (cell) list.schedules.push_back(info_of_schedule(keys[i], *cell));
                       }
                       then(std::move(list));
                     });
  });
}

Result<ScheduleList> Schedules::list(std::uint64_t after, std::size_t limit) {
  return wait_for_schedule<ScheduleList>(
      [&](Then<ScheduleList> then) { list(after, limit, std::move(then)); });
}

Result<std::vector<Time>> Schedules::preview(const ScheduleSpec& spec, Time after,
                                             std::size_t count) {
  const auto disk = env::posix_disk();
  auto rule = engine::checked_rule(*disk, spec);
  if (!rule) return errors::outside(rule.error());
  const auto zone = engine::load_zone(*disk, rule->zone);
  if (!zone) return errors::outside(zone.error());
  schedules::DueQuery query;
  query.after_ns =
      static_cast<std::uint64_t>(std::max<std::int64_t>(after.time_since_epoch().count(), 0));
  if (rule->every_ns != 0 && rule->from_ns == 0) rule->from_ns = query.after_ns + rule->every_ns;
  std::vector<Time> times;
  while (times.size() < std::min(count, kMostPreviewed)) {
    query.until_ns = query.after_ns;
    const auto next = schedules::due_times(*rule, *zone, query).next_ns;
    if (!next) break;
    times.push_back(Time(Duration(static_cast<std::int64_t>(*next))));
    query.after_ns = *next;
  }
  return times;
}

}  // namespace holdfast
