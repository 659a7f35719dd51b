// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet_run.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/normaliser.h"
#include "sim/dice.h"
#include "sim/fleet_ledger.h"
#include "sim/fleet_server.h"
#include "sim/fleet_worker.h"
#include "tasks/compile.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kFleetMs = 1'000'000;
constexpr std::uint64_t kFleetStart = 1'700'000'000'000'000'000;
constexpr std::uint64_t kCalmSteps = 60'000;  // until everything must have ended
constexpr std::size_t kMostGraphs = 6;

tasks::Plan plan_of_text(const std::string& json) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  CHECK(value.has_value());
  const base::Bytes held(value->begin(), value->end());
  tasks::Compiled compiled = tasks::compile(codec::View::of(held));
  CHECK(compiled.plan.has_value());
  return std::move(*compiled.plan);
}

// A chain, a wide graph, one that fans in, epochs, foreach, conditions: a few tasks of one shape.
std::string document_of(Dice& dice) {
  const std::uint64_t size = 2 + dice.below(4);
  std::string nodes;
  std::string hint;
  const auto add = [&](const std::string& name, const std::string& depends_on,
                       const std::string& more) {
    nodes += std::string(nodes.empty() ? "" : ",") + R"({"name":")" + name + R"(","dependsOn":[)" +
             depends_on + "]" + more + "}";
  };
  const auto name = [](std::uint64_t i) { return "t" + std::to_string(i); };
  switch (dice.below(6)) {
    case 0:
      for (std::uint64_t i = 0; i < size; ++i)
        add(name(i), i == 0 ? "" : "\"" + name(i - 1) + "\"",
            i == 0 ? "" : R"(,"spec":{"before":"${)" + name(i - 1) + R"(.d}"})");
      break;
    case 1:
      for (std::uint64_t i = 0; i < size; ++i) add(name(i), "", "");
      break;
    case 2: {
      std::string all;
      for (std::uint64_t i = 0; i < size; ++i) {
        add(name(i), "", "");
        all += (i == 0 ? "\"" : ",\"") + name(i) + "\"";
      }
      add("last", all, R"(,"spec":{"first":"${t0.d}"})");
      break;
    }
    case 3:
      for (std::uint64_t i = 0; i < size; ++i) {
        add(name(i), "", "");
        hint += (i == 0 ? "[\"" : ",[\"") + name(i) + "\"]";
      }
      break;
    case 4:
      add("each", "", R"(,"foreach":[1,2,3])");
      add("last", "\"each\"", "");
      break;
    default:
      add("judge", "", "");
      add("never", "\"judge\"",
          R"(,"spec":{"condition":{"node":"judge","field":"d","equals":"no"}})");
      add("last", "\"never\"", "");
      break;
  }
  const std::string attempts = dice.one_in(3) ? "" : R"("maxAttempts":-1,)";
  const std::string key = dice.one_in(3) ? R"("concurrency":{"key":"k","limit":1},)" : "";
  const std::string annotations =
      hint.empty() ? ""
                   : R"(,"annotations":{"schedule_hint":{"node_execution_order":[)" + hint + "]}}";
  return R"({"apiVersion":"holdfast/v1","kind":"W","metadata":{"name":"w")" + annotations +
         R"(},"spec":{"taskType":"echo",)" + attempts + key + R"("graph":{"nodes":[)" + nodes +
         "]}}}";
}

