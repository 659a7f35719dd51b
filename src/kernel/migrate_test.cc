// SPDX-License-Identifier: Apache-2.0
// Instances that move from an earlier version of their workflow to the present one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/forget_list.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::HasSubstr;
using testing::kToKeyed;
using testing::lab;
using testing::LabTest;
using testing::opened;
using testing::value;

class MigrateTest : public LabTest {
 protected:
  void SetUp() override {
    begin(kToKeyed);
    keyed_ = testing::work;
    machines_.set_migrate(
        "keyed", [this](const EarlierState& earlier, codec::Buffer& out, std::string& why) {
          const auto n = codec::View::of(earlier.state).find("n");
          if (!n || *n->nat() == 13) {
            why = "13 brings bad luck";
            return false;
          }
          testing::write(
              out, made_.empty() ? R"({"m":5,"n":)" + std::to_string(*n->nat()) + "}" : made_);
          return true;
        });
  }

  static std::string with(std::string_view before, std::string_view after) {
    std::string all = lab(kToKeyed);
    const std::size_t at = all.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    return all.replace(at, before.size(), after);
  }
  // A state has one field more, which it must have.
  static std::string lab_2() {
    return with(R"("lab/State@1","type":{"record":{)",
                R"("lab/State@1","type":{"record":{"m":{"nat":{}},)");
  }
  void apply(const std::string& definitions) {
    const base::Bytes document = value(definitions);
    const Outcome outcome = bench().tick(ApplyManifest{document, {}, false, true});
    EXPECT_TRUE(std::holds_alternative<Accepted>(outcome.answer));
  }
  Outcome migrate(const std::vector<std::string>& ids) {
    std::vector<base::Bytes> keys;
    for (const std::string& id : ids) keys.push_back(value("\"" + id + "\""));
    std::vector<ForgetName> names;
    for (const base::Bytes& key : keys) names.push_back({"lab/Keyed@1", key, 0});
    codec::Buffer list;
    write_forget_list(list, names);
    return bench().tick(MigrateInstances{list.view(), "eva"});
  }
  static const Migration& migration(const Outcome& outcome) {
    if (const auto* accepted = std::get_if<Accepted>(&outcome.answer)) return *accepted->migration;
    return *std::get<Unchanged>(outcome.answer).migration;
  }
  static std::string why(const Outcome& outcome) {
    const auto& stays = migration(outcome).stays;
    return stays.empty() ? "" : stays.front().why;
  }
  std::string status(std::string_view id) {
    const Cell* cell = keyed(id);
    return cell == nullptr ? "" : std::string(name_of(cell->status()));
  }
  bool is_pinned(std::string_view id) {
    return bench().world().program().workflow(keyed(id)->workflow).is_pinned;
  }

  std::string made_;  // by the migration; empty: what it makes of the state
};

