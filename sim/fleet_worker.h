// SPDX-License-Identifier: Apache-2.0
// FleetWorker: a simulated host with a worker on it: the conversation, the outbox and the table of
// tasks of the real one, with tasks that take their time and end by the dice. Its disk survives the
// death of its process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "env/clock.h"
#include "env/random.h"
#include "env/sim_disk.h"
#include "sim/dice.h"
#include "sim/fleet_ledger.h"
#include "sim/report.h"
#include "worker/conversation.h"
#include "worker/home.h"
#include "worker/log_lines.h"
#include "worker/runner.h"
#include "worker/task_table.h"

namespace holdfast::sim {

class FleetWorker {
 public:
  FleetWorker(std::string name, std::uint64_t slots, FleetLedger& ledger, Report& report,
              Dice& dice);
  ~FleetWorker();

  bool is_running() const noexcept { return process_ != nullptr; }
  std::uint64_t process_number() const noexcept { return number_; }
  const std::string& name() const noexcept { return name_; }

  void start();
  void die();
  void drain();

  // What it does now: requests to send.
  void step(const std::function<void(work::Request)>& send);
  void answered(std::uint64_t id, const work::Answer& answer);
  void lost(std::uint64_t id);

  void advance(std::uint64_t ns) { clock_.advance_ns(static_cast<std::int64_t>(ns)); }
  void jump(std::int64_t ns) { clock_.set_wall_ns(clock_.wall_ns() + ns); }

  // Tasks fail no more, and end soon.
  void calm_down() { is_calm_ = true; }

 private:
  class Tasks;
  struct Process;

  void heed(work::News news);

  const std::string name_;
  const std::uint64_t slots_;
  FleetLedger& ledger_;
  Report& report_;
  Dice& dice_;
  std::unique_ptr<env::SimDisk> disk_;
  env::ManualClock clock_;
  std::uint64_t number_ = 0;
  bool is_calm_ = false;
  std::unique_ptr<Process> process_;
};

}  // namespace holdfast::sim
