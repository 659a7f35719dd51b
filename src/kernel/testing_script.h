// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: a world of four workflows that share one machine. What a step
// does is written in the message: an event has a script, an effect carries the script of its
// receipt as issuer_ref, a frame of progress the script as its kind. Scripts are short texts:
//
//   a(S) b(S)        open an effect; S is what its receipt does
//   rN(S)(R) tN      run w/Full@1 under kN with S, R is what its end does; stop it
//   g(S)             give up what is open and whose receipt would do S
//   fN(S) sN(S)      emit t/Text@1 named kN, t/Number@1 with N
//   wN(S) p(S) n     emit t/Both@1, t/Plain@1, t/Nobody@1 which nobody hears
//   WN(S) M          256 times fN(S), 64 times a
//   c x d            complete, fail, delete
//   P T A            a large state, an annotation, more annotations than a step may have
//   E V O            65 effects, 257 events, too much output
//   U Q H            an undeclared effect, bad params, a bad reference
//   K B L            an unknown event, a bad one, one whose key is too long
//   N Z R            no state, a bad one, a bad result
//
// Everything else is skipped, so that any text is a script.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "kernel/limits.h"
#include "kernel/program.h"

namespace holdfast::kernel::testing {

// What the step of a script does.
struct Actions {
  struct Effect {
    std::string name;
    std::string script;
    bool bad_params = false;
    bool bad_reference = false;
    std::string child = {};  // to run or to stop: its name
    std::string start = {};  // to run: the script of the event that starts it
  };
  struct Event {
    std::string schema;
    std::string name;
    std::uint64_t number = 0;
    std::string script;
    bool bad = false;
  };
  std::vector<Effect> effects;
  std::vector<Event> events;
  std::vector<std::string> stops;  // by what receipts do
  Fate fate = Fate::kGoesOn;
  bool result = false;
  bool bad_result = false;
  bool no_state = false;
  bool bad_state = false;
  bool large_state = false;
  bool too_large = false;
  std::size_t annotations = 0;
};

inline constexpr std::size_t kLargeStatePad = 3000;

// A name whose key is longer than a key may be.
inline std::string long_name() { return std::string(2 * kMaxKeyBytes, 'k'); }

class ScriptReader {
 public:
  explicit ScriptReader(std::string_view script) : rest_(script) {}

  Actions read() {
    while (!rest_.empty()) action(take());
    return std::move(actions_);
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::uint64_t digit() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return 0;
    return static_cast<std::uint64_t>(take() - '0');
  }

  // What stands in the parentheses that follow, if any do.
  std::string nested() {
    if (rest_.empty() || rest_.front() != '(') return {};
    std::size_t depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '(') ++depth;
      if (rest_[i] == ')' && --depth == 0) {
        std::string inside(rest_.substr(1, i - 1));
        rest_.remove_prefix(i + 1);
        return inside;
      }
    }
    return {};
  }

  void effect(std::string name, std::string script) {
    actions_.effects.push_back({std::move(name), std::move(script)});
  }
  void event(std::string schema, std::uint64_t number, std::string script) {
    actions_.events.push_back(
        {std::move(schema), "k" + std::to_string(number), number, std::move(script)});
  }
  void end(Fate fate) { actions_.fate = fate; }

  void action(char c) {
    switch (c) {
      case 'a': return effect("t/a@1", nested());
      case 'b': return effect("t/b@1", nested());
      case 'g': return actions_.stops.push_back(nested());
      case 'r': return run();
      case 't': {
        const std::uint64_t number = digit();
        actions_.effects.push_back(
            {"sys/workflow.stop@1", {}, false, false, "k" + std::to_string(number)});
        return;
      }
      case 'U': return effect("t/c@1", {});
      case 'Q': return actions_.effects.push_back({"t/a@1", {}, true, false});
      case 'H': return actions_.effects.push_back({"t/a@1", {}, false, true});
      case 'M':
      case 'E':
        for (std::size_t i = c == 'M' ? 1 : 0; i <= kMaxEffectsPerStep; ++i) effect("t/a@1", {});
        return;
      case 'f': return numbered("t/Text@1");
      case 's': return numbered("t/Number@1");
      case 'w': return numbered("t/Both@1");
      case 'p': return event("t/Plain@1", 0, nested());
      case 'n': return event("t/Nobody@1", 0, {});
      case 'K': return event("t/Unknown@1", 0, {});
      case 'B': return actions_.events.push_back({"t/Plain@1", {}, 0, {}, true});
      case 'L': return actions_.events.push_back({"t/Text@1", long_name(), 0, {}});
      case 'W': return flood();
      case 'V':
        for (std::size_t i = 0; i <= kMaxEventsPerStep; ++i) event("t/Nobody@1", 0, {});
        return;
      case 'c':
      case 'R':
        actions_.result = true;
        actions_.bad_result = c == 'R';
        return end(Fate::kCompleted);
      case 'x': return end(Fate::kFailed);
      case 'd': return end(Fate::kDeleted);
      case 'N': actions_.no_state = true; return;
      case 'Z': actions_.bad_state = true; return;
      case 'P': actions_.large_state = true; return;
      case 'O': actions_.too_large = true; return;
      case 'T': ++actions_.annotations; return;
      case 'A': actions_.annotations += kMaxAnnotationsPerStep + 1; return;
      default: return;
    }
  }

  void run() {
    const std::string name = "k" + std::to_string(digit());
    std::string start = nested();
    std::string end = nested();
    actions_.effects.push_back(
        {"sys/workflow.run@1", std::move(end), false, false, name, std::move(start)});
  }

  void numbered(std::string schema) {
    const std::uint64_t number = digit();
    event(std::move(schema), number, nested());
  }

  void flood() {
    const std::uint64_t number = digit();
    const std::string script = nested();
    for (std::size_t i = 0; i < kMaxEventsPerStep; ++i) event("t/Text@1", number, script);
  }

  std::string_view rest_;
  Actions actions_;
};

