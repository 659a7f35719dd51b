// SPDX-License-Identifier: Apache-2.0
#include "steps/readable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "steps/entry_codec.h"
#include "steps/reasons.h"
#include "steps/testing_stories.h"

namespace holdfast::steps::testing {
namespace {

using ::testing::HasSubstr;
using Kind = Reason::Kind;

std::string state_json(Stage& stage) {
  codec::Buffer out;
  if (!write_readable_state(out, stage.graph(), stage.instance().state)) return "none";
  return codec::to_json(codec::View::of(out.view()));
}

// Until so many bodies have been performed.
void play_bodies(Stage& stage, std::size_t count) {
  while (stage.performed.size() < count && stage.play_once()) {
  }
}

TEST(Readable, a_state_shows_who_waits_for_what) {
  const Story story{
      .graph = "ask: Start -> Stop \n hear: Answer -> Stop",
      .bodies = {
          {"ask", [](const Seen&, Doing& d) { d.stores("x", 3).waits_for("w", "Answer", 7); }},
          {"hear", [](const Seen&, Doing& d) { d.returns_nothing(); }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  EXPECT_EQ(state_json(stage),
            R"({"status":"idle","steps":[{"step":"ask","waiting":[{"id":"w","for":"t/Answer@1",)"
            R"("requirements":{"n":7},"since":{"item":1,"schema":"t/Start@1",)"
            R"("value":{"n":1,"id":"k"},"first_ns":2}}]}],"store":{}})");
}

TEST(Readable, a_state_shows_queues_and_what_is_running) {
  const Story story{.graph = "begin: Start -> A[] \n work*1: A -> B \n sum: B[] -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) {
                                  d.returns_list("A", {5, 6});
                                }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  const std::string json = state_json(stage);
  EXPECT_THAT(json, HasSubstr(R"("queue":[{"item":3,"schema":"t/A@1","value":{"n":6,"id":"k"},)"));
  EXPECT_THAT(json,
              HasSubstr(R"("running":[{"item":2,"schema":"t/A@1","value":{"n":5,"id":"k"},)"));
  EXPECT_THAT(json, HasSubstr(R"("fan_outs":[{"fan_out":1,"open":2,"joins":[{"step":"sum",)"));
}

TEST(Readable, a_state_shows_which_child_is_waited_for) {
  const Story story = family_story();
  Stage stage(story);
  play_bodies(stage, 3);
  EXPECT_THAT(
      state_json(stage),
      HasSubstr(R"("waiting":[{"id":"child","child":{"workflow":"t/Flow@1","key":"c10"},)"));
  for (const Reason& reason : reasons_of(stage.graph(), stage.instance().state, 100))
    EXPECT_NE(reason.kind, Kind::kWait) << "the kernel tells of children";
}

TEST(Readable, a_state_shows_what_waits_in_the_slots_of_a_step) {
  const Story story{.graph = "begin: Start -> A \n hear: Answer -> B \n pack: A & B -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) { d.returns("A", 5); }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  EXPECT_THAT(state_json(stage),
              HasSubstr(R"({"step":"pack","held":[{"schema":"t/A@1","value":{"n":5,"id":"k"}}]})"));
}

TEST(Readable, a_state_shows_what_came_early) {
  Story story = impatient_story();
  story.eager = 2;
  Stage stage(story);
  stage.play_once();
  stage.play_once();
  EXPECT_THAT(
      state_json(stage),
      HasSubstr(R"("early":[{"schema":"t/Answer@1","value":{"n":4,"id":"k"}}],"store":{})"));
}

TEST(Readable, an_entry_that_stands_for_several_shows_them_one_level_deep) {
  const Graph graph = graph_of("a: Start -> Stop");
  Arena arena;
  std::vector<base::ByteView> entries;
  EntryWriter writer(graph, arena, entries);
  writer.add({.kind = EntryKind::kIdle});
  writer.add({.kind = EntryKind::kRunning, .step = 0, .slot = 0, .item = 1});
  writer.finish();
  codec::Buffer several;
  write_several(several, graph, entries);
  codec::Buffer out;
  write_readable_entry(out, several.view());
  EXPECT_EQ(codec::to_json(codec::View::of(out.view())),
            R"({"kind":"several","entries":[{"kind":"idle"},{"kind":"steps","changes":)"
            R"([{"item":1,"slot":0,"step":"a","state":"running"}]}]})");
  // Nobody writes such a one, but anybody may.
  const base::Bytes once = several.to_bytes();
  const base::ByteView inner[] = {once};
  codec::Buffer twice;
  write_several(twice, graph, inner);
  codec::Buffer shown;
  write_readable_entry(shown, twice.view());
  EXPECT_THAT(codec::to_json(codec::View::of(shown.view())),
              HasSubstr(R"("entries":[{"kind":"several","schema":"sys/StepEntry@1","value":[)"));
}

TEST(Readable, only_entries_of_the_wanted_kinds_are_shown_also_inside_one_that_stands_for_several) {
  const Graph graph = graph_of("a: Start -> Stop");
  Arena arena;
  std::vector<base::ByteView> entries;
  EntryWriter writer(graph, arena, entries);
  writer.add({.kind = EntryKind::kIdle});
  writer.add({.kind = EntryKind::kRunning, .step = 0, .slot = 0, .item = 1});
  writer.finish();
  codec::Buffer several;
  write_several(several, graph, entries);
  const auto shown = [](base::ByteView entry, std::string_view kinds) {
    codec::Buffer out;
    const bool is_shown = write_readable_entry(out, entry, split_kinds(kinds));
    return is_shown ? codec::to_json(codec::View::of(out.view())) : std::string();
  };
  EXPECT_EQ(shown(entries[0], ""), R"({"kind":"idle"})");
  EXPECT_EQ(shown(entries[0], "failed,idle"), R"({"kind":"idle"})");
  EXPECT_EQ(shown(entries[0], "steps"), "");
  EXPECT_EQ(shown(several.view(), "idle"), R"({"kind":"several","entries":[{"kind":"idle"}]})");
  EXPECT_EQ(shown(several.view(), "event"), "");
}

TEST(Readable, an_entry_of_the_newest_rules_is_told_by_its_members) {
  for (const Rules rules : {Rules::kKeepsEarly, Rules::kTellsAttempts}) {
    const Graph graph = graph_of("a: Start -> Stop", 0, rules);
    Arena arena;
    std::vector<base::ByteView> entries;
    EntryWriter writer(graph, arena, entries);
    writer.add({.kind = EntryKind::kIdle});
    writer.add({.kind = EntryKind::kRunning, .step = 0, .slot = 0, .item = 1});
    writer.finish();
    for (const base::ByteView entry : entries)
      EXPECT_EQ(is_newest_entry(entry), rules == Rules::kTellsAttempts);
  }
  codec::Buffer other;
  codec::write_map_head(other, 1);
  codec::write_text(other, "kind");
  codec::write_text(other, "idle");
  EXPECT_FALSE(is_newest_entry(other.view()));
  EXPECT_FALSE(is_newest_entry(base::Bytes{0x05}));
}

TEST(Readable, kinds_that_no_entry_has_are_refused_by_name) {
  EXPECT_EQ(split_kinds(",event,,idle,"), EntryKinds({"event", "idle"}));
  EXPECT_EQ(refuse_kinds(split_kinds("event,steps,unhandled,idle,attempt_failed,began_again,"
                                     "stopped,cancelled,timed_out,failed")),
            std::nullopt);
  const auto refused = refuse_kinds(split_kinds("event,evnt"));
  ASSERT_TRUE(refused);
  EXPECT_THAT(*refused, HasSubstr("'evnt'; kinds are steps, event, unhandled, idle, stopped"));
  EXPECT_TRUE(refuse_kinds({"running"})) << "a change of a step, and no entry";
}

TEST(Readable, a_state_of_another_graph_is_none) {
  const Story story = line_story();
  Stage stage(story);
  play_bodies(stage, 1);
  codec::Buffer out;
  EXPECT_FALSE(write_readable_state(out, graph_of("a: Start -> Stop"), stage.instance().state));
  EXPECT_FALSE(write_readable_state(out, stage.graph(), {}));
  EXPECT_EQ(out.size(), 0U);
}

TEST(Readable, an_entry_has_its_value_and_nothing_that_does_not_apply) {
  const Story story = approval_story();
  Stage stage(story);
  stage.play();
  std::vector<std::string> lines;
  for (const base::Bytes& record : stage.journal()) {
    const auto view = kernel::read_record(record);
    ASSERT_TRUE(view);
    for (const kernel::InstanceView& touched : view->instances) {
      for (const base::ByteView entry : touched.annotations) {
        codec::Buffer out;
        write_readable_entry(out, entry);
        lines.push_back(codec::to_json(codec::View::of(out.view())));
      }
    }
  }
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0], R"({"kind":"steps","changes":[{"item":1,"slot":0,"step":"ask",)"
                      R"("state":"running","input":"t/Start@1"}]})");
  EXPECT_EQ(lines[2], R"({"kind":"event","schema":"t/B@1","value":{"n":9,"id":"k"}})");
  EXPECT_EQ(lines.back(), R"({"kind":"stopped","schema":"t/Stop@1","value":{"n":45,"id":"k"}})");
}

TEST(Reasons, say_what_steps_wait_for_and_until_when) {
  Story story = approval_story();
  story.timeout_ns = 1'000'000;
  Stage stage(story);
  play_bodies(stage, 1);
  auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].kind, Kind::kWait);
  EXPECT_EQ(reasons[0].step, "ask");
  EXPECT_EQ(reasons[0].schema, "t/Answer@1");
  EXPECT_EQ(reasons[0].due_ns, 0U);
  EXPECT_EQ(reasons[1].kind, Kind::kTimeout);
  EXPECT_GT(reasons[1].due_ns, 1'000'000U);
  EXPECT_EQ(reasons_of(stage.graph(), stage.instance().state, 1).size(), 1U);
  play_bodies(stage, 3);
  reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons[0].kind, Kind::kWait);
  EXPECT_GT(reasons[0].due_ns, 1000U) << "the second question has a deadline";
}

