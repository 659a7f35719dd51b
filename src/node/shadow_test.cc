// SPDX-License-Identifier: Apache-2.0
#include "node/shadow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "codec/normaliser.h"
#include "defs/name.h"
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
    const PastSource source = PastSource::of(journal, nullptr).take();
    const base::Bytes present = open_->world().program().closure();
    return shadow(source, machines_, {present, definitions}, how);
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

TEST_F(ShadowTest, effects_and_statuses_are_counted_also_where_they_are_alike) {
  step_by_definitions(kernel::testing::work, [](const auto& input, auto& output) {
    kernel::testing::state(output, 1);
    if (input.mail.kind == kernel::MailKind::kEvent)
      kernel::testing::open(output, "lab/work@1", R"({"a":2})");
  });
  begin();
  order("a", 0);
  order("b", 1);
  const auto report = run(others());
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_EQ(report->effect_counts.size(), 1u);
  const ShadowEffect& work = report->effect_counts[0];
  EXPECT_EQ(work.effect, "lab/work@1");
  EXPECT_EQ(work.opened_present, 2u);
  EXPECT_EQ(work.opened_tried, 2u);
  EXPECT_EQ(work.open_present, 1u) << "that of b";
  EXPECT_EQ(work.open_tried, 2u) << "nobody has answered what nobody had asked for";
  ASSERT_EQ(report->statuses.size(), 2u);
  EXPECT_EQ(report->statuses[0].status, "completed");
  EXPECT_EQ(report->statuses[0].present, 1u);
  EXPECT_EQ(report->statuses[0].tried, 0u);
  EXPECT_EQ(report->statuses[1].status, "waiting");
  EXPECT_EQ(report->statuses[1].present, 1u);
  EXPECT_EQ(report->statuses[1].tried, 2u);
  EXPECT_EQ(report->present_manifest, open_->world().program().manifest_hash());
  EXPECT_NE(report->tried_manifest, report->present_manifest);
}

TEST_F(ShadowTest, what_workflows_may_open_is_listed_and_what_differs_comes_first) {
  begin();
  order("a", 0);
  std::string fewer = kernel::testing::lab(kernel::testing::kToKeyed);
  const std::string list = R"(["lab/work@1","sys/timer.set@1"])";
  const std::size_t at = fewer.find(list);
  ASSERT_NE(at, std::string::npos);
  fewer.replace(at, list.size(), R"(["lab/work@1"])");
  const auto report = run(kernel::testing::document(fewer));
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->allowed_differently, 1u);
  EXPECT_GT(report->allowed, 1u);
  ASSERT_EQ(report->allow_lists.size(), report->allowed);
  EXPECT_EQ(report->allow_lists[0].workflow, "lab/Keyed@1");
  EXPECT_EQ(report->allow_lists[0].effect, "sys/timer.set@1");
  EXPECT_TRUE(report->allow_lists[0].present);
  EXPECT_FALSE(report->allow_lists[0].tried);
  for (std::size_t i = 1; i < report->allow_lists.size(); ++i)
    EXPECT_TRUE(report->allow_lists[i].present && report->allow_lists[i].tried) << i;
}

TEST_F(ShadowTest, only_the_stretch_that_was_chosen_is_fed) {
  begin();        // record 1
  order("a", 0);  // 2, 3
  order("b", 0);  // 4, 5
  order("c", 0);  // 6, 7
  const auto whole = run(others(), {.from = 1});
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->from, 1u);
  EXPECT_EQ(whole->instances, 3u);
  const auto middle = run(others(), {.from = 4, .to = 5});
  ASSERT_TRUE(middle) << middle.error().to_string();
  EXPECT_EQ(middle->from, 4u);
  EXPECT_EQ(middle->to, 5u);
  EXPECT_EQ(middle->instances, 1u);
  EXPECT_EQ(middle->answered, 1u);
  EXPECT_EQ(middle->different, 0u);
  const auto from_the_middle = run(others(), {.from = 5});
  ASSERT_TRUE(from_the_middle);
  EXPECT_EQ(from_the_middle->from, 6u) << "behind record 4 b was under way";
  const auto cut = run(others(), {.to = 4});
  ASSERT_TRUE(cut) << cut.error().to_string();
  ASSERT_EQ(cut->statuses.size(), 2u);
  EXPECT_EQ(cut->statuses[1].status, "waiting") << "the receipt of b comes behind the end";
  EXPECT_EQ(cut->statuses[1].tried, 1u);
}