inline Actions actions_of(std::string_view script) { return ScriptReader(script).read(); }

// The state of an instance: how much it heard of each kind.
struct ScriptState {
  std::uint64_t heard[4] = {};  // by MailKind
  bool large = false;

  // Canonical.
  void write(codec::Buffer& out) const {
    codec::write_map_head(out, 5);
    codec::write_text(out, "pad");
    codec::write_text(out, std::string(large ? kLargeStatePad : 0, '.'));
    const auto count = [&](std::string_view name, MailKind kind) {
      codec::write_text(out, name);
      codec::write_nat(out, heard[static_cast<std::size_t>(kind)]);
    };
    count("events", MailKind::kEvent);
    count("frames", MailKind::kProgress);
    count("receipts", MailKind::kReceipt);
    count("rejected", MailKind::kRejected);
  }

  static ScriptState read(codec::View view) {
    ScriptState state;
    const auto count = [&](std::string_view name) { return *view.find(name)->nat(); };
    state.large = !view.find("pad")->text()->empty();
    state.heard[static_cast<std::size_t>(MailKind::kEvent)] = count("events");
    state.heard[static_cast<std::size_t>(MailKind::kProgress)] = count("frames");
    state.heard[static_cast<std::size_t>(MailKind::kReceipt)] = count("receipts");
    state.heard[static_cast<std::size_t>(MailKind::kRejected)] = count("rejected");
    return state;
  }

  ScriptState after(MailKind kind, const Actions& actions) const {
    ScriptState next = *this;
    ++next.heard[static_cast<std::size_t>(kind)];
    next.large |= actions.large_state;
    return next;
  }
};

// The value of an event of one of the schemas below.
inline void write_script_event(codec::Buffer& out, const Actions::Event& event) {
  const bool named = event.schema == "t/Text@1" || event.schema == "t/Both@1";
  const bool numbered = event.schema == "t/Number@1" || event.schema == "t/Both@1";
  codec::write_map_head(out, 1u + (named ? 1u : 0u) + (numbered ? 1u : 0u));
  codec::write_text(out, "do");
  codec::write_text(out, event.script);
  if (named) {
    codec::write_text(out, "name");
    codec::write_text(out, event.name);
  }
  if (numbered) {
    codec::write_text(out, "number");
    codec::write_nat(out, event.number);
  }
}

inline void write_script_params(codec::Buffer& out, std::string_view script) {
  codec::write_map_head(out, 1);
  codec::write_text(out, "do");
  codec::write_text(out, script);
}

// Of effects that run or stop a w/Full@1. Keys in canonical order: shorter first, then bytewise.
inline void write_child_params(codec::Buffer& out, const Actions::Effect& effect) {
  const bool runs = effect.name == "sys/workflow.run@1";
  codec::Buffer key;
  codec::write_text(key, effect.child);
  codec::write_map_head(out, runs ? 4 : 2);
  codec::write_text(out, "key");
  codec::write_bytes(out, key.view());
  if (runs) {
    codec::Buffer start;
    write_script_event(start, {"t/Text@1", effect.child, 0, effect.start});
    codec::write_text(out, "event");
    codec::write_text(out, "t/Text@1");
    codec::write_text(out, "value");
    codec::write_bytes(out, start.view());
  }
  codec::write_text(out, "workflow");
  codec::write_text(out, "w/Full@1");
}

