// SPDX-License-Identifier: Apache-2.0
#include "node/stream_entries.h"

#include <gmock/gmock.h>

#include "kernel/testing_lab.h"

namespace holdfast::node {
namespace {

using kernel::MailKind;
using kernel::StepInput;
using kernel::StepOutput;
using kernel::testing::number;
using kernel::testing::state;

void annotate(StepOutput& output, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    output.begin_annotation();
    kernel::testing::write(output.bytes(), R"({"note":"x"})");
  }
}

class StreamEntriesTest : public kernel::testing::LabTest {
 protected:
  StreamEntriesTest() { begin(kernel::testing::kToKeyed); }

  // Of each instance of the record: how many entries, from which place, and the place of its end
  // (-1: it does not end).
  struct Said {
    std::size_t entries;
    std::int64_t first;
    std::int64_t end;
    friend bool operator==(const Said&, const Said&) = default;
  };
  std::vector<Said> said(const kernel::Outcome& outcome) {
    const auto view = kernel::read_record(outcome.record).take();
    const auto place = [&](std::uint64_t sequence) {
      EXPECT_EQ(record_of(sequence), view.number);
      return static_cast<std::int64_t>(sequence - sequence_of(view.number, 0));
    };
    std::vector<Said> all;
    for (std::size_t i = 0; i < view.instances.size(); ++i) {
      const PutOut out = put_out(view, i);
      all.push_back({out.entries.size(),
                     out.entries.empty() ? -1 : place(out.entries.front().sequence),
                     out.ended == 0 ? -1 : place(out.ended)});
    }
    return all;
  }
};

TEST_F(StreamEntriesTest, the_end_is_behind_the_entries_of_its_record) {
  keyed_ = [](const StepInput& input, StepOutput& output) {
    annotate(output, number(input));
    state(output, 1);
    if (number(input) == 2) kernel::testing::complete(output, "null");
    if (number(input) == 3) output.fail("no", "no");
    if (number(input) == 4) output.remove();
  };
  EXPECT_EQ(said(send("a", 1)), (std::vector<Said>{{1, 0, -1}}));
  EXPECT_EQ(said(send("a", 2)), (std::vector<Said>{{2, 0, 2}})) << "also with a result of null";
  EXPECT_EQ(said(send("a", 2)), (std::vector<Said>{{0, -1, -1}})) << "it had ended before";
  EXPECT_EQ(said(send("b", 3)), (std::vector<Said>{{3, 0, 3}}));
  EXPECT_EQ(said(send("c", 4)), (std::vector<Said>{{4, 0, 4}}));
}

TEST_F(StreamEntriesTest, a_step_that_fails_by_a_rule_ends_the_stream_and_says_nothing_else) {
  keyed_ = [](const StepInput&, StepOutput& output) { annotate(output, 1); };
  EXPECT_EQ(said(send("a", 1)), (std::vector<Said>{{0, -1, 0}}));
}

TEST_F(StreamEntriesTest, what_is_cancelled_paused_or_touched_later) {
  EXPECT_EQ(said(send("a", 1)), (std::vector<Said>{{0, -1, -1}}));
  const auto control = [&](kernel::Control what) {
    return said(bench().control(what, "lab/Keyed@1", "\"a\""));
  };
  EXPECT_EQ(control(kernel::Control::kPause), (std::vector<Said>{{0, -1, -1}}));
  EXPECT_EQ(control(kernel::Control::kCancel), (std::vector<Said>{{0, -1, 0}}));
  EXPECT_EQ(said(send("a", 1)), (std::vector<Said>{{0, -1, -1}}));
}

TEST_F(StreamEntriesTest, a_receipt_that_does_not_fit_may_end_an_instance_without_a_step) {
  begin(kernel::testing::kToNumbered);
  numbered_ = [](const StepInput&, StepOutput& output) {
    state(output, 1);
    kernel::testing::open(output, "lab/work@1", R"({"a":1})");
  };
  const auto intents = kernel::testing::opened(send("a", 1));
  ASSERT_EQ(intents.size(), 1u);
  EXPECT_EQ(said(bench().receipt(intents[0], "5")), (std::vector<Said>{{0, -1, 0}}));
}

TEST_F(StreamEntriesTest, lives_that_follow_each_other_in_one_record_share_its_places) {
  // Goes, and begins again with the message that it sent itself before.
  keyed_ = [](const StepInput& input, StepOutput& output) {
    annotate(output, 2);
    if (number(input) == 0) return state(output, 1);
    kernel::testing::emit(output, "lab/Go@1", go("a", number(input) - 1));
    output.remove();
  };
  EXPECT_EQ(said(send("a", 2)), (std::vector<Said>{{2, 0, 2}, {2, 3, 5}, {2, 6, -1}}));
}

}  // namespace
}  // namespace holdfast::node