TEST_F(ShadowTest, a_stretch_over_other_definitions_is_fed_to_the_present_ones_and_the_tried) {
  begin();
  order("a", 0);  // 2, 3
  const base::Bytes later = others();
  tick(kernel::ApplyManifest{later});  // 4
  order("b", 0);
  const auto usual =
      run(kernel::testing::document(kernel::testing::lab(kernel::testing::kToKeyed)));
  ASSERT_TRUE(usual) << usual.error().to_string();
  EXPECT_EQ(usual->from, 4u);
  const auto report =
      run(kernel::testing::document(kernel::testing::lab(kernel::testing::kToKeyed)), {.from = 2});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->from, 2u);
  EXPECT_EQ(report->instances, 2u);
  EXPECT_EQ(report->different, 0u);
}

TEST_F(ShadowTest, a_stretch_that_the_journal_has_not_is_refused_and_named) {
  begin();
  order("a", 0);  // up to record 3
  const auto behind = run(others(), {.to = 4});
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code(), base::ErrorCode::kNotFound);
  EXPECT_EQ(behind.error().to_string(), "to 4: the journal has records 1 to 3");
  const auto from = run(others(), {.from = 9});
  ASSERT_FALSE(from);
  EXPECT_EQ(from.error().code(), base::ErrorCode::kNotFound);
  const auto turned = run(others(), {.from = 3, .to = 2});
  ASSERT_FALSE(turned);
  EXPECT_EQ(turned.error().code(), base::ErrorCode::kInvalid);
  const auto large = run(others(), {.from = 1, .most_records = 2});
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), base::ErrorCode::kTooLarge);
  EXPECT_THAT(large.error().message(), HasSubstr("the stretch has 3 records; at most 2"));
}

TEST_F(ShadowTest, a_trial_ends_where_its_limits_are) {
  begin();
  order("a", 0);
  order("b", 0);
  ShadowOptions few;
  few.limits.bytes = 10;
  const auto bytes = run(others(), few);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code(), base::ErrorCode::kTooLarge);
  // However often it may go on, it asks while it feeds, too.
  for (int most = 0; most < 100; ++most) {
    ShadowOptions stopped;
    int asked = 0;
    stopped.limits.goes_on = [&]() -> base::Result<void> {
      if (asked++ < most) return {};
      return base::Error(base::ErrorCode::kEnded, "enough");
    };
    const auto report = run(others(), stopped);
    if (report) {
      EXPECT_GT(most, 18) << "before each record that is fed, each that is made, and each effect "
                             "and instance that is compared";
      return;
    }
    EXPECT_EQ(report.error().code(), base::ErrorCode::kEnded) << report.error().to_string();
  }
  FAIL() << "it never came to its end";
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

// Every list full, and of texts and values that have this many bytes.
base::Bytes full_report(std::size_t bytes) {
  constexpr std::uint64_t kMany = std::numeric_limits<std::uint64_t>::max();
  constexpr std::size_t kHead = 3;  // of a text of this length
  const std::string name(defs::kMaxNameBytes, 'n');
  const base::Bytes value = kernel::testing::value('"' + std::string(bytes - kHead, 'x') + '"');
  EXPECT_EQ(value.size(), bytes);
  const ShadowSide side{"cancelled, paused", value, value};
  ShadowReport report;
  report.from = report.to = report.fed = report.refused = report.instances = kMany;
  report.answered = report.unwanted = report.effects = report.different = kMany;
  report.stopped = std::string(bytes, 's');
  for (std::size_t i = 0; i < ShadowReport::kMostListed; ++i) {
    report.differences.push_back({name, value, side, side});
    report.refusals.emplace_back(bytes, 'y');
    report.effect_differences.emplace_back(bytes, 'z');
    report.effect_counts.push_back({name, kMany, kMany, kMany, kMany});
    report.allow_lists.push_back({name, name, true, false});
  }
  return document_of(report);
}

TEST_F(ShadowTest, the_report_of_very_many_differences_is_bounded) {
  // The largest that stands there as it is, and the next, of which the hash does.
  const base::Bytes largest = full_report(kMostReportValueBytes);
  const base::Bytes hashed = full_report(kMostReportValueBytes + 1);
  EXPECT_GT(largest.size(), ShadowReport::kMostListed * 7 * kMostReportValueBytes);
  EXPECT_LE(largest.size(), kernel::kMaxReportBytes);
  EXPECT_LT(hashed.size(), largest.size() / 2);
  codec::Normaliser normaliser;
  for (const base::Bytes& document : {largest, hashed, full_report(60'000)})
    EXPECT_TRUE(normaliser.from_cbor(codec::Schema::any(), document, codec::Strictness::kLenient));
}

}  // namespace
}  // namespace holdfast::node