class ScriptMachine : public Machine {
 public:
  void step(const StepInput& input, StepOutput& output) const override {
    const Actions actions = actions_of(script_of(input.mail));
    ScriptState before;
    if (input.state) before = ScriptState::read(codec::View::of(*input.state));
    const ScriptState state = before.after(input.mail.kind, actions);
    if (!actions.no_state) {
      output.begin_state();
      if (actions.bad_state) {
        codec::write_null(output.bytes());
      } else {
        state.write(output.bytes());
      }
    }
    for (const Actions::Event& event : actions.events) {
      output.begin_event(event.schema);
      if (event.bad) {
        codec::write_nat(output.bytes(), 0);
      } else {
        write_script_event(output.bytes(), event);
      }
    }
    for (const std::string& script : actions.stops) output.stop_effects(script);
    for (const Actions::Effect& effect : actions.effects) open(effect, output);
    for (std::size_t i = 0; i < actions.annotations; ++i) annotate(input.context, output);
    if (actions.result) {
      output.begin_result();
      if (actions.bad_result) {
        output.bytes().push(0xff);
      } else {
        state.write(output.bytes());
      }
    }
    if (actions.too_large) {
      output.begin_state();
      codec::write_text(output.bytes(), std::string(kMaxStepOutputBytes, '.'));
    }
    if (actions.fate == Fate::kDeleted) output.remove();
    if (actions.fate == Fate::kFailed) output.fail("script.failed", "as it was told");
  }

 private:
  static std::string script_of(const Mail& mail) {
    if (mail.kind == MailKind::kProgress) return mail.note;
    if (mail.kind != MailKind::kEvent) return mail.origin.issuer_ref;
    const auto script = codec::View::of(mail.value).find("do");
    return std::string(script ? script->text().value_or("") : "");
  }

  static void open(const Actions::Effect& effect, StepOutput& output) {
    output.begin_effect(effect.name, {}, effect.bad_reference ? "\xff" : effect.script);
    if (effect.bad_params) return codec::write_nat(output.bytes(), 0);
    if (!effect.child.empty()) return write_child_params(output.bytes(), effect);
    write_script_params(output.bytes(), effect.script);
  }

  // Everything that a step may know: it stands in the record, so replay compares it.
  static void annotate(const Context& context, StepOutput& output) {
    output.begin_annotation();
    codec::write_text(output.bytes(), std::to_string(context.time_ns()) + " " +
                                          std::to_string(context.record()) + " " +
                                          context.entropy().to_text());
  }
};

class ScriptMachines : public MachineSource {
 public:
  const Machine* find(const defs::ModuleDef&, std::string_view entrypoint) const override {
    return entrypoint == "script" ? &machine_ : nullptr;
  }

 private:
  ScriptMachine machine_;
};

