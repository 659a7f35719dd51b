// SPDX-License-Identifier: Apache-2.0
#include "engine/body.h"

#include <future>
#include <optional>
#include <utility>

#include "codec/view.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "env/posix_disk.h"
#include "env/quiet_thread.h"
#include "executors/blob.h"
#include "executors/functions.h"
#include "executors/http.h"
#include "executors/process.h"
#include "native/bundle.h"

namespace holdfast {
namespace {

executors::SecretOptions inside(const SecretOptions& options) {
  return {{options.variables.begin(), options.variables.end()}, options.folder};
}

executors::HttpOptions inside(const std::vector<AllowedHost>& hosts) {
  executors::HttpOptions options;
  for (const AllowedHost& host : hosts)
    options.hosts.push_back({host.name, host.port, host.private_addresses});
  return options;
}

// Every effect of the modules must be one that somebody performs, before anything runs.
base::Result<void> check_executors(const defs::Bundle& bundle, const node::Executors& executors,
                                   const engine::FunctionsByEffect& functions) {
  for (const auto& [name, entry] : bundle.catalogue.entries()) {
    const auto* effect = std::get_if<defs::EffectDef>(&entry.definition);
    const auto* by = effect == nullptr ? nullptr : std::get_if<defs::Executor>(&effect->performer);
    if (by == nullptr || by->kind == "timer") continue;
    if (!executors.contains(by->kind))
      return base::invalid(name, "there is no executor '" + by->kind + "'");
    if (by->kind != "worker") continue;
    if (!functions.contains(name)) return base::invalid(name, "the effect has no handler");
    // Better than a limit that nobody keeps.
    if (effect->timeout_ns)
      return base::invalid(name, "a handler has no time limit; open a timer beside it");
  }
  return {};
}

std::string report_of(const node::RestoreReport& report, std::uint64_t open_effects,
                      std::int64_t took_ns) {
  std::string line = "ready: " + std::to_string(open_effects) + " effects open, " +
                     std::to_string(report.replayed) + " records replayed";
  if (report.snapshot) line += " behind snapshot " + std::to_string(report.snapshot->number);
  for (const auto& left_out : report.left_out)
    line += ", snapshot " + std::to_string(left_out.snapshot.number) + " left out (" +
            left_out.why + ")";
  return line + ", " + std::to_string(took_ns / 1'000'000) + " ms";
}

}  // namespace

Engine::Body::Body(EngineOptions the_options)
    : options(std::move(the_options)),
      disk(env::posix_disk()),
      clock(env::posix_clock()),
      random(env::posix_random()),
      process(env::posix_process()),
      machines(options.modules),
      secrets(inside(options.secrets)) {}

Engine::Body::~Body() = default;

void Engine::Body::log(const std::string& line) const {
  if (options.log) options.log(line);
}

base::Result<void> Engine::Body::open(std::vector<Handler> handlers) {
  const std::int64_t begun_ns = clock->since_boot_ns();
  const defs::Catalogue builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = native::load(options.modules, &builtin);
  if (!bundle.errors.empty())
    return base::Error(base::ErrorCode::kInvalid, bundle.errors.begin()->to_string());
  if (options.handler_threads == 0 && !handlers.empty())
    return base::invalid("handler_threads", "handlers need a thread at least");
  auto functions = TRY(engine::functions_of(std::move(handlers)));

  node::LocalWorldOptions world_options;
  world_options.any_file_system = options.any_file_system;
  world =
      TRY(node::LocalWorld::open(*disk, *random, *process, options.dir, machines, world_options));
  blobs = TRY(node::WorldEffectBlobs::open(world->folder()));
  // Before the world runs, as it is the node's own from then on.
  const base::Bytes present = world->world().program().closure();
  const bool applies = options.apply_definitions && !options.modules.empty();
  std::vector<const defs::Bundle*> performed;
  if (applies) performed.push_back(&bundle);
  // What is under way was opened by these definitions, and somebody must know how to end it.
  std::optional<defs::Bundle> under_way;
  const std::uint64_t open_effects = world->world().open_intents();
  if (open_effects != 0 || (!applies && !present.empty()))
    performed.push_back(&under_way.emplace(defs::load(codec::View::of(present), "$", &builtin)));
  node::Executors executors = TRY(make_executors(std::move(functions), performed));
  const base::Bytes wanted = applies ? TRY(defs::closure_of(bundle)) : present;
  if (!present.empty()) secrets.declare(TRY(executors::secrets_of(present)));
  TRY(start(std::move(executors)));
  if (wanted != present) TRY(apply(wanted));
  definitions = wanted;
  log(report_of(world->restoring(), open_effects, clock->since_boot_ns() - begun_ns));
  return {};
}

base::Result<node::Executors> Engine::Body::make_executors(
    engine::FunctionsByEffect functions, const std::vector<const defs::Bundle*>& performed) {
  node::Executors by_kind{{"echo", &echo}};
  const auto add = [&](const char* kind, std::unique_ptr<executors::Executor> executor) {
    by_kind[kind] = executor.get();
    made.push_back(std::move(executor));
  };
  add("blob.put", executors::blob_put_executor({}, *blobs));
  add("blob.get", executors::blob_get_executor({}, *blobs));
  add("http",
      TRY(executors::http_executor(inside(options.http_hosts), {*clock, &secrets, blobs.get()})));
  if (!options.programs.empty()) {
    executors::ProcessOptions process_options;
    process_options.programs = options.programs;
    add("process", TRY(executors::process_executor(process_options, *clock, &secrets)));
  }
  by_kind["worker"] = nullptr;  // it is made when everything else is known to be well
  for (const defs::Bundle* bundle : performed) TRY(check_executors(*bundle, by_kind, functions));
  add("worker",
      std::make_unique<executors::Functions>(
          std::move(functions), executors::FunctionOptions{.threads = options.handler_threads}));
  return by_kind;
}

base::Result<void> Engine::Body::start(node::Executors executors) {
  node::LoopOptions loop;
  loop.snapshot_every = options.snapshot_every;
  loop.behind_snapshot = world->restoring().replayed;
  loop.trouble = [this](const base::Error& error) { log(error.to_string()); };
  loop.ended = [this](const base::Error& error) {
    log("ended: " + error.to_string());
    if (options.ended) options.ended(engine::outside(error));
  };
  loop.take_snapshot = [this](std::uint64_t last_ns) -> base::Result<void> {
    snapshot_before = TRY(world->take_snapshot(static_cast<std::int64_t>(last_ns))).next_record;
    return {};
  };
  node = TRY(node::Node::start(world->world(), world->journal(), *clock, *random,
                               std::move(executors), std::move(loop)));
  return {};
}

base::Result<void> Engine::Body::apply(const base::Bytes& closure) {
  const auto answer = wait_for<kernel::Answer>(
      [&](Then<kernel::Answer> then) { send(node::Input::apply({closure}), std::move(then)); });
  if (!answer) {
    TRY(node->stop());  // it says why it has ended, if it has
    return base::Error(base::ErrorCode::kUnavailable, answer.error().message);
  }
  if (auto error = engine::refusal(*answer)) return std::move(*error).within("definitions");
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
  TRY(node->stop());
  if (!std::exchange(is_closed, true)) TRY(world->journal().close());
  return {};
}

void Engine::Body::send(node::Input input, Then<kernel::Answer> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto sent = node->send(std::move(input),
                               [ticket](const kernel::Answer& answer) { ticket->tell(answer); });
  if (!sent) ticket->tell(engine::outside(sent.error()));
}

}  // namespace holdfast
