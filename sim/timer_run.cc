// SPDX-License-Identifier: Apache-2.0
#include "sim/timer_run.h"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "node/loop.h"
#include "sim/dice.h"
#include "sim/ledger.h"
#include "sim/stage.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kTimersPerAlarm = 50;
constexpr std::int64_t kLongestStep = 2 * kSecond;
constexpr std::int64_t kLate = 10 * kLongestStep;  // what a timer may be late by

class TimerRun {
 public:
  explicit TimerRun(const TimerOptions& options)
      : alarms_((options.timers + kTimersPerAlarm - 1) / kTimersPerAlarm),
        dice_(options.seed),
        stage_(options.seed),
        ledger_(report_) {
    ledger_.watch_timers([this](const base::Hash& intent, const Ledger::Intent& timer) {
      timer.is_settled ? rung(intent) : set(intent, timer);
    });
  }

  Report run() {
    open();
    CHECK(loop_->send(node::Input::apply(kernel::ApplyManifest{stage_.definitions}), nullptr));
    while (report_.violation().empty() && !is_over()) {
      step();
      ++report_.steps;
    }
    const std::uint64_t wanted = alarms_ * kTimersPerAlarm;
    if (report_.violation().empty() && rung_ != wanted)
      report_.violation(std::to_string(rung_) + " timers have rung of " + std::to_string(wanted));
    return std::move(report_);
  }

 private:
  bool is_over() const {
    return sent_ == alarms_ && waiting_.empty() && ledger_.open_intents() == 0;
  }

  void open() {
    world_ = stage_.open_world({.journal = {.segment_bytes = 4 << 20}, .world = {}}).take();
    loop_ = std::make_unique<node::Loop>(world_->world(), world_->journal(), stage_.clock,
                                         *stage_.entropy, node::Executors{}, node::LoopOptions{});
    CHECK(loop_->recover());
  }

  void step() {
    if (sent_ < alarms_ && unheard_ == 0 && dice_.one_in(2)) send_some();
    run_loop();
    if (dice_.one_in(200)) die();
    pass_time();
    if (!deadlines_.empty() && watch() > deadlines_.begin()->first + kLate)
      report_.violation("a timer does not ring in time");
  }

  // Until nothing is left to do at this time.
  void run_loop() {
    while (loop_->has_turn() || loop_->has_writing() || loop_->has_releasing() ||
           loop_->has_preparing()) {
      loop_->turn();
      loop_->write();
      loop_->release();
      if (loop_->has_preparing()) loop_->prepare();
    }
    if (const auto failure = loop_->failure()) report_.violation(failure->to_string());
    ledger_.catch_up(world_->journal());
  }

  void send_some() {
    for (std::uint64_t i = 1 + dice_.below(20); i > 0 && sent_ < alarms_;
         --i, ++sent_, ++unheard_) {
      const std::string id = "a-" + std::to_string(sent_);
      const auto wall_ns = static_cast<std::uint64_t>(stage_.clock.wall_ns());
      const std::uint64_t now = std::max(wall_ns, world_->world().latest_ns());
      const base::Bytes event = value_of(AlarmSet{id, now + dice_.below(1800) * kSecond,
                                                  dice_.below(20) * kSecond, kTimersPerAlarm});
      CHECK(loop_->send(node::Input::event({AlarmSet::kSchema, event, id}),
                        [this](const kernel::Answer& answer) {
                          if (std::holds_alternative<kernel::Refused>(answer))
                            report_.violation("an alarm is refused");
                          --unheard_;
                        }));
    }
  }

  void pass_time() {
    stage_.clock.advance_ns(static_cast<std::int64_t>(dice_.below(kLongestStep / kMillisecond)) *
                            kMillisecond);
    if (!dice_.one_in(25)) return;
    const auto by = static_cast<std::int64_t>(dice_.below(7200)) - 3600;
    report_.sometimes(by < 0 ? "the wall clock jumps back" : "the wall clock jumps ahead");
    stage_.clock.set_wall_ns(stage_.clock.wall_ns() + by * kSecond);
  }

  // The next process may know no better than that the last tick has just been.
  void die() {
    report_.sometimes("the process dies");
    auto next = std::make_unique<env::SimDisk>(stage_.disk->now());
    loop_.reset();
    world_.reset();
    stage_.disk = std::move(next);
    lost_ns_ += stage_.clock.since_boot_ns() - last_record_ns_;
    last_record_ns_ = stage_.clock.since_boot_ns();
    open();
    ledger_.reopened(world_->journal());
  }

  // A stopwatch that stands while nobody could know that time passes.
  std::int64_t watch() { return stage_.clock.since_boot_ns() - lost_ns_; }

  void set(const base::Hash& intent, const Ledger::Intent& timer) {
    last_record_ns_ = stage_.clock.since_boot_ns();
    const std::int64_t left = timer.due_ns <= timer.opened_ns
                                  ? 0
                                  : static_cast<std::int64_t>(timer.due_ns - timer.opened_ns);
    // A world that is ahead of the wall clock goes an eighth slower.
    const std::int64_t due = watch() + left + left / 7;
    waiting_.emplace(intent, due);
    deadlines_.emplace(due, intent);
  }
  void rung(const base::Hash& intent) {
    last_record_ns_ = stage_.clock.since_boot_ns();
    report_.sometimes("a timer rings");
    ++rung_;
    const auto found = waiting_.find(intent);
    CHECK(found != waiting_.end());
    deadlines_.erase({found->second, intent});
    waiting_.erase(found);
  }

  const std::uint64_t alarms_;
  Report report_;
  Dice dice_;
  Stage stage_;
  Ledger ledger_;
  std::unique_ptr<node::LocalWorld> world_;
  std::unique_ptr<node::Loop> loop_;
  std::uint64_t sent_ = 0;
  std::uint64_t unheard_ = 0;
  std::uint64_t rung_ = 0;
  std::int64_t last_record_ns_ = 0;
  std::int64_t lost_ns_ = 0;
  std::unordered_map<base::Hash, std::int64_t, base::HashOfHash> waiting_;  // by the stopwatch
  std::set<std::pair<std::int64_t, base::Hash>> deadlines_;
};

}  // namespace

Report run_timers(const TimerOptions& options) { return TimerRun(options).run(); }

}  // namespace holdfast::sim
