// SPDX-License-Identifier: Apache-2.0
#include "node/shadow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/normaliser.h"
#include "kernel/limits.h"
#include "node/testing_world.h"

namespace holdfast::node {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ShadowTest : public testing::LabWorldTest {
 protected:
  // Begins one, which waits; `n` 0: and is answered at once.
  void order(std::string_view id, std::uint64_t n) {
    const base::Hash intent = kernel::testing::opened(send(id, n)).at(0);
    if (n == 0) answer(intent);
  }
  void answer(const base::Hash& intent) {
    const base::Bytes payload = kernel::testing::value(R"({"ok":true})");
    tick(kernel::ReceiptArrived{intent, kernel::ReceiptStatus::kOk, payload, {}, {}});
  }

  // The same definitions, and one more route, by which they are others.
  static base::Bytes others() {
    return kernel::testing::document(kernel::testing::lab(std::string(kernel::testing::kToKeyed) +
                                                          "," + kernel::testing::kStopToKeyed));
  }

  base::Result<ShadowReport> run(const base::Bytes& definitions, const ShadowOptions& how = {}) {
    const auto journal = store::JournalFiles::open(open_->folder()).take();
    return shadow(journal, nullptr, machines_, definitions, how);
  }

  // What a step does under the definitions that were applied in truth, and under the others.
  void step_by_definitions(const kernel::testing::Step& in_truth,
                           const kernel::testing::Step& tried) {
    keyed_ = [this, in_truth, tried](const auto& input, auto& output) {
      if (applied_.is_zero()) applied_ = input.context.manifest_hash();
      input.context.manifest_hash() == applied_ ? in_truth(input, output) : tried(input, output);
    };
  }

  base::Hash applied_;
};

TEST_F(ShadowTest, what_does_not_change_anything_comes_out_alike) {
  begin();
  order("a", 0);
  order("b", 1);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->from, 1u) << "in the place of the definitions that were applied";
  EXPECT_EQ(report->to, 4u);
  EXPECT_EQ(report->fed, 3u);
  EXPECT_EQ(report->answered, 1u);
  EXPECT_EQ(report->effects, 0u) << "that of b is open in both";
  EXPECT_EQ(report->instances, 2u);
  EXPECT_EQ(report->different, 0u);
}

TEST_F(ShadowTest, an_effect_that_nobody_had_asked_for_stays_open) {
  step_by_definitions(kernel::testing::work, [](const auto& input, auto& output) {
    kernel::testing::state(output, 1);
    if (input.mail.kind == kernel::MailKind::kEvent)
      kernel::testing::open(output, "lab/work@1", R"({"a":2})");
  });
  begin();
  order("a", 0);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->answered, 0u);
  EXPECT_EQ(report->unwanted, 1u);
  EXPECT_EQ(report->effects, 0u) << "it is asked for once, but something else";
  ASSERT_EQ(report->differences.size(), 1u);
  EXPECT_EQ(report->differences[0].present.status, "completed");
  EXPECT_EQ(report->differences[0].tried.status, "waiting");
}

TEST_F(ShadowTest, a_receipt_that_came_before_it_is_asked_for_waits_for_that) {
  // Under the others the effect is opened by the second event only.
  step_by_definitions(
      [](const auto& input, auto& output) {
        kernel::testing::state(output, 1);
        const bool is_first = !input.state;
        if (input.mail.kind == kernel::MailKind::kEvent && is_first)
          kernel::testing::open(output, "lab/work@1", R"({"a":1})");
      },
      [](const auto& input, auto& output) {
        kernel::testing::state(output, 1);
        if (input.mail.kind == kernel::MailKind::kEvent && input.state)
          kernel::testing::open(output, "lab/work@1", R"({"a":1})");
      });
  begin();
  order("a", 0);
  send("a", 1);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->answered, 1u);
  EXPECT_EQ(report->unwanted, 0u);
  EXPECT_EQ(report->different, 0u) << "both have the same state, and nothing open";
}

