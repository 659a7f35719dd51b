// SPDX-License-Identifier: Apache-2.0
#include "holdfast/engine.h"

#include <utility>

#include "codec/buffer.h"
#include "engine/body.h"
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

Figures Engine::figures() {
  const node::LoopFigures loop = body_->node->figures();
  Figures figures{
      .records = loop.records, .syncs = loop.syncs, .journal_bytes = loop.journal_bytes};
  if (body_->history) {
    const node::HistoryFigures history = body_->history->figures();
    figures.history_lag = history.lag;
    figures.history_failures = history.failures;
    figures.history_is_well = history.is_well;
  }
  return figures;
}

Result<Done> Engine::close() {
  if (auto closed = body_->close(); !closed) return engine::outside(closed.error());
  return Done{};
}

void Engine::send_raw(const RawEvent& event, Then<Sent> then) {
  kernel::EventArrived arrived{event.schema, event.value, event.id};
  arrived.workflow = event.workflow;
  arrived.key = event.key;
  arrived.starts = !event.workflow.empty();
  body_->send(node::Input::event(arrived), [then = std::move(then)](Result<kernel::Answer> answer) {
    then(answer ? engine::sent(*answer) : Result<Sent>(answer.error()));
  });
}

Result<Done> Engine::control_raw(Control control, std::string_view workflow, Bytes key,
                                 std::string_view reason) {
  const kernel::ControlRequested request{kControls[static_cast<std::size_t>(control)], workflow,
                                         key, reason};
  const auto answer = wait_for<kernel::Answer>([&](Then<kernel::Answer> then) {
    body_->send(node::Input::control(request), std::move(then));
  });
  return answer ? engine::done(*answer) : Result<Done>(answer.error());
}

void Engine::query_raw(std::string_view workflow, Bytes key, Then<RawInstance> then) {
  body_->query({std::string(workflow), std::move(key)}, std::move(then));
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