TEST(Reasons, say_when_a_failed_step_is_tried_again) {
  const Story story = retry_story();
  Stage stage(story);
  play_bodies(stage, 1);
  const auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0].kind, Kind::kRetry);
  EXPECT_EQ(reasons[0].step, "flaky");
  EXPECT_EQ(reasons[0].failures, 1U);
  EXPECT_GT(reasons[0].due_ns, 5000U);
  EXPECT_EQ(reasons[1].kind, Kind::kTimeout);
  EXPECT_EQ(reasons[2].kind, Kind::kFailed);
  EXPECT_EQ(reasons[2].step, "flaky");
}

TEST(Reasons, say_behind_what_an_event_is_queued) {
  const Story story{.graph = "begin: Start -> A[] \n work*1: A -> B \n sum: B[] -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) {
                                  d.returns_list("A", {5, 6, 7});
                                }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  const auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(reasons[i].kind, Kind::kQueued);
    EXPECT_EQ(reasons[i].step, "work");
    EXPECT_EQ(reasons[i].events_before, i);
    EXPECT_EQ(reasons[i].running, 1U);
    EXPECT_EQ(reasons[i].workers, 1U);
  }
}

TEST(Reasons, an_idle_run_without_waits_needs_an_event_from_outside) {
  const Story story{.graph = "begin: Start -> A | Stop \n hear: Answer -> Stop \n use: A -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) { d.returns_nothing(); }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  const auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].kind, Kind::kEvent);
  EXPECT_EQ(reasons[0].schemas, std::vector<std::string>{"t/Answer@1"});
}

TEST(Reasons, an_event_that_is_one_of_a_set_is_needed_too) {
  const Story story{.graph = "begin: Start -> A \n pack: A & Answer -> Stop",
                    .bodies = {{"begin", [](const Seen&, Doing& d) { d.returns("A", 1); }}}};
  Stage stage(story);
  play_bodies(stage, 1);
  const auto reasons = reasons_of(stage.graph(), stage.instance().state, 10);
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].kind, Kind::kEvent);
  EXPECT_EQ(reasons[0].schemas, std::vector<std::string>{"t/Answer@1"});
}

TEST(Reasons, a_run_that_has_ended_has_none) {
  const Story story = line_story();
  Stage stage(story);
  stage.play();
  EXPECT_TRUE(reasons_of(stage.graph(), stage.instance().state, 10).empty());
}

}  // namespace
}  // namespace holdfast::steps::testing
