// SPDX-License-Identifier: Apache-2.0
// What a step may be and be given, in an engine: coroutines, several events together, resources;
// and what many at once make of it.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "env/testing.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace holdfast::step_kinds_test {
namespace {

using namespace std::chrono_literals;

struct Order {
  static constexpr std::string_view kSchema = "test/Order@1";
  std::string id;
  std::uint64_t parts = 0;
};
struct Answer {
  static constexpr std::string_view kSchema = "test/Answer@1";
  std::string id;
  std::string text;
};
struct Question {
  static constexpr std::string_view kSchema = "test/Question@1";
  std::string text;
};
struct Part {
  static constexpr std::string_view kSchema = "test/Part@1";
  std::uint64_t n = 0;
};
struct Paid {
  static constexpr std::string_view kSchema = "test/Paid@1";
  std::uint64_t n = 0;
};
struct Stocked {
  static constexpr std::string_view kSchema = "test/Stocked@1";
  std::uint64_t n = 0;
};
struct Packed {
  static constexpr std::string_view kSchema = "test/Packed@1";
  std::uint64_t n = 0;
};
struct Shipment {
  static constexpr std::string_view kSchema = "test/Shipment@1";
  std::uint64_t n = 0;
};
struct End {
  static constexpr std::string_view kSchema = "test/End@1";
  std::string text;
};

struct Till {
  std::atomic<std::uint64_t> total = 0;
};

// Each part is paid and fetched, side by side, packed when both are there, and sent when somebody
// has said so twice.
struct Shop : StepWorkflow {
  static constexpr std::string_view kWorkflow = "test/Shop@1";
  using Events = holdfast::Events<On<Order, &Order::id>, On<Answer, &Answer::id>>;
  using Stop = End;
  using Asks = holdfast::Asks<Question>;

  std::vector<Part> split(const Order& order, StepContext&) {
    std::vector<Part> parts;
    for (std::uint64_t n = 1; n <= order.parts; ++n) parts.push_back({n});
    return parts;
  }
  Paid pay(const Part& part, StepContext& context) {
    context.resource<Till>().total += part.n;
    return {part.n};
  }
  Stocked fetch(const Part& part, StepContext&) { return {part.n * 1000}; }
  Packed pack(const Paid& paid, const Stocked& stocked, StepContext& context) {
    context.put(paid);
    return {paid.n + stocked.n};
  }
  Shipment load(const std::vector<Packed>& all, StepContext&) {
    Shipment shipment;
    for (const Packed& packed : all) shipment.n += packed.n;
    return shipment;
  }
  StepTask<End> send(const Shipment& shipment, TaskContext& context) {
    ++frames;
    const std::shared_ptr<void> guard(nullptr, [this](void*) { --frames; });
    const auto question = context.ask<Answer>(Question{"send?"}, {.timeout = 720h});
    const Answer first = co_await question;
    const Answer second = co_await context.wait_for<Answer>();
    for (int n = 0; n < 100; ++n) context.put(Question{std::to_string(n)});
    co_return End{std::to_string(shipment.n) + first.text + second.text};
  }
  static auto steps() {
    return StepsOf<Shop>()
        .step("split", &Shop::split)
        .step("pay", &Shop::pay)
        .step("fetch", &Shop::fetch, {.workers = 2})
        .step("pack", &Shop::pack)
        .step("load", &Shop::load)
        .step("send", &Shop::send);
  }

