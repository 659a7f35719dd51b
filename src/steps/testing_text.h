// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: states and commands as lines that can be read, and states out
// of such lines. What is nothing is left out.
//
//   last i3 r2 s1 c1                         the numbers that were given out last
//   not running | deadline 45
//   work running 0 r2 A1 i1 t5               slot, run, event, item; t: when it began first
//   work queued A2 i2 f1 t5 @9               f: failures, @: not before
//   work buffer default c1 A1 A2
//   work waits w Answer for A1 i1 until 9    [where field=value] [answered Answer2] [timed-out]
//   work holds A1                            in a slot; an attempt that has all: [A1,B2]
//   stream 1 open 2 in 0
//   stream 1 joins sum B1 B2                 [fired]
//   store name c1 5
//   early B1                                 [to work]
//
// An event is its type and a number: A1; a list of them [A1,A2]. Also of an attempt: s1 its stream,
// rescue=1 what handlers did, published: its body did; of a wait: out2 what its body has let out;
// of a run: saw2 what it has seen, issued, judging:code.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/view.h"
#include "steps/command.h"
#include "steps/testing_graph.h"

namespace holdfast::steps::testing {

inline std::string text_of(base::ByteView value) { return codec::to_json(codec::View::of(value)); }

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  // `slots` are those of the step that it is for.
  std::string event(const Event& event, const std::vector<TypeIndex>& slots = {}) const {
    const std::string& type = graph_.type(event.type).schema;
    if (!event.is_list) return type + text_of(event.value);
    std::string list;
    std::size_t at = 0;
    for (const codec::View element : codec::View::of(event.value).elements()) {
      const std::string& own = slots.empty() ? type : graph_.type(slots.at(at++)).schema;
      list += (list.empty() ? "" : ",") + own + text_of(element.encoded());
    }
    return "[" + list + "]";
  }

  std::string state(const State& state) const {
    std::string out = "last";
    number(out, " i", state.last_item);
    number(out, " r", state.last_run);
    number(out, " s", state.last_stream);
    number(out, " c", state.last_change);
    out += "\n";
    if (!state.is_running) out += "not running\n";
    if (state.deadline_ns != 0) out += "deadline " + std::to_string(state.deadline_ns) + "\n";
    for (StepIndex step = 0; step < state.steps.size(); ++step)
      out += step_lines(graph_.step(step), state.steps[step]);
    for (const Stream& stream : state.streams) out += stream_lines(stream);
    for (const StoreEntry& entry : state.store) {
      out += "store " + std::string(entry.key) + " c" + std::to_string(entry.changed) +
             (entry.value.empty() ? "" : " " + text_of(entry.value)) + "\n";
    }
    for (const Early& early : state.early) {
      out += "early " + event(early.event) +
             (early.target ? " to " + graph_.step(*early.target).name : "") + "\n";
    }
    return out;
  }

  std::string command(const Command& command) const { return std::visit(*this, command); }

  std::string operator()(const RunStep& run) const {
    return "run " + place(run.step, run.slot) + " r" + std::to_string(run.run);
  }
  std::string operator()(const QueueEvent& queued) const {
    std::string out = "queue " + event(queued.event.event);
    if (queued.event.target) out += " to " + graph_.step(*queued.event.target).name;
    number(out, " s", queued.event.stream);
    return out + lineage(queued.event.lineage);
  }
  std::string operator()(const PublishEntry& published) const {
    return "publish " + entry(published.entry);
  }
  std::string operator()(const CompleteRun& completed) const {
    return completed.result ? "complete " + event(*completed.result) : "release";
  }
  std::string operator()(const HaltRun& halt) const {
    return halt.kind == HaltKind::kTimedOut ? "halt timed-out"
                                            : "halt cancelled: " + std::string(halt.message);
  }
  std::string operator()(const FailRun& fail) const {
    return "fail " + std::string(fail.failure.code);
  }
  std::string operator()(const ScheduleWaiterTimeout& timeout) const {
    return "schedule timeout of " + graph_.step(timeout.step).name + " i" +
           std::to_string(timeout.item) + " " + std::string(timeout.id) + " @" +
           std::to_string(timeout.at_ns);
  }
  std::string operator()(const StopChild& stopped) const {
    return "stop child " + std::string(stopped.workflow) + " " + text_of(stopped.key);
  }
  std::string operator()(const StopRun& stopped) const {
    return "stop r" + std::to_string(stopped.run);
  }
  std::string operator()(const ScheduleIdleCheck&) const { return "schedule idle-check"; }
  std::string operator()(const ScheduleWakeUp& wake) const {
    return "schedule wake-up @" + std::to_string(wake.at_ns);
  }

