// SPDX-License-Identifier: Apache-2.0
#include "holdfast/workflow.h"

#include <gtest/gtest.h>

#include "native/testing.h"

namespace holdfast::native::workflow_test {
namespace {

using kernel::testing::json_of;
using kernel::testing::opened;
using kernel::testing::value;

struct Placed {
  static constexpr std::string_view kSchema = "shop/Placed@1";
  std::string id;
  std::uint64_t cents = 0;
};

struct Charge {
  static constexpr std::string_view kEffect = "shop/charge@1";
  static constexpr Executor kExecutor = worker("payments");
  struct Params {
    std::uint64_t cents = 0;
  };
  struct Receipt {
    std::string reference;
  };
};

struct Paid {
  std::string reference;
  std::uint64_t cents = 0;
};

// Charges what the order costs; is done when it is paid.
struct Order {
  static constexpr std::string_view kWorkflow = "shop/Order@1";
  struct State {
    std::uint64_t cents = 0;
  };
  using Events = holdfast::Events<On<Placed, &Placed::id>>;
  using Effects = holdfast::Effects<Charge>;
  using Context = holdfast::Context<Order>;

  static void step(State& state, const Placed& placed, Context& context) {
    state.cents = placed.cents;
    context.open<Charge>({.cents = placed.cents});
  }
  static void step(State& state, const Received<Charge>& charged, Context& context) {
    if (!charged.ok()) return context.fail(charged.error.code, charged.error.message);
    context.complete(Paid{charged.receipt.reference, state.cents});
  }
};

class WorkflowTest : public ::testing::Test {
 protected:
  testing::World world_{Module::of<Order>("shop/code@1")};
  kernel::testing::Bench& bench_ = world_.bench;

  const kernel::Cell& order(std::string_view id) {
    const kernel::Cell* cell =
        *bench_.world().find("shop/Order@1", value('"' + std::string(id) + '"'));
    EXPECT_NE(cell, nullptr);
    return *cell;
  }
};

TEST_F(WorkflowTest, an_event_steps_its_instance_and_a_receipt_completes_it) {
  const kernel::Outcome placed = bench_.event("shop/Placed@1", R"({"id":"o-1","cents":5})");
  ASSERT_EQ(opened(placed).size(), 1u);
  EXPECT_EQ(json_of(std::get<kernel::OpenIntent>(placed.commands[0]).params), R"({"cents":5})");
  EXPECT_EQ(json_of(order("o-1").state), R"({"cents":5})");
  bench_.receipt(opened(placed)[0], R"({"reference":"r-9"})");
  EXPECT_EQ(order("o-1").status(), kernel::Status::kCompleted);
  EXPECT_EQ(json_of(order("o-1").outcome), R"({"cents":5,"reference":"r-9"})");
  bench_.expect_replays();
}

TEST_F(WorkflowTest, an_error_of_an_effect_is_typed_too) {
  const kernel::Outcome placed = bench_.event("shop/Placed@1", R"({"id":"o-1","cents":5})");
  bench_.receipt(opened(placed)[0],
                 R"({"code":"card.declined","message":"no","retryable":false,"details":{}})",
                 kernel::ReceiptStatus::kError);
  EXPECT_EQ(order("o-1").status(), kernel::Status::kFailed);
  EXPECT_EQ(json_of(order("o-1").outcome),
            R"({"code":"card.declined","details":null,"message":"no","retryable":false})");
}

// Keeps what it hears of its download.
struct Download {
  static constexpr std::string_view kEffect = "files/download@1";
  static constexpr Executor kExecutor = worker("files");
  struct Params {
    std::string url;
  };
  struct Receipt {};
};
struct Wanted {
  static constexpr std::string_view kSchema = "files/Wanted@1";
  std::vector<std::string> urls;
};
struct Percent {
  std::uint64_t percent = 0;
};
struct Downloads {
  static constexpr std::string_view kWorkflow = "files/Downloads@1";
  struct State {
    std::map<std::string, std::uint64_t> progress;
    std::string rejected;
  };
  using Events = holdfast::Events<On<Wanted>>;
  using Effects = holdfast::Effects<Download, Timer>;
  using Emits = holdfast::Emits<Wanted>;
  using Context = holdfast::Context<Downloads>;

  static void step(State&, const Wanted& wanted, Context& context) {
    for (const std::string& url : wanted.urls)
      context.open<Download>({url}, {.idempotency_key = {}, .ref = url});
    if (wanted.urls.empty()) context.timer(Time(std::chrono::seconds(-5)));
  }
  static void step(State& state, const Progress<Download>& progress, Context&) {
    const auto percent = progress.as<Percent>();
    state.progress[std::string(progress.origin.ref)] = percent ? percent->percent : 999;
  }
  static void step(State& state, const Received<Download>& received, Context&) {
    state.progress.erase(std::string(received.origin.ref));
  }
  static void step(State& state, const Rejected<Download>& rejected, Context&) {
    state.rejected = rejected.origin.ref;
  }
  static void step(State&, const Received<Timer>&, Context& context) {
    context.emit(Wanted{{"again"}});
  }
};

class DownloadsTest : public ::testing::Test {
 protected:
  testing::World world_{Module::of<Downloads>("files/code@1")};
  kernel::testing::Bench& bench_ = world_.bench;

  std::string state() { return json_of((*bench_.world().find("files/Downloads@1", {}))->state); }
};

TEST_F(DownloadsTest, effects_are_recognised_by_the_reference_they_were_given) {
  const kernel::Outcome wanted = bench_.event("files/Wanted@1", R"({"urls":["a","b"]})");
  ASSERT_EQ(opened(wanted).size(), 2u);
  const base::Bytes half = value(R"({"percent":50})");
  bench_.tick(kernel::ProgressArrived{opened(wanted)[1], 1, "percent", half});
  EXPECT_EQ(state(), R"({"progress":{"b":50},"rejected":""})");
  bench_.receipt(opened(wanted)[1], "{}");
  bench_.receipt(opened(wanted)[0], R"({"nonsense":1})");
  EXPECT_EQ(state(), R"({"progress":{},"rejected":"a"})");
  bench_.expect_replays();
}

TEST_F(DownloadsTest, progress_of_another_shape_is_nothing_to_fail_for) {
  const kernel::Outcome wanted = bench_.event("files/Wanted@1", R"({"urls":["a"]})");
  const base::Bytes words = value(R"(["half","of","it"])");
  bench_.tick(kernel::ProgressArrived{opened(wanted)[0], 1, "words", words});
  EXPECT_EQ(state(), R"({"progress":{"a":999},"rejected":""})");
}

TEST_F(DownloadsTest, a_timer_wakes_and_an_emitted_event_comes_around) {
  const kernel::Outcome none = bench_.event("files/Wanted@1", R"({"urls":[]})");
  ASSERT_EQ(opened(none).size(), 1u);
  EXPECT_EQ(json_of(std::get<kernel::OpenIntent>(none.commands[0]).params),
            R"({"key":null,"deliver_at_ns":0})");
  const kernel::Outcome woken = bench_.receipt(opened(none)[0], R"({"delivered_at_ns":1})");
  ASSERT_EQ(opened(woken).size(), 1u);
  EXPECT_EQ(json_of(std::get<kernel::OpenIntent>(woken.commands[0]).params), R"({"url":"again"})");
}

}  // namespace
}  // namespace holdfast::native::workflow_test
