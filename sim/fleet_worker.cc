// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet_worker.h"

#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "tasks/limits.h"

namespace holdfast::sim {
namespace {

constexpr std::int64_t kMsOfNs = 1'000'000;

}  // namespace

// Ends each task some time after it began, well or not. The result is the dispatch.
class FleetWorker::Tasks : public work::Runner {
 public:
  Tasks(FleetWorker& worker, std::string process) : worker_(worker), process_(std::move(process)) {}

  std::vector<std::string> types() const override { return {"echo"}; }

  void start(const work::Task& task, work::TaskReports&) override {
    worker_.ledger_.begun(process_, task.dispatch);
    Dice& dice = worker_.dice_;
    const bool is_long = !worker_.is_calm_ && dice.one_in(8);
    const std::uint64_t ms = is_long ? 3000 + dice.below(5000) : dice.below(300);
    running_[task.dispatch] =
        worker_.clock_.since_boot_ns() + static_cast<std::int64_t>(ms) * kMsOfNs;
  }
  void stop(const std::string& dispatch, work::StopReason reason, work::Urgency) override {
    const auto at = running_.find(dispatch);
    if (at == running_.end()) return;
    worker_.report_.sometimes(reason == work::StopReason::kCancelled
                                  ? "a task is asked to stop"
                                  : "a task is stopped by a drain");
    at->second = worker_.clock_.since_boot_ns();  // it ends as if nobody had asked
  }
  void abandon(const std::string& dispatch) override { running_.erase(dispatch); }

  void go_on(const pollfd*, work::TaskReports& reports) override {
    const std::int64_t now = worker_.clock_.since_boot_ns();
    for (auto at = running_.begin(); at != running_.end();) {
      if (at->second > now) {
        ++at;
        continue;
      }
      const std::string dispatch = at->first;
      at = running_.erase(at);
      if (!worker_.is_calm_ && worker_.dice_.one_in(10)) {
        worker_.report_.sometimes("a task fails");
        reports.ended(dispatch, work::Ended::failed("sim.failed", "the dice say so"));
        continue;
      }
      codec::Buffer result;
      const bool is_large = worker_.dice_.one_in(20);
      codec::write_map_head(result, is_large ? 2 : 1);
      codec::write_text(result, "d");
      codec::write_text(result, dispatch);
      if (is_large) {
        codec::write_text(result, "more");
        codec::write_text(result, std::string(tasks::kMaxInlineResultBytes, 'x'));
      }
      const base::ByteView bytes = result.view();
      reports.ended(dispatch, work::Ended::ok({bytes.begin(), bytes.end()}));
    }
  }

 private:
  FleetWorker& worker_;
  const std::string process_;
  std::map<std::string, std::int64_t> running_;  // dispatch -> when it ends
};

struct FleetWorker::Process {
  std::string name;
  std::unique_ptr<env::Random> random;
  std::optional<work::Home> home;
  work::LogLines logs;
  std::unique_ptr<work::Conversation> conversation;
  std::unique_ptr<work::TaskTable> tasks;
  bool is_draining = false;
  std::set<std::uint64_t> sessions;  // requests for one
};

FleetWorker::FleetWorker(std::string name, std::uint64_t slots, FleetLedger& ledger, Report& report,
                         Dice& dice)
    : name_(std::move(name)),
      slots_(slots),
      ledger_(ledger),
      report_(report),
      dice_(dice),
      disk_(std::make_unique<env::SimDisk>()) {
  clock_.advance_ns(1'000'000'000);
}

FleetWorker::~FleetWorker() = default;

void FleetWorker::start() {
  CHECK(process_ == nullptr);
  process_ = std::make_unique<Process>();
  ++number_;
  process_->name = name_ + "-" + std::to_string(number_);
  ledger_.process_started(name_, process_->name);
  process_->random = env::seeded_random(dice_.next());
  auto home =
      work::Home::open(*disk_, *process_->random,
                       {.dir = "worker", .node = "n", .name = name_, .host = "n", .holder = "sim"});
  if (!home) return report_.violation("a worker cannot start: " + home.error().to_string());
  process_->home.emplace(std::move(*home));
  work::ConversationOptions options;
  options.offer = {.node = "n",
                   .name = name_,
                   .queues = {"default"},
                   .types = {"echo"},
                   .slots = slots_,
                   .labels = {},
                   .resources = {}};
  options.secret = process_->home->identity().secret;
  options.process = process_->name;
  work::Outbox& outbox = process_->home->outbox();
  if (outbox.recovered().reports != 0) report_.sometimes("a process finds results in its outbox");
  process_->conversation = std::make_unique<work::Conversation>(std::move(options), outbox,
                                                                process_->logs, *process_->random);
  work::TaskTable::Runners runners;
  runners.push_back(std::make_unique<Tasks>(*this, process_->name));
  process_->tasks = std::make_unique<work::TaskTable>(*process_->conversation, outbox,
                                                      process_->logs, clock_, std::move(runners));
}

void FleetWorker::die() {
  if (process_ == nullptr) return;
  ledger_.process_died(process_->name);
  auto survivor = disk_->after_process_death();
  process_.reset();
  disk_ = std::move(survivor);
}

void FleetWorker::drain() {
  if (process_ == nullptr || process_->is_draining) return;
  process_->is_draining = true;
  process_->conversation->drain();
  report_.sometimes("a worker drains");
}

void FleetWorker::heed(work::News news) {
  for (const std::string& dispatch : news.drop) process_->tasks->drop(dispatch);
  for (const work::Task& task : news.start) process_->tasks->start(task);
  for (const work::Stop& stop : news.stop) process_->tasks->stop(stop);
  if (news.drains) drain();
  if (news.fatal) report_.violation("a worker gives up: " + news.fatal->to_string());
}

void FleetWorker::step(const std::function<void(work::Request)>& send) {
  if (process_ == nullptr) return;
  Process& process = *process_;
  for (const auto& runner : process.tasks->runners()) runner->go_on(nullptr, *process.tasks);
  process.tasks->keep_time();
  const auto flushed = process.home->outbox().flush();
  process.conversation->set_durable(flushed.has_value());
  if (process.is_draining && process.tasks->empty() && !process.conversation->holds_anything() &&
      process.conversation->is_connected())
    process.conversation->leave();
  if (process.conversation->has_left()) {
    report_.sometimes("a worker leaves");
    return die();
  }
  while (auto request = process.conversation->next(clock_.since_boot_ns())) {
    if (request->kind == work::Request::Kind::kSession) process.sessions.insert(request->id);
    send(std::move(*request));
  }
}

void FleetWorker::answered(std::uint64_t id, const work::Answer& answer) {
  if (process_ != nullptr && answer.status == 200 && process_->sessions.contains(id))
    ledger_.session_begun(process_->name);
  if (process_ != nullptr)
    heed(process_->conversation->answered(id, answer, clock_.since_boot_ns()));
}

void FleetWorker::lost(std::uint64_t id) {
  if (process_ == nullptr) return;
  const base::Error why(base::ErrorCode::kUnavailable, "the server", "no answer");
  heed(process_->conversation->lost(id, why, clock_.since_boot_ns()));
}

}  // namespace holdfast::sim
