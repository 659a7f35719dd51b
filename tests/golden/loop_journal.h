// SPDX-License-Identifier: Apache-2.0
// A journal of a golden workflow without a world: what went into its loop, what came out of it
// before the next went in, and how the run stood then.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/sha256.h"
#include "holdfast/step_recording.h"
#include "tests/golden/flows.h"
#include "tests/golden/lines.h"

namespace holdfast::golden {

inline StepProgram loop_program(StepRules rules = StepRules::kNewest) {
  auto program = StepProgram::of(std::make_shared<Trip>(), nullptr, rules);
  CHECK(program);
  return std::move(*program);
}

// Keeps what is published, and is asked for nothing.
class Entries : public StepAdapter {
 public:
  std::vector<StepEntry> all;

  Time now() override { return {}; }
  bool receive(StepMessage&) override { return false; }
  void publish(const StepEntryView& entry) override { all.push_back(entry.copy()); }
  StepNext wait_for_next(const StepWait&) override { return StepNext::kLater; }
  Result<Done> journal(const StepInput&) override { return Done{}; }
};

// What today's code makes of inputs, one after another.
class LoopReplay {
 public:
  explicit LoopReplay(StepRules rules = StepRules::kNewest) : program_(loop_program(rules)) {}

  // The lines behind an input; an error: it is none, or the loop refuses it.
  Result<Lines> take(const Bytes& bytes) {
    const auto input = recorded_input(bytes);
    if (!input) return input.error();
    entries_.all.clear();
    if (const auto replayed = loop_.replay(input->view(), true); !replayed) return replayed.error();
    Lines lines;
    for (const StepEntry& entry : entries_.all) {
      lines.push_back(bytes_line("entry", detail::bytes_of_value(entry)));
    }
    lines.push_back({"state", base::sha256(loop_.write()).to_text()});
    return lines;
  }

 private:
  const StepProgram program_;
  Entries entries_;
  StepLoop loop_{program_, entries_};
};

// Lets time pass where nothing else is to be done.
class Script : public StepAdapter {
 public:
  template <class Event>
  void post(const Event& event) {
    StepMessage message;
    message.schema = Event::kSchema;
    message.value = detail::bytes_of_value(event);
    messages_.push_back(std::move(message));
  }

  Time now() override { return now_; }
  bool receive(StepMessage& message) override {
    if (messages_.empty()) return false;
    message = std::move(messages_.front());
    messages_.pop_front();
    return true;
  }
  void publish(const StepEntryView&) override {}
  StepNext wait_for_next(const StepWait& wait) override {
    CHECK(wait.until);
    now_ = std::max(now_, *wait.until);
    return StepNext::kLook;
  }
  Result<Done> journal(const StepInput&) override { return Done{}; }

 private:
  Time now_{std::chrono::nanoseconds(1'700'000'000'000'000'000)};
  std::deque<StepMessage> messages_;
};

inline Lines write_loop_journal() {
  Script script;
  script.post(Plan{"t-1", 3, false});
  std::vector<Bytes> inputs;
  Journaled journaled(script, [&inputs](const Bytes& input) -> Result<Done> {
    inputs.push_back(input);
    return Done{};
  });
  const StepProgram program = loop_program();
  StepLoop loop(program, journaled, detail::bytes_of_value(std::string("t-1")), "golden");
  const auto status = loop.run();
  CHECK(status && *status == StepLoop::Status::kEnded);
  Lines lines;
  LoopReplay replay;
  for (const Bytes& input : inputs) {
    lines.push_back(bytes_line("input", input));
    const auto behind = replay.take(input);
    CHECK(behind);
    lines.insert(lines.end(), behind->begin(), behind->end());
  }
  return lines;
}

}  // namespace holdfast::golden
