// SPDX-License-Identifier: Apache-2.0
// Step workflows in an engine, with bodies on its threads.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::steps_test {
namespace {

using namespace std::chrono_literals;

struct Begin {
  static constexpr std::string_view kSchema = "test/Begin@1";
  std::string id;
  std::uint64_t n = 0;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string id;
  std::string who;
  std::uint64_t n = 0;
};
struct Question {
  static constexpr std::string_view kSchema = "test/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Done {
  static constexpr std::string_view kSchema = "test/Done@1";
  std::uint64_t n = 0;
};
struct Sum {
  static constexpr std::string_view kSchema = "test/Sum@1";
  std::uint64_t n = 0;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

// Splits, works on each part with a retry, adds up, asks two people, ends.
struct Everything : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Everything@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Answer, &Answer::id>>;
  using Stop = End;
  using Asks = holdfast::Asks<Question>;

  std::vector<Part> split(const Begin& begin, StepContext& context) {
    EXPECT_EQ(context.run_key<std::string>(), begin.id);
    context.set("asked", std::uint64_t{0});
    std::vector<Part> parts;
    for (std::uint64_t n = 1; n <= begin.n; ++n) parts.push_back({n});
    return parts;
  }
  Done work(const Part& part, StepContext& context) {
    ++runs;
    if (part.n % 10 == 3 && context.attempt() < 3) throw StepError("busy", "come again");
    context.update<std::uint64_t>("worked", [](std::uint64_t& worked) { ++worked; });
    return {part.n};
  }
  Sum add(const std::vector<Done>& all, StepContext& context) {
    Sum sum;
    for (const Done& done : all) sum.n += done.n;
    EXPECT_EQ(context.get<std::uint64_t>("worked"), all.size());
    return sum;
  }
  End ask(const Sum& sum, StepContext& context) {
    ++asked;
    const auto first = context.ask<Answer>(Question{"may I?"}, WaitOptions{.timeout = days(30)});
    const auto second =
        context.ask<Answer>(Question{"really?"}, WaitOptions().where("who", std::string("boss")));
    context.put(Done{second.n});
    return {std::to_string(sum.n) + " " + first.who + std::to_string(first.n) + " " + second.who +
            std::to_string(second.n)};
  }
  static Duration days(int count) { return std::chrono::hours(24 * count); }

  static auto steps() {
    return StepsOf<Everything>()
        .step("split", &Everything::split)
        .step("work", &Everything::work,
              {.workers = 8, .retry = Retry(fixed(1ms), after_attempts(3))})
        .step("add", &Everything::add)
        .step("ask", &Everything::ask);
  }

  std::atomic<std::uint64_t> runs = 0;
  std::atomic<std::uint64_t> asked = 0;
};

// Fails in every way that a step can.
struct Failing : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Failing@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;

  std::variant<End, Part> fail(const Begin& begin, StepContext& context) {
    if (begin.n == 1) throw StepError("card.declined", "no money");
    if (begin.n == 2) throw std::runtime_error("oops");
    if (begin.n == 3) throw 7;
    if (begin.n == 4) return Part{4};
    if (begin.n == 5) context.cancel_run("enough");
    return End{"well"};
  }
  End dawdle(const Part&, StepContext& context) {
    while (!context.stopped()) std::this_thread::sleep_for(1ms);
    return {"late"};
  }
  static auto steps() {
    return StepsOf<Failing>()
        .step("fail", &Failing::fail)
        .step("dawdle", &Failing::dawdle, {.timeout = 50ms});
  }
};

// Is helped when it fails.
struct Helped : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Helped@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;

  End fail(const Begin&, StepContext&) { throw StepError("card.declined", "no money"); }
  End help(const StepFailed& failed, StepContext&) {
    return {failed.step + " " + failed.code + " " + std::to_string(failed.attempts)};
  }
  static auto steps() {
    return StepsOf<Helped>()
        .step("fail", &Helped::fail, {.retry = Retry(fixed(1ms), after_attempts(2))})
        .on_error("help", &Helped::help);
  }
};

