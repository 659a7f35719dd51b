// SPDX-License-Identifier: Apache-2.0
// The worker of the public API: checks the options and puts the parts together.
#include "holdfast/worker.h"

#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "env/descriptor.h"
#include "env/posix_disk.h"
#include "env/process.h"
#include "env/random.h"
#include "env/system_error.h"
#include "errors/translate.h"
#include "worker/echo_runner.h"
#include "worker/function_runner.h"
#include "worker/http_runner.h"
#include "worker/limits.h"
#include "worker/loop.h"
#include "worker/native_runner.h"
#include "worker/probe.h"
#include "worker/process_runner.h"
#include "worker/recipes.h"

namespace holdfast {

struct Worker::Body {
  explicit Body(WorkerOptions the_options) : options(std::move(the_options)) {}

  base::Result<void> open(std::vector<TaskFunction> functions);
  base::Result<work::TaskTable::Runners> make_runners(std::vector<TaskFunction> functions);
  base::Result<void> catch_signals();
  base::Result<void> open_registry();

  WorkerOptions options;
  std::unique_ptr<env::Disk> disk = env::posix_disk();
  std::unique_ptr<env::Random> random = env::posix_random();
  std::unique_ptr<env::Clock> clock = env::posix_clock();
  env::Descriptor signals;
  std::optional<work::Home> home;
  work::LogLines logs;
  std::unique_ptr<work::Link> link;
  std::unique_ptr<work::Conversation> conversation;
  std::unique_ptr<work::Recipes> recipes;
  std::unique_ptr<work::TaskTable> tasks;
  std::unique_ptr<work::Loop> loop;
};

base::Result<work::TaskTable::Runners> Worker::Body::make_runners(
    std::vector<TaskFunction> functions) {
  work::TaskTable::Runners runners;
  runners.push_back(std::make_unique<work::EchoRunner>(*clock));
  if (!options.programs.empty()) runners.push_back(TRY(work::ProcessRunner::of(options.programs)));
  if (!options.python.empty())
    runners.push_back(
        TRY(work::FunctionRunner::load(work::python_functions(), options.python, options.slots)));
  if (!options.javascript.empty())
    runners.push_back(
        TRY(work::FunctionRunner::load(work::node_functions(), options.javascript, options.slots)));
  if (!options.http_hosts.empty()) {
    std::vector<executors::AllowedHost> hosts;
    for (const std::string& text : options.http_hosts) {
      auto host = executors::parse_allowed_host(text);
      if (!host)
        return base::invalid("http host",
                             "'" + text + "' is no host: expected HOST[:PORT][/private]");
      hosts.push_back(std::move(*host));
    }
    runners.push_back(TRY(work::HttpRunner::to(hosts, options.slots, *clock)));
  }
  if (!functions.empty()) runners.push_back(TRY(work::NativeRunner::of(std::move(functions))));
  return runners;
}

// The signals are blocked, so that they come here and not to a handler.
base::Result<void> Worker::Body::catch_signals() {
  if (!options.drains_on_signals) return {};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals = env::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.is_open()) return env::system_error("worker", "signalfd");
  return {};
}

base::Result<void> Worker::Body::open_registry() {
  if (options.registry.empty()) {
    if (options.swap_command.empty()) return {};
    return base::invalid("swap command", "is only for a worker with a registry");
  }
  TRY(executors::check_child_signal());
  work::RecipeOptions made;
  made.registry = options.registry;
  made.recipes = options.recipes;
  made.swap_command = options.swap_command;
  made.swap_deadline = options.swap_deadline;
  made.preempt_after = options.preempt_after;
  made.worker = home->identity().name;
  made.log = [this](const std::string& text) {
    if (options.log) options.log(text);
  };
  made.wake = [this] { link->wake(); };
  recipes = TRY(work::Recipes::open(std::move(made), *clock));
  return {};
}

base::Result<void> Worker::Body::open(std::vector<TaskFunction> functions) {
  if (options.slots == 0 || options.slots > work::kMostSlots)
    return base::invalid("slots", "expected 1 to " + std::to_string(work::kMostSlots));
  while (options.dir.size() > 1 && options.dir.ends_with('/')) options.dir.pop_back();
  if (options.dir.empty()) return base::invalid("dir", "is empty");
  link = TRY(work::Link::to(options.server, options.token,
                            {options.authorities, options.client_certificate, options.client_key}));
  TRY(catch_signals());
  const auto process = env::posix_process();
  work::HomeOptions place;
  place.dir = options.dir;
  place.node = options.node;
  place.name = options.name;
  place.host = process->host_name();
  place.holder = env::describe(*process);
  home.emplace(TRY(work::Home::open(*disk, *random, place)));
  work::TaskTable::Runners runners = TRY(make_runners(std::move(functions)));
  work::ConversationOptions conversing;
  conversing.offer.node = home->identity().node;
  conversing.offer.name = home->identity().name;
  conversing.offer.queues = options.queues;
  conversing.offer.slots = options.slots;
  conversing.offer.labels = options.labels;
  conversing.offer.recipes = options.recipes;
  conversing.offer.resources = work::probe_resources();
  for (const auto& runner : runners) {
    for (std::string& type : runner->types()) {
      if (std::ranges::count(conversing.offer.types, type) != 0)
        return base::invalid("task type", "'" + type + "' would be run in two ways");
      conversing.offer.types.push_back(std::move(type));
    }
  }
  TRY(open_registry());
  conversing.secret = home->identity().secret;
  conversing.token = options.token;
  base::Bytes start(16);
  random->fill(start);
  conversing.process = base::to_hex(start);
  conversation =
      std::make_unique<work::Conversation>(std::move(conversing), home->outbox(), logs, *random);
  tasks = std::make_unique<work::TaskTable>(*conversation, home->outbox(), logs, *clock,
                                            std::move(runners), recipes.get());
  work::LoopOptions looping;
  looping.drain_ms =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, options.drain_timeout.count()));
  looping.signals = signals.number();
  looping.log = options.log;
  loop = std::make_unique<work::Loop>(std::move(looping), *home, *clock, *link, *conversation,
                                      *tasks, recipes.get());
  return {};
}

Worker::Worker(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Worker::~Worker() = default;

Result<std::unique_ptr<Worker>> Worker::open(WorkerOptions options,
                                             std::vector<TaskFunction> functions) {
  auto body = std::make_unique<Body>(std::move(options));
  if (auto opened = body->open(std::move(functions)); !opened)
    return errors::outside(opened.error());
  return std::unique_ptr<Worker>(new Worker(std::move(body)));
}

Result<Done> Worker::run() {
  // A child that has gone, or a server, is an error of a write like any other.
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const auto ran = body_->loop->run();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!ran) return errors::outside(ran.error());
  return Done{};
}

void Worker::drain() { body_->loop->drain(); }

}  // namespace holdfast
