// SPDX-License-Identifier: Apache-2.0
// The parts of an engine, each standing on those before it, and how they come up: the world is
// opened, the executors are made, what is open is started again, and the definitions are applied.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "defs/load.h"
#include "engine/backup_desk.h"
#include "engine/blob_desk.h"
#include "engine/durable_watch.h"
#include "engine/failed_effects.h"
#include "engine/handlers.h"
#include "engine/performers.h"
#include "engine/ticket.h"
#include "engine/trials.h"
#include "engine/work_feed.h"
#include "env/clock.h"
#include "env/disk.h"
#include "env/process.h"
#include "env/random.h"
#include "executors/echo.h"
#include "executors/functions.h"
#include "executors/outside.h"
#include "executors/secrets.h"
#include "holdfast/engine.h"
#include "native/machines.h"
#include "node/effect_blobs.h"
#include "node/effect_collector.h"
#include "node/history.h"
#include "node/local_world.h"
#include "node/node.h"

namespace holdfast {

namespace engine {
// kOnce: what there is. kFollows: when there is something; the instance need not be there yet.
// kGoesOn: the same, but that it was there before.
enum class StreamReading : std::uint8_t { kOnce, kFollows, kGoesOn };
}  // namespace engine

struct Engine::Body {
  explicit Body(EngineOptions options);
  ~Body();

  base::Result<void> open(std::vector<Handler> handlers);

  // Also more than once, from any thread.
  base::Result<void> close();

  // `then` hears the error if it cannot even be sent.
  void send(node::Input input, Then<kernel::Answer> then);
  void query(kernel::InstanceName name, Then<RawInstance> then);
  void query(std::vector<RawName> names, Then<RawInstances> then, std::size_t bytes);

  // The number of the question, which takes it away again.
  std::uint64_t wait(kernel::InstanceName name, Then<RawInstance> then);
  void stop_waiting(std::uint64_t number);
  Figures figures();
  void put_figures(Measures& measures);
  void report_from_outside(const base::Hash& intent, node::Input input, Then<Reported> then);

  // kInvalid: nobody here performs an effect of these definitions.
  base::Result<void> check_performed(base::ByteView document) const;
  void log(const std::string& line) const { log({LogLevel::kInfo, "note", line}); }
  void log(const LogLine& line) const;
  engine::FailedEffects failed_effects;
  engine::FailedEffects failed_instances;
  void apply(node::Input input, std::shared_ptr<engine::Ticket<Applied>> ticket);
  // On the thread of trials.
  Result<Tried> try_proposal(std::uint64_t proposal, const TrialOptions& how);
  // On the thread of backups.
  base::Result<BackupInfo> make_backup(const std::string& name, const BackupOptions& how);
  void refresh_definitions(const std::function<void()>& then = nullptr);
  void use_definitions(base::Bytes closure);
  Stop read_stream(node::StreamQuery query, engine::StreamReading how, Then<RawStreamPage> then);

  EngineOptions options;
  std::unique_ptr<env::Disk> disk;
  std::unique_ptr<env::Clock> machine_clock;  // of what is outside
  std::unique_ptr<env::Clock> clock;          // of the world
  std::unique_ptr<env::Random> random;
  std::unique_ptr<env::Process> process;
  native::Machines machines;
  executors::LocalSecrets secrets;
  std::unique_ptr<node::LocalWorld> world;
  std::unique_ptr<node::WorldEffectBlobs> blobs;
  executors::Echo echo;
  executors::Outside outside;
  std::set<std::string, std::less<>> performed_here;       // effects that have a handler
  std::unique_ptr<engine::FeedListener> listener;          // null: nobody places work
  std::vector<std::unique_ptr<executors::Executor>> made;  // the others
  executors::Functions* handler_threads = nullptr;         // one of them: runs handlers
  std::unique_ptr<node::History> history;                  // null: there is none
  std::unique_ptr<node::EffectCollector> effect_collector;
  // Shared with those who may stop waiting when the engine is gone.
  const std::shared_ptr<engine::DurableWatch> durable_watch =
      std::make_shared<engine::DurableWatch>();
  std::unique_ptr<node::Node> node;
  std::atomic<bool> has_node = false;  // executors may run before there is one
  std::thread historian;
  engine::Trials trials;
  engine::BackupDesk backup_desk;
  engine::Trials backups;  // the same kind of thread
  engine::BlobDesk blob_desk;
  std::atomic<std::uint64_t> next_question = 1;
  std::mutex closing;
  bool is_closed = false;
  std::atomic<std::uint64_t> snapshot_before = 0;  // the record that the last snapshot is before
  std::uint64_t recovery_ns = 0;                   // what opening took
  mutable std::mutex defining;
  base::Bytes definitions;  // of the world; guarded by `defining`
  std::atomic<std::uint64_t> definitions_version = 0;
  engine::Performers performers;

 private:
  base::Result<node::Executors> make_executors(engine::FunctionsByEffect functions,
                                               const std::vector<const defs::Bundle*>& performed);
  executors::Executor& add_sql(executors::Function function);
  base::Result<void> start(node::Executors executors);
  store::RecordNumber needed_by_readers() const;  // the journal keeps what is behind it
  void make_history();
  void end_history();
  base::Result<void> apply(const base::Bytes& closure);
};

}  // namespace holdfast
