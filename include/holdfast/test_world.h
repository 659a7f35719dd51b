// SPDX-License-Identifier: Apache-2.0
// For the tests of workflows, of steps or not: a world in memory, without files or threads, whose
// clock stands still until it is moved. Handlers run inside the call that made them due, one after
// another in the order in which they were asked for, so a test is the same each time, and a month
// of waiting takes no time.
//
//   auto world = holdfast::testing::World::open({Module::of<Approval>("shop/code@1")},
//                                               step_handlers(std::make_shared<Approval>()));
//   (*world)->send(Request{"r-1"});
//   (*world)->advance(std::chrono::hours(24 * 30));
//   EXPECT_EQ((*world)->query<Approval>("r-1")->status, InstanceStatus::kCompleted);
//
// What is different from an engine: nothing is durable, and an effect is never late.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/detail/value_bytes.h"
#include "holdfast/engine.h"

namespace holdfast::testing {

class World {
 public:
  // Every effect of the modules, but timers, needs a handler.
  static Result<std::unique_ptr<World>> open(std::vector<Module> modules,
                                             std::vector<Handler> handlers, Time now = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Time now() const;

  // Each of these returns when nothing is left to do without time passing.
  template <class Event>
  Result<Sent> send(const Event& event, SendOptions options = {}) {
    return send_raw(Event::kSchema, detail::bytes_of_value(event), options.id);
  }
  // A new instance, as Engine::start.
  template <class Workflow, class Event>
  Result<Sent> start(const KeyOf<Workflow>& key, const Event& event, SendOptions options = {}) {
    return start_raw(Workflow::kWorkflow, detail::bytes_of_key(key), Event::kSchema,
                     detail::bytes_of_value(event), options);
  }
  template <class Workflow>
  Result<Done> cancel(const KeyOf<Workflow>& key, std::string_view reason) {
    return control_raw(Control::kCancel, Workflow::kWorkflow, detail::bytes_of_key(key), reason);
  }
  template <class Workflow>
  Result<Done> pause(const KeyOf<Workflow>& key, std::string_view reason = {}) {
    return control_raw(Control::kPause, Workflow::kWorkflow, detail::bytes_of_key(key), reason);
  }
  template <class Workflow>
  Result<Done> resume(const KeyOf<Workflow>& key, std::string_view reason = {}) {
    return control_raw(Control::kResume, Workflow::kWorkflow, detail::bytes_of_key(key), reason);
  }
  // Timers on the way go off at their times, one after another.
  void advance(Duration by);

  // When the next timer goes off, if one is set.
  std::optional<Time> next_timer() const;

  template <class Workflow>
  Result<Instance<Workflow>> query(const KeyOf<Workflow>& key) {
    Result<RawInstance> raw = query_raw(Workflow::kWorkflow, detail::bytes_of_key(key));
    if (!raw) return raw.error();
    Instance<Workflow> instance;
    instance.status = raw->status;
    instance.is_paused = raw->is_paused;
    Reader state(raw->state);
    if (!raw->state.empty() && !detail::Form<typename Workflow::State>::read(state, instance.state))
      return Error{ErrorCode::kCorrupt, "the state is not what this program takes it for"};
    if (raw->status == InstanceStatus::kCompleted) instance.result = std::move(raw->outcome);
    if (raw->status == InstanceStatus::kFailed) instance.error = error_of(raw->outcome);
    return instance;
  }

  // All that an instance has put out.
  template <class Workflow, class Entry = typename Workflow::Entry>
  std::vector<Entry> stream(const KeyOf<Workflow>& key) const {
    std::vector<Entry> entries;
    for (const Bytes& value : stream_raw(Workflow::kWorkflow, detail::bytes_of_key(key))) {
      Reader in(value);
      static_cast<void>(detail::Form<Entry>::read(in, entries.emplace_back()));
    }
    return entries;
  }

  std::uint64_t records() const;  // that a journal would have

 private:
  struct Body;
  explicit World(std::unique_ptr<Body> body);

  static std::optional<EffectError> error_of(const Bytes& outcome);

  Result<Sent> send_raw(std::string_view schema, const Bytes& value, std::string_view id);
  Result<Sent> start_raw(std::string_view workflow, const Bytes& key, std::string_view schema,
                         const Bytes& value, const SendOptions& options);
  Result<Done> control_raw(Control control, std::string_view workflow, const Bytes& key,
                           std::string_view reason);
  Result<RawInstance> query_raw(std::string_view workflow, Bytes key);
  const std::vector<Bytes>& stream_raw(std::string_view workflow, const Bytes& key) const;

  std::unique_ptr<Body> body_;
};

}  // namespace holdfast::testing
