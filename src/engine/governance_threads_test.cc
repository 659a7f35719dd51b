// SPDX-License-Identifier: Apache-2.0
// Lists, other definitions, and effects that are performed outside, on a real file system.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"
#include "env/testing.h"
#include "holdfast/engine.h"

namespace holdfast::governance_test {
namespace {

using ::testing::HasSubstr;

struct Order {
  static constexpr std::string_view kSchema = "test/Order@1";
  std::string house;
};
struct Paint {
  static constexpr std::string_view kEffect = "test/paint@1";
  static constexpr Executor kExecutor = outside();
  struct Params {
    std::string house;
  };
  struct Receipt {
    std::uint64_t litres = 0;
  };
};
// While it is shut, whoever takes a step waits.
struct Gate {
  std::atomic<bool> is_shut = false;
  std::atomic<int> came = 0;
  void pass() {
    ++came;
    while (is_shut) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};
Gate gate;

struct House {
  static constexpr std::string_view kWorkflow = "test/House@1";
  struct State {
    std::uint64_t litres = 0;
  };
  using Events = holdfast::Events<On<Order, &Order::house>>;
  using Effects = holdfast::Effects<Paint, Timer>;
  using Context = holdfast::Context<House>;
  static void step(State&, const Order& order, Context& context) {
    gate.pass();
    context.open<Paint>({.house = order.house});
    context.timer(context.now() + std::chrono::hours(1));
  }
  static void step(State& state, const Received<Paint>& painted, Context& context) {
    state.litres = painted.receipt.litres;
    if (painted.ok()) return context.complete(state.litres);
    context.fail(painted.error.code, painted.error.message);
  }
  static void step(State&, const Received<Timer>&, Context&) {}
};

Bytes cbor(std::string_view json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.part_from_json(codec::Schema::any(), json);
  EXPECT_TRUE(value) << json;
  return {value->begin(), value->end()};
}

class GovernanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.dir = folder_.path() + "/world";
    options.modules = {Module::of<House>("test/code@1")};
    options.any_file_system = true;
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
  Result<Applied> apply(const Bytes& definitions, ApplyMode mode) {
    return answer<Applied>(
        [&](auto then) { engine_->apply_raw(definitions, mode, std::move(then)); });
  }
  Result<InstanceList> list(const ListOptions& options) {
    return answer<InstanceList>([&](auto then) { engine_->list_raw(options, std::move(then)); });
  }
  Result<Reported> settle(const RawReceipt& receipt) {
    return answer<Reported>([&](auto then) { engine_->settle_raw(receipt, std::move(then)); });
  }
  Hash intent_of(const std::string& house, WaitReason::Kind kind, std::string_view executor) {
    const auto reasons = answer<std::vector<WaitReason>>([&](auto then) {
      engine_->why_raw(House::kWorkflow, cbor("\"" + house + "\""), std::move(then));
    });
    for (const WaitReason& reason : *reasons)
      if (reason.kind == kind && reason.executor == executor) return reason.intent;
    ADD_FAILURE() << "there is no such effect";
    return {};
  }
  Hash paint_of(const std::string& house) {
    return intent_of(house, WaitReason::Kind::kReceipt, "outside");
  }

  // Something has come that a trial can feed again, and nothing is under way.
  std::uint64_t propose_after_an_order() {
    EXPECT_TRUE(engine_->send(Order{"red"}));
    EXPECT_TRUE(engine_->cancel<House>("red", "enough"));
    const auto id = answer<std::uint64_t>([&](auto then) {
      engine_->propose_raw(engine_->definitions(), "the same", std::move(then));
    });
    EXPECT_TRUE(id);
    return id ? *id : 0;
  }
  Result<Tried> try_proposal(std::uint64_t id, TrialOptions options = {}) {
    return answer<Tried>(
        [&](auto then) { engine_->try_proposal_raw(id, std::move(options), std::move(then)); });
  }
  // Until it stands before the gate.
  std::future<Result<Tried>> begin_trial(std::uint64_t id) {
    gate.is_shut = true;
    gate.came = 0;
    const auto told = std::make_shared<std::promise<Result<Tried>>>();
    engine_->try_proposal_raw(id, {}, [told](Result<Tried> tried) { told->set_value(tried); });
    while (gate.came == 0) std::this_thread::yield();
    return told->get_future();
  }
  std::vector<ProposalInfo> proposals() {
    return *answer<std::vector<ProposalInfo>>([&](auto then) { engine_->proposals_raw(then); });
  }
  void TearDown() override { gate.is_shut = false; }

