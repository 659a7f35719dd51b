// SPDX-License-Identifier: Apache-2.0
// Keys that begin again, and instances that begin again as they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/testing_family.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kToKeyed;
using testing::LabTest;
using testing::opened;
using testing::value;

class ReopenTest : public LabTest {
 protected:
  void SetUp() override {
    begin(kToKeyed);
    keyed_ = testing::work;
  }

  Outcome start(std::string_view id, std::uint64_t n, KeyReuse reuse, std::string_view event = {}) {
    const base::Bytes bytes = value(go(id, n));
    const base::Bytes key = value("\"" + std::string(id) + "\"");
    EventArrived arrived{"lab/Go@1", bytes, event};
    arrived.workflow = "lab/Keyed@1";
    arrived.key = key;
    arrived.starts = true;
    arrived.reuse = reuse;
    return bench().tick(arrived);
  }
  Outcome reopen(std::string_view id, const InstanceImage& image) {
    codec::Buffer bytes;
    write_image(bytes, image);
    const base::Bytes key = value("\"" + std::string(id) + "\"");
    return bench().tick(ReopenInstance{"lab/Keyed@1", key, bytes.view(), 3, "because", "eva"});
  }
  InstanceImage image(std::string_view id) {
    auto made = bench().world().image("lab/Keyed@1", value("\"" + std::string(id) + "\""));
    EXPECT_TRUE(made && made->has_value());
    return std::move(**made);
  }
  // What it was before the last record, replayed in a world of its own.
  InstanceImage watched(std::string_view id) {
    World world(machines_, bench().blobs());
    for (std::size_t i = 0; i + 1 < bench().journal().size(); ++i)
      EXPECT_TRUE(world.replay(bench().journal()[i]));
    auto seen = world.replay_watching(bench().journal().back(), "lab/Keyed@1",
                                      value("\"" + std::string(id) + "\""));
    EXPECT_TRUE(seen && seen->has_value());
    return std::move(**seen);
  }
  std::string status(std::string_view id) {
    const Cell* cell = keyed(id);
    return cell == nullptr ? "" : std::string(name_of(cell->status()));
  }
  static std::string refusal(const Outcome& outcome) {
    const auto* refused = std::get_if<Refused>(&outcome.answer);
    return refused == nullptr ? "" : refused->message;
  }
};

TEST_F(ReopenTest, the_key_of_an_ended_instance_begins_again_if_that_is_asked_for) {
  const base::Hash first = opened(start("a", 1, KeyReuse::kStartAgain)).at(0);
  EXPECT_THAT(refusal(start("a", 2, KeyReuse::kStartAgain)), HasSubstr("exists ("));
  bench().receipt(first, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  EXPECT_THAT(refusal(start("a", 2, KeyReuse::kRefuse)), HasSubstr("exists ("));
  const std::uint64_t last = keyed("a")->last_record;
  const Outcome again = start("a", 2, KeyReuse::kStartAgain, "once");
  const base::Hash second = opened(again).at(0);
  EXPECT_NE(first, second);
  EXPECT_EQ(status("a"), "waiting");
  const auto record = read_record(again.record);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.size(), 2u);
  EXPECT_EQ(record->instances[0].status, "deleted");
  EXPECT_EQ(record->instances[1].status, "waiting");
  EXPECT_EQ(record->instances[0].previous, last);
  EXPECT_EQ(record->instances[1].previous, last) << "a timeline goes on to the life before";
  EXPECT_TRUE(
      std::holds_alternative<Repeated>(start("a", 2, KeyReuse::kStartAgain, "once").answer));
  bench().put_away();
  bench().receipt(second, R"({"ok":false})");
  EXPECT_EQ(status("a"), "completed");
  bench().expect_replays();
}

