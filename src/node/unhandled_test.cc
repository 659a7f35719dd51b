// SPDX-License-Identifier: Apache-2.0
#include "node/unhandled.h"

#include <gtest/gtest.h>

#include "kernel/testing_lab.h"

namespace holdfast::node {
namespace {

using kernel::StepInput;
using kernel::StepOutput;

void put_note(StepOutput& output) {
  output.begin_annotation();
  kernel::testing::write(output.bytes(), R"({"note":"x"})");
}

class UnhandledTest : public kernel::testing::LabTest {
 protected:
  UnhandledTest() { begin(kernel::testing::kToKeyed); }

  // What the record says of the instance, and what the kernel has answered.
  std::pair<std::string, std::uint32_t> sent(kernel::testing::Step step) {
    keyed_ = std::move(step);
    const kernel::Outcome outcome = send("a", 1);
    const auto record = kernel::read_record(outcome.record).take();
    return {std::string(status_of(record, record.instances.at(0))),
            std::get<kernel::Accepted>(outcome.answer).unhandled};
  }
};

TEST_F(UnhandledTest, what_does_nothing_and_leaves_nothing_was_not_there) {
  const auto said = sent([](const StepInput&, StepOutput& output) { output.remove(); });
  EXPECT_EQ(said, std::pair(std::string("unhandled"), 1u));
}

TEST_F(UnhandledTest, one_that_puts_out_an_entry_and_removes_itself_was_there) {
  const auto said = sent([](const StepInput&, StepOutput& output) {
    put_note(output);
    output.remove();
  });
  EXPECT_EQ(said, std::pair(std::string("deleted"), 0u));
}

TEST_F(UnhandledTest, one_that_emits_an_event_and_removes_itself_was_there) {
  const auto said = sent([](const StepInput&, StepOutput& output) {
    kernel::testing::emit(output, "lab/Unheard@1", "{}");
    output.remove();
  });
  EXPECT_EQ(said, std::pair(std::string("deleted"), 0u));
}

TEST_F(UnhandledTest, one_that_was_there_before_is_deleted) {
  EXPECT_EQ(sent(kernel::testing::keep).first, "running");
  const auto said = sent([](const StepInput&, StepOutput& output) { output.remove(); });
  EXPECT_EQ(said, std::pair(std::string("deleted"), 0u));
}

}  // namespace
}  // namespace holdfast::node
