// SPDX-License-Identifier: Apache-2.0
// For the tests of loops: the stories that the machine of a world is tested with
// (steps/testing_stage.h), in a loop without a world.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/step_program.h"
#include "holdfast/step_recording.h"
#include "steps/testing_stage.h"

namespace holdfast::adapters::testing {

using steps::testing::Doing;
using steps::testing::Seen;
using steps::testing::Story;

// The bytes of a sys/StepRun@1 out of its items.
inline base::Bytes bytes_of(Reader in) {
  codec::Buffer out;
  std::uint64_t count = 0;
  EXPECT_TRUE(in.map(count));
  codec::write_map_head(out, count);
  for (; count != 0; --count) {
    std::string_view name;
    EXPECT_TRUE(in.text(name));
    codec::write_text(out, name);
    std::uint64_t number = 0;
    std::string_view text;
    std::span<const std::uint8_t> bytes;
    if (name == "work") {
      EXPECT_TRUE(in.bytes(bytes));
      codec::write_bytes(out, bytes);
    } else if (name == "step" || name == "event") {
      EXPECT_TRUE(in.text(text));
      codec::write_text(out, text);
    } else {
      EXPECT_TRUE(in.nat(number));
      codec::write_nat(out, number);
    }
  }
  return out.to_bytes();
}

inline StepProgram program_of(const Story& story) {
  auto body = std::make_shared<StepProgram::Body>(StepProgram::Body{
      std::string(steps::testing::kWorkflow), steps::testing::world_graph(story), {}, {}});
  for (const steps::StepDef& step : body->graph.steps()) {
    body->bodies.push_back(
        [act = story.bodies.at(step.name)](Reader params, const Call&,
                                           Writer& receipt) -> std::optional<EffectError> {
          const Seen seen(bytes_of(params));
          Doing doing;
          act(seen, doing);
          if (doing.lost()) return EffectError{"effect.timeout", "it took too long"};
          receipt.map(1);
          receipt.text("results");
          receipt.bytes(doing.results());
          return std::nullopt;
        });
    body->timeouts_ns.emplace_back();
  }
  return StepProgram(std::move(body));
}

// An entry as Stage::stream writes it.
inline std::string line_of(const StepEntry& entry) {
  std::string line = entry.kind;
  if (!entry.step.empty()) line += " " + entry.step;
  if (entry.schema.starts_with("t/"))
    line += " " + steps::testing::short_name(entry.schema) +
            std::to_string(steps::testing::number_in(entry.value));
  if (!entry.code.empty()) line += " " + entry.code;
  for (const StepEntry::Change& change : entry.changes)
    line += std::string(" ") +
            (change.state == "preparing" ? "~"
             : change.state == "running" ? "+"
                                         : "-") +
            change.step;
  for (const std::string& step : entry.steps) line += " " + step;
  return line;
}

// Changes of steps one by one: where one turn ends and the next begins is not of the stream.
inline std::vector<std::string> flat(const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) {
    if (!line.starts_with("steps ")) {
      all.push_back(line);
      continue;
    }
    for (const std::string& word : steps::testing::words_of(line.substr(6))) all.push_back(word);
  }
  return all;
}

// What a story's loop sees: events when nothing else is to be done, then time.
class StoryAdapter : public StepAdapter {
 public:
  explicit StoryAdapter(const Story& story) : story_(story) {}

  std::vector<std::string> lines;
  std::size_t sent = 0;
  std::uint64_t now_ns = 1;

  Time now() override { return detail::time_of(now_ns); }
  bool receive(StepMessage& message) override {
    if (!is_due_) return false;
    is_due_ = false;
    const auto& [type, n] = story_.events[sent++];
    message = {};
    message.schema = steps::testing::full_name(type);
    message.value = steps::testing::numbered(n);
    return true;
  }
  void publish(const StepEntryView& entry) override { lines.push_back(line_of(entry.copy())); }
  StepNext wait_for_next(const StepWait& wait) override {
    if (sent < story_.events.size()) {
      is_due_ = true;
      return StepNext::kLook;
    }
    if (!wait.until) return StepNext::kLater;
    now_ns = std::max(now_ns, static_cast<std::uint64_t>(wait.until->time_since_epoch().count()));
    return StepNext::kLook;
  }
  Result<Done> journal(const StepInput&) override { return Done{}; }

 private:
  const Story& story_;
  bool is_due_ = false;
};

// As Stage::ending.
inline std::string ending_of(const StepLoop& loop) {
  const auto& outcome = loop.outcome();
  if (!outcome) return "open";
  if (outcome->error) return "failed " + outcome->error->code + ": " + outcome->error->message;
  return "completed " + std::to_string(steps::testing::number_in(outcome->result));
}

}  // namespace holdfast::adapters::testing
