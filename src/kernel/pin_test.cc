// SPDX-License-Identifier: Apache-2.0
// Instances that keep the version of their workflow that they began with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/manifest_change.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::lab;
using testing::LabTest;
using testing::opened;
using testing::value;

// The lab with something else in it.
std::string lab_with(std::string_view before, std::string_view after) {
  std::string all = lab(std::string(kToKeyed) + "," + kToNumbered);
  const std::size_t at = all.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return all.replace(at, before.size(), after);
}

// A state has one field more, which it must have.
std::string lab_2() {
  return lab_with(R"("lab/State@1","type":{"record":{)",
                  R"("lab/State@1","type":{"record":{"m":{"nat":{}},)");
}
std::string lab_3() {
  return lab_with(R"("lab/State@1","type":{"record":{)",
                  R"("lab/State@1","type":{"record":{"x":{"option":{"nat":{}}},)");
}

class PinTest : public LabTest {
 protected:
  void SetUp() override { begin(std::string(kToKeyed) + "," + kToNumbered); }

  Outcome apply(std::string_view definitions, bool pin = true) {
    const base::Bytes document = value(definitions);
    return bench().tick(ApplyManifest{document, {}, false, pin});
  }
  const Accepted& accepted(const Outcome& outcome) {
    const auto* blocked = std::get_if<Blocked>(&outcome.answer);
    EXPECT_EQ(blocked, nullptr);
    return std::get<Accepted>(outcome.answer);
  }
  std::string status(std::string_view id) { return std::string(name_of(keyed(id)->status())); }

  // States of the version 2.
  static void work_2(const StepInput& input, StepOutput& output) {
    if (input.mail.kind != MailKind::kEvent) return testing::work(input, output);
    output.begin_state();
    testing::write(output.bytes(), R"({"m":1,"n":2})");
    testing::open(output, "lab/work@1", R"({"a":2})");
  }
  // Version 2 for the instances that `b` begins: replay needs the code of both versions.
  static void work_of_both(const StepInput& input, StepOutput& output) {
    const auto id = codec::View::of(input.mail.value).find("id");
    const bool is_b = id && id->text() == "b";
    return is_b ? work_2(input, output) : testing::work(input, output);
  }
};