TEST_F(MigrateTest, an_instance_moves_with_what_it_has_open) {
  const base::Hash first = opened(send("a", 1)).at(0);
  const base::Hash second = opened(send("b", 2)).at(0);
  apply(lab_2());
  EXPECT_TRUE(is_pinned("a"));
  bench().put_away();
  const Outcome moved = migrate({"a", "gone"});
  EXPECT_EQ(migration(moved).moved, 1u);
  EXPECT_TRUE(migration(moved).stays.empty());
  EXPECT_FALSE(is_pinned("a"));
  EXPECT_TRUE(is_pinned("b"));
  EXPECT_EQ(testing::json_of(keyed("a")->state), R"({"m":5,"n":1})");
  EXPECT_EQ(status("a"), "waiting");
  const auto record = read_record(moved.record);
  ASSERT_TRUE(record);
  ASSERT_EQ(record->instances.size(), 1u);
  EXPECT_EQ(record->instances[0].previous, 2u);
  bench().put_away();
  bench().receipt(first, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  EXPECT_EQ(migration(migrate({"a", "b"})).moved, 1u) << "what has ended is passed over";
  bench().put_away();
  bench().receipt(second, R"({"ok":true})");
  EXPECT_EQ(status("b"), "completed");
  EXPECT_TRUE(std::holds_alternative<Unchanged>(migrate({"a", "b"}).answer));
  bench().put_away();
  bench().expect_replays();
}

TEST_F(MigrateTest, one_that_does_not_fit_stays_and_says_why) {
  const base::Hash intent = opened(send("a", 13)).at(0);
  apply(lab_2());
  const std::size_t records = bench().journal().size();
  const Outcome stays = migrate({"a"});
  EXPECT_EQ(why(stays), "13 brings bad luck");
  EXPECT_EQ(bench().journal().size(), records) << "nothing happened";
  EXPECT_TRUE(is_pinned("a"));
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed") << "it goes on with its version";
  bench().expect_replays();
}

TEST_F(MigrateTest, an_instance_tells_its_version_and_why_it_stays_there) {
  const auto version = [&](std::string_view id) {
    const auto found =
        bench().world().kept_version("lab/Keyed@1", value("\"" + std::string(id) + "\""));
    EXPECT_TRUE(found) << found.error().to_string();
    return *found;
  };
  send("a", 13);
  send("b", 1);
  EXPECT_FALSE(version("a")) << "it has the present version";
  const base::Hash before = bench().world().program().workflow(keyed("a")->workflow).form;
  apply(lab_2());
  bench().put_away();
  const std::size_t records = bench().journal().size();
  ASSERT_TRUE(version("a"));
  EXPECT_EQ(version("a")->form, before);
  EXPECT_NE(version("a")->present, before);
  EXPECT_EQ(version("a")->stays_because, "13 brings bad luck");
  ASSERT_TRUE(version("b"));
  EXPECT_EQ(version("b")->stays_because, "");
  EXPECT_FALSE(version("nobody"));
  EXPECT_EQ(bench().journal().size(), records);
  EXPECT_TRUE(is_pinned("b")) << "it was only asked";
  EXPECT_EQ(testing::json_of(keyed("b")->state), R"({"n":1})");
  migrate({"a", "b"});
  EXPECT_TRUE(version("a"));
  EXPECT_FALSE(version("b"));
  bench().control(Control::kCancel, "lab/Keyed@1", R"("a")");
  EXPECT_FALSE(version("a")) << "it has ended";
  bench().expect_replays();
}

TEST_F(MigrateTest, what_a_migration_makes_is_checked) {
  send("a", 1);
  apply(lab_2());
  made_ = R"({"n":1})";
  EXPECT_THAT(why(migrate({"a"})), HasSubstr("what the migration made"));
  made_ = R"({"m":1,"n":1})";
  EXPECT_EQ(migration(migrate({"a"})).moved, 1u);
  EXPECT_EQ(testing::json_of(keyed("a")->state), R"({"m":1,"n":1})");
}

TEST_F(MigrateTest, an_effect_that_changes_keeps_its_instance_where_it_is) {
  const base::Hash intent = opened(send("a", 1)).at(0);
  apply(with(R"("timeout_ns":31536000000000000)", R"("timeout_ns":41536000000000000)"));
  made_ = R"({"n":1})";
  EXPECT_THAT(why(migrate({"a"})), HasSubstr("'lab/work@1', which the present version has in"));
  bench().receipt(intent, R"({"ok":true})");
  EXPECT_EQ(status("a"), "completed");
  bench().expect_replays();
}

TEST_F(MigrateTest, mail_is_taken_before_an_instance_moves) {
  send("a", 1);
  bench().control(Control::kPause, "lab/Keyed@1", R"("a")");
  send("a", 2);
  apply(lab_2());
  EXPECT_THAT(why(migrate({"a"})), HasSubstr("mail waits for it"));
  bench().control(Control::kResume, "lab/Keyed@1", R"("a")");
  EXPECT_EQ(migration(migrate({"a"})).moved, 1u);
  bench().expect_replays();
}

TEST_F(MigrateTest, without_the_code_of_the_migration_a_replay_says_so) {
  send("a", 1);
  apply(lab_2());
  EXPECT_EQ(migration(migrate({"a"})).moved, 1u);
  machines_.set_migrate("keyed", nullptr);
  World world(machines_, bench().blobs());
  for (std::size_t i = 0; i + 1 < bench().journal().size(); ++i)
    ASSERT_TRUE(world.replay(bench().journal()[i]));
  const auto replayed = world.replay(bench().journal().back());
  ASSERT_FALSE(replayed);
  EXPECT_THAT(replayed.error().to_string(), HasSubstr("does not move"));
}

TEST_F(MigrateTest, a_list_that_is_none_is_refused) {
  const base::Bytes junk = value("[1,2]");
  EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(MigrateInstances{junk}).answer));
}

}  // namespace
}  // namespace holdfast::kernel
