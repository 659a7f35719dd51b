// SPDX-License-Identifier: Apache-2.0
// Machine: the code that steps one workflow. State and message in; new state, events, effects and
// perhaps an end out. A machine is a pure function: everything it may know is in the StepInput.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

// What a step may know besides state and message; all of it derived from the tick.
class Context {
 public:
  virtual ~Context() = default;
  virtual std::uint64_t time_ns() const = 0;     // wall time of the tick
  virtual std::uint64_t logical_ns() const = 0;  // the same, but it never goes back
  virtual std::uint64_t record() const = 0;      // number of the record that the tick becomes
  virtual base::Hash entropy() const = 0;        // 32 bytes that belong to this delivery alone
  virtual base::Hash manifest_hash() const = 0;
  virtual std::string_view workflow() const = 0;
  virtual base::Hash workflow_hash() const = 0;
  virtual base::ByteView key() const = 0;  // canonical; empty if the workflow has no key
  virtual bool is_keyed() const = 0;

  // Messages that wait for the instance behind this one.
  virtual std::uint64_t mail_waiting() const = 0;

  // The message as a value of the workflow's event type: an arm in its variant, a receipt in its
  // envelope. For machines that know messages as bytes only; canonical.
  virtual void write_event(const Mail& mail, codec::Buffer& out) const = 0;

  // All of this as a sys/WorkflowContext@1, canonical, if the workflow declares a context; else
  // nothing is written. For the same machines.
  virtual bool write_context(const Mail& mail, codec::Buffer& out) const = 0;
};

// The parts of a state (StepOutput::begin_part), for a machine that needs to look into one.
class StateParts {
 public:
  virtual ~StateParts() = default;

  // Until the step is over. Nothing: it cannot be read; whatever the step does then is not kept.
  virtual std::optional<base::ByteView> read(const base::Hash& part) const = 0;
};

struct StepInput {
  std::optional<base::ByteView>
      state;  // canonical, without the self-describe tag; absent: a new instance
  const Mail& mail;
  const Context& context;
  bool has_rules_2 = false;           // kernel/record.h; a step that relies on it says so
  bool can_hold = false;              // StepOutput::hold_event may be used
  bool can_part = false;              // StepOutput::begin_part may be used
  const StateParts* parts = nullptr;  // there whenever the state has any
};

enum class Fate : std::uint8_t {
  kGoesOn,     // with the new state
  kDeleted,    // no state any more: the key may begin again
  kCompleted,  // with a result, for good
  kFailed,     // with an error, for good
  kCancelled,  // for good
};

// Where a machine writes. Values are CBOR; the kernel makes them canonical and checks them.
class StepOutput {
 public:
  struct Slice {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Event {
    std::string schema;
    Slice value;
  };
  struct Effect {
    Slice value;
    Slice name;
    Slice requested_key;
    Slice issuer_ref;
  };

  void clear();

  // Each `begin` opens the value that is written to bytes() until the next call.
  void begin_state();

  // A part of the state: bytes that stand beside it and that it names by their hash, so that a
  // state of many of them is not written anew with every step. Each step says which parts its state
  // has, in order: new ones (for StepInput::can_part only) and those that it had before. Whoever
  // keeps any of before keeps them in the order in which they were. Parts are not looked into.
  void begin_part();
  base::Hash end_part();  // its name
  void keep_part(const base::Hash& part) { parts_.push_back({part, {}}); }

  void begin_event(std::string_view schema);
  void begin_effect(std::string_view name, std::string_view requested_key = {},
                    std::string_view issuer_ref = {});
  void begin_annotation();  // an entry of what the instance puts out; for the record only
  void begin_result();      // completes the instance
  codec::Buffer& bytes() noexcept { return bytes_; }

  // Gives up what was opened under this reference before this step, and is open still: it settles
  // as cancelled, as the instance then hears, and whoever performs it is told to stop. A child that
  // runs for it is cancelled. An instance that ends gives up everything, and hears nothing.
  void stop_effects(std::string_view issuer_ref) { stops_.push_back(add_text(issuer_ref)); }

  // Asks for the same to be stopped, where a worker holds it: it stays open, and settles as
  // cancelled when its worker has ended it or is lost, which the instance then hears. What nobody
  // holds is given up at once.
  void ask_to_stop(std::string_view issuer_ref) { asked_.push_back(add_text(issuer_ref)); }

  // Leaves the event that the step was given in the mailbox: it is given again when an effect of
  // the instance has answered. Nothing else of the step is kept. For StepInput::can_hold only.
  void hold_event() noexcept { holds_ = true; }
  bool holds() const noexcept { return holds_; }

