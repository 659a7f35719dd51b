// SPDX-License-Identifier: Apache-2.0
// What an engine says of its world to whoever serves it to others.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>

#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast {
namespace {

using std::chrono::milliseconds;

struct Knock {
  static constexpr std::string_view kSchema = "test/Knock@1";
  std::string door;
};

struct Ring {
  static constexpr std::string_view kEffect = "test/ring@1";
  static constexpr Executor kExecutor = worker("bells");
  struct Params {};
  struct Receipt {};
};

struct Door {
  static constexpr std::string_view kWorkflow = "test/Door@1";
  struct State {
    std::uint64_t knocks = 0;
  };
  using Events = holdfast::Events<On<Knock, &Knock::door>>;
  using Effects = holdfast::Effects<Ring>;
  using Context = holdfast::Context<Door>;
  static void step(State& state, const Knock&, Context& context) {
    if (++state.knocks == 2) context.open<Ring>({});
  }
  static void step(State&, const Received<Ring>&, Context& context) { context.complete(true); }
};

class InspectTest : public ::testing::Test {
 protected:
  void open(bool applies = true, bool has_handler = true) {
    engine_.reset();
    auto opened = Engine::open(options(applies, has_handler));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  EngineOptions options(bool applies, bool has_handler) {
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Door>("test/code@1")};
    if (has_handler) {
      options.handlers = {handle<Ring>([this](const Ring::Params&, const Call& call) {
        while (is_held_ && !call.stopped()) std::this_thread::sleep_for(milliseconds(1));
        return Performed<Ring>(Ring::Receipt{});
      })};
    }
    options.apply_definitions = applies;
    options.any_file_system = true;
    return options;
  }

 public:
  ~InspectTest() override { is_held_ = false; }

 protected:
  template <class T, class Ask>
  Result<T> ask(Ask ask) {
    std::promise<Result<T>> answer;
    ask([&](Result<T> told) { answer.set_value(std::move(told)); });
    return answer.get_future().get();
  }
  std::vector<WaitReason> why() {
    auto told = ask<std::vector<WaitReason>>(
        [&](auto then) { engine_->why_raw(Door::kWorkflow, key_, then); });
    EXPECT_TRUE(told) << told.error().message;
    return told ? *told : std::vector<WaitReason>();
  }
  RawInstance door() {
    return *ask<RawInstance>([&](auto then) { engine_->query_raw(Door::kWorkflow, key_, then); });
  }

  env::testing::TemporaryFolder folder_;
  std::atomic<bool> is_held_ = false;
  const Bytes key_{0x61, 'a'};
  std::unique_ptr<Engine> engine_;
};

TEST_F(InspectTest, an_instance_says_why_it_waits_until_it_has_ended) {
  open();
  EXPECT_EQ(ask<std::vector<WaitReason>>(
                [&](auto then) { engine_->why_raw(Door::kWorkflow, key_, then); })
                .error()
                .code,
            ErrorCode::kNotFound);
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  ASSERT_EQ(why().size(), 1u);
  EXPECT_EQ(why()[0].kind, WaitReason::Kind::kEvent);
  EXPECT_EQ(why()[0].schemas, std::vector<std::string>{"test/Knock@1"});
  is_held_ = true;
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  ASSERT_EQ(why().size(), 1u);
  EXPECT_EQ(why()[0].kind, WaitReason::Kind::kReceipt);
  EXPECT_EQ(why()[0].effect, "test/ring@1");
  ASSERT_TRUE(engine_->pause<Door>("a", "lunch"));
  EXPECT_TRUE(std::ranges::any_of(
      why(), [](const WaitReason& reason) { return reason.kind == WaitReason::Kind::kPaused; }));
  ASSERT_TRUE(engine_->resume<Door>("a", "back"));
  is_held_ = false;
  ASSERT_TRUE(engine_->wait<Door>("a", std::chrono::seconds(60)));
  EXPECT_TRUE(why().empty());
}

TEST_F(InspectTest, the_journal_and_a_timeline_are_read_in_parts) {
  open();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(engine_->send(Knock{"a"}));
  ASSERT_TRUE(engine_->wait<Door>("a", std::chrono::seconds(60)));
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  const auto first = engine_->read_journal(0, {.records = 2});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->records.size(), 2u);
  EXPECT_EQ(first->first, 1u);
  EXPECT_EQ(first->next, 3u);
  const auto rest = engine_->read_journal(first->next);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->next, rest->last + 1);
  EXPECT_TRUE(engine_->read_journal(rest->next)->records.empty());
  EXPECT_EQ(engine_->read_journal(rest->next + 1).error().code, ErrorCode::kNotFound);

  std::size_t count = 0;
  for (std::uint64_t from = door().last_record; from != 0;) {
    const auto part = engine_->read_timeline(Door::kWorkflow, key_, from, {.records = 1});
    ASSERT_TRUE(part) << part.error().message;
    ASSERT_EQ(part->records.size(), 1u);
    from = part->next;
    ++count;
  }
  EXPECT_EQ(count, 4u);  // two knocks, the ring, a knock that came too late
}

TEST_F(InspectTest, a_question_that_is_taken_back_is_told_so) {
  open();
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  std::promise<Result<RawInstance>> answer;
  const auto number = engine_->wait_raw(
      Door::kWorkflow, key_, [&](Result<RawInstance> told) { answer.set_value(std::move(told)); });
  engine_->stop_waiting(number);
  EXPECT_EQ(answer.get_future().get().error().code, ErrorCode::kEnded);
}

TEST_F(InspectTest, a_signal_is_for_one_instance_that_may_be_there) {
  open();
  const Bytes knock{0xa1, 0x64, 'd', 'o', 'o', 'r', 0x61, 'x'};
  for (int i = 0; i < 2; ++i) {
    const auto sent = ask<Sent>([&](auto then) {
      engine_->send_raw({.schema = Knock::kSchema,
                         .value = knock,
                         .workflow = Door::kWorkflow,
                         .key = key_,
                         .starts = false},
                        then);
    });
    ASSERT_TRUE(sent) << sent.error().message;
  }
  EXPECT_TRUE(engine_->wait<Door>("a", std::chrono::seconds(60)));
}

TEST_F(InspectTest, definitions_are_applied_only_where_that_is_asked_for) {
  open(false);
  EXPECT_TRUE(engine_->definitions().empty());
  EXPECT_FALSE(engine_->send(Knock{"a"}));
  open(true);
  const Bytes definitions = engine_->definitions();
  EXPECT_FALSE(definitions.empty());
  open(false);
  EXPECT_EQ(engine_->definitions(), definitions);
  EXPECT_TRUE(engine_->send(Knock{"a"}));
  // What the world has must be performed by somebody, whoever brought it.
  engine_.reset();
  EXPECT_FALSE(Engine::open(options(false, false)));
}

TEST_F(InspectTest, a_snapshot_is_taken_when_it_is_asked_for) {
  open();
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  const auto before = ask<std::uint64_t>([&](auto then) { engine_->take_snapshot(then); });
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(*before, engine_->read_journal(0)->last + 1);
  const auto measures = ask<Measures>([&](auto then) { engine_->measure(then); });
  ASSERT_TRUE(measures);
  EXPECT_EQ(measures->next_record, *before);
  EXPECT_EQ(engine_->condition(), Condition::kReady);
  ASSERT_TRUE(engine_->close());
  EXPECT_EQ(engine_->condition(), Condition::kEnded);
  EXPECT_FALSE(ask<std::uint64_t>([&](auto then) { engine_->take_snapshot(then); }));
}

}  // namespace
}  // namespace holdfast