TEST_F(PinTest, instances_under_way_go_on_with_their_version_and_new_ones_begin_with_the_new_one) {
  keyed_ = numbered_ = work_of_both;
  const base::Hash first = opened(send("a", 1)).at(0);
  EXPECT_TRUE(std::holds_alternative<Blocked>(apply(lab_2(), false).answer));
  const Outcome applied = apply(lab_2());
  EXPECT_THAT(accepted(applied).change->pinned,
              ElementsAre(std::pair<std::string, std::uint64_t>("lab/Keyed@1", 1),
                          std::pair<std::string, std::uint64_t>("lab/Numbered@1", 1)));
  bench().put_away();
  const base::Hash second = opened(send("b", 2)).at(0);
  EXPECT_EQ(status("b"), "waiting") << error_of(keyed("b"));
  send("a", 1);
  EXPECT_EQ(status("a"), "waiting") << error_of(keyed("a"));
  bench().put_away();
  bench().receipt(first, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  bench().receipt(second, R"({"ok":true})");
  EXPECT_EQ(status("b"), "completed");
  // The key is taken, whichever version had it.
  EXPECT_EQ(std::get<Accepted>(send("a", 3).answer).ignored, 1u);
  bench().put_away();
  bench().expect_replays();
}

TEST_F(PinTest, when_a_version_has_ended_its_instances_are_found_with_the_others) {
  keyed_ = work_of_both;
  numbered_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  const base::Hash first = opened(send("a", 1)).at(0);
  accepted(apply(lab_2()));
  EXPECT_TRUE(bench().world().program().has_pins());
  bench().receipt(first, R"({"ok":true})");
  const base::Hash second = opened(send("b", 2)).at(0);
  accepted(apply(lab_3()));
  EXPECT_EQ(bench().world().program().pins().size(), 1u) << "that of b; a has ended";
  EXPECT_EQ(status("a"), "completed");
  EXPECT_EQ(status("b"), "waiting");
  bench().put_away();
  bench().receipt(second, R"({"ok":true})");
  EXPECT_EQ(status("b"), "completed");
  ASSERT_TRUE(std::holds_alternative<Accepted>(apply(lab_2()).answer));
  EXPECT_FALSE(bench().world().program().has_pins());
  EXPECT_TRUE(bench().world().program().is_numbered_in_order());
  EXPECT_EQ(status("a"), "completed");
  EXPECT_EQ(status("b"), "completed");
  bench().put_away();
  EXPECT_EQ(status("a"), "completed");
  bench().expect_replays();
}

TEST_F(PinTest, an_earlier_version_may_become_the_present_one_again) {
  keyed_ = work_of_both;
  numbered_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  const base::Hash first = opened(send("a", 1)).at(0);
  accepted(apply(lab_2()));
  const base::Hash second = opened(send("b", 2)).at(0);
  accepted(apply(lab(std::string(kToKeyed) + "," + kToNumbered)));
  bench().put_away();
  send("c", 3);
  EXPECT_EQ(status("c"), "waiting") << error_of(keyed("c"));
  bench().receipt(first, R"({"ok":true})");
  bench().receipt(second, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  EXPECT_EQ(status("b"), "completed");
  bench().expect_replays();
}

TEST_F(PinTest, an_effect_that_changes_stays_as_it_was_for_what_is_open) {
  keyed_ = testing::work;
  numbered_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  const base::Hash first = opened(send("a", 1)).at(0);
  accepted(apply(lab_with(R"("lab/Done@1","type":{"record":{"ok":{"bool":{}}}})",
                          R"("lab/Done@1","type":{"record":{"fine":{"bool":{}}}})")));
  const base::Hash second = opened(send("b", 2)).at(0);
  EXPECT_EQ(bench().world().open_effects().size(), 1u) << "of one name";
  bench().put_away();
  EXPECT_TRUE(std::holds_alternative<Accepted>(bench().receipt(first, R"({"ok":true})").answer));
  bench().receipt(second, R"({"fine":true})");
  EXPECT_EQ(status("a"), "completed");
  EXPECT_EQ(status("b"), "completed");
  bench().expect_replays();
}

TEST_F(PinTest, events_and_routes_that_change_and_workflows_that_go_still_block) {
  keyed_ = testing::keep;
  numbered_ = [](const StepInput&, StepOutput& output) { testing::complete(output, "1"); };
  send("a", 1);
  const auto reasons = [&](std::string_view definitions) {
    const Outcome outcome = apply(definitions);
    const auto* blocked = std::get_if<Blocked>(&outcome.answer);
    return blocked == nullptr ? std::vector<std::string>() : blocked->workflows.at(0).because;
  };
  EXPECT_THAT(reasons(lab_with(R"("lab/Go@1","type":{"record":{)",
                               R"("lab/Go@1","type":{"record":{"z":{"option":{"nat":{}}},)")),
              ElementsAre("lab/Go@1"));
  EXPECT_THAT(reasons(lab(kToNumbered)), ElementsAre("the route of lab/Go@1"));
  EXPECT_THAT(reasons(testing::lab_without_keyed(kToNumbered)), ElementsAre("lab/Keyed@1"));
  bench().expect_replays();
}

TEST_F(PinTest, an_event_that_an_earlier_version_does_not_know_is_ignored_by_its_instances) {
  keyed_ = testing::keep;
  numbered_ = testing::keep;
  send("a", 1);
  std::string more = lab_with(R"({"Go":{"ref":"lab/Go@1"},"Stop")",
                              R"({"Go":{"ref":"lab/Go@1"},"More":{"ref":"lab/Unheard@1"},"Stop")");
  accepted(apply(more));
  const base::Bytes key = value(R"("a")");
  const base::Bytes event = value("{}");
  EventArrived arrived{"lab/Unheard@1", event, {}};
  arrived.workflow = "lab/Keyed@1";
  arrived.key = key;
  const Outcome outcome = bench().tick(arrived);
  EXPECT_EQ(std::get<Accepted>(outcome.answer).ignored, 1u);
  const base::Bytes other = value(R"("b")");
  arrived.key = other;
  EXPECT_EQ(std::get<Accepted>(bench().tick(arrived).answer).deliveries, 1u);
  bench().expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