  // What the step came to, it comes to by StepInput::has_rules_2 only.
  void use_rules_2() noexcept { uses_rules_2_ = true; }
  bool uses_rules_2() const noexcept { return uses_rules_2_; }

  void drop_effects();  // those asked for so far; an instance that ends cannot wait for them
  void remove();        // deletes the instance
  // The same, of an instance that was not there: what came does not begin it, whatever it says.
  void leave_unhandled() noexcept {
    fate_ = Fate::kDeleted;
    is_unhandled_ = true;
  }
  bool is_unhandled() const noexcept { return is_unhandled_; }
  void fail(std::string code, std::string message);
  void cancel() noexcept { fate_ = Fate::kCancelled; }  // ends the instance as cancelled

  // The step could not be run to its end because memory ran out: elsewhere it would come to another
  // end. Nothing of it is kept, and its instance is paused (kernel/halt.h).
  void give_up() noexcept { gave_up_ = true; }
  bool gave_up() const noexcept { return gave_up_; }

  // The code of the step threw an exception, which said this: the instance fails. The text may
  // differ from one build of the program to the next, so a replay takes the one in the record.
  void threw(std::string what);
  bool has_thrown() const noexcept { return has_thrown_; }

  Fate fate() const noexcept { return fate_; }
  std::optional<base::ByteView> state() const { return optional_value(state_); }
  const std::vector<Slice>& annotations() const noexcept { return annotations_; }
  std::optional<base::ByteView> result() const { return optional_value(result_); }
  const std::string& error_code() const noexcept { return error_code_; }
  const std::string& error_message() const noexcept { return error_message_; }
  struct Part {
    base::Hash hash;
    Slice bytes;  // empty: one of before
  };
  const std::vector<Part>& parts() const noexcept { return parts_; }
  const std::vector<Event>& events() const noexcept { return events_; }
  const std::vector<Effect>& effects() const noexcept { return effects_; }
  const std::vector<Slice>& stops() const noexcept { return stops_; }          // references
  const std::vector<Slice>& asked_to_stop() const noexcept { return asked_; }  // the same
  base::ByteView value(Slice slice) const { return bytes_.view(slice.begin, slice.end); }
  std::string_view text(Slice slice) const {
    return base::as_text(texts_.view(slice.begin, slice.end));
  }
  std::size_t size() const noexcept { return bytes_.size() - dropped_; }  // of what is kept

  // Ends the last value; the kernel calls it when the machine is done.
  void finish();

 private:
  void drop(const std::optional<Slice>& slice);
  Slice add_text(std::string_view text);
  std::optional<base::ByteView> optional_value(const std::optional<Slice>& slice) const;

  Fate fate_ = Fate::kGoesOn;
  std::optional<Slice> state_;
  std::vector<Part> parts_;
  std::size_t part_begins_ = 0;
  std::vector<Slice> annotations_;
  std::optional<Slice> result_;
  std::vector<Event> events_;
  std::vector<Effect> effects_;
  std::vector<Slice> stops_;
  std::vector<Slice> asked_;
  std::string error_code_;
  std::string error_message_;
  codec::Buffer bytes_;
  codec::Buffer texts_;      // of the effects and stops
  std::size_t dropped_ = 0;  // bytes that nothing stands for any more
  bool gave_up_ = false;
  bool has_thrown_ = false;
  bool holds_ = false;
  bool uses_rules_2_ = false;
  bool is_unhandled_ = false;
  enum class Last : std::uint8_t { kNone, kState, kAnnotation, kResult, kEvent, kEffect };
  Last last_ = Last::kNone;
};

class Machine;

// The state of an instance of an earlier version of a workflow.
struct EarlierState {
  const Machine* machine = nullptr;  // of that version; null: its code is not there
  base::ByteView state;              // as one value, without parts
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual void step(const StepInput& input, StepOutput& output) const = 0;

  // Writes that state as one of this machine; the kernel checks it. False: it cannot be made, and
  // `why` says why. Pure, as a step is.
  virtual bool migrate(const EarlierState& earlier, codec::Buffer& out, std::string& why) const {
    static_cast<void>(earlier);
    static_cast<void>(out);
    why = "the present version has no migration";
    return false;
  }

  // Two machines that give the same address here are of one class, and can look into each other.
  virtual const void* family() const noexcept { return nullptr; }

  // A state that has parts as one value without any, for those who look at it from outside. False:
  // it cannot be made.
  virtual bool write_whole(base::ByteView state, const StateParts& parts,
                           codec::Buffer& out) const {
    static_cast<void>(state);
    static_cast<void>(parts);
    static_cast<void>(out);
    return false;
  }
};

}  // namespace holdfast::kernel