TEST_F(ReopenTest, an_ended_instance_may_be_the_answer_to_its_start) {
  const base::Hash first = opened(start("a", 1, KeyReuse::kReturnEnded)).at(0);
  EXPECT_THAT(refusal(start("a", 1, KeyReuse::kReturnEnded)), HasSubstr("exists ("));
  bench().receipt(first, R"({"ok":true})");
  const std::size_t records = bench().journal().size();
  const Outcome returned = start("a", 1, KeyReuse::kReturnEnded);
  ASSERT_TRUE(std::holds_alternative<Repeated>(returned.answer));
  EXPECT_EQ(std::get<Repeated>(returned.answer).record, records);
  EXPECT_EQ(bench().journal().size(), records);
  bench().expect_replays();
}

TEST_F(ReopenTest, reuse_is_for_events_that_start) {
  const base::Bytes bytes = value(go("a", 1));
  EventArrived arrived{"lab/Go@1", bytes, {}};
  arrived.reuse = KeyReuse::kStartAgain;
  EXPECT_THAT(refusal(bench().tick(arrived)), HasSubstr("starts an instance"));
}

TEST_F(ReopenTest, a_failed_instance_gets_the_message_again_that_it_failed_with) {
  bool fails = true;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    if (input.mail.kind == MailKind::kReceipt && fails) return output.fail("lab.bad", "no");
    testing::work(input, output);
  };
  const base::Hash intent = opened(send("a", 7)).at(0);
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(status("a"), "failed");
  InstanceImage before = watched("a");
  ASSERT_TRUE(before.taken);
  EXPECT_EQ(before.taken->kind, MailKind::kReceipt);
  EXPECT_EQ(testing::json_of(*before.state), R"({"n":7})");
  EXPECT_TRUE(before.effects.empty()) << "the answer has settled it";
  before.mail.push_back(*before.taken);
  const Outcome failing = reopen("a", before);
  ASSERT_TRUE(std::holds_alternative<Accepted>(failing.answer)) << refusal(failing);
  EXPECT_EQ(status("a"), "failed") << "it is the same code";
  fails = false;
  // The journal has records that failed.
  const Outcome done = reopen("a", before);
  ASSERT_TRUE(std::holds_alternative<Accepted>(done.answer)) << refusal(done);
  EXPECT_EQ(status("a"), "completed");
}