// Collects pairs, and one of each of two types.
struct Pairs : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Pairs@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>>;
  using Stop = End;
  using Sends = holdfast::Sends<Part, Sum>;

  void begin(const Begin& begin, StepContext& context) {
    for (std::uint64_t n = 1; n <= begin.n; ++n) context.send(Part{n});
  }
  std::optional<Done> pair(const Part& part, StepContext& context) {
    const auto two = context.collect(part, 2);
    if (!two) return std::nullopt;
    context.send(Sum{1});
    return Done{(*two)[0].n + (*two)[1].n};
  }
  std::optional<End> both(const std::variant<Done, Sum>& either, StepContext& context) {
    const auto all =
        std::visit([&](const auto& one) { return context.collect<Done, Sum>(one); }, either);
    if (!all) return std::nullopt;
    return End{std::to_string(std::get<0>(*all).n) + " " + std::to_string(std::get<1>(*all).n)};
  }
  static auto steps() {
    return StepsOf<Pairs>()
        .step("begin", &Pairs::begin)
        .step("pair", &Pairs::pair, {.workers = 4})
        .step("both", &Pairs::both);
  }
};

// One step goes on until it is told, the other cancels it; then somebody ends the run.
struct Rivals : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Rivals@1";
  using Events = holdfast::Events<On<Begin, &Begin::id>, On<Answer, &Answer::id>>;
  using Stop = End;

  End go_on(const Begin&, StepContext& context) {
    ++begun;
    const auto enough = std::chrono::steady_clock::now() + 60s;
    while (!context.stopped() && std::chrono::steady_clock::now() < enough)
      std::this_thread::sleep_for(1ms);
    told += context.stopped() ? 1 : 0;
    return {"nobody told it"};
  }
  std::optional<End> cancel(const Begin&, StepContext& context) {
    while (begun == 0) std::this_thread::sleep_for(1ms);
    context.cancel_step("go_on");
    return std::nullopt;
  }
  End end(const Answer& answer, StepContext&) { return {answer.who}; }

  static auto steps() {
    return StepsOf<Rivals>()
        .step("go_on", &Rivals::go_on)
        .step("cancel", &Rivals::cancel)
        .step("end", &Rivals::end);
  }

  std::atomic<int> begun = 0;
  std::atomic<int> told = 0;
};

class StepsTest : public ::testing::Test {
 protected:
  template <class W>
  Result<std::unique_ptr<Engine>> try_open(const std::shared_ptr<W>& host) {
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<W>("test/code@1")};
    options.handlers = step_handlers(host);
    options.any_file_system = true;
    options.clock = clock_;
    return Engine::open(std::move(options));
  }
  template <class W>
  void open(const std::shared_ptr<W>& host) {
    engine_.reset();
    auto opened = try_open(host);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  template <class W>
  std::string ended(const std::string& key) {
    const auto instance = engine_->wait<W>(key, 60s);
    if (!instance) return instance.error().message;
    if (instance->error) return instance->error->code + ": " + instance->error->message;
    const auto result = instance->template result_as<End>();
    return result ? result->text : "no result";
  }
  // Follows the stream until an entry of this kind is there; all kinds but the changes of slots.
  std::vector<std::string> follow(const std::string& key, const std::string& kind,
                                  std::size_t count = 1) {
    std::vector<std::string> kinds;
    for (std::uint64_t after = 0; count != 0;) {
      const auto page = engine_->follow<Everything>(key, after, 100, 60s);
      if (!page) {
        ADD_FAILURE() << page.error().message;
        break;
      }
      for (const auto& entry : page->entries) {
        if (entry.value.kind != "steps") kinds.push_back(entry.value.kind);
        if (entry.value.kind == kind && --count == 0) break;
      }
      after = page->last;
      if (page->end) break;
    }
    return kinds;
  }

  env::testing::TemporaryFolder folder_;
  std::shared_ptr<ManualClock> clock_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StepsTest, a_run_goes_on_through_restarts) {
  auto host = std::make_shared<Everything>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 20}));
  auto kinds = follow("a", "idle");
  EXPECT_EQ(std::erase(kinds, "attempt_failed"), 4U);  // two parts fail twice each
  EXPECT_EQ(kinds, (std::vector<std::string>{"event", "idle"}));
  const auto waiting = engine_->query<Everything>("a");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->state.status, "idle");
  EXPECT_GE(host->runs, 24U);  // two parts fail twice each; updates that race run again

  host = std::make_shared<Everything>();
  open(host);
  ASSERT_TRUE(engine_->send(Answer{"a", "ada", 1}));
  follow("a", "idle", 2);
  open(host);
  // The second wait is only for the boss, and the first answer does not count again.
  ASSERT_TRUE(engine_->send(Answer{"a", "ada", 2}));
  ASSERT_TRUE(engine_->send(Answer{"a", "boss", 3}));
  EXPECT_EQ(ended<Everything>("a"), "210 ada1 boss3");
  EXPECT_EQ(host->runs, 0U);
  EXPECT_EQ(host->asked, 2U);
}

