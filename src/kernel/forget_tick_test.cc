// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernel/forget_list.h"
#include "kernel/limits.h"
#include "kernel/record_view.h"
#include "kernel/testing_lab.h"

namespace holdfast::kernel {
namespace {

using testing::kToKeyed;
using testing::number;
using testing::open;
using testing::state;

class ForgetTest : public testing::LabTest {
 protected:
  // 0 ends with a result, 1 fails, 2 waits for an effect, all else goes on.
  ForgetTest() {
    keyed_ = [](const StepInput& input, StepOutput& output) {
      if (input.mail.kind != MailKind::kEvent) return testing::work(input, output);
      switch (number(input)) {
        case 0: state(output, 0); return testing::complete(output, R"({"sum":2})");
        case 1: return output.fail("no", "no");
        case 2: return testing::work(input, output);
        default: state(output, number(input));
      }
    };
    begin(kToKeyed);
  }

  struct Named {
    std::string id;
    std::uint64_t last_record;
  };
  Outcome forget(const std::vector<Named>& named, std::string_view workflow = "lab/Keyed@1") {
    std::vector<base::Bytes> keys;
    std::vector<ForgetName> names;
    for (const Named& name : named) keys.push_back(testing::value("\"" + name.id + "\""));
    for (std::size_t i = 0; i < named.size(); ++i)
      names.push_back({workflow, keys[i], named[i].last_record});
    codec::Buffer list;
    write_forget_list(list, names);
    return bench().tick(ForgetEnded{list.view()});
  }
  static bool is_tagged(base::ByteView list) {
    return list.size() > 3 && base::equal(list.first(3), codec::kSelfDescribe);
  }
  std::uint64_t record_of(const Outcome& outcome) {
    return std::get<Accepted>(outcome.answer).record;
  }
};

TEST_F(ForgetTest, what_has_ended_is_gone_and_says_so_in_the_record) {
  const std::uint64_t ended = record_of(send("a", 0));
  const Outcome outcome = forget({{"a", ended}});
  EXPECT_EQ(keyed("a"), nullptr);
  const auto view = read_record(outcome.record);
  ASSERT_TRUE(view) << view.error().to_string();
  EXPECT_EQ(view->kind(), TickKind::kForget);
  ASSERT_EQ(view->instances.size(), 1u);
  EXPECT_EQ(view->instances[0].status, "deleted");
  EXPECT_EQ(view->instances[0].previous, ended);
  EXPECT_TRUE(view->instances[0].outcome.empty());
  const auto names = read_forget_list(std::get<ForgetEnded>(view->tick.input).instances);
  ASSERT_TRUE(names);
  EXPECT_EQ(names->at(0).last_record, ended);
  bench().expect_replays();
}

TEST_F(ForgetTest, how_an_instance_stands_decides) {
  struct Case {
    const char* what;
    std::uint64_t n;
    int off;  // what is named, from the last record that touched it
    bool is_forgotten;
  };
  for (const Case& it : {Case{"completed", 0, 0, true}, Case{"failed", 1, 0, true},
                         Case{"named later", 0, 7, true}, Case{"touched since", 0, -1, false},
                         Case{"running", 9, 0, false}, Case{"waiting", 2, 0, false}}) {
    const std::uint64_t last = record_of(send(it.what, it.n));
    const Outcome outcome = forget({{it.what, last + static_cast<std::uint64_t>(it.off)}});
    EXPECT_TRUE(std::holds_alternative<Accepted>(outcome.answer)) << it.what;
    EXPECT_EQ(keyed(it.what) == nullptr, it.is_forgotten) << it.what;
    EXPECT_EQ(read_record(outcome.record)->instances.size(), it.is_forgotten ? 1u : 0u) << it.what;
  }
  bench().expect_replays();
}

TEST_F(ForgetTest, a_message_that_came_after_the_end_counts_as_a_touch) {
  const std::uint64_t ended = record_of(send("a", 0));
  const std::uint64_t ignored = record_of(send("a", 0));
  forget({{"a", ended}});
  ASSERT_NE(keyed("a"), nullptr);
  forget({{"a", ignored}});
  EXPECT_EQ(keyed("a"), nullptr);
}

TEST_F(ForgetTest, a_cancelled_one_goes_too_and_nothing_waits_for_it) {
  send("a", 2);
  const std::uint64_t ended = record_of(bench().control(Control::kCancel, "lab/Keyed@1", "\"a\""));
  forget({{"a", ended}});
  EXPECT_EQ(keyed("a"), nullptr);
  EXPECT_EQ(bench().world().open_intents(), 0u);
  bench().expect_replays();
}

TEST_F(ForgetTest, twice_is_as_once) {
  const std::uint64_t ended = record_of(send("a", 0));
  forget({{"a", ended}, {"a", ended}, {"nobody", 3}});
  const base::Bytes before = *bench().world().snapshot();
  const Outcome again = forget({{"a", ended}});
  EXPECT_TRUE(std::holds_alternative<Accepted>(again.answer));
  EXPECT_TRUE(read_record(again.record)->instances.empty());
  EXPECT_EQ(keyed("a"), nullptr);
  bench().expect_replays();
}

TEST_F(ForgetTest, the_key_begins_again_as_if_it_had_never_been) {
  forget({{"a", record_of(send("a", 0))}});
  const Outcome begun = send("a", 9);
  EXPECT_EQ(keyed("a")->status(), Status::kRunning);
  EXPECT_EQ(read_record(begun.record)->instances.at(0).previous, 0u);
  bench().expect_replays();
}

TEST_F(ForgetTest, an_event_that_is_known_by_its_id_begins_nothing) {
  forget({{"a", record_of(send("a", 0, "e-1"))}});
  EXPECT_TRUE(std::holds_alternative<Repeated>(send("a", 0, "e-1").answer));
  EXPECT_EQ(keyed("a"), nullptr);
}

TEST_F(ForgetTest, one_that_sleeps_in_the_index_is_forgotten_there) {
  const std::uint64_t ended = record_of(send("a", 0));
  send("b", 0);
  bench().put_away();
  forget({{"a", ended}});
  EXPECT_EQ(keyed("a"), nullptr);
  bench().put_away();
  EXPECT_EQ(keyed("a"), nullptr);
  EXPECT_NE(keyed("b"), nullptr);
  bench().expect_replays();
}

TEST_F(ForgetTest, one_of_a_workflow_that_is_gone_is_forgotten_and_does_not_come_back) {
  const std::uint64_t a = record_of(send("a", 0));
  const std::uint64_t b = record_of(send("b", 0));
  ASSERT_TRUE(std::holds_alternative<Accepted>(bench().apply(testing::lab_without_keyed()).answer));
  bench().put_away();
  const Outcome outcome = forget({{"a", a}, {"b", b - 1}});
  EXPECT_EQ(read_record(outcome.record)->instances.size(), 1u);
  ASSERT_TRUE(std::holds_alternative<Accepted>(bench().apply(testing::lab(kToKeyed)).answer));
  EXPECT_EQ(keyed("a"), nullptr);
  EXPECT_NE(keyed("b"), nullptr);
  bench().expect_replays();
}

TEST_F(ForgetTest, the_last_one_of_a_workflow_that_is_gone_leaves_nothing_behind) {
  const std::uint64_t a = record_of(send("a", 0));
  bench().apply(testing::lab_without_keyed());
  bench().put_away();
  forget({{"a", a}});
  bench().put_away();
  bench().put_away();
  bench().expect_replays();
}

TEST_F(ForgetTest, it_runs_no_code_and_mail_that_is_left_over_goes_on_after_it) {
  const std::uint64_t ended = record_of(send("a", 0));
  bench().control(Control::kPause, "lab/Keyed@1", "\"a\"");
  int steps = 0;
  keyed_ = [&](const StepInput& input, StepOutput& output) {
    ++steps;
    state(output, number(input));
    testing::emit(output, "lab/Go@1", go("loop", 5));
  };
  send("loop", 5);  // goes on for ever, a tick at a time
  const int before = steps;
  const Outcome outcome = forget({{"a", ended}});
  EXPECT_EQ(steps, before);
  EXPECT_EQ(keyed("a"), nullptr);
  ASSERT_EQ(outcome.commands.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<ContinueSoon>(outcome.commands[0]));
}

TEST_F(ForgetTest, what_is_no_list_is_refused) {
  send("a", 0);
  const base::Bytes before = *bench().world().snapshot();
  codec::Buffer many;
  write_forget_list(many,
                    std::vector<ForgetName>(kMaxForgottenPerTick + 1, {"lab/Keyed@1", {}, 1}));
  for (const base::Bytes& list :
       {base::Bytes{}, base::Bytes{0xff}, testing::value("[]"),
        testing::value(R"(["lab/Keyed@1"])"), testing::value(R"({"a":1})"),
        testing::value(R"([1,2,3])"), many.to_bytes()}) {
    base::Bytes tagged(std::begin(codec::kSelfDescribe), std::end(codec::kSelfDescribe));
    for (const std::uint8_t byte : list) tagged.push_back(byte);
    EXPECT_TRUE(std::holds_alternative<Refused>(bench().tick(ForgetEnded{list}).answer));
    const Outcome outcome = bench().tick(ForgetEnded{is_tagged(list) ? list : tagged});
    ASSERT_TRUE(std::holds_alternative<Refused>(outcome.answer));
    EXPECT_EQ(std::get<Refused>(outcome.answer).code, base::ErrorCode::kInvalid);
    EXPECT_TRUE(outcome.record.empty());
  }
  EXPECT_EQ(*bench().world().snapshot(), before);
}

}  // namespace
}  // namespace holdfast::kernel
