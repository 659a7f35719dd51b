// SPDX-License-Identifier: Apache-2.0
// A replay that goes on after a difference: which instances differ, and which do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kernel/forget_list.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kToKeyed;
using testing::kToNumbered;
using testing::LabTest;
using testing::opened;
using ::testing::Pair;
using testing::value;

class ReplayComparingTest : public LabTest {
 protected:
  void SetUp() override {
    begin(kToKeyed);
    keyed_ = testing::work;
  }

  // Each instance that differs, with what was said of it first.
  std::map<std::string, std::string> compare(World& world) {
    std::map<std::string, std::string> all;
    for (const base::Bytes& record : bench().journal()) {
      auto found = world.replay_comparing(record);
      if (!found) {
        stopped_ = found.error().to_string();
        EXPECT_EQ(found.error().code(), base::ErrorCode::kConflict);
        break;
      }
      for (ReplayDifference& each : *found)
        all.emplace(testing::json_of(each.key), std::move(each.why));
    }
    return all;
  }
  std::map<std::string, std::string> compare() {
    World world(machines_, bench().blobs());
    auto all = compare(world);
    if (stopped_.empty()) {
      EXPECT_EQ(world.next_record(), bench().journal().size() + 1);
    }
    return all;
  }

  std::string stopped_;
};

TEST_F(ReplayComparingTest, nothing_differs_with_the_same_code) {
  const base::Hash intent = opened(send("a", 1)).at(0);
  send("b", 2);
  bench().receipt(intent, R"({"ok":true})");
  World world(machines_, bench().blobs());
  EXPECT_THAT(compare(world), IsEmpty());
  EXPECT_EQ(testing::json_of(*world.snapshot()), testing::json_of(*bench().world().snapshot()));
}

TEST_F(ReplayComparingTest, each_instance_that_differs_is_named_and_the_others_are_compared) {
  const base::Hash a = opened(send("a", 1)).at(0);
  const base::Hash b = opened(send("b", 2)).at(0);
  const base::Hash c = opened(send("c", 3)).at(0);
  const base::Hash d = opened(send("d", 2)).at(0);
  for (const base::Hash& intent : {d, c, b, a}) bench().receipt(intent, R"({"ok":true})");
  keyed_ = [](const StepInput& input, StepOutput& output) {
    testing::work(input, output);
    if (input.mail.kind == MailKind::kEvent && testing::number(input) == 2)
      testing::state(output, 20);
  };
  World world(machines_, bench().blobs());
  EXPECT_THAT(compare(world), ElementsAre(Pair(R"("b")", "it differs in: state"),
                                          Pair(R"("d")", "it differs in: state")));
  EXPECT_TRUE((*world.find("lab/Keyed@1", value(R"("c")")))->terminal());
}

TEST_F(ReplayComparingTest, an_effect_that_is_not_opened_does_not_shift_those_of_others) {
  const base::Hash a = opened(send("a", 2)).at(0);
  const base::Hash b = opened(send("b", 1)).at(0);
  bench().receipt(a, R"({"ok":true})");
  const base::Hash c = opened(send("c", 1)).at(0);
  bench().receipt(b, R"({"ok":true})");
  bench().receipt(c, R"({"ok":true})");
  keyed_ = [](const StepInput& input, StepOutput& output) {
    if (input.mail.kind == MailKind::kEvent && testing::number(input) == 2)
      return testing::state(output, 2);
    testing::work(input, output);
  };
  EXPECT_THAT(compare(), ElementsAre(Pair(R"("a")", "it differs in: status, opened effects")));
}

TEST_F(ReplayComparingTest, an_instance_without_code_is_named_and_others_go_on) {
  begin(std::string(kToKeyed) + "," + kToNumbered);
  keyed_ = testing::work;
  send("a", 1);
  send("b", 2);
  machines_.unfit.insert("keyed");
  World world(machines_, bench().blobs());
  const auto found = compare(world);
  EXPECT_THAT(found, ElementsAre(Pair(R"("a")", HasSubstr("its code does not fit")),
                                 Pair(R"("b")", HasSubstr("its code does not fit"))));
  EXPECT_EQ(testing::json_of((*world.find("lab/Numbered@1", value("2")))->state), R"({"n":2})");
}

TEST_F(ReplayComparingTest, a_migration_that_does_not_move_an_instance_names_it) {
  machines_.set_migrate("keyed", [](const EarlierState&, codec::Buffer& out, std::string&) {
    testing::write(out, R"({"m":5,"n":1})");
    return true;
  });
  send("a", 1);
  send("b", 2);
  std::string changed = testing::lab(kToKeyed);
  const std::string state = R"("lab/State@1","type":{"record":{)";
  changed.insert(changed.find(state) + state.size(), R"("m":{"nat":{}},)");
  const base::Bytes definitions = value(changed);
  bench().tick(ApplyManifest{definitions, {}, false, true});
  const base::Bytes a = value(R"("a")");
  const base::Bytes b = value(R"("b")");
  codec::Buffer list;
  write_forget_list(list, {{{"lab/Keyed@1", a, 0}, {"lab/Keyed@1", b, 0}}});
  EXPECT_FALSE(bench().tick(MigrateInstances{list.view()}).record.empty());
  machines_.set_migrate("keyed",
                        [](const EarlierState& earlier, codec::Buffer& out, std::string& why) {
                          why = "2 is too much";
                          testing::write(out, R"({"m":5,"n":1})");
                          return *codec::View::of(earlier.state).find("n")->nat() != 2;
                        });
  EXPECT_THAT(compare(), ElementsAre(Pair(R"("b")", "it does not move: 2 is too much")));
}

TEST_F(ReplayComparingTest, definitions_that_are_refused_now_end_the_comparison) {
  const base::Hash a = opened(send("a", 1)).at(0);
  bench().receipt(a, R"({"ok":true})");
  bench().apply(testing::lab_without_keyed());
  const std::size_t last = bench().journal().size();
  keyed_ = testing::keep;
  EXPECT_EQ(compare().size(), 1u);
  EXPECT_THAT(stopped_, HasSubstr("record " + std::to_string(last)));
}

}  // namespace
}  // namespace holdfast::kernel