 private:
  static void number(std::string& out, const char* sign, std::uint64_t number) {
    if (number != 0) out += sign + std::to_string(number);
  }
  std::string place(StepIndex step, std::uint32_t slot) const {
    return graph_.step(step).name + "/" + std::to_string(slot);
  }
  std::string lineage(const Lineage& lineage) const {
    std::string out;
    for (const Recovery& recovery : lineage)
      out += " " + graph_.step(recovery.handler).name + "=" + std::to_string(recovery.count);
    return out;
  }
  std::string attempt(const StepDef& def, const Attempt& attempt) const {
    std::string out = event(attempt.event, def.slots);
    number(out, " i", attempt.item);
    number(out, " s", attempt.stream);
    number(out, " f", attempt.failures);
    number(out, " t", attempt.first_ns);
    number(out, " @", attempt.not_before_ns);
    if (attempt.has_published) out += " published";
    return out + lineage(attempt.lineage);
  }
  std::string events(const std::vector<Event>& events) const {
    std::string out;
    for (const Event& one : events) out += " " + event(one);
    return out;
  }

  std::string step_lines(const StepDef& def, const StepState& step) const {
    const std::string& name = def.name;
    std::string out;
    for (const Running& running : step.running) {
      out += name + " running " + std::to_string(running.slot) + " r" +
             std::to_string(running.run) + " " + attempt(def, running.attempt);
      number(out, " saw", running.seen);
      if (running.is_issued) out += " issued";
      if (running.unjudged) out += " judging:" + std::string(running.unjudged->code);
      out += "\n";
    }
    for (const Attempt& queued : step.queue) out += name + " queued " + attempt(def, queued) + "\n";
    for (const Buffer& buffer : step.buffers) {
      out += name + " buffer " + std::string(buffer.name) + " c" + std::to_string(buffer.changed) +
             events(buffer.events) + "\n";
    }
    for (const Waiter& waiter : step.waiters)
      out += name + " waits " + waiter_line(def, waiter) + "\n";
    for (const Held& held : step.held) {
      out += name + " holds " + event(held.event);
      number(out, " s", held.stream);
      out += lineage(held.lineage) + "\n";
    }
    return out;
  }
  std::string waiter_line(const StepDef& def, const Waiter& waiter) const {
    std::string out = std::string(waiter.id) + " " + graph_.type(waiter.type).schema + " for " +
                      attempt(def, waiter.trigger);
    number(out, " out", waiter.let_out);
    number(out, " until ", waiter.deadline_ns);
    for (const Requirement& wanted : waiter.requirements)
      out += " where " + std::string(wanted.field) + "=" + text_of(wanted.value);
    if (waiter.resolved) out += " answered " + event(*waiter.resolved);
    if (waiter.is_timed_out) out += " timed-out";
    if (waiter.child) out += child_words(*waiter.child);
    return out;
  }
  static std::string child_words(const Child& child) {
    std::string out = " w" + std::to_string(child.number) + " of " + std::string(child.workflow);
    if (!child.is_issued) out += " not-started";
    if (!child.end) return out;
    if (child.end->fate == ChildFate::kCompleted) return out + " completed";
    return out + (child.end->fate == ChildFate::kFailed ? " failed " : " cancelled ") +
           std::string(child.end->failure.code);
  }
  std::string stream_lines(const Stream& stream) const {
    const std::string name = "stream " + std::to_string(stream.id);
    std::string out = name + " open " + std::to_string(stream.open) + " in " +
                      std::to_string(stream.parent) + lineage(stream.lineage) + "\n";
    for (const JoinState& join : stream.joins) {
      out += name + " joins " + graph_.step(join.step).name + (join.has_fired ? " fired" : "") +
             events(join.members) + lineage(join.lineage) + "\n";
    }
    return out;
  }

