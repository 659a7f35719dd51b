// SPDX-License-Identifier: Apache-2.0
#include "engine/body.h"

#include <future>
#include <limits>
#include <optional>
#include <utility>

#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "defs/system_names.h"
#include "engine/outside_clock.h"
#include "engine/schedule_next.h"
#include "engine/task_check.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "env/posix_disk.h"
#include "env/quiet_thread.h"
#include "env/thread_priority.h"
#include "executors/blob.h"
#include "executors/functions.h"
#include "executors/http.h"
#include "executors/process.h"
#include "native/bundle.h"

namespace holdfast {
namespace {

// Connections that run the SQL of flows at the same time.
constexpr std::size_t kSqlThreads = 16;

constexpr std::chrono::hours kLongestRetention(100 * 365 * 24);

executors::SecretOptions inside(const SecretOptions& options) {
  return {{options.variables.begin(), options.variables.end()}, options.folder};
}

executors::HttpOptions inside(const std::vector<AllowedHost>& hosts) {
  executors::HttpOptions options;
  for (const AllowedHost& host : hosts)
    options.hosts.push_back({host.name, host.port, host.private_addresses});
  return options;
}

std::unique_ptr<env::Clock> clock_of(const EngineOptions& options) {
  if (options.clock == nullptr) return env::posix_clock();
  return std::make_unique<engine::OutsideClock>(options.clock);
}

// Of the time, that snapshots may take while replaying is within its bound; and after how many
// records one is taken because nothing else is to be done.
constexpr double kSnapshotShare = 0.125;
constexpr std::uint64_t kIdleSnapshotEvery = 50'000;

std::string report_of(const node::RestoreReport& report, std::uint64_t open_effects,
                      std::int64_t took_ns, std::chrono::seconds replay_bound) {
  std::string line = "ready: " + std::to_string(open_effects) + " effects open, " +
                     std::to_string(report.replayed) + " records replayed";
  if (report.snapshot) line += " behind snapshot " + std::to_string(report.snapshot->number);
  for (const auto& left_out : report.left_out)
    line += ", snapshot " + std::to_string(left_out.snapshot.number) + " left out (" +
            left_out.why + ")";
  return line + ", " + std::to_string(took_ns / 1'000'000) + " ms; a restart replays for at most " +
         std::to_string(replay_bound.count()) + " s";
}

// What is to be told of an instance once everything that was seen of it is durable.
node::Question question_about(kernel::InstanceName name,
                              std::shared_ptr<engine::Ticket<RawInstance>> ticket) {
  return [name = std::move(name), ticket = std::move(ticket)](kernel::World& world) {
    auto seen = std::make_shared<Result<RawInstance>>(engine::read(world, name));
    return [ticket, seen] { ticket->tell(std::move(*seen)); };
  };
}

}  // namespace

Engine::Body::Body(EngineOptions the_options)
    : options(std::move(the_options)),
      disk(env::posix_disk()),
      machine_clock(env::posix_clock()),
      clock(clock_of(options)),
      random(env::posix_random()),
      process(env::posix_process()),
      machines(options.modules),
      secrets(inside(options.secrets)) {}

Engine::Body::~Body() {
  blob_desk.stop();
  trials.cancel();
  backups.cancel();
  if (node) static_cast<void>(node->stop().has_value());
  trials.wait_for_end();
  backups.wait_for_end();
  end_history();
}

void Engine::Body::log(const LogLine& line) const {
  if (options.log_lines) return options.log_lines(line);
  if (options.log) options.log(line.message);
}

// Instances under way go on with what they began with, where the program has the code for it: that
// was asked when the world was opened.
constexpr kernel::HowToApply kPinning{.strict = false, .pin = true};

base::Result<void> Engine::Body::open(std::vector<Handler> handlers) {
  const std::int64_t begun_ns = machine_clock->since_boot_ns();
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = native::load(options.modules, &builtin);
  if (!bundle.errors.empty())
    return base::Error(base::ErrorCode::kInvalid, bundle.errors.begin()->to_string());
  if (options.handler_threads == 0 && !handlers.empty())
    return base::invalid("handler_threads", "handlers need a thread at least");
  const auto is_kept_too_long = [](std::chrono::seconds time) {
    return time.count() < 0 || time > kLongestRetention;
  };
  if (is_kept_too_long(options.retention))
    return base::invalid("retention", "must be from 0, which is for ever, to 100 years");
  if (is_kept_too_long(options.graph_retention))
    return base::invalid("graph_retention", "must be from 0, which is for ever, to 100 years");
  auto functions = TRY(engine::functions_of(std::move(handlers)));
  if (!options.backup_folder.empty()) TRY(disk->list(options.backup_folder));

  node::LocalWorldOptions world_options;
  world_options.any_file_system = options.any_file_system;
  if (options.hot_cells == 0) return base::invalid("hot_cells", "must be from 1");
  world_options.world.cells.clean_cells = options.hot_cells;
  // The SQL of flows has an executor of its own: a statement that waits for a lock must not hold
  // the threads of other handlers.
  auto sql = functions.extract(std::string(defs::kSqlRun));
  for (const auto& [effect, function] : functions) performed_here.insert(effect);
  world_options.world.performed_here = &performed_here;
  world_options.world.tells_of_work = options.work_feed != nullptr;
  if (options.work_feed) listener = std::make_unique<engine::FeedListener>(options.work_feed);
  world =
      TRY(node::LocalWorld::open(*disk, *random, *process, options.dir, machines, world_options));
  blobs = TRY(node::WorldEffectBlobs::open(world->folder()));
  blob_desk.use(*blobs);
  // Before the world runs, as it is the node's own from then on.
  const kernel::Program& opened = world->world().program();
  for (std::uint32_t i = 0; i < opened.workflow_count(); ++i) {
    const kernel::WorkflowProgram& version = opened.workflow(i);
    if (version.is_pinned && !version.objection.empty())
      log("instances of " + version.name + " that began with " + version.hash.to_text() +
          " wait for their code: " + version.objection);
  }
  const base::Bytes present = opened.closure();
  const bool applies = options.apply_definitions && !options.modules.empty();
  std::vector<const defs::Bundle*> performed;
  if (applies) performed.push_back(&bundle);
  // What is under way was opened by these definitions, and somebody must know how to end it.
  std::optional<defs::Bundle> under_way;
  const std::uint64_t open_effects = world->world().open_intents();
  // Without definitions of its own a world runs graphs, whose effects are known.
  if (!present.empty() && (open_effects != 0 || !applies))
    performed.push_back(&under_way.emplace(defs::load(codec::View::of(present), "$", &builtin)));
  node::Executors executors = TRY(make_executors(std::move(functions), performed));
  executors["sql"] = sql ? &add_sql(std::move(sql.mapped())) : &outside;
  const base::Bytes wanted = applies ? TRY(defs::closure_of(bundle)) : present;
  if (!present.empty()) secrets.declare(TRY(executors::secrets_of(present)));
  // Also before it runs: what is refused has performed nothing that was under way.
  if (wanted != present) {
    if (auto error = engine::refusal(world->world().try_apply(wanted, kPinning)))
      return std::move(*error).within("definitions");
  }
  if (const auto& snapshot = world->restoring().snapshot) snapshot_before = snapshot->next_record;
  make_history();
  const std::uint64_t next_record = world->world().next_record();  // before the world is the node's
  TRY(start(std::move(executors)));
  if (wanted != present) TRY(apply(wanted));
  use_definitions(wanted);
  const std::int64_t took_ns = machine_clock->since_boot_ns() - begun_ns;
  recovery_ns = static_cast<std::uint64_t>(took_ns);
  if (const std::string recovered = store::describe(world->recovery()); !recovered.empty())
    log(recovered);
  log({LogLevel::kInfo,
       "recovered",
       report_of(world->restoring(), open_effects, took_ns, options.replay_bound),
       {{"records_replayed", world->restoring().replayed},
        {"next_record", next_record},
        {"open_effects", open_effects},
        {"replay_bound_s", static_cast<std::uint64_t>(options.replay_bound.count())},
        {"took_ms", recovery_ns / 1'000'000}}});
  return {};
}

base::Result<node::Executors> Engine::Body::make_executors(
    engine::FunctionsByEffect functions, const std::vector<const defs::Bundle*>& performed) {
  node::Executors by_kind{{"echo", &echo}, {executors::kOutside, &outside}};
  const auto add = [&](const char* kind, std::unique_ptr<executors::Executor> executor) {
    by_kind[kind] = executor.get();
    made.push_back(std::move(executor));
  };
  add("blob.put", executors::blob_put_executor({}, *blobs));
  add("blob.get", executors::blob_get_executor({}, *blobs));
  add("http", TRY(executors::http_executor(inside(options.http_hosts),
                                           {*machine_clock, &secrets, blobs.get()})));
  add("task.check",
      engine::task_check_executor(
          [this](std::vector<RawName> names, Then<RawInstances> then, std::size_t bytes) {
            // What was open when the world was closed is performed while the node is being made.
            if (!has_node)
              return then(Error{ErrorCode::kUnavailable, "the engine is being opened"});
            query(std::move(names), std::move(then), bytes);
          },
          [this](const Hash& hash, Then<Bytes> then) {
            blob_desk.read({hash.bytes}, std::move(then));
          }));
  add("schedule.next", engine::schedule_next_executor(*disk));
  if (!options.programs.empty()) {
    executors::ProcessOptions process_options;
    process_options.programs = options.programs;
    process_options.variables = options.program_variables;
    add("process", TRY(executors::process_executor(process_options, *machine_clock, &secrets)));
  }
  // Before there are threads for the functions.
  performers = engine::Performers(by_kind, functions, listener != nullptr);
  for (const defs::Bundle* bundle : performed) TRY(performers.check(*bundle));
  auto worker = std::make_unique<executors::WorkerEffects>(
      std::make_unique<executors::Functions>(
          std::move(functions), executors::FunctionOptions{.threads = options.handler_threads}),
      performed_here, listener.get());
  handler_threads = &worker->functions();
  add("worker", std::move(worker));
  return by_kind;
}

// Without one the SQL of flows waits, as for a server that is given the database later.
executors::Executor& Engine::Body::add_sql(executors::Function function) {
  engine::FunctionsByEffect functions;
  functions.emplace(defs::kSqlRun, [function = std::move(function)](
                                       const kernel::OpenIntent& intent,
                                       const executors::StopFlag& stopped,
                                       executors::Progress& progress) {
    // It runs as any role that is named, so only flows may ask: their role is their submitter's.
    if (intent.workflow != defs::kFlowWorkflow)
      return executors::failed("sql.not_permitted", "only flows that were composed in SQL run SQL");
    return function(intent, stopped, progress);
  });
  made.push_back(std::make_unique<executors::Functions>(
      std::move(functions), executors::FunctionOptions{.threads = kSqlThreads}));
  return *made.back();
}

void Engine::Body::make_history() {
  if (!options.history) {
    if (options.retention.count() != 0) log("without history nothing is forgotten");
    return;
  }
  node::HistoryOptions how;
  const auto ns_of = [](std::chrono::seconds time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  };
  how.retention_ns = ns_of(options.retention);
  how.graph_retention_ns = ns_of(options.graph_retention);
  // A clock that somebody moves may stand still, and whoever follows a stream waits for the index.
  if (options.clock) how.gather_ns = 0;
  how.send = [this](node::Input input, node::Heard heard) {
    return node->send(std::move(input), std::move(heard));
  };
  how.trouble = [this](const base::Error& error) { log(error.to_string()); };
  how.failed = [this](const node::FailedEffect& failed) {
    failed_effects.add(failed);
    const bool is_step = failed.status == "failed";
    std::vector<LogField> fields{
        {"instance", failed.instance}, {"code", failed.code}, {"record", failed.record}};
    if (!failed.step.empty()) {
      fields.push_back({"step", failed.step});
      fields.push_back({"attempt", failed.attempt});
    }
    log({LogLevel::kWarning, is_step ? "step.failed" : "effect.failed",
         (is_step ? "a step failed: " : "an effect ended with " + failed.status + ": ") +
             failed.code + (failed.message.empty() ? "" : ": " + failed.message),
         std::move(fields)});
  };
  how.instance_failed = [this](const node::FailedInstance& failed) {
    failed_instances.add(
        {failed.record, {}, failed.workflow, "failed", failed.code, failed.message});
    log({LogLevel::kWarning,
         "instance.failed",
         "an instance failed: " + failed.code + ": " + failed.message,
         {{"instance", failed.workflow + "/" + failed.key},
          {"workflow", failed.workflow},
          {"key", failed.key},
          {"code", failed.code},
          {"record", failed.record}}});
  };
  history =
      std::make_unique<node::History>(world->folder(), world->journal(), *clock, std::move(how));
}

void Engine::Body::end_history() {
  if (!history) return;
  history->stop();
  if (historian.joinable()) historian.join();
  history->finish();
}

store::RecordNumber Engine::Body::needed_by_readers() const {
  return history ? history->needs_from() : std::numeric_limits<store::RecordNumber>::max();
}

base::Result<void> Engine::Body::start(node::Executors executors) {
  node::LoopOptions loop;
  loop.snapshots = {.every = options.snapshot_every,
                    .share = kSnapshotShare,
                    .replay_bound_ns = std::chrono::nanoseconds(options.replay_bound).count(),
                    .idle_every = kIdleSnapshotEvery};
  loop.has_much_ahead = [this] { return world->kernel_blobs().has_much(); };
  loop.is_crowded_ahead = [this] { return world->kernel_blobs().is_crowded(); };
  loop.write_blobs_ahead = [this] { return world->kernel_blobs().write_waiting(); };
  loop.behind_snapshot = world->restoring().replayed;
  loop.trouble = [this](const base::Error& error) {
    log({LogLevel::kWarning, "trouble", error.to_string()});
  };
  if (options.log_lines) {
    loop.slow_disk = [this](std::uint64_t took_ns) {
      log({LogLevel::kWarning,
           "disk.slow",
           "a batch took long to become durable",
           {{"took_ms", took_ns / 1'000'000}}});
    };
  }
  loop.ended = [this](const base::Error& error) {
    log({LogLevel::kError, "ended", "ended: " + error.to_string()});
    if (options.ended) options.ended(engine::outside(error));
  };
  loop.begin_snapshot = [this, begin = node::snapshots_of(*world, [this] {
                                 return needed_by_readers();
                               })](std::uint64_t last_ns) -> base::Result<node::FinishSnapshot> {
    auto finish = TRY(begin(last_ns));
    return node::FinishSnapshot(
        [this, finish, before = world->world().next_record()]() -> base::Result<std::uint64_t> {
          const store::RecordNumber needed = TRY(finish());
          snapshot_before = before;
          return needed;
        });
  };
  effect_collector = std::make_unique<node::EffectCollector>(
      *world, *blobs, history.get(), node::Collector::kLeastBytes,
      [this](const store::GcProgress& progress) {
        log("collected " + std::to_string(progress.removed) +
            " blobs that workflows put and nothing names any more, " +
            std::to_string(progress.removed_bytes) + " bytes");
      });
  loop.tidy = [this]() -> base::Result<bool> {
    if (TRY(world->collector().go_on())) return true;
    return effect_collector->go_on();
  };
  loop.durable = [this](store::RecordNumber record) {
    if (history) history->became_durable(record);
    durable_watch->became_durable(record);
  };
  node = TRY(node::Node::start(world->world(), world->journal(), *clock, *random,
                               std::move(executors), std::move(loop)));
  has_node = true;
  if (history) {
    historian = env::quiet_thread([this] {
      env::lower_priority_of_this_thread();
      while (history->wait_for_work()) history->work();
    });
  }
  return {};
}

base::Result<void> Engine::Body::apply(const base::Bytes& closure) {
  const auto answer = wait_for<kernel::Answer>([&](Then<kernel::Answer> then) {
    send(node::Input::apply({closure, {}, kPinning.strict, kPinning.pin}), std::move(then));
  });
  if (!answer) {
    TRY(node->stop());  // it says why it has ended, if it has
    return base::Error(base::ErrorCode::kEnded, answer.error().message);
  }
  if (auto error = engine::refusal(*answer)) return std::move(*error).within("definitions");
  if (const auto told = engine::applied(*answer)) log("definitions: " + describe(*told));
  secrets.declare(TRY(executors::secrets_of(closure)));
  return {};
}

// The journal is closed in order only by whoever knows that everything is well.
base::Result<void> Engine::Body::close() {
  if (env::on_quiet_thread()) {
    return base::Error(base::ErrorCode::kConflict,
                       "a handler or callback cannot close the engine whose thread it is on");
  }
  const std::lock_guard lock(closing);
  blob_desk.stop();
  trials.cancel();
  backups.cancel();
  auto stopped = node->stop();
  trials.wait_for_end();
  backups.wait_for_end();
  end_history();
  durable_watch->close();
  TRY(std::move(stopped));
  if (!std::exchange(is_closed, true)) TRY(world->journal().close());
  return {};
}

void Engine::Body::send(node::Input input, Then<kernel::Answer> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto sent = node->send(std::move(input),
                               [ticket](const kernel::Answer& answer) { ticket->tell(answer); });
  if (!sent) ticket->tell(engine::outside(sent.error()));
}

void Engine::Body::query(kernel::InstanceName name, Then<RawInstance> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = node->look([name = std::move(name), ticket](node::Core& core) mutable {
    core.ask(question_about(std::move(name), ticket));
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

void Engine::Body::query(std::vector<RawName> names, Then<RawInstances> then, std::size_t bytes) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = node->look([names = std::move(names), ticket, bytes](node::Core& core) {
    core.ask([&](kernel::World& present) -> std::function<void()> {
      auto seen = std::make_shared<RawInstances>();
      seen->reserve(names.size());
      std::size_t read = 0;
      for (const RawName& name : names) {
        if (read >= bytes) break;
        seen->push_back(engine::read(present, {name.workflow, name.key}));
        if (const auto& last = seen->back()) read += last->state.size() + last->outcome.size();
      }
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

std::uint64_t Engine::Body::wait(kernel::InstanceName name, Then<RawInstance> then) {
  const std::uint64_t number = next_question++;
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = node->look([name = std::move(name), ticket, number](node::Core& core) {
    if (core.ask_at_end(number, name, question_about(name, ticket))) return;
    ticket->tell(Error{ErrorCode::kUnavailable, "too many wait for instances to end"});
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
  return number;
}

// Without its question a ticket says by itself that there will be no answer. Where nobody can be
// asked any more, that has happened already.
void Engine::Body::stop_waiting(std::uint64_t number) {
  static_cast<void>(node->look([number](node::Core& core) { core.ask_no_more(number); },
                               node::Loop::LookKind::kTakesBack));
}

}  // namespace holdfast
