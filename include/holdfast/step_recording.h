// SPDX-License-Identifier: Apache-2.0
// What went in and out of a loop of steps, as a log: for a journal, to go on after a crash, and to
// see whether changed code would have done the same.
//
// Link holdfast::memory for it.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "holdfast/step_adapter.h"
#include "holdfast/step_loop.h"

namespace holdfast {

// An input as bytes ([time, kind, ...], docs/formats/steps.md), and back.
Bytes to_bytes(const StepInput& input);
struct RecordedInput {
  StepMessage message;
  Time at{};
  StepInput view() const noexcept { return message.view(at); }
};
Result<RecordedInput> recorded_input(const Bytes& bytes);

// What went in, and what came out of it before the next went in.
struct StepRecording {
  struct Turn {
    Bytes input;
    std::vector<StepEntry> entries;
  };
  std::vector<Turn> turns;
};

class Recorder : public StepDecorator {
 public:
  // `most` turns; the journal refuses more.
  explicit Recorder(StepAdapter& inner, std::size_t most = 1'000'000)
      : StepDecorator(inner), most_(most) {}

  void publish(const StepEntryView& entry) override;
  Result<Done> journal(const StepInput& input) override;
  bool is_followed() const override { return true; }

  const StepRecording& recording() const noexcept { return recording_; }

 private:
  std::size_t most_;
  StepRecording recording_;
};

// Reduces what went in again, without running a body. An error: another entry came out of it, and
// of which turn.
Result<Done> replay(const StepProgram& program, const StepRecording& recording);

// Durable: an input is appended, and what it returns is durable, before anything follows from it.
// What was appended is replayed after a crash, in order (restore); bodies that were running run
// again under the same keys, and the entries of the last input are published again, as nobody knows
// whether they had been. `append` gets one whole record a call; a record that is torn is for it to
// find out. A recorder stands in front of it and not behind: what could not be appended has not
// happened.
class Journaled : public StepDecorator {
 public:
  using Append = std::function<Result<Done>(const Bytes& record)>;
  Journaled(StepAdapter& inner, Append append) : StepDecorator(inner), append_(std::move(append)) {}

  Result<Done> journal(const StepInput& input) override;

 private:
  Append append_;
};

Result<Done> restore(StepLoop& loop, const std::vector<Bytes>& records);

}  // namespace holdfast
