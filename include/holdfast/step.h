// SPDX-License-Identifier: Apache-2.0
// Step: one step of a native workflow as the engine hands it over: what came in, and where to write
// what goes out. It is the seam between the typed layer and the engine; workflows use a Context.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "holdfast/effect.h"
#include "holdfast/value.h"

namespace holdfast {

namespace kernel {
struct StepInput;
class StepOutput;
}  // namespace kernel

enum class MessageKind : std::uint8_t { kEvent, kReceipt, kRejected, kProgress };

class Step {
 public:
  Step(const kernel::StepInput& input, kernel::StepOutput& output) noexcept
      : input_(input), output_(output) {}

  // The context.
  std::uint64_t time_ns() const;
  std::uint64_t record() const;
  Hash entropy() const;
  Uuid uuid();  // another one with each call
  std::string_view workflow() const;
  Reader key() const;
  // A sys/WorkflowContext@1; empty: the workflow declares none.
  Bytes declared_context() const;

  // What came in.
  bool has_state() const;
  Reader state() const;
  MessageKind kind() const;
  std::string_view schema() const;  // kEvent
  Reader value() const;
  std::string_view effect() const;  // all but kEvent
  Origin origin() const;
  Status status() const;           // kReceipt, kRejected
  std::uint64_t sequence() const;  // kProgress
  std::string_view note() const;   // kRejected: why; kProgress: its kind
  std::string_view fault() const;  // kRejected: why, as a code

  // What goes out. A writer is gone before the next call.
  Writer begin_state();
  Writer begin_event(std::string_view schema);
  Writer begin_entry();  // of the instance's stream
  Writer begin_effect(std::string_view name, std::string_view idempotency_key,
                      std::string_view ref);
  // An end drops the effects.
  Writer begin_result();
  void remove();
  void fail(std::string_view code, std::string_view message);
  bool ended() const;                 // by a result, a failure or a removal
  bool removed() const;               // by a removal
  void undo();                        // takes back all that went out, also an end
  void give_up() noexcept;            // memory ran out: the instance is paused before this message
  void threw(std::string_view what);  // the code threw: nothing is kept, and the instance fails

 private:
  const kernel::StepInput& input_;
  kernel::StepOutput& output_;
  std::uint64_t uuids_ = 0;
};

using StepFunction = void (*)(Step&);

// The state of an earlier version as one of this; false: `why` says why there is none.
using MigrateFunction = bool (*)(std::span<const std::uint8_t> state, Bytes& made,
                                 std::string& why);

namespace detail {

// The bytes of a value.
Bytes encoded(const std::function<void(Writer&)>& write);

}  // namespace detail

}  // namespace holdfast