  std::string entry(const Entry& entry) const {
    switch (entry.kind) {
      case EntryKind::kEvent: return "event " + event(*entry.event);
      case EntryKind::kPreparing: return "preparing " + graph_.step(*entry.step).name;
      case EntryKind::kRunning: return "running " + place(*entry.step, entry.slot);
      case EntryKind::kNotRunning: return "not-running " + place(*entry.step, entry.slot);
      case EntryKind::kUnhandled:
        return "unhandled " +
               (entry.event ? event(*entry.event) : std::string(entry.failure.code)) +
               (entry.step ? " to " + graph_.step(*entry.step).name : "") +
               (entry.is_idle ? " idle" : "");
      case EntryKind::kIdle: return "idle";
      case EntryKind::kStopped: return "stopped " + event(*entry.event);
      case EntryKind::kCancelled: return "cancelled: " + std::string(entry.failure.message);
      case EntryKind::kTimedOut: {
        std::string out = "timed-out after " + std::to_string(entry.elapsed_ns);
        for (const StepIndex step : entry.active) out += " " + graph_.step(step).name;
        return out;
      }
      case EntryKind::kFailed: {
        std::string out = "failed " + std::string(entry.failure.code);
        if (entry.step) out += " in " + graph_.step(*entry.step).name;
        number(out, " attempts ", entry.attempts);
        number(out, " elapsed ", entry.elapsed_ns);
        return out;
      }
      case EntryKind::kAttemptFailed: {
        std::string out = "attempt-failed " + place(*entry.step, entry.slot) + " " +
                          std::string(entry.failure.code) + ": " +
                          std::string(entry.failure.message);
        number(out, " attempts ", entry.attempts);
        number(out, " elapsed ", entry.elapsed_ns);
        number(out, " next @", entry.due_ns);
        return out;
      }
      case EntryKind::kBeganAgain:
        return "began-again " + graph_.step(*entry.step).name + " " +
               std::string(entry.failure.code);
    }
    return {};
  }

  const Graph& graph_;
};

// Reads what the printer prints. What it makes borrows from it.
class Parser {
 public:
  explicit Parser(const Graph& graph) : graph_(graph) {}

  // "A1", "A{\"n\":1}", "[A1,A2]" (or "[]" of the type that `empty` names).
  Event event(std::string_view text) {
    if (text.starts_with("[")) return list(text.substr(1, text.size() - 2));
    const std::size_t end = std::min(text.find_first_of("0123456789{\"["), text.size());
    const auto type = graph_.type_named(text.substr(0, end));
    EXPECT_TRUE(type) << text;
    return {type.value_or(0), false, value(text.substr(end))};
  }
  base::ByteView value(std::string_view json);

  State state(std::string_view text) {
    State state(graph_.steps().size());
    state.is_running = true;
    for (const std::string& line : lines_of(text)) read_line(state, words_of(line));
    return state;
  }
  std::string_view keep(std::string_view text) { return arena_.keep(text); }

 private:
  using Words = std::vector<std::string>;

  Event list(std::string_view inside) {
    codec::Buffer out;
    std::vector<Event> members;
    while (!inside.empty()) {
      const std::size_t comma = std::min(inside.find(','), inside.size());
      members.push_back(event(inside.substr(0, comma)));
      inside.remove_prefix(std::min(comma + 1, inside.size()));
    }
    codec::write_list_head(out, members.size());
    for (const Event& member : members) out.append(member.value);
    return {members.empty() ? 0 : members[0].type, true, arena_.keep(out.view())};
  }

  static std::uint64_t number(std::string_view text) {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    EXPECT_TRUE(read.ec == std::errc() && read.ptr == text.data() + text.size()) << text;
    return number;
  }
  // The word is the sign and a number.
  static bool take(std::string_view word, std::string_view sign, std::uint64_t& into) {
    if (word.size() <= sign.size() || !word.starts_with(sign)) return false;
    if (word.find_first_not_of("0123456789", sign.size()) != word.npos) return false;
    into = number(word.substr(sign.size()));
    return true;
  }
  StepIndex step(std::string_view name) const {
    const auto found = graph_.step_named(name);
    EXPECT_TRUE(found) << name;
    return found.value_or(0);
  }

  void read_line(State& state, const Words& words) {
    if (words[0] == "last") {
      for (std::size_t i = 1; i < words.size(); ++i) {
        EXPECT_TRUE(take(words[i], "i", state.last_item) || take(words[i], "r", state.last_run) ||
                    take(words[i], "s", state.last_stream) ||
                    take(words[i], "c", state.last_change))
            << words[i];
      }
    } else if (words[0] == "not") {
      state.is_running = false;
    } else if (words[0] == "deadline") {
      state.deadline_ns = number(words.at(1));
    } else if (words[0] == "stream") {
      read_stream(state, words);
    } else if (words[0] == "store") {
      StoreEntry& entry = state.store.emplace_back();
      entry.key = keep(words.at(1));
      entry.changed = number(words.at(2).substr(1));
      if (words.size() > 3) entry.value = value(words[3]);
    } else if (words[0] == "early") {
      Early& early = state.early.emplace_back();
      early.event = event(words.at(1));
      if (words.size() > 3) early.target = step(words[3]);
    } else {
      read_step(state.steps[step(words[0])], words);
    }
  }