TEST_F(ReopenTest, effects_that_were_open_are_opened_again_under_identities_of_their_own) {
  const base::Hash intent = opened(send("a", 7)).at(0);
  const InstanceImage waiting = image("a");
  ASSERT_EQ(waiting.effects.size(), 1u);
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  EXPECT_EQ(status("a"), "cancelled");
  const Outcome again = reopen("a", waiting);
  ASSERT_TRUE(std::holds_alternative<Accepted>(again.answer)) << refusal(again);
  ASSERT_EQ(opened(again).size(), 1u);
  EXPECT_NE(opened(again).at(0), intent);
  EXPECT_EQ(status("a"), "waiting");
  const auto record = read_record(again.record);
  ASSERT_TRUE(record);
  EXPECT_THAT(record->notes, ElementsAre(ElementsAre("instance.reopened", "lab/Keyed@1", "3")));
  EXPECT_EQ(record->instances.at(1).opened.at(0).effect, "lab/work@1");
  bench().put_away();
  bench().receipt(opened(again).at(0), R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  EXPECT_THAT(refusal(reopen("a", waiting)), HasSubstr("has completed"));
  bench().expect_replays();
}

TEST_F(ReopenTest, what_does_not_fit_is_refused_and_changes_nothing) {
  send("a", 7);
  const InstanceImage good = image("a");
  EXPECT_THAT(refusal(reopen("a", good)), HasSubstr("has not ended"));
  EXPECT_THAT(refusal(reopen("b", good)), HasSubstr("no such instance"));
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  const std::size_t records = bench().journal().size();
  InstanceImage bad = good;
  bad.state = value(R"({"n":"seven"})");
  EXPECT_THAT(refusal(reopen("a", bad)), HasSubstr("its state"));
  bad = good;
  bad.effects[0].name = "lab/other@1";
  EXPECT_THAT(refusal(reopen("a", bad)), HasSubstr("lab/other@1"));
  bad = good;
  bad.effects[0].params = value(R"({"a":"one"})");
  EXPECT_THAT(refusal(reopen("a", bad)), HasSubstr("params"));
  bad = good;
  bad.mail.emplace_back().schema = "lab/Unknown@1";
  EXPECT_THAT(refusal(reopen("a", bad)), HasSubstr("message"));
  EXPECT_THAT(refusal(reopen("a", InstanceImage())), HasSubstr("neither"));
  const base::Bytes key = value(R"("a")");
  const base::Bytes junk = value(R"([1,2])");
  EXPECT_THAT(refusal(bench().tick(ReopenInstance{"lab/Keyed@1", key, junk, 1, {}})),
              HasSubstr("no image"));
  EXPECT_EQ(bench().journal().size(), records);
  EXPECT_EQ(status("a"), "cancelled");
  bench().expect_replays();
}

TEST_F(ReopenTest, an_image_is_read_as_it_was_written) {
  InstanceImage image;
  image.state = value(R"({"n":1})");
  image.parts = {value("1"), value("2")};
  image.effects = {{"lab/work@1", value(R"({"a":1,"b":null})"), "ref"}};
  image.mail.emplace_back().schema = "lab/Go@1";
  image.mail[0].value = value(go("a", 1));
  codec::Buffer bytes;
  write_image(bytes, image);
  const auto read = read_image(bytes.view());
  ASSERT_TRUE(read);
  codec::Buffer again;
  write_image(again, *read);
  EXPECT_TRUE(base::equal(bytes.view(), again.view()));
  for (std::size_t size = 0; size < bytes.view().size(); ++size)
    EXPECT_FALSE(read_image(bytes.view().first(size)));
}

class ReopenFamilyTest : public testing::FamilyTest {
 protected:
  Outcome reopen(const InstanceImage& image) {
    codec::Buffer bytes;
    write_image(bytes, image);
    const base::Bytes key = value(R"("p")");
    return bench().tick(ReopenInstance{"fam/Parent@1", key, bytes.view(), 1, {}});
  }
};

TEST_F(ReopenFamilyTest, a_child_that_was_cancelled_with_its_parent_begins_again) {
  go("p", 7);
  auto image = bench().world().image("fam/Parent@1", value(R"("p")"));
  ASSERT_TRUE(image && image->has_value());
  cancel("fam/Parent@1", "p");
  go_on();
  EXPECT_EQ(status_of(child("c")), "cancelled");
  const Outcome again = reopen(**image);
  ASSERT_TRUE(std::holds_alternative<Accepted>(again.answer));
  EXPECT_EQ(status_of(parent("p")), "waiting");
  EXPECT_EQ(status_of(child("c")), "running");
  ASSERT_TRUE(child("c")->run_by);
  EXPECT_EQ(child("c")->run_by->intent, *parent("p")->intents.begin());
  answer("c", 9);
  EXPECT_THAT(told_, ElementsAre("ok 9"));
  expect_replays();
}

TEST_F(ReopenFamilyTest, a_child_that_has_completed_answers_at_once) {
  go("p", 7);
  auto image = bench().world().image("fam/Parent@1", value(R"("p")"));
  ASSERT_TRUE(image && image->has_value());
  answer("c", 9);
  told_.clear();
  cancel("fam/Parent@1", "p");
  go_on();
  const Outcome again = reopen(**image);
  ASSERT_TRUE(std::holds_alternative<Accepted>(again.answer));
  EXPECT_THAT(told_, ElementsAre("ok 9"));
  EXPECT_EQ(bench().world().open_intents(), 0u);
  told_.clear();
  expect_replays();
}

}  // namespace
}  // namespace holdfast::kernel
