// SPDX-License-Identifier: Apache-2.0
// Engine: a world inside this program. It is opened from a folder, and goes on where it was when
// the program, or the machine, last ended.
//
//   auto engine = holdfast::Engine::open({.dir = "orders.world",
//                                         .modules = {shop_module()},
//                                         .handlers = {holdfast::handle<Charge>(charge)}});
//   (*engine)->send(OrderPlaced{.id = "o-1", .cents = 1990}, {.id = "web-4711"});
//   auto order = (*engine)->wait<Order>("o-1", std::chrono::seconds(5));
//
// What a call returns is durable. All of it is for any thread; handlers run on threads of the
// engine, which has none before it is opened and none after it is closed. No signal handlers, no
// globals.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/handler.h"
#include "holdfast/module.h"
#include "holdfast/result.h"

namespace holdfast {

namespace codec {
class Buffer;
}

struct EngineOptions {
  std::string dir;  // of the world; it is begun if there is none
  std::vector<Module> modules = {};
  std::vector<Handler> handlers = {};
  std::size_t handler_threads = 4;
};

struct SendOptions {
  std::string_view id = {};  // the same event sent again under its id happens once
};

struct Sent {
  std::uint64_t record = 0;      // that holds it
  std::uint32_t deliveries = 0;  // instances that got it
  bool is_repeated = false;      // it was sent before, and nothing happened now
};

enum class InstanceStatus : std::uint8_t { kRunning, kWaiting, kCompleted, kFailed, kCancelled };

// An instance as it was at some record, with its values as bytes.
struct RawInstance {
  InstanceStatus status = InstanceStatus::kRunning;
  bool is_paused = false;
  Bytes state;
  Bytes outcome;  // the result, or the error; empty: it has not ended
};

template <class Workflow>
struct Instance {
  InstanceStatus status = InstanceStatus::kRunning;
  bool is_paused = false;
  typename Workflow::State state{};
  std::optional<EffectError> error;  // that it failed with
  Bytes result;                      // that it completed with; see result_as

  bool has_ended() const noexcept { return status >= InstanceStatus::kCompleted; }

  template <class T>
  std::optional<T> result_as() const {
    T value{};
    Reader in(result);
    if (status != InstanceStatus::kCompleted || !detail::Form<T>::read(in, value))
      return std::nullopt;
    return value;
  }
};

class Engine {
 public:
  using Timeout = std::chrono::milliseconds;

  // The definitions of the modules are applied if they are not the world's already.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // An event for everybody who subscribes to it.
  template <class Event>
  Result<Sent> send(const Event& event, SendOptions options = {}) {
    return send_raw(Event::kSchema, bytes_of(event), options);
  }

  // kNotFound: there is no such instance.
  template <class Workflow>
  Result<Instance<Workflow>> query(const typename detail::Parts<Workflow>::Key& key) {
    return typed<Workflow>(query_raw(Workflow::kWorkflow, bytes_of(key)));
  }

  // Until it has ended. kUnavailable: it has not within that time; it may not even be there yet.
  template <class Workflow>
  Result<Instance<Workflow>> wait(const typename detail::Parts<Workflow>::Key& key,
                                  Timeout timeout) {
    return typed<Workflow>(wait_raw(Workflow::kWorkflow, bytes_of(key), timeout));
  }

  // kNotFound: there is no such instance; kConflict: it has ended.
  template <class Workflow>
  Result<Done> cancel(const typename detail::Parts<Workflow>::Key& key, std::string_view reason) {
    return control_raw(Control::kCancel, Workflow::kWorkflow, bytes_of(key), reason);
  }
  template <class Workflow>
  Result<Done> pause(const typename detail::Parts<Workflow>::Key& key, std::string_view reason) {
    return control_raw(Control::kPause, Workflow::kWorkflow, bytes_of(key), reason);
  }
  template <class Workflow>
  Result<Done> resume(const typename detail::Parts<Workflow>::Key& key, std::string_view reason) {
    return control_raw(Control::kResume, Workflow::kWorkflow, bytes_of(key), reason);
  }

  // Takes nothing new, makes durable what was taken, and ends. What waits is told so.
  Result<Done> close();

  // The same without types: canonical values.
  Result<Sent> send_raw(std::string_view schema, const Bytes& value, SendOptions options);
  Result<RawInstance> query_raw(std::string_view workflow, const Bytes& key);
  Result<RawInstance> wait_raw(std::string_view workflow, const Bytes& key, Timeout timeout);

 private:
  enum class Control : std::uint8_t { kCancel, kPause, kResume };
  struct Body;

  explicit Engine(std::unique_ptr<Body> body);
  Result<Done> control_raw(Control control, std::string_view workflow, const Bytes& key,
                           std::string_view reason);

  template <class T>
  static Bytes bytes_of(const T& value) {
    return written([&value](Writer& out) { detail::Form<T>::write(out, value); });
  }
  static Bytes written(const std::function<void(Writer&)>& write);

  template <class Workflow>
  static Result<Instance<Workflow>> typed(Result<RawInstance> raw) {
    if (!raw) return raw.error();
    Instance<Workflow> instance;
    instance.status = raw->status;
    instance.is_paused = raw->is_paused;
    Reader state(raw->state);
    if (!raw->state.empty() &&
        !detail::Form<typename Workflow::State>::read(state, instance.state))
      return Error{ErrorCode::kCorrupt, "the state is not what this program takes it for"};
    if (raw->status == InstanceStatus::kCompleted) instance.result = std::move(raw->outcome);
    if (raw->status == InstanceStatus::kFailed) instance.error = error_of(raw->outcome);
    return instance;
  }
  static std::optional<EffectError> error_of(const Bytes& outcome);

  std::unique_ptr<Body> body_;
};

}  // namespace holdfast
