// SPDX-License-Identifier: Apache-2.0
#include "holdfast/step_recording.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "holdfast/detail/value_bytes.h"

namespace holdfast {
namespace {

Error not_an_input(std::string_view what) {
  return {ErrorCode::kCorrupt, "a recorded input: " + std::string(what)};
}

// Has a clock that nobody asks, and keeps what is published.
class Replayer : public StepAdapter {
 public:
  std::vector<StepEntry> entries;

  Time now() override { return {}; }
  bool receive(StepMessage&) override { return false; }
  void publish(const StepEntryView& entry) override { entries.push_back(entry.copy()); }
  StepNext wait_for_next(const StepWait&) override { return StepNext::kLater; }
  Result<Done> journal(const StepInput&) override { return Done{}; }
};

}  // namespace

Bytes to_bytes(const StepInput& input) {
  return detail::encoded([&](Writer& out) {
    out.list(7);
    out.integer(input.at.time_since_epoch().count());
    out.nat(static_cast<std::uint64_t>(input.kind));
    out.nat(input.run);
    out.text(input.schema);
    out.bytes(input.value);
    out.text(input.code);
    out.text(input.message);
  });
}

Result<RecordedInput> recorded_input(const Bytes& bytes) {
  Reader in(bytes);
  std::uint64_t parts = 0;
  std::int64_t at = 0;
  std::uint64_t kind = 0;
  std::string_view schema;
  std::span<const std::uint8_t> value;
  std::string_view code;
  std::string_view message;
  RecordedInput made;
  if (!in.list(parts) || parts != 7 || !in.integer(at) || !in.nat(kind) ||
      !in.nat(made.message.run) || !in.text(schema) || !in.bytes(value) || !in.text(code) ||
      !in.text(message))
    return not_an_input("it is not of their form");
  if (kind > static_cast<std::uint64_t>(StepInput::Kind::kIdle))
    return not_an_input("its kind is unknown");
  made.at = Time(Duration(at));
  made.message.kind = static_cast<StepInput::Kind>(kind);
  made.message.schema = schema;
  made.message.value.assign(value.begin(), value.end());
  made.message.code = code;
  made.message.message = message;
  return made;
}

void Recorder::publish(const StepEntryView& entry) {
  if (!recording_.turns.empty()) recording_.turns.back().entries.push_back(entry.copy());
  StepDecorator::publish(entry);
}

Result<Done> Recorder::journal(const StepInput& input) {
  if (recording_.turns.size() == most_)
    return Error{ErrorCode::kUnavailable, "the recording of a run is full"};
  auto journaled = StepDecorator::journal(input);
  if (journaled) recording_.turns.push_back({to_bytes(input), {}});
  return journaled;
}

Result<Done> replay(const StepProgram& program, const StepRecording& recording) {
  Replayer adapter;
  StepLoop loop(program, adapter);
  for (std::size_t at = 0; at < recording.turns.size(); ++at) {
    const StepRecording::Turn& turn = recording.turns[at];
    const auto input = recorded_input(turn.input);
    if (!input) return input.error();
    adapter.entries.clear();
    auto replayed = loop.replay(input->view(), true);
    if (!replayed) return replayed;
    const bool is_same =
        std::equal(turn.entries.begin(), turn.entries.end(), adapter.entries.begin(),
                   adapter.entries.end(), [](const StepEntry& before, const StepEntry& now) {
                     return detail::bytes_of_value(before) == detail::bytes_of_value(now);
                   });
    if (!is_same) {
      return Error{ErrorCode::kConflict,
                   "turn " + std::to_string(at) + " of the recording: other entries come of it"};
    }
  }
  return Done{};
}

Result<Done> Journaled::journal(const StepInput& input) {
  auto journaled = StepDecorator::journal(input);
  if (!journaled) return journaled;
  return append_(to_bytes(input));
}

Result<Done> restore(StepLoop& loop, const std::vector<Bytes>& records) {
  for (std::size_t at = 0; at < records.size(); ++at) {
    const auto input = recorded_input(records[at]);
    if (!input) return input.error();
    auto replayed = loop.replay(input->view(), at + 1 == records.size());
    if (!replayed) return replayed;
  }
  return Done{};
}

}  // namespace holdfast
