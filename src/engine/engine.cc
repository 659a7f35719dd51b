// SPDX-License-Identifier: Apache-2.0
#include "holdfast/engine.h"

#include <utility>

#include "codec/buffer.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"

namespace holdfast {
namespace {

constexpr kernel::Control kControls[] = {kernel::Control::kCancel, kernel::Control::kPause,
                                         kernel::Control::kResume};

// What is to be told of an instance once everything that was seen of it is durable.
node::Question question_about(kernel::InstanceName name,
                              std::shared_ptr<engine::Ticket<RawInstance>> ticket) {
  return [name = std::move(name), ticket = std::move(ticket)](kernel::World& world) {
    auto seen = std::make_shared<Result<RawInstance>>(engine::read(world, name));
    return [ticket, seen] { ticket->tell(std::move(*seen)); };
  };
}

}  // namespace

Engine::Engine(std::unique_ptr<Body> body) : body_(std::move(body)) {}

Engine::~Engine() { static_cast<void>(close()); }

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
  std::vector<Handler> handlers = std::move(options.handlers);
  auto body = std::make_unique<Body>(std::move(options));
  if (auto opened = body->open(std::move(handlers)); !opened)
    return engine::outside(std::move(opened).error());
  return std::unique_ptr<Engine>(new Engine(std::move(body)));
}

Figures Engine::figures() {
  const node::LoopFigures figures = body_->node->figures();
  return {figures.records, figures.syncs, figures.journal_bytes, figures.waiting_inputs};
}

Condition Engine::condition() {
  switch (body_->node->condition()) {
    case node::LoopCondition::kReady: return Condition::kReady;
    case node::LoopCondition::kDiskFull: return Condition::kDiskFull;
    case node::LoopCondition::kEnded: break;
  }
  return Condition::kEnded;
}

Bytes Engine::definitions() { return body_->definitions; }

Result<Done> Engine::close() {
  if (auto closed = body_->close(); !closed) return engine::outside(closed.error());
  return Done{};
}

void Engine::send_raw(const RawEvent& event, Then<Sent> then) {
  kernel::EventArrived arrived{event.schema, event.value, event.id};
  arrived.workflow = event.workflow;
  arrived.key = event.key;
  arrived.starts = !event.workflow.empty() && event.starts;
  body_->send(node::Input::event(arrived), [then = std::move(then)](Result<kernel::Answer> answer) {
    then(answer ? engine::sent(*answer) : Result<Sent>(answer.error()));
  });
}

void Engine::control_raw(Control control, std::string_view workflow, Bytes key,
                         std::string_view reason, Then<Done> then) {
  const kernel::ControlRequested request{kControls[static_cast<std::size_t>(control)], workflow,
                                         key, reason};
  body_->send(node::Input::control(request),
              [then = std::move(then)](Result<kernel::Answer> answer) {
                then(answer ? engine::done(*answer) : Result<Done>(answer.error()));
              });
}

Result<Done> Engine::control_raw(Control control, std::string_view workflow, Bytes key,
                                 std::string_view reason) {
  return wait_for<Done>([&](Then<Done> then) {
    control_raw(control, workflow, std::move(key), reason, std::move(then));
  });
}

void Engine::query_raw(std::string_view workflow, Bytes key, Then<RawInstance> then) {
  const auto ticket = engine::ticket(std::move(then));
  kernel::InstanceName name{std::string(workflow), std::move(key)};
  const auto asked = body_->node->look([name = std::move(name), ticket](node::Core& core) mutable {
    core.ask(question_about(std::move(name), ticket));
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::query_raw(std::vector<RawName> names, Then<RawInstances> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([names = std::move(names), ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen = std::make_shared<RawInstances>();
      seen->reserve(names.size());
      for (const RawName& name : names)
        seen->push_back(engine::read(world, {name.workflow, name.key}));
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

std::uint64_t Engine::wait_raw(std::string_view workflow, Bytes key, Then<RawInstance> then) {
  return body_->wait({std::string(workflow), std::move(key)}, std::move(then));
}

void Engine::wait_no_more(std::uint64_t number) {
  // An error: the engine has ended, and with it everybody who waits.
  static_cast<void>(body_->node->look([number](node::Core& core) { core.ask_no_more(number); },
                                      node::Loop::LookKind::kTakesBack));
}

// The number of the question, which takes it away again.
std::uint64_t Engine::Body::wait(kernel::InstanceName name, Then<RawInstance> then) {
  const std::uint64_t number = next_question++;
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = node->look([name = std::move(name), ticket, number](node::Core& core) {
    if (core.ask_at_end(number, name, question_about(name, ticket))) return;
    ticket->tell(Error{ErrorCode::kUnavailable, "too many wait for instances to end"});
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
  return number;
}

Result<RawInstance> Engine::wait_raw(std::string_view workflow, Bytes key, Timeout timeout) {
  const auto answer = std::make_shared<std::promise<Result<RawInstance>>>();
  auto told = answer->get_future();
  const std::uint64_t number =
      body_->wait({std::string(workflow), std::move(key)},
                  [answer](Result<RawInstance> read) { answer->set_value(std::move(read)); });
  if (told.wait_for(timeout) == std::future_status::ready) return told.get();
  wait_no_more(number);
  return Error{ErrorCode::kUnavailable, "it has not ended in time"};
}

Bytes Engine::written(const std::function<void(Writer&)>& write) {
  codec::Buffer out;
  {
    Writer writer(out);
    write(writer);
  }
  return out.to_bytes();
}

std::optional<EffectError> Engine::error_of(const Bytes& outcome) {
  EffectError error;
  if (!detail::read_error(Reader(outcome), error)) return std::nullopt;
  return error;
}

}  // namespace holdfast
