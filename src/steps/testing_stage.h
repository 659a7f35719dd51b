// SPDX-License-Identifier: Apache-2.0
// For the tests of step workflows: one run of one, in a world, with bodies that are performed one
// after another, and a clock that jumps to the next timer when nothing else is to be done.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "kernel/record_view.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "steps/broker.h"
#include "steps/entry_codec.h"
#include "steps/machine.h"
#include "steps/testing_body.h"
#include "steps/testing_graph.h"
#include "steps/testing_text.h"

namespace holdfast::steps::testing {

inline constexpr std::string_view kWorkflow = "t/Flow@1";

// A workflow, what its bodies do, and what comes from outside when nothing inside is to be done.
struct Story {
  std::string graph;
  std::map<std::string, Body> bodies;
  std::vector<std::pair<std::string, std::uint64_t>> events = {{"Start", 1}};
  std::uint64_t timeout_ns = 0;
  bool runs_others = false;  // of its own workflow
  Rules rules = kNewestRules;
  std::size_t eager = 0;  // so many of the events come at once, whatever is to be done inside
  // Whom an event from outside is for, by its number; nothing: the one run that there is.
  std::string (*key_of)(std::uint64_t) = nullptr;
};

// The graph with the names of the world.
inline Graph world_graph(const Story& story) {
  const Graph plain = graph_of(story.graph);
  std::vector<EventType> types = plain.types();
  for (EventType& type : types) {
    if (type.role == Role::kStepFailed) {
      type.schema = "sys/StepFailed@1";
    } else {
      type.schema = full_name(type.schema);
    }
  }
  std::vector<std::string> children;
  if (story.runs_others) children.emplace_back(kWorkflow);
  return {types, plain.steps(), story.timeout_ns, children, story.rules};
}

inline std::string definitions_of(const Graph& graph) {
  std::string all = "[";
  std::string schemas;
  std::string arms;
  std::string effects;
  std::string emitted;
  std::string routes;
  const auto list = [](std::string& text, const std::string& item) {
    text += (text.empty() ? "" : ",") + item;
  };
  const auto quoted = [](const std::string& name) { return "\"" + name + "\""; };
  for (const EventType& type : graph.types()) {
    if (type.role == Role::kStepFailed) continue;
    all += R"({"$kind":"defschema","name":)" + quoted(type.schema) +
           R"(,"type":{"record":{"id":{"text":{}},"n":{"nat":{}}}}},)";
    list(schemas, R"({"name":)" + quoted(type.schema) + "}");
    list(arms, quoted(short_name(type.schema)) + R"(:{"ref":)" + quoted(type.schema) + "}");
    list(routes,
         R"({"event":)" + quoted(type.schema) + R"(,"workflow":"t/Flow@1","key_field":"id"})");
  }
  for (const StepDef& step : graph.steps()) {
    const std::string name = effect_name(kWorkflow, step.name);
    all += R"({"$kind":"defeffect","name":)" + quoted(name) +
           R"(,"params":"sys/StepRun@1","receipt":"sys/StepRan@1",)"
           R"("executor":{"kind":"worker","queue":"t"}},)";
    list(effects, R"({"name":)" + quoted(name) + "}");
    list(emitted, quoted(name));
  }
  if (!graph.children().empty()) list(emitted, R"("sys/workflow.run@1","sys/workflow.stop@1")");
  all += R"({"$kind":"defschema","name":"t/Key@1","type":{"text":{}}},
    {"$kind":"defschema","name":"t/Event@1","type":{"variant":{)" +
         arms + R"(,
      "Receipt":{"ref":"sys/EffectReceiptEnvelope@1"},
      "Rejected":{"ref":"sys/EffectReceiptRejected@1"},
      "Frame":{"ref":"sys/EffectStreamFrame@1"}}}},
    {"$kind":"defmodule","name":"t/code@1","runtime":{"kind":"steps"}},
    {"$kind":"defworkflow","name":"t/Flow@1","state":"sys/StepsState@1","event":"t/Event@1",
     "key_schema":"t/Key@1","annotations":")" +
         std::string(entry_schema(graph.rules())) +
         R"(",
     "effects_emitted":[)" +
         emitted + R"(,"sys/timer.set@1"],
     "impl":{"module":"t/code@1","entrypoint":"t/Flow@1"}},
    {"$kind":"manifest","air_version":"2","schemas":[)" +
         schemas +
         R"(,{"name":"t/Key@1"},{"name":"t/Event@1"}],"modules":[{"name":"t/code@1"}],
     "effects":[)" +
         effects + R"(],"workflows":[{"name":"t/Flow@1"}],
     "routing":{"subscriptions":[)" +
         routes + "]}}]";
  return all;
}

class Stage : public kernel::MachineSource {
 public:
  explicit Stage(const Story& story)
      : story_(story), machine_(world_graph(story), kWorkflow), world_(*this, blobs_) {
    codec::Normaliser normaliser;
    const auto definitions =
        normaliser.part_from_json(codec::Schema::any(), definitions_of(machine_.graph()));
    EXPECT_TRUE(definitions) << definitions.error().to_string();
    const auto outcome = tick(kernel::ApplyManifest{*definitions});
    if (const auto* refused = std::get_if<kernel::Refused>(&outcome.answer))
      ADD_FAILURE() << refused->message << ::testing::PrintToString(refused->details);
  }

  // The same run as it was after so many of its records, in a world that was opened from them.
  Stage(const Story& story, const Stage& other, std::size_t records)
      : story_(story), machine_(world_graph(story), kWorkflow), world_(*this, blobs_) {
    for (std::size_t i = 0; i < records; ++i) {
      const auto outcome = world_.replay(other.journal_[i]);
      EXPECT_TRUE(outcome) << outcome.error().to_string();
      journal_.push_back(other.journal_[i]);
      sent_after_.push_back(other.sent_after_[i]);
      if (outcome) take(outcome->commands);
    }
    sent_ = sent_after_.back();
    now_ns_ = world_.latest_ns();
    expect_open();
  }

  const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
    return &machine_;
  }

  // Until nothing is left to do.
  void play() {
    while (play_once()) {
    }
  }
  // One thing: a body, an event from outside, a timer; false: there is nothing.
  bool play_once() {
    if (world_.has_ready()) {
      tick(kernel::Continue{});
      return true;
    }
    if (sent_ < story_.eager && !has_ended()) {
      const auto& [type, n] = story_.events[sent_++];
      send(type, n);
      return true;
    }
    for (auto at = open_.begin(); at != open_.end(); ++at) {
      if (at->effect->name == "sys/timer.set@1") continue;
      const kernel::OpenIntent intent = *at;
      open_.erase(at);
      perform(intent);
      return true;
    }
    if (fire_timer(now_ns_)) return true;
    if (sent_ < story_.events.size() && !has_ended()) {
      const auto& [type, n] = story_.events[sent_++];
      send(type, n);
      return true;
    }
    return fire_timer(UINT64_MAX);
  }

  kernel::Outcome send(std::string_view type, std::uint64_t n) {
    const base::Bytes value = numbered(n, story_.key_of == nullptr ? kKey : story_.key_of(n));
    const std::string schema = full_name(type);
    return tick(kernel::EventArrived{.schema = schema, .value = value, .id = {}});
  }
  void perform(const kernel::OpenIntent& intent) {
    const Seen seen(intent.params);
    Doing doing;
    performed.push_back(seen.step + (seen.is_judging ? "?" : " ") + seen.event +
                        std::to_string(seen.n));
    story_.bodies.at(seen.step)(seen, doing);
    answer(intent.intent, doing);
  }
  kernel::Outcome answer(const base::Hash& intent, const Doing& doing) {
    codec::Buffer out;
    if (doing.lost()) {
      out.append(codec_error());
      return tick(
          kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kTimeout, out.view(), {}, {}});
    }
    codec::write_map_head(out, 1);
    codec::write_text(out, "results");
    codec::write_bytes(out, doing.results());
    return tick(kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kOk, out.view(), {}, {}});
  }

  kernel::Outcome tick(decltype(kernel::Tick::input) input) {
    kernel::Tick tick;
    tick.time_ns = ++now_ns_;
    tick.entropy.fill(static_cast<std::uint8_t>(now_ns_));
    tick.input = input;
    kernel::Outcome outcome = world_.reduce(tick);
    EXPECT_FALSE(outcome.failure) << outcome.failure->to_string();
    if (!outcome.record.empty()) {
      journal_.push_back(outcome.record);
      sent_after_.push_back(sent_);
    }
    take(outcome.commands);
    return outcome;
  }

  static base::Bytes key() {
    codec::Buffer out;
    codec::write_text(out, kKey);
    return out.to_bytes();
  }
  kernel::InstanceValues instance() {
    auto values = world_.read(kWorkflow, key());
    EXPECT_TRUE(values && *values);
    return values && *values ? **values : kernel::InstanceValues();
  }
  bool has_ended() {
    const kernel::Cell* cell = *world_.find(kWorkflow, key());
    return cell != nullptr && cell->terminal();
  }
  // "completed 7", "failed code: message", or the word of its state.
  std::string ending() {
    const kernel::InstanceValues values = instance();
    if (values.status == kernel::Status::kCompleted)
      return "completed " + std::to_string(number_in(values.outcome));
    if (values.status == kernel::Status::kFailed) {
      const codec::View error = codec::View::of(values.outcome);
      return "failed " + std::string(*error.find("code")->text()) + ": " +
             std::string(*error.find("message")->text());
    }
    return std::string(*codec::View::of(values.state).find("status")->text());
  }
  // The state of the run as text, with the names of the test.
  std::string state_text() {
    const kernel::InstanceValues values = instance();
    const auto broker =
        read_broker(*codec::View::of(values.state).find("broker")->bytes(), machine_.graph());
    EXPECT_TRUE(broker);
    return Printer(machine_.graph()).state(broker->state);
  }

  // What the run put out: a line each.
  std::vector<std::string> stream() const {
    std::vector<std::string> lines;
    for (const base::Bytes& record : journal_) {
      const auto view = kernel::read_record(record);
      EXPECT_TRUE(view);
      for (const kernel::InstanceView& touched : view->instances) {
        EXPECT_LE(touched.annotations.size(), 32U * std::max<std::uint64_t>(touched.steps, 1));
        for (const base::ByteView entry : touched.annotations) add_lines(entry, lines);
      }
    }
    return lines;
  }

  const std::vector<base::Bytes>& journal() const { return journal_; }
  const std::deque<kernel::OpenIntent>& open() const { return open_; }
  kernel::World& world() { return world_; }
  const Graph& graph() const { return machine_.graph(); }
  std::uint64_t now_ns() const { return now_ns_; }
  void set_clock(std::uint64_t now_ns) { now_ns_ = now_ns; }
  std::vector<std::string> performed;  // bodies, since this stage was made

 private:
  void take(const std::vector<kernel::Command>& commands) {
    for (const kernel::Command& command : commands) {
      if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) open_.push_back(*open);
      if (const auto* stop = std::get_if<kernel::StopIntent>(&command))
        std::erase_if(open_, [&](const auto& one) { return one.intent == stop->intent; });
    }
  }
  // What is open for others to perform, as the world itself knows it.
  void expect_open() {
    std::size_t count = 0;
    // What was answered in one of the records is open no more.
    std::erase_if(open_,
                  [&](const auto& one) { return *world_.find_intent(one.intent) == nullptr; });
    const auto visited = world_.visit_intents([&](const base::Hash&, const kernel::Intent& intent) {
      const kernel::EffectProgram& effect = world_.program().effect(intent.effect());
      count += effect.in_kernel == kernel::InKernel::kNo ? 1U : 0U;
      return true;
    });
    EXPECT_TRUE(visited);
    EXPECT_EQ(open_.size(), count);
  }

  static base::Bytes codec_error() {
    codec::Buffer out;
    codec::write_map_head(out, 4);
    codec::write_text(out, "code");
    codec::write_text(out, "effect.timeout");
    codec::write_text(out, "details");
    codec::write_null(out);
    codec::write_text(out, "message");
    codec::write_text(out, "it took too long");
    codec::write_text(out, "retryable");
    codec::write_bool(out, false);
    return out.to_bytes();
  }

  static std::uint64_t due_of(const kernel::OpenIntent& intent) {
    return *codec::View::of(intent.params).find("deliver_at_ns")->nat();
  }
  // The first timer that is due by then, if there is one.
  bool fire_timer(std::uint64_t by_ns) {
    auto next = open_.end();
    for (auto at = open_.begin(); at != open_.end(); ++at) {
      if (at->effect->name != "sys/timer.set@1") continue;
      if (next == open_.end() || due_of(*at) < due_of(*next)) next = at;
    }
    if (next == open_.end() || due_of(*next) > by_ns) return false;
    const kernel::OpenIntent intent = *next;
    open_.erase(next);
    now_ns_ = std::max(now_ns_, due_of(intent));
    codec::Buffer out;
    codec::write_map_head(out, 2);
    codec::write_text(out, "key");
    codec::write_null(out);
    codec::write_text(out, "delivered_at_ns");
    codec::write_nat(out, now_ns_);
    tick(kernel::ReceiptArrived{intent.intent, kernel::ReceiptStatus::kOk, out.view(), {}, {}});
    return true;
  }

  // Several may stand in one.
  static void add_lines(base::ByteView entry, std::vector<std::string>& lines) {
    const codec::View view = codec::View::of(entry);
    if (*view.find("kind")->text() != "several") return lines.push_back(line_of(entry));
    EXPECT_TRUE(view.find("schema")->text()->starts_with("sys/StepEntry@"));
    for (const codec::View part : codec::View::of(*view.find("value")->bytes()).elements())
      lines.push_back(line_of(part.encoded()));
  }
  static std::string line_of(base::ByteView entry) {
    const codec::View view = codec::View::of(entry);
    std::string line(*view.find("kind")->text());
    if (const auto step = *view.find("step")->text(); !step.empty())
      line += " " + std::string(step);
    if (const auto schema = *view.find("schema")->text(); schema.starts_with("t/"))
      line += " " + short_name(schema) + std::to_string(number_in(*view.find("value")->bytes()));
    if (const auto code = *view.find("code")->text(); !code.empty())
      line += " " + std::string(code);
    for (const codec::View change : view.find("changes")->elements()) {
      const std::string state(*change.find("state")->text());
      line += " " +
              std::string(state == "preparing" ? "~"
                          : state == "running" ? "+"
                                               : "-") +
              std::string(*change.find("step")->text());
    }
    for (const codec::View step : view.find("steps")->elements())
      line += " " + std::string(*step.text());
    return line;
  }

  const Story& story_;
  StepsMachine machine_;
  kernel::testing::MemoryBlobs blobs_;
  kernel::World world_;
  std::vector<base::Bytes> journal_;
  std::vector<std::size_t> sent_after_;  // each record: events from outside
  std::size_t sent_ = 0;
  std::deque<kernel::OpenIntent> open_;
  std::uint64_t now_ns_ = 0;
};

// Opens the world anew from its records.
inline Stage reopened(const Story& story, Stage& stage) {
  return {story, stage, stage.journal().size()};
}

}  // namespace holdfast::steps::testing
