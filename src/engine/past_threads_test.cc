// SPDX-License-Identifier: Apache-2.0
// Those who read old records while the journal lets go of them.
#include <gtest/gtest.h>

#include <future>
#include <string>

#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast {
namespace {

struct Letter {
  static constexpr std::string_view kSchema = "test/Letter@1";
  std::string to;
  std::string text;
};

struct Box {
  static constexpr std::string_view kWorkflow = "test/Box@1";
  struct State {
    std::uint64_t bytes = 0;
  };
  using Events = holdfast::Events<On<Letter, &Letter::to>>;
  using Effects = holdfast::Effects<>;
  using Context = holdfast::Context<Box>;
  static void step(State& state, const Letter& letter, Context& context) {
    state.bytes = letter.text.size();
    context.complete(state.bytes);
  }
};

class PastTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Box>("test/code@1")};
    options.any_file_system = true;
    options.history = false;  // it would hold up the trimming until it has seen everything
    options.retention = {};
    options.snapshot_every = 0;
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }

  template <class T, class Ask>
  Result<T> answer(Ask ask) {
    const auto told = std::make_shared<std::promise<Result<T>>>();
    ask(Engine::Then<T>([told](Result<T> result) { told->set_value(std::move(result)); }));
    return told->get_future().get();
  }
  // So many of them fill more than one segment.
  static constexpr int kMany = 20;
  void send(int letters, std::size_t bytes) {
    for (int i = 0; i < letters; ++i)
      ASSERT_TRUE(engine_->send(Letter{std::to_string(++sent_), std::string(bytes, 'x')}));
  }
  std::uint64_t take_snapshot() {
    const auto before =
        answer<std::uint64_t>([&](auto then) { engine_->take_snapshot(std::move(then)); });
    EXPECT_TRUE(before) << before.error().message;
    return before ? *before : 0;
  }
  std::uint64_t first() { return engine_->read_journal(0, {.records = 1})->first; }

  // After the second snapshot the first segment is not needed any more: it is let go of with the
  // next batch that is written, or in a quiet moment.
  void trim() {
    take_snapshot();
    for (int i = 0; i < 1000 && first() == 1; ++i) send(1, 1);
    EXPECT_GT(first(), 1u);
  }

  // The first segment is needed by the only snapshot.
  void fill() {
    send(kMany, std::size_t{1} << 20);
    take_snapshot();
    send(1, 1);
    proposal_ = *answer<std::uint64_t>(
        [&](auto then) { engine_->propose_raw(engine_->definitions(), "the same", then); });
  }

  // Called while records are being read: the journal is trimmed then, and not before.
  std::function<bool()> trims_once() {
    return [this, asked = std::make_shared<bool>(false)] {
      if (!std::exchange(*asked, true)) trim();
      return false;
    };
  }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<Engine> engine_;
  int sent_ = 0;
  std::uint64_t proposal_ = 0;
};

TEST_F(PastTest, a_trial_sees_every_record_that_it_began_with) {
  fill();
  TrialOptions options;
  options.stopped = trims_once();
  const auto tried = answer<Tried>(
      [&](auto then) { engine_->try_proposal_raw(proposal_, options, std::move(then)); });
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_GT(first(), 1u);
  const auto late = answer<Tried>(
      [&](auto then) { engine_->try_proposal_raw(proposal_, {.from = 1}, std::move(then)); });
  EXPECT_EQ(late.error().code, ErrorCode::kNotFound) << "it begins when the records are gone";
}

TEST_F(PastTest, whoever_looks_back_sees_every_record_that_was_there) {
  fill();
  PastLimits limits;
  limits.stopped = trims_once();
  std::vector<std::uint64_t> shown;
  const auto looked = engine_->look_back({3, 5}, limits, [&](PastMoment& moment) {
    shown.push_back(moment.record());
    return Result<Done>(Done{});
  });
  ASSERT_TRUE(looked) << looked.error().message;
  EXPECT_EQ(shown, (std::vector<std::uint64_t>{3, 5}));
  EXPECT_GT(first(), 1u);
  const auto late = engine_->look_back({3}, {}, [&](PastMoment&) { return Result<Done>(Done{}); });
  EXPECT_EQ(late.error().code, ErrorCode::kNotFound);
}

TEST_F(PastTest, those_who_look_back_one_after_the_other_keep_no_snapshot_for_ever) {
  send(kMany, std::size_t{1} << 20);
  const std::uint64_t oldest = take_snapshot() - 1;
  send(1, 1);
  trim();
  const auto look = [&](const std::function<void()>& meanwhile) {
    return engine_->look_back({oldest}, {}, [&](PastMoment&) {
      meanwhile();
      return Result<Done>(Done{});
    });
  };
  const auto looked = look([&] {
    for (int i = 0; i < 2; ++i) {
      send(1, 1);
      take_snapshot();
    }
    // The one that is looked at now is there for nobody else.
    const auto next = look([] {});
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, ErrorCode::kNotFound);
  });
  ASSERT_TRUE(looked) << looked.error().message;
}

}  // namespace
}  // namespace holdfast