TEST_F(ShadowTest, effects_that_are_opened_more_often_are_named_also_when_they_have_settled) {
  // Under the others each order asks twice, for the same.
  step_by_definitions(kernel::testing::work, [](const auto& input, auto& output) {
    if (input.mail.kind == kernel::MailKind::kEvent)
      kernel::testing::open(output, "lab/work@1", R"({"a":1})");
    kernel::testing::work(input, output);
  });
  begin();
  order("a", 0);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->effect_differences,
              ElementsAre("lab/work@1 of lab/Keyed@1 \"a\": 1 at present, 2 tried"));
  EXPECT_EQ(report->different, 0u);
}

TEST_F(ShadowTest, what_does_not_come_to_rest_ends_the_trial_and_is_said) {
  step_by_definitions(kernel::testing::work, [](const auto& input, auto& output) {
    kernel::testing::state(output, 1);
    for (int i = 0; i < 2; ++i) kernel::testing::emit(output, "lab/Go@1", R"({"id":"a","n":1})");
    static_cast<void>(input);
  });
  begin();
  order("a", 0);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_THAT(report->stopped + (report->differences.empty() ? "" : "; it failed"),
              ::testing::AnyOf(HasSubstr("still send each other messages"), HasSubstr("failed")));
}

TEST_F(ShadowTest, an_intent_that_was_given_up_does_not_take_the_receipt_of_another) {
  begin();
  const base::Hash first = kernel::testing::opened(send("a", 1)).at(0);
  const base::Bytes key = kernel::testing::value(R"("a")");
  static_cast<void>(first);
  tick(kernel::ControlRequested{kernel::Control::kCancel, "lab/Keyed@1", key, "no"});
  order("b", 0);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->answered, 1u);
  EXPECT_EQ(report->different, 0u);
}

TEST_F(ShadowTest, nothing_to_feed_is_no_success) {
  begin();
  const auto report = run(others());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("nothing has come since"));
}

TEST_F(ShadowTest, of_a_long_journal_the_end_is_fed_from_a_moment_when_nothing_was_under_way) {
  begin();
  order("a", 0);  // up to record 3
  order("b", 1);  // record 4: open until the end
  const auto whole = run(others(), {.most_records = 100});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->from, 1u);
  const auto end = run(others(), {.most_records = 2});
  ASSERT_TRUE(end) << end.error().to_string();
  EXPECT_EQ(end->from, 4u) << "behind record 3 nothing was under way";
  EXPECT_EQ(end->instances, 1u);
  const auto nothing = run(others(), {.most_records = 0});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), base::ErrorCode::kConflict);
  EXPECT_THAT(nothing.error().message(), HasSubstr("there is no moment to begin the trial with"));
}

TEST_F(ShadowTest, definitions_that_cannot_be_run_are_refused_and_say_why) {
  begin();
  order("a", 0);
  const base::Bytes none = kernel::testing::document("[]");
  const auto report = run(none);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), base::ErrorCode::kConflict);
}

TEST_F(ShadowTest, the_report_of_very_many_differences_is_bounded) {
  ShadowReport report;
  for (std::size_t i = 0; i < ShadowReport::kMostListed; ++i) {
    const base::Bytes large = kernel::testing::value('"' + std::string(100'000, 'x') + '"');
    report.differences.push_back(
        {"lab/Keyed@1", large, {"waiting", large, {}}, {"failed", large, large}});
    report.refusals.emplace_back(100'000, 'y');
    report.effect_differences.emplace_back(100'000, 'z');
  }
  const base::Bytes document = document_of(report);
  EXPECT_LT(document.size(), kernel::kMaxReportBytes / 2);
  codec::Normaliser normaliser;
  EXPECT_TRUE(normaliser.from_cbor(codec::Schema::any(), document, codec::Strictness::kLenient));
}

}  // namespace
}  // namespace holdfast::node
