// SPDX-License-Identifier: Apache-2.0
#include "cli/serving.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>

#include "cli/bridge_metrics.h"
#include "cli/existing_world.h"
#include "cli/output.h"
#include "cli/service_notify.h"
#include "env/descriptor_limit.h"
#include "env/posix_disk.h"
#include "errors/translate.h"
#include "holdfast/graphs.h"
#include "postgres/sql_steps.h"
#include "postgres/uuid_text.h"
#include "store/world_file.h"

namespace holdfast::cli {
namespace {

// Enough for every connection that a server takes, and for the engine and its handlers.
constexpr std::uint64_t kDescriptors = 16'384;

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

// SIGHUP does not end a server: it reads its certificates again.
sigset_t awaited_signals() {
  sigset_t set = interrupts();
  sigaddset(&set, SIGHUP);
  return set;
}

void wait_for_interrupt(gateway::Server& server) {
  const sigset_t awaited = awaited_signals();
  for (int signal = SIGHUP; signal == SIGHUP;) {
    ::sigwait(&awaited, &signal);
    if (signal == SIGHUP) server.reload();
  }
  // Whoever asks again is in a hurry.
  const sigset_t signals = interrupts();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

std::string url_of(const ServingOptions& options, const ListenAddress& listen, std::uint16_t port) {
  const bool is_v6 = listen.address.find(':') != std::string::npos;
  return (options.tls.certificate.empty() ? "http://" : "https://") +
         (is_v6 ? "[" + listen.address + "]" : listen.address) + ":" + std::to_string(port);
}

// A port that somebody else has.
base::Error with_hint(base::Error error) {
  if (error.code() != base::ErrorCode::kConflict) return error;
  return {error.code(), error.where(),
          error.message() + "; say --listen with another port, or 0 for any"};
}

// Says in the folder of the world where it is served, for those who find it locked. Without it they
// are told less, and nothing else.
class AddressFile {
 public:
  AddressFile(const std::string& world, const std::string& url, Log& log)
      : path_(world + "/" + kServerFile) {
    const std::string text = std::to_string(::getpid()) + " " + url + "\n";
    const auto written = env::replace_file(*disk_, path_, base::as_bytes(text));
    if (!written) log.write({LogLevel::kWarning, "trouble", written.error().to_string()});
  }
  ~AddressFile() { static_cast<void>(disk_->remove(path_).has_value()); }
  AddressFile(const AddressFile&) = delete;
  AddressFile& operator=(const AddressFile&) = delete;

 private:
  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  const std::string path_;
};

// Null: no database was named.
base::Result<std::unique_ptr<postgres::Bridge>> start_bridge(
    Engine& engine, ServingOptions& options, const std::function<void(std::string_view)>& note) {
  if (options.postgres.conninfo.empty()) return std::unique_ptr<postgres::Bridge>();
  const auto disk = env::posix_disk();
  const auto world = TRY(store::read_world_file(*disk, options.engine.dir));
  options.postgres.world = postgres::uuid_text(world.id);
  options.postgres.retention = options.engine.retention;
  options.postgres.log = note;
  return postgres::Bridge::start(engine, options.postgres);
}

base::Result<void> run(ServingOptions& options, const Started& started) {
  const ListenAddress listen = TRY(parse_listen(options.listen));
  std::atomic<bool> has_ended = false;
  // It outlives everything that writes to it.
  Log log(options.log_format, options.log_level);
  const auto note = [&log](std::string_view line) {
    log.write({LogLevel::kInfo, "note", std::string(line)});
  };
  options.engine.log_lines = [&log](const LogLine& line) { log.write(line); };
  options.engine.ended = [&has_ended](const Error&) {
    has_ended = true;
    ::kill(::getpid(), SIGTERM);
  };
  gateway::ServerOptions server_options;
  server_options.address = listen.address;
  server_options.port = listen.port;
  server_options.world = options.engine.dir;
  server_options.tls = options.tls;
  server_options.log = note;
  server_options.log_lines = options.engine.log_lines;
  server_options.logs_requests = options.logs_requests;
  server_options.kill = options.kill;
  if (!options.postgres.conninfo.empty()) {
    server_options.more_metrics = [figures = options.postgres.figures](gateway::MetricsText& text) {
      put_bridge(text, *figures);
    };
  }
  // A task's references need the engine, which needs the desk first.
  const auto opened = std::make_shared<Engine*>(nullptr);
  options.desk.log = note;
  options.desk.log_folder = options.engine.dir + "/logs";
  options.desk.render = [opened](const std::string& graph, const Bytes& definition,
                                 const Engine::Then<Bytes>& then) {
    Graphs(**opened).render(graph, definition, then);
  };
  const auto desk = workers::Desk::make(std::move(options.desk));
  options.engine.work_feed = desk;
  server_options.desk = desk;
  // Before the world is opened, which goes on with what was under way: a start that is refused has
  // done nothing.
  auto place = gateway::Server::reserve(std::move(server_options));
  if (!place) return with_hint(std::move(place).error());
  if (!options.postgres_exec.empty()) {
    options.engine.handlers.push_back(postgres::SqlSteps::handler(TRY(postgres::SqlSteps::make(
        {options.postgres.conninfo, options.postgres_exec, options.postgres.figures}))));
    options.postgres.has_sql_steps = true;
  }
  auto engine = Engine::open(options.engine);
  if (!engine) return errors::inside(engine.error());
  *opened = engine->get();
  // However this ends: the desk calls the engine.
  const struct StopsDesk {
    workers::Desk& desk;
    ~StopsDesk() { desk.stop(); }
  } stops_desk{*desk};
  desk->start(**engine);
  auto server = gateway::Server::start(**engine, std::move(*place));
  if (!server) return std::move(server).error();
  const auto bridge = TRY(start_bridge(**engine, options, note));
  const std::string url = url_of(options, listen, (*server)->port());
  const AddressFile address(options.engine.dir, url, log);
  TRY(started(**engine, url));
  if (!flush_output()) return base::Error(base::ErrorCode::kIo, "nobody reads the output");
  log.write({LogLevel::kInfo,
             "started",
             "serving",
             {{"url", url}, {"world", options.engine.dir}, {"version", HOLDFAST_VERSION}}});
  if (!notify_service_manager("READY=1"))
    log.write({LogLevel::kWarning, "trouble", "the service manager was not told: ready"});
  wait_for_interrupt(**server);
  notify_service_manager("STOPPING=1");
  log.write({LogLevel::kInfo, "stopping", "stopping: requests under way are answered"});
  if (options.stopping) options.stopping();
  if (bridge) bridge->stop();
  (*server)->stop();
  desk->stop();
  if (const auto closed = (*engine)->close(); !closed) return errors::inside(closed.error());
  if (has_ended) return base::Error(base::ErrorCode::kIo, "the engine has ended");
  log.write({LogLevel::kInfo, "stopped", "stopped", {{"last_record", (*engine)->last_durable()}}});
  return {};
}

}  // namespace

base::Result<ListenAddress> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = [&] { return base::invalid(text, "expected ADDRESS:PORT, as 127.0.0.1:7411"); };
  if (colon == std::string::npos) return bad();
  ListenAddress listen;
  listen.address = text.substr(0, colon);
  if (listen.address.starts_with('[') && listen.address.ends_with(']'))
    listen.address = listen.address.substr(1, listen.address.size() - 2);
  if (listen.address == "localhost") listen.address = "127.0.0.1";
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, listen.port);
  if (read.ec != std::errc() || read.ptr != end || listen.address.empty()) return bad();
  return listen;
}

ExitCode serve(ServingOptions options, const Started& started) {
  // Before there is any other thread, so that all of them leave these to us.
  const sigset_t signals = awaited_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  env::raise_descriptor_limit(kDescriptors);
  const auto served = run(options, started);
  return served ? ExitCode::kDone : refuse(served.error());
}

}  // namespace holdfast::cli