TEST_F(StepsTest, a_wait_of_thirty_days_takes_no_time_by_another_clock) {
  clock_ = std::make_shared<ManualClock>(Time(std::chrono::hours(24 * 365 * 50)));
  const auto host = std::make_shared<Everything>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 2}));
  follow("a", "idle");
  clock_->advance(Everything::days(29));
  open(host);
  EXPECT_EQ(engine_->query<Everything>("a")->state.status, "idle");
  clock_->advance(Everything::days(2));
  EXPECT_EQ(ended<Everything>("a"), "step.wait_timed_out: nobody answered in time");
}

TEST_F(StepsTest, a_fan_out_of_a_thousand) {
  const auto host = std::make_shared<Everything>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 1000}));
  follow("a", "idle");
  ASSERT_TRUE(engine_->send(Answer{"a", "ada", 1}));
  follow("a", "idle", 2);
  ASSERT_TRUE(engine_->send(Answer{"a", "boss", 3}));
  EXPECT_EQ(ended<Everything>("a"), "500500 ada1 boss3");
}

TEST_F(StepsTest, what_a_body_throws_is_what_the_run_fails_with) {
  open(std::make_shared<Failing>());
  for (std::uint64_t n = 1; n <= 6; ++n) ASSERT_TRUE(engine_->send(Begin{std::to_string(n), n}));
  EXPECT_EQ(ended<Failing>("1"), "card.declined: no money");
  EXPECT_EQ(ended<Failing>("2"), "step.exception: oops");
  EXPECT_EQ(ended<Failing>("3"), "step.exception: something that is no std::exception was thrown");
  EXPECT_TRUE(ended<Failing>("4").starts_with("effect.timeout: ")) << ended<Failing>("4");
  EXPECT_EQ(ended<Failing>("5"), "steps.cancelled: enough");
  EXPECT_EQ(ended<Failing>("6"), "well");
}

TEST_F(StepsTest, an_error_handler_helps) {
  open(std::make_shared<Helped>());
  ASSERT_TRUE(engine_->send(Begin{"a", 1}));
  EXPECT_EQ(ended<Helped>("a"), "fail card.declined 2");
}

TEST_F(StepsTest, collects_by_number_and_by_type) {
  open(std::make_shared<Pairs>());
  ASSERT_TRUE(engine_->send(Begin{"a", 2}));
  EXPECT_EQ(ended<Pairs>("a"), "3 1");
}

TEST_F(StepsTest, a_body_hears_that_another_step_has_cancelled_it) {
  const auto host = std::make_shared<Rivals>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 1}));
  while (host->told == 0 && host->begun < 2) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(host->told, 1);
  EXPECT_EQ(engine_->query<Rivals>("a")->status, InstanceStatus::kRunning) << "nothing is open";

  // It is not begun again.
  open(host);
  ASSERT_TRUE(engine_->send(Answer{"a", "ada", 1}));
  EXPECT_EQ(ended<Rivals>("a"), "ada");
  EXPECT_EQ(host->begun, 1);
}

TEST_F(StepsTest, a_run_can_be_cancelled_from_outside) {
  const auto host = std::make_shared<Everything>();
  open(host);
  ASSERT_TRUE(engine_->send(Begin{"a", 2}));
  follow("a", "idle");
  ASSERT_TRUE(engine_->cancel<Everything>("a", "enough"));
  EXPECT_EQ(engine_->query<Everything>("a")->status, InstanceStatus::kCancelled);
  // The last entry says so, once, though no code was run to put it there.
  EXPECT_EQ(follow("a", "cancelled").back(), "cancelled");
  const auto page = engine_->stream<Everything>("a");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->entries.back().value.kind, "cancelled");
  EXPECT_EQ(page->entries.back().sequence, page->last);
  const auto behind = engine_->stream<Everything>("a", page->last);
  ASSERT_TRUE(behind);
  EXPECT_TRUE(behind->entries.empty());
  EXPECT_TRUE(behind->end);
}

}  // namespace
}  // namespace holdfast::steps_test