  env::testing::TemporaryFolder folder_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(GovernanceTest, an_effect_that_is_performed_outside_is_settled_once) {
  ASSERT_TRUE(engine_->send(Order{"red"}));
  const Hash intent = paint_of("red");
  const auto effect =
      answer<OpenEffect>([&](auto then) { engine_->effect_raw(intent, std::move(then)); });
  ASSERT_TRUE(effect) << effect.error().message;
  EXPECT_EQ(effect->effect, "test/paint@1");
  EXPECT_EQ(effect->params, cbor(R"({"house":"red"})"));
  const auto progressed = answer<Reported>([&](auto then) {
    engine_->progress_raw({intent, 1, "wall", cbor("1")}, std::move(then));
  });
  ASSERT_TRUE(progressed) << progressed.error().message;
  const RawReceipt receipt{intent, Status::kOk, cbor(R"({"litres":3})")};
  const auto first = settle(receipt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->is_repeated);
  const auto again = settle({intent, Status::kError, {}});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->is_repeated);
  EXPECT_EQ(again->settled, Status::kOk);
  EXPECT_EQ(engine_->wait<House>("red", std::chrono::seconds(60))->result_as<std::uint64_t>(), 3u);
  EXPECT_EQ(settle({{}, Status::kOk, cbor("1")}).error().code, ErrorCode::kNotFound);
}

TEST_F(GovernanceTest, what_the_engine_performs_is_nobody_elses_to_settle) {
  ASSERT_TRUE(engine_->send(Order{"red"}));
  const Hash timer = intent_of("red", WaitReason::Kind::kReceipt, "timer");
  const auto refused = settle({timer, Status::kOk, cbor(R"({"delivered_at_ns":1,"key":null})")});
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("'timer'"));
  EXPECT_EQ(engine_->query<House>("red")->status, InstanceStatus::kWaiting);
}

TEST_F(GovernanceTest, other_definitions_are_checked_and_applied_when_nothing_is_under_way) {
  ASSERT_TRUE(engine_->send(Order{"red"}));
  const Bytes present = engine_->definitions();
  const std::uint64_t version = engine_->definitions_version();
  EXPECT_TRUE(apply(present, ApplyMode::kCheck)->unchanged);
  EXPECT_TRUE(apply(present, ApplyMode::kApply)->unchanged);
  EXPECT_EQ(apply(present, ApplyMode::kApply)->record, 0u);
  const Bytes nothing_at_all =
      cbor(R"([{"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],)"
           R"("effects":[],"secrets":[]}])");
  const auto blocked = apply(nothing_at_all, ApplyMode::kCheck);
  ASSERT_TRUE(blocked) << blocked.error().message;
  ASSERT_EQ(blocked->blocking.size(), 1u);
  EXPECT_EQ(blocked->blocking[0].effects, 2u);
  EXPECT_EQ(blocked->blocking_workflows.at(0).instances, 1u);
  EXPECT_EQ(apply(nothing_at_all, ApplyMode::kApply)->record, 0u);
  ASSERT_TRUE(engine_->cancel<House>("red", "enough"));
  EXPECT_EQ(apply(nothing_at_all, ApplyMode::kCheck)->blocking_count, 0u);
  EXPECT_EQ(apply(cbor("[]"), ApplyMode::kApply).error().code, ErrorCode::kInvalid);
  const auto applied = apply(nothing_at_all, ApplyMode::kApply);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_NE(applied->record, 0u);
  EXPECT_NE(engine_->definitions(), present);
  EXPECT_GT(engine_->definitions_version(), version);
}

