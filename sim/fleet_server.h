// SPDX-License-Identifier: Apache-2.0
// FleetServer: one life of a simulated server: the kernel with the machines of tasks, the desk of
// the workers, and what they say on the wire. Records become durable in their order, some time
// after they were made; what follows from one is told only then. A crash takes what was not
// durable, or leaves some of it: the next life reads the journal again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/normaliser.h"
#include "engine/work_feed.h"
#include "kernel/testing_blobs.h"
#include "kernel/world.h"
#include "sim/dice.h"
#include "sim/fleet_ledger.h"
#include "sim/report.h"
#include "tasks/graph_machine.h"
#include "tasks/plan.h"
#include "tasks/task_machine.h"
#include "worker/conversation.h"
#include "workers/desk.h"

namespace holdfast::sim {

class FleetMachines : public kernel::MachineSource {
 public:
  const kernel::Machine* find(const defs::ModuleDef&, std::string_view) const override {
    return nullptr;
  }
  const kernel::Machine* find_system(std::string_view workflow) const override;

 private:
  tasks::GraphMachine graph_;
  tasks::TaskMachine task_;
};

// What survives a crash.
struct FleetDisk {
  FleetMachines machines;
  kernel::testing::MemoryBlobs blobs;
  std::map<base::Hash, base::Bytes> results;  // that are kept apart from their cells
  std::vector<base::Bytes> journal;
  base::Bytes snapshot;            // empty: none was taken
  std::size_t snapshot_after = 0;  // records before it
};

struct FleetTimes {
  std::uint64_t now_ns = 0;   // of a clock that never goes back; it may jump ahead
  std::uint64_t wall_ns = 0;  // may jump either way
  std::uint64_t calm_ns = 0;  // without the jumps: what really has passed
};

class FleetServer {
 public:
  using Reply = std::function<void(work::Answer)>;

  static constexpr std::uint64_t kTtlNs = 2'000'000'000;
  static constexpr std::uint64_t kGraceNs = 2'000'000'000;
  static constexpr std::uint64_t kRehydrationNs = 8'000'000'000;

  FleetServer(FleetDisk& disk, FleetLedger& ledger, Report& report, Dice& dice,
              const FleetTimes& times);
  ~FleetServer();

  // A request of a worker. What it returns is called if the worker has let go of it.
  std::function<void()> ask(const work::Request& request, Reply reply);

  void submit(const tasks::Plan& plan, const std::string& id);
  void cancel(const std::string& graph);
  void change_worker(const std::string& worker, WorkerChange::Kind kind);

  // Until then nothing new is recorded.
  void fill_disk(std::uint64_t until_calm_ns) { full_until_ns_ = until_calm_ns; }

  // Some, or all, of what was recorded becomes durable, and is told.
  void commit(bool all);
  void step();
  void take_snapshot();

  // Nothing of this life is told any more. Some of what was not durable may be found again.
  void crash();

  bool has_ended(const std::string& graph);
  std::string describe(const std::string& graph, std::uint64_t number);
  std::uint64_t attempts(const std::string& graph, std::uint64_t number);
  std::string result(const std::string& graph, std::uint64_t number);
  const workers::Desk& desk() const { return *desk_; }
  std::size_t unwritten() const noexcept { return unwritten_.size(); }

 private:
  class Records;
  friend class Records;

  // What waits until everything before it is durable.
  struct Unwritten {
    base::Bytes record;  // empty: there is none
    std::vector<kernel::Command> commands;
    std::function<void()> then;
  };

  using Input = decltype(kernel::Tick::input);
  kernel::Answer tick(const Input& input, const std::function<void(const kernel::Answer&)>& then);
  void open();
  bool refuses();
  void check_silence(const std::string& worker);
  bool is_newer_request(work::Request::Kind kind, codec::View body);
  void perform(const kernel::Command& command);
  void check_condition(const kernel::OpenIntent& open);
  void send(std::string_view workflow, std::string_view schema, std::string_view key,
            base::ByteView value, bool starts);
  std::optional<kernel::InstanceValues> read(std::string_view workflow, std::string_view key);
  void render(const std::string& graph, const Bytes& definition, Engine::Then<Bytes> then);

  FleetDisk& disk_;
  FleetLedger& ledger_;
  Report& report_;
  Dice& dice_;
  const FleetTimes& times_;
  std::unique_ptr<kernel::World> world_;
  std::shared_ptr<workers::Desk> desk_;
  std::unique_ptr<engine::FeedListener> feed_;
  std::shared_ptr<Records> records_;
  std::deque<Unwritten> unwritten_;
  codec::Normaliser normaliser_;
  std::map<std::string, std::uint64_t> heard_;     // worker -> when, by the calm clock
  std::map<std::string, std::uint64_t> last_seq_;  // by session
  std::uint64_t opened_ns_ = 0;                    // by the calm clock
  std::uint64_t full_until_ns_ = 0;
  bool is_crashed_ = false;
};

}  // namespace holdfast::sim
