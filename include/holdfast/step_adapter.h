// SPDX-License-Identifier: Apache-2.0
// StepAdapter: how the loop of a step workflow (holdfast/step_loop.h) talks to the outside when it
// is not run by an engine: what comes, what goes out, the time, and a hook for a journal. Adapters
// that add something stand in front of another one (StepDecorator): recording, a journal, letting
// go of runs that are idle.
//
// All calls of one loop come one after another, from whichever thread runs it.
//
// Link holdfast::memory for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/detail/flow.h"
#include "holdfast/result.h"
#include "holdfast/types.h"

namespace holdfast {

// One thing that happens to a run. All that a loop decides follows from what happened and when.
struct StepInput {
  enum class Kind : std::uint8_t {
    kEvent,   // from outside
    kResult,  // a body has ended
    kLost,    // a body will not end: its process is gone, or it took too long
    kCancel,  // the run is to end
    kDue,     // time has passed
    kIdle,    // nothing is under way, and nothing has come
  };
  Kind kind = Kind::kEvent;
  std::uint64_t run = 0;                // of a step; kResult, kLost
  std::string_view schema;              // kEvent
  std::span<const std::uint8_t> value;  // kEvent; kResult: what the body did
  std::string_view code;                // kLost
  std::string_view message;             // kLost; kCancel: the reason
  Time at{};
};

// One that nobody else holds, on its way to a loop.
struct StepMessage {
  StepInput::Kind kind = StepInput::Kind::kEvent;
  std::uint64_t run = 0;
  std::string schema;
  Bytes value;
  std::string code;
  std::string message;

  StepInput view(Time at) const noexcept { return {kind, run, schema, value, code, message, at}; }
};

// An entry of the run's stream (StepEntry), good for as long as the call that has it.
struct StepEntryView {
  struct Change {
    std::uint64_t item = 0;
    std::uint64_t slot = 0;
    std::string_view step;
    std::string_view state;
    std::string_view input;  // schemas
    std::string_view output;
  };
  std::string_view kind;
  std::string_view step;
  std::uint64_t item = 0;
  std::string_view schema;
  std::span<const std::uint8_t> value;
  std::string_view code;
  std::string_view message;
  std::uint64_t attempts = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t due_ns = 0;
  std::span<const std::string_view> steps;
  std::span<const Change> changes;

  StepEntry copy() const;
};

// A body to be run, by any thread, once. What it returns is a message for the loop.
struct StepJob {
  std::function<StepMessage()> run;
  std::shared_ptr<std::atomic<bool>> stopped;  // set: it is told that nobody waits for it
  std::optional<Duration> limit;               // by the loop's clock it may take so long
};

struct StepWait {
  std::optional<Time> until;  // something is due then; nothing: for ever
  bool is_idle = false;       // only the outside can make it go on, or time
};

enum class StepNext : std::uint8_t {
  kLook,     // something may have come, or it is late enough
  kLater,    // the loop returns to its owner, which calls it again
  kRelease,  // the same, and it may leave memory meanwhile
};

class StepAdapter {
 public:
  virtual ~StepAdapter() = default;

  virtual Time now() = 0;

  // The next that has come, in its order. False: nothing has.
  virtual bool receive(StepMessage& message) = 0;

  // An entry of the stream. Whatever it follows from is in the journal.
  virtual void publish(const StepEntryView& entry) = 0;

  // Nothing is left to do before something comes or is due.
  virtual StepNext wait_for_next(const StepWait& wait) = 0;

  // Before anything follows from it. An error: nothing has happened, the loop returns it, and comes
  // here again with the same input when it is called again.
  virtual Result<Done> journal(const StepInput& input) = 0;

  // True: bodies are handed over, and what comes of them will be received. False: the loop runs
  // them on its own thread, one after another.
  virtual bool takes_jobs() const { return false; }
  virtual void hand_over(StepJob job) { static_cast<void>(job); }

  // False: entries are not asked for, and not made.
  virtual bool is_followed() const { return true; }
};

// Passes everything on.
class StepDecorator : public StepAdapter {
 public:
  explicit StepDecorator(StepAdapter& inner) : inner_(inner) {}

  Time now() override { return inner_.now(); }
  bool receive(StepMessage& message) override { return inner_.receive(message); }
  void publish(const StepEntryView& entry) override { inner_.publish(entry); }
  StepNext wait_for_next(const StepWait& wait) override { return inner_.wait_for_next(wait); }
  Result<Done> journal(const StepInput& input) override { return inner_.journal(input); }
  bool takes_jobs() const override { return inner_.takes_jobs(); }
  void hand_over(StepJob job) override { inner_.hand_over(std::move(job)); }
  bool is_followed() const override { return inner_.is_followed(); }

 private:
  StepAdapter& inner_;
};

// Lets go of a run that has been idle for so long: nothing has happened to it meanwhile.
class IdleRelease : public StepDecorator {
 public:
  IdleRelease(StepAdapter& inner, Duration after) : StepDecorator(inner), after_(after) {}

  Result<Done> journal(const StepInput& input) override;
  StepNext wait_for_next(const StepWait& wait) override;

 private:
  Duration after_;
  std::optional<Time> idle_since_;
};

}  // namespace holdfast