TEST_F(GovernanceTest, definitions_whose_effects_nobody_performs_are_refused) {
  std::string json = codec::to_json(codec::View::of(engine_->definitions()));
  const std::string there = R"({"kind":"outside"})";
  const std::size_t at = json.find(there);
  ASSERT_NE(at, std::string::npos) << json;
  json.replace(at, there.size(), R"({"kind":"teleport"})");
  const auto refused = apply(cbor(json), ApplyMode::kCheck);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("teleport"));
}

TEST_F(GovernanceTest, a_proposal_goes_its_way) {
  const auto record = [&](auto ask) { return answer<std::uint64_t>(ask); };
  const std::uint64_t id = propose_after_an_order();
  const auto approve = [&] {
    return record([&](auto then) { engine_->decide_raw({id, true, "Ada", "why not"}, then); });
  };
  EXPECT_EQ(approve().error().code, ErrorCode::kConflict) << "nobody has tried it";
  const auto tried = try_proposal(id);
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_GT(tried->record, id);
  const codec::View report = codec::View::of(tried->report);
  EXPECT_EQ(report.find("instances")->nat(), 1u);
  EXPECT_EQ(report.find("different")->nat(), 0u);
  ASSERT_TRUE(approve());
  const auto applied =
      answer<Applied>([&](auto then) { engine_->apply_proposal_raw(id, std::move(then)); });
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_NE(applied->record, 0u);
  const auto all =
      answer<std::vector<ProposalInfo>>([&](auto then) { engine_->proposals_raw(then); });
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().stage, "applied");
  EXPECT_EQ(all->front().by, "Ada");
  EXPECT_EQ(all->front().base, all->front().manifest);
  const codec::View kept = codec::View::of(all->front().report);
  EXPECT_EQ(kept.size(), report.size());
  for (const char* hash : {"present_manifest", "tried_manifest"})
    EXPECT_EQ(kept.find(hash)->text(), report.find(hash)->text()) << hash;
  EXPECT_EQ(try_proposal(id).error().code, ErrorCode::kConflict) << "it is decided";
  EXPECT_EQ(try_proposal(id + 1000).error().code, ErrorCode::kNotFound);
}