class FleetRun {
 public:
  explicit FleetRun(const FleetOptions& options)
      : options_(options), dice_(options.seed), ledger_(report_) {
    report_.keeps_notes = options.keeps_notes;
    times_.now_ns = 1'000'000'000;
    times_.wall_ns = kFleetStart;
    start_server();
    const std::uint64_t count = 2 + dice_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      hosts_.push_back(std::make_unique<Host>("w" + std::to_string(i), 1 + dice_.below(3), ledger_,
                                              report_, dice_));
      hosts_.back()->worker.start();
    }
  }

  // First of all: a server that ends answers what it holds back, and nobody hears that any more.
  ~FleetRun() { server_.reset(); }
  FleetRun(const FleetRun&) = delete;
  FleetRun& operator=(const FleetRun&) = delete;

  Report run() {
    submit();
    for (std::uint64_t i = 0; i < options_.steps && report_.violation().empty(); ++i) {
      make_trouble();
      step();
    }
    calm_down();
    for (std::uint64_t i = 0; i < kCalmSteps && report_.violation().empty(); ++i) {
      step();
      if (i % 64 == 0 && has_ended()) break;
    }
    if (report_.violation().empty()) look_at_the_end();
    return std::move(report_);
  }

 private:
  struct Host {
    Host(std::string name, std::uint64_t slots, FleetLedger& ledger, Report& report, Dice& dice)
        : worker(std::move(name), slots, ledger, report, dice) {}
    FleetWorker worker;
    std::uint64_t paused_until = 0;  // all of these by the calm clock
    std::uint64_t cut_until = 0;
    std::uint64_t down_until = 0;
  };
  struct Message {
    std::size_t host = 0;
    std::uint64_t process = 0;
    std::uint64_t id = 0;
    bool is_request = false;
    bool is_copy = false;  // whose answer nobody waits for
    work::Request request = {};
    std::optional<work::Answer> answer = {};  // nothing: there will be none
    std::uint64_t life = 0;                   // of the server that the connection is to
  };
  // A request that the server has not answered.
  struct Open {
    std::size_t host = 0;
    std::uint64_t process = 0;
    std::uint64_t id = 0;
    std::function<void()> let_go = {};
  };

  void note(const std::string& line) {
    report_.note(std::to_string(times_.calm_ns / kFleetMs) + " ms: " + line);
  }
  std::uint64_t later(std::uint64_t most_ms) {
    return times_.calm_ns + (1 + dice_.below(most_ms)) * kFleetMs;
  }
  bool is_cut(const Host& host) const { return host.cut_until > times_.calm_ns; }

  void start_server() {
    server_ = std::make_unique<FleetServer>(disk_, ledger_, report_, dice_, times_);
    ++life_;
  }

  void crash_server() {
    note("the server dies");
    report_.sometimes("the server dies");
    server_->crash();
    server_.reset();
    // Connections end with it.
    for (const auto& [number, open] : std::exchange(open_, {}))
      fly({open.host, open.process, open.id}, 100);
    server_down_until_ = times_.calm_ns + dice_.below(dice_.one_in(4) ? 12'000 : 1500) * kFleetMs;
  }

  void fly(Message message, std::uint64_t most_ms) {
    flying_.emplace(later(most_ms), std::move(message));
  }

  void send(std::size_t host, work::Request request) {
    Message message{
        host, hosts_[host]->worker.process_number(), request.id, true, false, std::move(request)};
    message.life = life_;
    if (is_troubled_ && dice_.one_in(30)) {
      report_.sometimes("a request is doubled");
      Message copy = message;
      copy.is_copy = true;
      fly(std::move(copy), 3000);
    }
    fly(std::move(message), dice_.one_in(20) ? 2000 : 20);
  }

  void deliver(Message message) {
    Host& host = *hosts_[message.host];
    const bool is_lost = is_cut(host) || (is_troubled_ && dice_.one_in(25));
    if (message.is_request) {
      // A connection ends with either of the two processes that it is between.
      if (!host.worker.is_running() || host.worker.process_number() != message.process) return;
      if (is_lost || server_ == nullptr || message.life != life_) {
        if (is_lost) report_.sometimes("a request is lost");
        if (!message.is_copy) fly({message.host, message.process, message.id}, 3000);
        return;
      }
      const std::uint64_t number = ++last_open_;
      if (!message.is_copy) open_[number] = {message.host, message.process, message.id};
      const std::uint64_t life = life_;
      auto let_go = server_->ask(message.request, [this, number, life](work::Answer answer) {
        if (life != life_ || server_ == nullptr) return;
        const auto at = open_.find(number);
        if (at == open_.end()) return;  // a copy
        fly({at->second.host,
             at->second.process,
             at->second.id,
             false,
             false,
             {},
             std::move(answer)},
            dice_.one_in(20) ? 2000 : 20);
        open_.erase(at);
      });
      if (const auto at = open_.find(number); at != open_.end())
        at->second.let_go = std::move(let_go);
      return;
    }
    if (!host.worker.is_running() || host.worker.process_number() != message.process) return;
    if (host.paused_until > times_.calm_ns) {  // it waits in the socket
      flying_.emplace(host.paused_until + 1, std::move(message));
      return;
    }
    if (!message.answer) return host.worker.lost(message.id);
    if (is_lost) {
      report_.sometimes("an answer is lost");
      return fly({message.host, message.process, message.id}, 3000);
    }
    host.worker.answered(message.id, *message.answer);
  }

  void kill_worker(std::size_t index) {
    Host& host = *hosts_[index];
    if (!host.worker.is_running()) return;
    note(host.worker.name() + " dies");
    report_.sometimes("a worker dies");
    host.worker.die();
    host.down_until = times_.calm_ns + dice_.below(dice_.one_in(3) ? 8000 : 300) * kFleetMs;
    // The server hears that the connections end, unless the whole host is gone.
    if (!dice_.one_in(3)) {
      std::erase_if(open_, [&](auto& each) {
        if (each.second.host != index) return false;
        if (each.second.let_go) each.second.let_go();
        return true;
      });
    }
  }

  void submit() {
    if (server_ == nullptr || graphs_.size() == kMostGraphs) return;
    const std::string id = "g" + std::to_string(graphs_.size());
    const tasks::Plan plan = plan_of_text(document_of(dice_));
    graphs_[id] = plan.total_count;
    server_->submit(plan, id);
    server_->commit(true);  // the client waits until it is durable
  }

  void make_trouble() {
    const std::size_t index = dice_.below(hosts_.size());
    Host& host = *hosts_[index];
    switch (dice_.below(600)) {
      case 0:
      case 1:
      case 2:
        if (server_) crash_server();
        break;
      case 3:
      case 4:
      case 5:
      case 6: kill_worker(index); break;
      case 7:
        note(host.worker.name() + " stands still");
        report_.sometimes("a worker stands still");
        host.paused_until = later(dice_.one_in(2) ? 12'000 : 1500);
        break;
      case 8:
        note(host.worker.name() + " is cut off");
        report_.sometimes("the network is cut");
        host.cut_until = later(dice_.one_in(2) ? 12'000 : 1500);
        break;
      case 9:
        report_.sometimes("a clock jumps");
        times_.now_ns += dice_.below(60'000) * kFleetMs;  // the server's machine slept
        break;
      case 10:
        report_.sometimes("a wall clock jumps");
        times_.wall_ns = dice_.one_in(2) ? times_.wall_ns + 3'600'000 * kFleetMs
                                         : times_.wall_ns - 600'000 * kFleetMs;
        host.worker.jump(static_cast<std::int64_t>(dice_.below(7'200'000)) * 1'000'000 -
                         3'600'000'000'000);
        break;
      case 11: host.worker.drain(); break;
      case 12:
      case 13:
      case 14: by_hand(); break;
      case 15:
        if (server_) server_->take_snapshot();
        break;
      case 16:
        if (server_ && dice_.one_in(3)) {
          report_.sometimes("a graph is cancelled");
          const std::string id = "g" + std::to_string(dice_.below(graphs_.size()));
          cancelled_.insert(id);
          server_->cancel(id);
        }
        break;
      case 17:
      case 18:
      case 19: submit(); break;
      case 20:
        if (server_) server_->fill_disk(later(4000));
        break;
      default: break;
    }
  }

  void by_hand() {
    if (!server_) return;
    const auto workers = server_->desk().list_workers("", 16);
    if (workers.empty()) return;
    const std::string& id = workers[dice_.below(workers.size())].info.worker;
    if (dice_.one_in(3)) return server_->change_worker(id, WorkerChange::Kind::kDrain);
    report_.sometimes("a worker is cordoned");
    server_->change_worker(
        id, dice_.one_in(2) ? WorkerChange::Kind::kCordon : WorkerChange::Kind::kUncordon);
  }

  void calm_down() {
    note("the faults end");
    is_troubled_ = false;
    server_down_until_ = 0;
    if (!server_) start_server();
    server_->fill_disk(0);
    for (const auto& host : hosts_) {
      host->paused_until = host->cut_until = host->down_until = 0;
      host->worker.calm_down();
    }
    for (const auto& each : server_->desk().list_workers("", 16))
      server_->change_worker(each.info.worker, WorkerChange::Kind::kUncordon);
  }

  void step() {
    ++report_.steps;
    const std::uint64_t passed = (1 + dice_.below(is_troubled_ ? 40 : 60)) * kFleetMs;
    times_.now_ns += passed;
    times_.wall_ns += passed;
    times_.calm_ns += passed;
    if (!server_ && times_.calm_ns >= server_down_until_) start_server();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      Host& host = *hosts_[i];
      host.worker.advance(passed);
      if (!host.worker.is_running()) {
        if (times_.calm_ns >= host.down_until) host.worker.start();
        continue;
      }
      if (host.paused_until > times_.calm_ns) continue;
      const bool was_running = host.worker.is_running();
      host.worker.step([&](work::Request request) { send(i, std::move(request)); });
      if (was_running && !host.worker.is_running()) host.down_until = later(2000);  // it has left
    }
    while (!flying_.empty() && flying_.begin()->first <= times_.calm_ns) {
      Message message = std::move(flying_.begin()->second);
      flying_.erase(flying_.begin());
      deliver(std::move(message));
    }
    if (!server_) return;
    server_->step();
    if (!is_troubled_ || !dice_.one_in(4)) server_->commit(!is_troubled_ || dice_.one_in(2));
    server_->step();
  }

  bool has_ended() {
    if (!server_) return false;
    for (const auto& [id, count] : graphs_)
      if (!server_->has_ended(id)) return false;
    return server_->unwritten() == 0;
  }

  void look_at_the_end() {
    for (const auto& [id, count] : graphs_) {
      if (!server_->has_ended(id)) {
        std::string states;
        for (std::uint64_t i = 0; i < count; ++i) states += " " + server_->describe(id, i);
        for (const workers::WorkerState& worker : server_->desk().list_workers("", 16))
          states += "; " + worker.info.worker + " is " + worker.mode +
                    (worker.has_session ? "" : ", without a session") + ", runs " +
                    std::to_string(worker.running) + " and wants " + std::to_string(worker.want);
        return report_.violation(id + " does not end:" + states);
      }
      for (std::uint64_t i = 0; i < count; ++i) look_at_task(id, i);
    }
  }

  void look_at_task(const std::string& graph, std::uint64_t number) {
    const std::string key = graph + "/" + std::to_string(number);
    const auto at = ledger_.tasks().find(key);
    if (at == ledger_.tasks().end()) return;  // it never ran
    const FleetLedger::Task& task = at->second;
    const std::string state = server_->describe(graph, number);
    report_.sometimes("a task ends " + state);
    if ((state == "DONE") != (task.results == 1))
      report_.violation(key + " is " + state + " with " + std::to_string(task.results) +
                        " results");
    if (state == "DONE" &&
        server_->result(graph, number).find(task.last_result) == std::string::npos)
      report_.violation(key + " has another result than the one that was taken");
    if (state == "CANCELLED" && !cancelled_.contains(graph))
      report_.violation(key + " is cancelled, and nobody asked for that");
    if (task.runs > 1 + task.explained) report_.violation(key + " runs again without a reason");
    // What is cancelled has a charge that depends on when its worker heard of it.
    if (state != "CANCELLED" && server_->attempts(graph, number) != task.charged)
      report_.violation(key + " is charged " + std::to_string(server_->attempts(graph, number)) +
                        " attempts instead of " + std::to_string(task.charged));
    if (task.runs > 1) report_.sometimes("a task runs more than once");
  }

  const FleetOptions options_;
  Report report_;
  Dice dice_;
  FleetLedger ledger_;
  FleetDisk disk_;
  FleetTimes times_;
  std::unique_ptr<FleetServer> server_;
  std::uint64_t life_ = 0;
  std::uint64_t server_down_until_ = 0;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::multimap<std::uint64_t, Message> flying_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_open_ = 0;
  std::map<std::string, std::uint64_t> graphs_;  // id -> tasks
  std::set<std::string> cancelled_;              // graphs that somebody wanted to cancel
  bool is_troubled_ = true;
};

}  // namespace

Report run_fleet(const FleetOptions& options) { return FleetRun(options).run(); }

}  // namespace holdfast::sim
