// SPDX-License-Identifier: Apache-2.0
// Instances that run for others: what starts effects again, forks worlds and tries definitions has
// nothing to do for them, and leaves them alone.
#include <gtest/gtest.h>

#include "env/posix_disk.h"
#include "env/testing.h"
#include "kernel/testing_family.h"
#include "node/fork_world.h"
#include "node/shadow.h"
#include "node/testing_loop.h"

namespace holdfast::node {
namespace {

using kernel::testing::keep_number;
using kernel::testing::number_in;

// A parent has one child, which waits for an answer, and an effect that somebody performs.
class ChildrenTest : public testing::LabWorldTest {
 protected:
  // The family's definitions; all of its workflows have one machine.
  static std::string family(std::string_view more_routes = "") {
    std::string text = kernel::testing::kFamilyDefinitions;
    for (const std::string name : {"\"parent\"", "\"child\""}) {
      for (std::size_t at = 0; (at = text.find(name, at)) != text.npos;)
        text.replace(at, name.size(), "\"keyed\"");
    }
    const std::string routes = R"("subscriptions":[)";
    text.insert(text.find(routes) + routes.size(), more_routes);
    return text;
  }

  void SetUp() override {
    keyed_ = [](const kernel::StepInput& input, kernel::StepOutput& output) {
      const bool is_event = input.mail.kind == kernel::MailKind::kEvent;
      if (input.context.workflow() == "fam/Child@1") {
        if (input.mail.schema != "fam/Answer@1") return keep_number(output, 0);
        output.begin_result();
        return codec::write_nat(output.bytes(), number_in(input));
      }
      keep_number(output, is_event ? 0 : 7);
      if (!is_event) return;
      kernel::testing::run_child(output, "c");
      output.begin_effect("fam/work@1", {}, {});
      kernel::testing::write(output.bytes(), R"({"a":1})");
    };
    open();
    tick(kernel::ApplyManifest{kernel::testing::document(family())});
    event("fam/Go@1", "p");
  }
  void event(std::string_view schema, std::string_view id) {
    const base::Bytes value = kernel::testing::value(kernel::testing::numbered_event(id, 4));
    tick(kernel::EventArrived{schema, value, {}});
  }
  void resume(std::string_view workflow, std::string_view id) {
    const base::Bytes key = kernel::testing::text_key_of(id);
    tick(kernel::ControlRequested{kernel::Control::kResume, workflow, key, "go on"});
  }
  kernel::InstanceValues values(std::string_view workflow, std::string_view id) {
    const auto read = open_->world().read(workflow, kernel::testing::text_key_of(id));
    EXPECT_TRUE(read && *read);
    return read && *read ? **read : kernel::InstanceValues();
  }
};

TEST_F(ChildrenTest, nobody_is_asked_to_start_them_again) {
  open();
  EXPECT_EQ(open_->world().open_intents(), 2u);
  env::ManualClock clock;
  testing::Hand hand;
  Loop loop(open_->world(), open_->journal(), clock, *random_, Executors{{"worker", &hand}}, {});
  ASSERT_TRUE(loop.recover());
  ASSERT_EQ(hand.held.size(), 1u);
  const auto intent = open_->world().find_intent(hand.held[0]);
  ASSERT_TRUE(intent && *intent != nullptr);
  EXPECT_EQ(open_->world().command_of(hand.held[0], **intent).effect->name, "fam/work@1");
}

TEST_F(ChildrenTest, in_a_fork_they_are_paused_and_answer_when_they_go_on) {
  // A fork is moved to its place as a whole, which a simulated disk cannot do.
  const env::testing::TemporaryFolder folder;
  const auto disk = env::posix_disk();
  const std::string path = folder.path() + "/fork";
  const auto last = open_->world().next_record() - 1;
  {
    const auto journal = store::JournalFiles::open(open_->folder()).take();
    const auto report =
        fork_world(store::WorldPlace::of(open_->folder()), journal, nullptr, machines_, last,
                   {*disk, *random_, *process_, path, ++now_s_ * 1'000'000'000, true});
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->paused, 2u);
    EXPECT_EQ(report->settled, 1u) << "that of fam/work@1";
  }
  open_.reset();
  LocalWorldOptions options;
  options.any_file_system = true;
  auto fork = LocalWorld::open(*disk, *random_, *process_, path, machines_, options);
  ASSERT_TRUE(fork) << fork.error().to_string();
  open_ = std::move(*fork);
  EXPECT_EQ(open_->world().open_intents(), 1u);
  event("fam/Answer@1", "c");
  resume("fam/Child@1", "c");
  EXPECT_EQ(values("fam/Child@1", "c").status, kernel::Status::kCompleted);
  EXPECT_EQ(open_->world().open_intents(), 0u);
  resume("fam/Parent@1", "p");
  EXPECT_EQ(kernel::testing::json_of(values("fam/Parent@1", "p").state), R"({"n":7})");
  open_.reset();  // before the disk that it is on
}

TEST_F(ChildrenTest, a_fork_of_a_family_that_is_about_to_end_lets_it_end) {
  const kernel::testing::Step plainly = keyed_;
  keyed_ = [&](const kernel::StepInput& input, kernel::StepOutput& output) {
    const auto id = codec::View::of(input.mail.value).find("id");
    if (!id || (id->text() != "q" && id->text() != "another")) return plainly(input, output);
    keep_number(output, 0);
    if (id->text() == "q") return kernel::testing::run_child(output, "another");
    for (int i = 0; i < 8; ++i) {
      output.begin_effect("fam/work@1", {}, std::to_string(i));
      kernel::testing::write(output.bytes(), R"({"a":1})");
    }
  };
  event("fam/Go@1", "q");  // p has an effect open, too
  tick(kernel::ControlRequested{kernel::Control::kCancel, "fam/Parent@1",
                                kernel::testing::text_key_of("q"), "no more"});
  ASSERT_TRUE(open_->world().has_ready());
  const env::testing::TemporaryFolder folder;
  const auto disk = env::posix_disk();
  const auto last = open_->world().next_record() - 1;
  const auto journal = store::JournalFiles::open(open_->folder()).take();
  const auto report = fork_world(
      store::WorldPlace::of(open_->folder()), journal, nullptr, machines_, last,
      {*disk, *random_, *process_, folder.path() + "/fork", ++now_s_ * 1'000'000'000, true});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_LT(report->settled, 9u) << "some were over before";
}

TEST_F(ChildrenTest, a_trial_runs_them_and_counts_what_they_run_for) {
  event("fam/Answer@1", "c");
  const auto journal = store::JournalFiles::open(open_->folder()).take();
  const base::Bytes others = kernel::testing::document(
      family(R"({"event":"fam/Begin@1","workflow":"fam/Child@1","key_field":"id"},)"));
  const PastSource source = PastSource::of(journal, nullptr).take();
  const base::Bytes before = open_->world().program().closure();
  const auto report = shadow(source, machines_, {before, others});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->instances, 2u);
  EXPECT_EQ(report->different, 0u);
  EXPECT_EQ(report->effects, 0u);
  EXPECT_EQ(report->unwanted, 0u);

  // Under the others nobody is run: what the journal has of it is not made up.
  const kernel::testing::Step in_truth = keyed_;
  const base::Hash present = open_->world().program().manifest_hash();
  keyed_ = [&, in_truth](const auto& input, auto& output) {
    if (input.context.manifest_hash() == present) return in_truth(input, output);
    keep_number(output, 1);
  };
  const auto other = shadow(source, machines_, {before, others});
  ASSERT_TRUE(other) << other.error().to_string();
  ASSERT_EQ(other->effect_differences.size(), 2u);
  EXPECT_EQ(other->effect_differences[1],
            R"(sys/workflow.run@1 of fam/Parent@1 "p": 1 at present, 0 tried)");
}

}  // namespace
}  // namespace holdfast::node
