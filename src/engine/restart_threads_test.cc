// SPDX-License-Identifier: Apache-2.0
// Keys that are used again, and instances that begin again where they failed or before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "engine/testing_greeting.h"
#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::restart_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

using engine::testing::Greet;
using engine::testing::Greeting;
using engine::testing::Say;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
};
struct Middle {
  static constexpr std::string_view kSchema = "test/Middle@1";
  std::string text;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

// Two steps, one after the other; the second one fails as long as it is told to.
struct Chain : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Chain@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;

  Middle first(const Begin& begin, StepContext&) { return {begin.id + std::to_string(++firsts)}; }
  End second(const Middle& middle, StepContext&) {
    ++seconds;
    if (fails) throw StepError("test.broken", "not now");
    return {middle.text};
  }
  static auto steps() {
    return StepsOf<Chain>().step("first", &Chain::first).step("second", &Chain::second);
  }

  std::atomic<int> firsts = 0;
  std::atomic<int> seconds = 0;
  std::atomic<bool> fails = true;
};

class RestartTest : public ::testing::Test {
 protected:
  void open() {
    EngineOptions made;
    made.dir = folder_.path() + "/world";
    made.modules = {Module::of<Greeting>("test/code@1"), Module::of<Chain>("test/chain@1")};
    made.handlers = {handle<Say>([this](const Say::Params& params, const Call&) -> Performed<Say> {
      if (is_mute_) return EffectError{"test.mute", "no voice"};
      return Say::Receipt{"<" + params.text + ">"};
    })};
    for (Handler& each : step_handlers(chain_)) made.handlers.push_back(std::move(each));
    made.any_file_system = true;
    auto opened = Engine::open(std::move(made));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void open_again() {
    engine_.reset();
    open();
  }
  void take_snapshot() {
    std::promise<bool> taken;
    engine_->take_snapshot([&](auto record) { taken.set_value(static_cast<bool>(record)); });
    EXPECT_TRUE(taken.get_future().get());
  }
  template <class Workflow>
  InstanceStatus ended(const std::string& key) {
    const auto instance = engine_->wait<Workflow>(key, 60s);
    EXPECT_TRUE(instance) << instance.error().message;
    return instance ? instance->status : InstanceStatus::kRunning;
  }
  std::string chain_result(const std::string& key) {
    const auto instance = engine_->wait<Chain>(key, 60s);
    const auto end = instance ? instance->result_as<End>() : std::nullopt;
    return end ? end->text : "no result";
  }

  env::testing::TemporaryFolder folder_;
  std::atomic<bool> is_mute_ = false;
  std::shared_ptr<Chain> chain_ = std::make_shared<Chain>();
  std::unique_ptr<Engine> engine_;
};

TEST_F(RestartTest, a_start_says_what_becomes_of_a_key_whose_instance_has_ended) {
  open();
  ASSERT_TRUE(engine_->start<Greeting>("Ada", Greet{"Ada", 1}));
  EXPECT_EQ(ended<Greeting>("Ada"), InstanceStatus::kCompleted);
  const auto refused = engine_->start<Greeting>("Ada", Greet{"Ada", 2});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  const auto returned =
      engine_->start<Greeting>("Ada", Greet{"Ada", 2}, {.reuse = KeyReuse::kReturn});
  ASSERT_TRUE(returned) << returned.error().message;
  EXPECT_TRUE(returned->is_repeated);
  EXPECT_EQ(engine_->wait<Greeting>("Ada", 60s)->result_as<std::string>(), "<hello Ada>");
  const auto again =
      engine_->start<Greeting>("Ada", Greet{"Ada", 2}, {.reuse = KeyReuse::kStartAgain});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->is_repeated);
  EXPECT_EQ(engine_->wait<Greeting>("Ada", 60s)->result_as<std::string>(), "<hello Ada><again>");
  open_again();
  EXPECT_EQ(engine_->wait<Greeting>("Ada", 60s)->result_as<std::string>(), "<hello Ada><again>");
}

TEST_F(RestartTest, an_effect_that_failed_an_instance_is_performed_again) {
  for (const bool has_snapshot : {false, true}) {
    const std::string key = has_snapshot ? "Bob" : "Ada";
    open();
    is_mute_ = true;
    ASSERT_TRUE(engine_->send(Greet{key, 1}));
    EXPECT_EQ(ended<Greeting>(key), InstanceStatus::kFailed);
    if (has_snapshot) take_snapshot();
    open_again();
    const auto mute = engine_->restart<Greeting>(key);
    ASSERT_TRUE(mute) << mute.error().message;
    EXPECT_EQ(ended<Greeting>(key), InstanceStatus::kFailed) << "it has failed once more";
    is_mute_ = false;
    const auto heard = engine_->restart<Greeting>(key, {}, "it has its voice again", "eva");
    ASSERT_TRUE(heard) << heard.error().message;
    EXPECT_GT(heard->record, heard->from);
    EXPECT_EQ(engine_->wait<Greeting>(key, 60s)->result_as<std::string>(), "<hello " + key + ">");
    const auto part = engine_->read_timeline("test/Greeting@1", detail::bytes_of_value(key),
                                             engine_->last_durable());
    ASSERT_TRUE(part) << part.error().message;
    EXPECT_GE(part->records.size(), 6u) << "the lives before are in its history";
    open_again();
    EXPECT_EQ(ended<Greeting>(key), InstanceStatus::kCompleted);
    const auto refused = engine_->restart<Greeting>(key);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
    engine_.reset();
  }
}

TEST_F(RestartTest, a_run_of_steps_is_retried_where_it_failed_or_from_an_earlier_step) {
  open();
  ASSERT_TRUE(engine_->send(Begin{"a"}));
  EXPECT_EQ(ended<Chain>("a"), InstanceStatus::kFailed);
  EXPECT_EQ(chain_->firsts, 1);
  EXPECT_EQ(chain_->seconds, 1);
  const auto unknown = engine_->restart<Chain>("a", {.step = "third"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("third"));
  ASSERT_TRUE(engine_->restart<Chain>("a"));
  EXPECT_EQ(ended<Chain>("a"), InstanceStatus::kFailed);
  EXPECT_EQ(chain_->firsts, 1) << "only the step that failed runs again";
  EXPECT_EQ(chain_->seconds, 2);
  chain_->fails = false;
  const auto restarted = engine_->restart<Chain>("a", {.step = "first"});
  ASSERT_TRUE(restarted) << restarted.error().message;
  EXPECT_EQ(chain_result("a"), "a2");
  EXPECT_EQ(chain_->firsts, 2);
  open_again();
  EXPECT_EQ(chain_result("a"), "a2");
}

TEST_F(RestartTest, an_instance_that_was_cancelled_begins_again_from_a_record) {
  open();
  const auto sent = engine_->send(Greet{"Ada", 0});
  ASSERT_TRUE(sent);
  EXPECT_EQ(ended<Greeting>("Ada"), InstanceStatus::kFailed);
  const auto gone = engine_->restart<Greeting>("Ada", {.record = sent->record});
  ASSERT_FALSE(gone) << "it has failed in the record that began it";
  EXPECT_EQ(gone.error().code, ErrorCode::kConflict);
  const auto later = engine_->restart<Greeting>("Ada", {.record = sent->record + 1000});
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine_->restart<Greeting>("nobody").error().code, ErrorCode::kNotFound);
  // The event that it failed with comes again, and it fails again.
  ASSERT_TRUE(engine_->restart<Greeting>("Ada"));
  EXPECT_EQ(ended<Greeting>("Ada"), InstanceStatus::kFailed);
}

}  // namespace
}  // namespace holdfast::restart_test