TEST_F(GovernanceTest, one_trial_is_under_way_at_a_time_and_the_world_goes_on) {
  const std::uint64_t id = propose_after_an_order();
  auto first = begin_trial(id);
  EXPECT_EQ(try_proposal(id).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(engine_->query<House>("red")->status, InstanceStatus::kCancelled);
  EXPECT_FALSE(engine_->cancel<House>("red", "again")) << "it is answered, as it has ended";
  gate.is_shut = false;
  const auto tried = first.get();
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_TRUE(try_proposal(id)) << "the next one may begin";
}

TEST_F(GovernanceTest, a_trial_that_is_stopped_or_passes_its_limits_records_nothing) {
  const std::uint64_t id = propose_after_an_order();
  const std::uint64_t records = engine_->figures().records;
  TrialOptions stopped;
  stopped.stopped = [] { return true; };
  EXPECT_EQ(try_proposal(id, stopped).error().code, ErrorCode::kEnded);
  TrialOptions slow;
  slow.time = std::chrono::milliseconds(0);
  EXPECT_EQ(try_proposal(id, slow).error().code, ErrorCode::kTooLarge);
  TrialOptions small;
  small.bytes = 10;
  EXPECT_EQ(try_proposal(id, small).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(try_proposal(id, {.from = 1, .records = 2}).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(try_proposal(id, {.from = id + 9}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(engine_->figures().records, records);
  EXPECT_EQ(proposals().front().stage, "proposed");
}

TEST_F(GovernanceTest, an_engine_that_closes_gives_its_trial_up) {
  const std::uint64_t id = propose_after_an_order();
  auto trial = begin_trial(id);
  auto closed = std::async(std::launch::async, [this] { return bool(engine_->close()); });
  // It waits for the step that is being taken, and no longer.
  EXPECT_EQ(closed.wait_for(std::chrono::seconds(1)), std::future_status::timeout);
  gate.is_shut = false;
  EXPECT_TRUE(closed.get());
  EXPECT_EQ(trial.get().error().code, ErrorCode::kEnded);
  EXPECT_EQ(try_proposal(id).error().code, ErrorCode::kEnded);
}

TEST_F(GovernanceTest, lists_come_from_the_index_and_say_how_far_it_is) {
  for (const char* house : {"red", "green", "blue"}) ASSERT_TRUE(engine_->send(Order{house}));
  ASSERT_TRUE(engine_->cancel<House>("green", "enough"));
  while (engine_->figures().history_lag != 0) std::this_thread::yield();
  const auto all = list({});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->instances.size(), 3u);
  EXPECT_EQ(all->instances[0].key, cbor("\"blue\""));
  EXPECT_EQ(all->lag, 0u);
  EXPECT_EQ(list({.status = "cancelled"})->instances.size(), 1u);
  const auto first = list({.limit = 2});
  EXPECT_NE(first->next, 0u);
  EXPECT_EQ(list({.after = first->next, .limit = 2})->instances.size(), 1u);
  EXPECT_EQ(list({.limit = 0}).error().code, ErrorCode::kInvalid);
}

TEST_F(GovernanceTest, measures_say_what_is_open_since_when_and_what_was_refused) {
  for (const char* house : {"red", "green"}) ASSERT_TRUE(engine_->send(Order{house}));
  ASSERT_FALSE(engine_->cancel<House>("nobody", ""));
  const auto measures = answer<Measures>([&](auto then) { engine_->measure(std::move(then)); });
  ASSERT_TRUE(measures);
  ASSERT_EQ(measures->open_by_effect.size(), 2u);
  for (const OpenEffects& open : measures->open_by_effect) {
    EXPECT_EQ(open.count, 2u) << open.effect;
    EXPECT_LT(open.oldest_age_ns, 60'000'000'000u);
  }
  EXPECT_GE(measures->sync_ns.total(), 2u);
  EXPECT_EQ(measures->batch_records.sum(), measures->figures.records);
  ASSERT_EQ(measures->refusals.size(), 1u);
  EXPECT_EQ(measures->refusals[0].count, 1u);
  EXPECT_EQ(measures->behind_snapshot + 1, measures->next_record);
  const auto disk = engine_->disk_use();
  ASSERT_TRUE(disk) << disk.error().message;
  EXPECT_GT(disk->journal_bytes, 0u);
  EXPECT_GT(disk->other_bytes, 0u);
  EXPECT_GE(disk->total_bytes, disk->free_bytes);
}

TEST_F(GovernanceTest, who_waits_for_a_record_hears_when_it_is_durable_or_that_it_is_over) {
  const std::uint64_t next = engine_->figures().records + 1;
  std::promise<Result<std::uint64_t>> told;
  const auto stop =
      engine_->when_durable(next, [&](Result<std::uint64_t> last) { told.set_value(last); });
  ASSERT_TRUE(engine_->send(Order{"red"}));
  EXPECT_GE(*told.get_future().get(), next);
  EXPECT_GE(*answer<std::uint64_t>([&](auto then) { engine_->when_durable(1, then); }), next);

  std::promise<Result<std::uint64_t>> stopped;
  engine_->when_durable(next + 1000,
                        [&](Result<std::uint64_t> last) { stopped.set_value(last); })();
  EXPECT_EQ(stopped.get_future().get().error().code, ErrorCode::kEnded);

  std::promise<Result<std::uint64_t>> ended;
  engine_->when_durable(next + 1000, [&](Result<std::uint64_t> last) { ended.set_value(last); });
  ASSERT_TRUE(engine_->close());
  EXPECT_EQ(ended.get_future().get().error().code, ErrorCode::kEnded);
}

}  // namespace
}  // namespace holdfast::governance_test