// Full has a text as key and hears everything; Some has a number and hears of receipts, its events
// may come inside its variant; Deaf and Whole have no key, Deaf hears nothing of its effects.
inline constexpr char kScriptDefinitions[] = R"json([
{"$kind":"defschema","name":"t/Text@1","type":{"record":{"name":{"text":{}},"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Number@1","type":{"record":{"number":{"nat":{}},"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Both@1","type":{"record":{"name":{"text":{}},"number":{"nat":{}},"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Plain@1","type":{"record":{"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Nobody@1","type":{"record":{"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Name@1","type":{"text":{}}},
{"$kind":"defschema","name":"t/Digit@1","type":{"nat":{}}},
{"$kind":"defschema","name":"t/FullEvent@1","type":{"variant":{"Text":{"ref":"t/Text@1"},"Both":{"ref":"t/Both@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},"Rejected":{"ref":"sys/EffectReceiptRejected@1"},
  "Frame":{"ref":"sys/EffectStreamFrame@1"}}}},
{"$kind":"defschema","name":"t/SomeEvent@1","type":{"variant":{"Number":{"ref":"t/Number@1"},"Both":{"ref":"t/Both@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defschema","name":"t/WholeEvent@1","type":{"variant":{"Plain":{"ref":"t/Plain@1"},
  "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defschema","name":"t/State@1","type":{"record":{"events":{"nat":{}},"receipts":{"nat":{}},
  "rejected":{"nat":{}},"frames":{"nat":{}},"pad":{"text":{}}}}},
{"$kind":"defschema","name":"t/Params@1","type":{"record":{"do":{"text":{}}}}},
{"$kind":"defschema","name":"t/Done@1","type":{"record":{"ok":{"bool":{}}}}},
{"$kind":"defeffect","name":"t/a@1","params":"t/Params@1","receipt":"t/Done@1","executor":{"kind":"worker","queue":"q"}},
{"$kind":"defeffect","name":"t/b@1","params":"t/Params@1","receipt":"t/Done@1","executor":{"kind":"worker","queue":"r"}},
{"$kind":"defeffect","name":"t/c@1","params":"t/Params@1","receipt":"t/Done@1","executor":{"kind":"worker","queue":"r"}},
{"$kind":"defmodule","name":"t/code@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"w/Full@1","state":"t/State@1","event":"t/FullEvent@1","key_schema":"t/Name@1",
 "annotations":"t/Name@1","effects_emitted":["t/a@1","t/b@1","sys/workflow.run@1","sys/workflow.stop@1"],"impl":{"module":"t/code@1","entrypoint":"script"}},
{"$kind":"defworkflow","name":"w/Some@1","state":"t/State@1","event":"t/SomeEvent@1","key_schema":"t/Digit@1",
 "effects_emitted":["t/a@1","t/b@1","sys/workflow.run@1","sys/workflow.stop@1"],"impl":{"module":"t/code@1","entrypoint":"script"}},
{"$kind":"defworkflow","name":"w/Deaf@1","state":"t/State@1","event":"t/Plain@1",
 "effects_emitted":["t/a@1","sys/workflow.run@1"],"impl":{"module":"t/code@1","entrypoint":"script"}},
{"$kind":"defworkflow","name":"w/Whole@1","state":"t/State@1","event":"t/WholeEvent@1",
 "effects_emitted":["t/a@1","t/b@1","sys/workflow.run@1","sys/workflow.stop@1"],"impl":{"module":"t/code@1","entrypoint":"script"}},
{"$kind":"manifest","air_version":"2","schemas":[{"name":"t/Text@1"},{"name":"t/Number@1"},{"name":"t/Both@1"},
  {"name":"t/Plain@1"},{"name":"t/Nobody@1"},{"name":"t/Name@1"},{"name":"t/Digit@1"},{"name":"t/FullEvent@1"},
  {"name":"t/SomeEvent@1"},{"name":"t/WholeEvent@1"},{"name":"t/State@1"},{"name":"t/Params@1"},{"name":"t/Done@1"}],
 "modules":[{"name":"t/code@1"}],"effects":[{"name":"t/a@1"},{"name":"t/b@1"},{"name":"t/c@1"}],
)json";

// The end of the manifest that most tests run.
inline constexpr char kScriptRoutes[] = R"json(
 "workflows":[{"name":"w/Full@1"},{"name":"w/Some@1"},{"name":"w/Deaf@1"},{"name":"w/Whole@1"}],
 "routing":{"subscriptions":[
  {"event":"t/Text@1","workflow":"w/Full@1","key_field":"name"},
  {"event":"t/SomeEvent@1","workflow":"w/Some@1","key_field":"$value.number"},
  {"event":"t/Both@1","workflow":"w/Full@1","key_field":"name"},
  {"event":"t/Both@1","workflow":"w/Some@1","key_field":"number"},
  {"event":"t/Plain@1","workflow":"w/Deaf@1"},
  {"event":"t/WholeEvent@1","workflow":"w/Whole@1"}]}}
])json";

// Another one: nobody is deaf any more, and Both goes to one workflow only.
inline constexpr char kOtherScriptRoutes[] = R"json(
 "workflows":[{"name":"w/Whole@1"},{"name":"w/Some@1"},{"name":"w/Full@1"}],
 "routing":{"subscriptions":[
  {"event":"t/Text@1","workflow":"w/Full@1","key_field":"name"},
  {"event":"t/Both@1","workflow":"w/Some@1","key_field":"number"},
  {"event":"t/SomeEvent@1","workflow":"w/Some@1","key_field":"$value.number"},
  {"event":"t/WholeEvent@1","workflow":"w/Whole@1"}]}}
])json";

}  // namespace holdfast::kernel::testing
