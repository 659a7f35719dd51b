// SPDX-License-Identifier: Apache-2.0
#include "holdfast/engine.h"

#include <utility>

#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"

namespace holdfast {
namespace {

constexpr kernel::Control kControls[] = {kernel::Control::kCancel, kernel::Control::kPause,
                                         kernel::Control::kResume};

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

Figures Engine::figures() { return body_->figures(); }

Figures Engine::Body::figures() {
  const node::LoopFigures loop = node->figures();
  Figures figures{.records = loop.records,
                  .syncs = loop.syncs,
                  .journal_bytes = loop.journal_bytes,
                  .waiting_inputs = loop.waiting_inputs};
  if (history) {
    const node::HistoryFigures behind = history->figures();
    figures.history_lag = behind.lag;
    figures.history_failures = behind.failures;
    figures.history_is_well = behind.is_well;
  }
  return figures;
}

Condition Engine::condition() {
  switch (body_->node->condition()) {
    case node::LoopCondition::kReady: return Condition::kReady;
    case node::LoopCondition::kDiskFull: return Condition::kDiskFull;
    case node::LoopCondition::kNoFiles: return Condition::kNoFiles;
    case node::LoopCondition::kEnded: break;
  }
  return Condition::kEnded;
}

Bytes Engine::definitions() {
  const std::lock_guard lock(body_->defining);
  return body_->definitions;
}

std::uint64_t Engine::definitions_version() const noexcept { return body_->definitions_version; }

Result<Done> Engine::close() {
  if (auto closed = body_->close(); !closed) return engine::outside(closed.error());
  return Done{};
}

void Engine::send_raw(const RawEvent& event, Then<Sent> then) {
  kernel::EventArrived arrived{event.schema, event.value, event.id};
  arrived.workflow = event.workflow;
  arrived.key = event.key;
  arrived.starts = !event.workflow.empty() && event.starts;
  arrived.trace = event.trace;
  if (arrived.starts) arrived.reuse = engine::inside(event.reuse);
  body_->send(node::Input::event(arrived), [then = std::move(then)](Result<kernel::Answer> answer) {
    then(answer ? engine::sent(*answer) : Result<Sent>(answer.error()));
  });
}

void Engine::control_raw(Control control, std::string_view workflow, Bytes key,
                         std::string_view reason, Then<Done> then, std::string_view by) {
  const kernel::ControlRequested request{kControls[static_cast<std::size_t>(control)], workflow,
                                         key, reason, by};
  body_->send(node::Input::control(request),
              [then = std::move(then)](Result<kernel::Answer> answer) {
                then(answer ? engine::done(*answer) : Result<Done>(answer.error()));
              });
}

Result<Done> Engine::control_raw(Control control, std::string_view workflow, Bytes key,
                                 std::string_view reason, std::string_view by) {
  return wait_for<Done>([&](Then<Done> then) {
    control_raw(control, workflow, std::move(key), reason, std::move(then), by);
  });
}

void Engine::mark_source(std::string_view source, std::uint64_t record, Then<Done> then) {
  body_->send(node::Input::mark_source({source, record}),
              [then = std::move(then)](Result<kernel::Answer> answer) {
                then(answer ? engine::done(*answer) : Result<Done>(answer.error()));
              });
}

void Engine::query_raw(std::string_view workflow, Bytes key, Then<RawInstance> then) {
  body_->query({std::string(workflow), std::move(key)}, std::move(then));
}

void Engine::query_raw(std::vector<RawName> names, Then<RawInstances> then, std::size_t bytes) {
  body_->query(std::move(names), std::move(then), bytes);
}

WaitId Engine::wait_raw(std::string_view workflow, Bytes key, Then<RawInstance> then) {
  return {body_->wait({std::string(workflow), std::move(key)}, std::move(then))};
}

void Engine::stop_waiting(WaitId wait) { body_->stop_waiting(wait.number); }

Result<RawInstance> Engine::wait_raw(std::string_view workflow, Bytes key, Timeout timeout) {
  const auto answer = std::make_shared<std::promise<Result<RawInstance>>>();
  auto told = answer->get_future();
  const WaitId wait = wait_raw(workflow, std::move(key), [answer](Result<RawInstance> read) {
    answer->set_value(std::move(read));
  });
  if (told.wait_for(timeout) == std::future_status::ready) return told.get();
  stop_waiting(wait);
  return Error{ErrorCode::kTimedOut, "it has not ended in time"};
}

std::optional<EffectError> Engine::error_of(const Bytes& outcome) {
  EffectError error;
  if (!detail::read_error(Reader(outcome), error)) return std::nullopt;
  return error;
}

}  // namespace holdfast
