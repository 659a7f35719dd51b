// SPDX-License-Identifier: Apache-2.0
// A program whose step workflow has changed, on the world of the one before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::upgrade_test {
namespace {

using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
};
struct Word {
  static constexpr std::string_view kSchema = "test/Word@1";
  std::string id;
  std::string text;
};
struct Told {
  static constexpr std::string_view kSchema = "test/Told@1";
  std::string text;
};

// What a release may change of it.
struct Release {
  std::uint32_t workers = 4;
  Retry retry = {};
  std::optional<Duration> step_timeout = {};
  std::optional<Duration> timeout = {};
};

struct Listen : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Listen@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Word, &Word::id>>;
  using Stop = Told;
  Told begin(const Begin&, StepContext& context) {
    const Word first = context.wait_for<Word>();
    const Word second = context.wait_for<Word>();
    return {first.text + second.text};
  }
  static auto steps() {
    StepsOf<Listen> all = StepsOf<Listen>().step(
        "begin", &Listen::begin,
        {.workers = release.workers, .retry = release.retry, .timeout = release.step_timeout});
    if (release.timeout) return std::move(all).timeout(*release.timeout);
    return all;
  }

  static inline Release release = {};
};

class UpgradeTest : public ::testing::Test {
 protected:
  void TearDown() override { Listen::release = {}; }

  Result<std::unique_ptr<Engine>> open(bool applies = true) const {
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Listen>("test/code@1")};
    options.handlers = step_handlers(std::make_shared<Listen>());
    options.any_file_system = true;
    options.apply_definitions = applies;
    return Engine::open(std::move(options));
  }
  static std::string ended(Engine& engine, const std::string& key) {
    const auto run = engine.wait<Listen>(key, 60s);
    if (!run) return run.error().message;
    const auto told = run->result_as<Told>();
    return told ? told->text : "no result";
  }
  // One run from its beginning to its end.
  static void run(Engine& engine, const std::string& key) {
    ASSERT_TRUE(engine.send(Begin{key}));
    ASSERT_TRUE(engine.send(Word{key, "a"}));
    ASSERT_TRUE(engine.send(Word{key, "b"}));
    EXPECT_EQ(ended(engine, key), "ab");
  }
  static void take_snapshot(Engine& engine) {
    std::promise<bool> taken;
    engine.take_snapshot([&](auto record) { taken.set_value(static_cast<bool>(record)); });
    EXPECT_TRUE(taken.get_future().get());
  }
  // Another process does it and ends without closing anything.
  template <class Work>
  void killed(Work work) const {
    const pid_t child = fork();
    if (child == 0) {
      auto engine = open();
      if (engine) work(**engine);
      _exit(engine && !HasFailure() ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  // Everything that changes the graph, or a definition beside it, one after the other.
  static std::vector<Release> releases() {
    return {{.retry = Retry(fixed(1s), after_attempts(2))},
            {.workers = 8},
            {.step_timeout = 5min},
            {.timeout = 24h},
            {}};
  }

  env::testing::TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_F(UpgradeTest, when_every_run_has_ended_a_changed_graph_is_opened_and_applied) {
  for (const bool takes_snapshots : {false, true}) {
    for (const Release& release : releases()) {
      Listen::release = release;
      auto engine = open();
      ASSERT_TRUE(engine) << engine.error().message;
      run(**engine, "k" + std::to_string(++runs_));
      if (takes_snapshots) take_snapshot(**engine);
      ASSERT_TRUE((*engine)->close());
    }
  }
}

TEST_F(UpgradeTest, also_of_a_world_that_was_not_closed) {
  for (const Release& release : releases()) {
    Listen::release = release;
    killed([](Engine& engine) { run(engine, "k" + std::to_string(getpid())); });
  }
}

TEST_F(UpgradeTest, a_run_under_way_keeps_its_graph_and_new_runs_have_the_new_one) {
  {
    auto engine = open();
    ASSERT_TRUE(engine) << engine.error().message;
    ASSERT_TRUE((*engine)->send(Begin{"waits"}));
    ASSERT_TRUE((*engine)->send(Word{"waits", "a"}));
    run(**engine, "ended");
    ASSERT_TRUE((*engine)->close());
  }
  for (const Release& release :
       {Release{.workers = 8}, Release{.step_timeout = 5min}, Release{.timeout = 24h}}) {
    Listen::release = release;
    auto engine = open();
    ASSERT_TRUE(engine) << engine.error().message;
    run(**engine, "k" + std::to_string(++runs_));
    ASSERT_TRUE((*engine)->close());
  }
  Listen::release = {};
  auto engine = open();
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE((*engine)->send(Word{"waits", "b"}));
  EXPECT_EQ(ended(**engine, "waits"), "ab");
}

// What decides only where a step runs is no part of the definitions.
TEST_F(UpgradeTest, another_retry_policy_is_taken_while_runs_wait) {
  {
    auto engine = open();
    ASSERT_TRUE(engine) << engine.error().message;
    ASSERT_TRUE((*engine)->send(Begin{"waits"}));
    ASSERT_TRUE((*engine)->close());
  }
  Listen::release = {.retry = Retry(fixed(1s), after_attempts(2))};
  auto engine = open();
  ASSERT_TRUE(engine) << engine.error().message;
  ASSERT_TRUE((*engine)->send(Word{"waits", "a"}));
  ASSERT_TRUE((*engine)->send(Word{"waits", "b"}));
  EXPECT_EQ(ended(**engine, "waits"), "ab");
}

TEST_F(UpgradeTest, without_applying_it_new_runs_have_the_graph_of_the_world) {
  {
    auto engine = open();
    ASSERT_TRUE(engine) << engine.error().message;
    run(**engine, "ended");
    ASSERT_TRUE((*engine)->close());
  }
  Listen::release = {.workers = 8};
  auto engine = open(false);
  ASSERT_TRUE(engine) << engine.error().message;
  run(**engine, "new");
  EXPECT_EQ(ended(**engine, "ended"), "ab");
}

}  // namespace
}  // namespace holdfast::upgrade_test