  // The words of an attempt, from `at` on; true: it was one.
  bool read_attempt(Attempt& attempt, std::string_view word) {
    if (word == "published") return attempt.has_published = true;
    std::uint64_t failures = 0;
    if (take(word, "f", failures)) {
      attempt.failures = static_cast<std::uint32_t>(failures);
      return true;
    }
    if (const std::size_t equals = word.find('='); equals != word.npos) {
      attempt.lineage.push_back({step(word.substr(0, equals)),
                                 static_cast<std::uint32_t>(number(word.substr(equals + 1)))});
      return true;
    }
    return take(word, "i", attempt.item) || take(word, "s", attempt.stream) ||
           take(word, "t", attempt.first_ns) || take(word, "@", attempt.not_before_ns);
  }

  void read_step(StepState& step, const Words& words) {
    if (words.at(1) == "running") return read_running(step.running.emplace_back(), words);
    if (words[1] == "queued") {
      Attempt& attempt = step.queue.emplace_back();
      attempt.event = event(words.at(2));
      for (std::size_t i = 3; i < words.size(); ++i)
        EXPECT_TRUE(read_attempt(attempt, words[i])) << words[i];
    } else if (words[1] == "buffer") {
      Buffer& buffer = step.buffers.emplace_back();
      buffer.name = keep(words.at(2));
      buffer.changed = number(words.at(3).substr(1));
      for (std::size_t i = 4; i < words.size(); ++i) buffer.events.push_back(event(words[i]));
    } else if (words[1] == "waits") {
      read_waiter(step.waiters.emplace_back(), words);
    } else if (words[1] == "holds") {
      Attempt attempt;
      for (std::size_t i = 3; i < words.size(); ++i)
        EXPECT_TRUE(read_attempt(attempt, words[i])) << words[i];
      step.held.push_back({event(words.at(2)), attempt.stream, attempt.lineage});
    } else {
      ADD_FAILURE() << words[1];
    }
  }

  void read_running(Running& running, const Words& words) {
    running.slot = static_cast<std::uint32_t>(number(words.at(2)));
    running.run = number(words.at(3).substr(1));
    running.attempt.event = event(words.at(4));
    for (std::size_t i = 5; i < words.size(); ++i) {
      if (words[i] == "issued") {
        running.is_issued = true;
      } else if (words[i].starts_with("judging:")) {
        running.unjudged = Failure{keep(words[i].substr(8)), ""};
      } else {
        EXPECT_TRUE(take(words[i], "saw", running.seen) || read_attempt(running.attempt, words[i]))
            << words[i];
      }
    }
  }

  void read_waiter(Waiter& waiter, const Words& words) {
    waiter.id = keep(words.at(2));
    waiter.type = *graph_.type_named(words.at(3));
    waiter.trigger.event = event(words.at(5));
    for (std::size_t i = 6; i < words.size(); ++i) {
      if (words[i] == "until") {
        waiter.deadline_ns = number(words.at(++i));
      } else if (words[i] == "where") {
        const std::string& wanted = words.at(++i);
        const std::size_t equals = wanted.find('=');
        waiter.requirements.push_back(
            {keep(wanted.substr(0, equals)), value(wanted.substr(equals + 1))});
      } else if (words[i] == "answered") {
        waiter.resolved = event(words.at(++i));
      } else if (words[i] == "timed-out") {
        waiter.is_timed_out = true;
      } else {
        EXPECT_TRUE(take(words[i], "out", waiter.let_out) || read_attempt(waiter.trigger, words[i]))
            << words[i];
      }
    }
  }

  void read_stream(State& state, const Words& words) {
    const std::uint64_t id = number(words.at(1));
    if (words.at(2) == "open") {
      Stream& stream = state.streams.emplace_back();
      stream.id = id;
      stream.open = number(words.at(3));
      stream.parent = number(words.at(5));
      for (std::size_t i = 6; i < words.size(); ++i) {
        Attempt helped;
        EXPECT_TRUE(read_attempt(helped, words[i])) << words[i];
        stream.lineage.insert(stream.lineage.end(), helped.lineage.begin(), helped.lineage.end());
      }
      return;
    }
    JoinState& join = state.find_stream(id)->joins.emplace_back();
    join.step = step(words.at(3));
    for (std::size_t i = 4; i < words.size(); ++i) {
      if (words[i] == "fired") {
        join.has_fired = true;
      } else if (Attempt helped; words[i].find('=') != std::string::npos) {
        EXPECT_TRUE(read_attempt(helped, words[i])) << words[i];
        join.lineage.push_back(helped.lineage.at(0));
      } else {
        join.members.push_back(event(words[i]));
      }
    }
  }

  const Graph& graph_;
  Arena arena_;
};

}  // namespace holdfast::steps::testing