  std::atomic<int> frames = 0;
};

class StepKinds : public ::testing::Test {
 protected:
  void open() {
    engine_.reset();
    host_ = std::make_shared<Shop>();
    resources_ = std::make_shared<Resources>();
    resources_->add<Till>("till", [this] {
      ++tills_;
      return std::make_unique<Till>();
    });
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<Shop>("test/code@1")};
    options.handlers = step_handlers(host_, resources_);
    options.any_file_system = true;
    auto opened = Engine::open(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  // Until so many entries of the kind are there, or the end is.
  std::vector<StepEntry> entries(const std::string& kind, std::size_t count) {
    std::vector<StepEntry> all;
    for (std::uint64_t after = 0; count != 0;) {
      const auto page = engine_->follow<Shop>("a", after, 100, 60s);
      if (!page) {
        ADD_FAILURE() << page.error().message;
        break;
      }
      for (const auto& entry : page->entries) {
        all.push_back(entry.value);
        if (count != 0 && entry.value.kind == kind) --count;
      }
      after = page->last;
      if (page->end) break;
    }
    return all;
  }
  std::string ended() {
    const auto instance = engine_->wait<Shop>("a", 60s);
    if (!instance) return instance.error().message;
    if (instance->error) return instance->error->code + ": " + instance->error->message;
    return instance->result_as<End>()->text;
  }

  env::testing::TemporaryFolder folder_;
  std::shared_ptr<Shop> host_;
  std::shared_ptr<Resources> resources_;
  std::atomic<int> tills_ = 0;
  std::unique_ptr<Engine> engine_;
};

TEST_F(StepKinds, go_on_through_restarts) {
  open();
  ASSERT_TRUE(engine_->send(Order{"a", 20}));
  entries("idle", 1);
  EXPECT_EQ(host_->frames, 0);
  EXPECT_EQ(tills_, 1);
  open();
  ASSERT_TRUE(engine_->send(Answer{"a", "x"}));
  entries("idle", 2);
  open();
  ASSERT_TRUE(engine_->send(Answer{"a", "y"}));
  EXPECT_EQ(ended(), "210210xy");
  EXPECT_EQ(host_->frames, 0);
  EXPECT_EQ(tills_, 1);  // nobody has paid since
}

TEST_F(StepKinds, more_entries_than_a_record_has_places_for_come_one_by_one) {
  open();
  ASSERT_TRUE(engine_->send(Order{"a", 1}));
  entries("idle", 1);
  ASSERT_TRUE(engine_->send(Answer{"a", "x"}));
  entries("idle", 2);
  ASSERT_TRUE(engine_->send(Answer{"a", "y"}));
  std::vector<std::string> texts;
  for (const StepEntry& entry : entries("stopped", 1)) {
    EXPECT_NE(entry.kind, "several");
    if (const auto question = entry.as<Question>()) texts.push_back(question->text);
  }
  ASSERT_EQ(texts.size(), 101U);
  EXPECT_EQ(texts.front(), "send?");
  for (std::size_t n = 0; n < 100; ++n) EXPECT_EQ(texts[n + 1], std::to_string(n));
}

TEST_F(StepKinds, of_answers_that_come_at_once_each_is_taken_once_or_told) {
  open();
  ASSERT_TRUE(engine_->send(Order{"a", 2}));
  entries("idle", 1);
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int n = 0; n < 8; ++n) {
    // One that comes after the end finds nobody.
    threads.emplace_back([&, n] {
      static_cast<void>(engine_->send(Answer{"a", std::string(1, char('a' + n))}));
    });
  }
  for (std::thread& thread : threads) thread.join();
  // If all came before the second wait began, somebody must say it again; each says something else.
  for (const char more : std::string("ijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    if (engine_->wait<Shop>("a", 2s)) break;
    static_cast<void>(engine_->send(Answer{"a", std::string(1, more)}));
  }
  const std::string text = ended();
  ASSERT_EQ(text.size(), 6U) << text;
  EXPECT_EQ(text.substr(0, 4), "3003");
  EXPECT_NE(text[4], text[5]);
  for (const StepEntry& entry : entries("stopped", 1)) {
    const auto answer = entry.kind == "unhandled" ? entry.as<Answer>() : std::nullopt;
    EXPECT_TRUE(!answer || text.find(answer->text) == text.npos) << text;
  }
}

}  // namespace
}  // namespace holdfast::step_kinds_test
