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

// What a program that has sent looks for: the answer to the send comes after its effects began.
TEST_F(InspectTest, what_a_returned_send_has_opened_is_open) {
  open();
  is_held_ = true;
  for (std::uint64_t i = 1; i <= 30; ++i) {
    const std::string name = std::to_string(i);
    for (int knock = 0; knock < 2; ++knock) ASSERT_TRUE(engine_->send(Knock{name}));
    const auto measures = ask<Measures>([&](auto then) { engine_->measure(then); });
    ASSERT_TRUE(measures);
    EXPECT_EQ(measures->open_effects, i);
    ASSERT_EQ(measures->open_by_effect.size(), 1u);
    EXPECT_EQ(measures->open_by_effect[0].count, i);
  }
}

// One question for both: an instance has no reasons to wait if it has ended, and only then.
TEST_F(InspectTest, how_an_instance_stands_and_why_it_waits_are_of_one_moment) {
  open();
  std::atomic<bool> is_over = false;
  std::thread sender([&] {
    for (int i = 0; i < 200; ++i) {
      const std::string name = std::to_string(i % 10 == 0 ? i / 10 : 100 + i);
      for (int knock = 0; knock < 2; ++knock) static_cast<void>(engine_->send(Knock{name}));
    }
    is_over = true;
  });
  std::uint64_t seen = 0;
  for (std::uint8_t i = 0; !is_over || seen < 20; i = static_cast<std::uint8_t>((i + 1) % 10)) {
    const Bytes key{0x61, static_cast<std::uint8_t>('0' + i)};
    const auto situation = ask<Engine::RawSituation>(
        [&](auto then) { engine_->situation_raw(Door::kWorkflow, key, then); });
    if (!situation) continue;  // it has not begun
    ++seen;
    const bool has_ended = situation->instance.status == InstanceStatus::kCompleted;
    EXPECT_EQ(situation->reasons.empty(), has_ended);
    EXPECT_EQ(situation->instance.outcome.empty(), !has_ended);
  }
  sender.join();
}

TEST_F(InspectTest, an_instance_names_its_workflow_and_its_module_by_their_hashes) {
  open();
  ASSERT_TRUE(engine_->send(Knock{"a"}));
  const RawInstance seen = door();
  ASSERT_TRUE(seen.code);
  EXPECT_EQ(seen.code->module, "test/code@1");
  EXPECT_NE(seen.code->workflow_hash, Hash());
  EXPECT_NE(seen.code->module_hash, Hash());
  EXPECT_NE(seen.code->module_hash, seen.code->workflow_hash);
  // The record that applied the definitions says the same.
  const auto journal = engine_->read_journal(1, {.records = 1});
  ASSERT_TRUE(journal);
  const auto contains = [&](const std::string& text) {
    const Bytes& record = journal->records.at(0);
    return std::search(record.begin(), record.end(), text.begin(), text.end()) != record.end();
  };
  EXPECT_TRUE(contains(to_text(seen.code->workflow_hash)));
  EXPECT_TRUE(contains(to_text(seen.code->module_hash)));
}

TEST_F(InspectTest, lists_say_when_an_instance_ended_whatever_came_after_that) {
  open();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(engine_->send(Knock{"a"}));
  ASSERT_TRUE(engine_->wait<Door>("a", std::chrono::seconds(60)));
  const auto row = [&]() -> ListedInstance {
    const std::uint64_t last = engine_->read_journal(0)->last;
    for (;;) {
      const auto list = ask<InstanceList>([&](auto then) { engine_->list_raw({}, then); });
      if (!list) return {};
      if (list->seen >= last) return list->instances.at(0);
      std::this_thread::sleep_for(milliseconds(1));
    }
  };
  const ListedInstance ended = row();
  EXPECT_EQ(ended.status, "completed");
  EXPECT_EQ(ended.ended_record, ended.last_record);
  EXPECT_EQ(ended.ended_ns, ended.last_ns);
  const auto late = engine_->send(Knock{"a"});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->ignored, 1u);
  const ListedInstance touched = row();
  EXPECT_EQ(touched.last_record, ended.last_record + 1);
  EXPECT_EQ(touched.ended_record, ended.ended_record);
  EXPECT_EQ(touched.ended_ns, ended.ended_ns);
}

TEST_F(InspectTest, few_hot_cells_are_enough_and_none_are_refused) {
  EngineOptions none = options(true, true);
  none.hot_cells = 0;
  EXPECT_EQ(Engine::open(std::move(none)).error().code, ErrorCode::kInvalid);
  EngineOptions few = options(true, true);
  few.hot_cells = 1;
  auto opened = Engine::open(std::move(few));
  ASSERT_TRUE(opened) << opened.error().message;
  engine_ = std::move(*opened);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(engine_->send(Knock{std::to_string(i)}));
  ASSERT_TRUE(ask<std::uint64_t>([&](auto then) { engine_->take_snapshot(then); }));
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(engine_->send(Knock{std::to_string(i)}));
  for (int i = 0; i < 50; ++i) {
    const auto ended = engine_->wait<Door>(std::to_string(i), std::chrono::seconds(60));
    ASSERT_TRUE(ended) << ended.error().message;
    EXPECT_EQ(ended->state.knocks, 2u);
  }
}

}  // namespace
}  // namespace holdfast
