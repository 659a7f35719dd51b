// SPDX-License-Identifier: Apache-2.0
// StepLoop: one run of a step workflow without an engine. It decides as an engine does, by the same
// code, and keeps its state as it is between events. What it knows of the outside is an adapter
// (holdfast/step_adapter.h). For many runs in memory there is holdfast/memory_runs.h.
//
//   auto program = holdfast::StepProgram::of(std::make_shared<Approval>());
//   holdfast::StepLoop loop(*program, adapter);
//   auto status = loop.run();
//
// Nothing of it is durable but through StepAdapter::journal.
//
// Link holdfast::memory for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/module.h"
#include "holdfast/result.h"
#include "holdfast/step_adapter.h"
#include "holdfast/steps.h"

namespace holdfast {

// What loops do has changed with versions of Holdfast. A recording does not hold its rules: one of
// an earlier version replays under the rules that were the newest then.
enum class StepRules : std::uint8_t {
  kFirst,
  kKeepsEarly,     // an event that no step takes yet waits for one that asks for it later
  kTellsAttempts,  // each failed attempt is an entry; an event for one step wakes no other
  kTellsRepeats,   // a failed attempt is an entry once it is known whether it is tried again
  kNewest = kTellsRepeats,
};

// A step workflow made ready to run: its graph, checked, and its bodies.
class StepProgram {
 public:
  template <class W>
  static Result<StepProgram> of(std::shared_ptr<W> host,
                                std::shared_ptr<Resources> resources = nullptr,
                                StepRules rules = StepRules::kNewest) {
    return make(Module::of<W>("memory/code@1"),
                step_handlers(std::move(host), std::move(resources)), rules);
  }

  // For the loop.
  struct Body;
  explicit StepProgram(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  const std::shared_ptr<const Body>& body() const noexcept { return body_; }

 private:
  static Result<StepProgram> make(const Module& module, std::vector<Handler> handlers,
                                  StepRules rules);

  std::shared_ptr<const Body> body_;
};

// How a run has ended.
struct StepOutcome {
  std::optional<EffectError> error;
  Bytes result;  // without an error: a value of the workflow's Stop

  template <class T>
  std::optional<T> as() const {
    T value{};
    Reader in(result);
    if (error || !detail::Form<T>::read(in, value)) return std::nullopt;
    return value;
  }
};

class StepLoop {
 public:
  // `key` is what bodies see as run_key(), `id` what the keys of their contexts begin with. The
  // adapter outlives it.
  StepLoop(const StepProgram& program, StepAdapter& adapter, Bytes key = {}, std::string id = {});
  ~StepLoop();
  // As a new one for another run of the same workflow, with the memory of this one.
  void begin_anew(StepAdapter& adapter, Bytes key = {}, std::string id = {});
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  enum class Status : std::uint8_t {
    kNew,       // nothing has begun it
    kWaiting,   // the adapter said kLater
    kReleased,  // the adapter said kRelease
    kEnded,
  };
  // Until it ends, or the adapter wants to be alone. `bodies`: the most of them that are
  // run here; then it is kWaiting, and has more to do.
  Result<Status> run(std::uint64_t bodies = UINT64_MAX);
  bool has_more() const noexcept;

  std::optional<Time> next_due() const;

  // Once it has ended.
  const std::optional<StepOutcome>& outcome() const noexcept;

  // The run as bytes, and a new loop that goes on with it; with its outcome, if it has ended. What
  // was running is run again, under the same keys; what was journaled since may be replayed before.
  Bytes write() const;
  Result<Done> read(const Bytes& bytes);

  // What was journaled, again and in order, before the first run(): nothing is published and
  // nothing is run. With `is_last` it is published: nobody knows whether it had been.
  Result<Done> replay(const StepInput& input, bool is_last = false);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace holdfast
