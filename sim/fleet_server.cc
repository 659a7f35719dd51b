// SPDX-License-Identifier: Apache-2.0
#include "sim/fleet_server.h"

#include <algorithm>
#include <list>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "defs/system_names.h"
#include "gateway/worker_bodies.h"
#include "kernel/lease_list.h"
#include "tasks/graph_cell.h"
#include "tasks/graph_parts.h"
#include "tasks/large_result.h"
#include "tasks/messages.h"
#include "tasks/render.h"
#include "tasks/task_cell.h"
#include "tasks/task_codec.h"

namespace holdfast::sim {
namespace {

using kernel::Answer;

const std::vector<kernel::WorkVerdict>& verdicts_in(const Answer& answer) {
  static const std::vector<kernel::WorkVerdict> kNone;
  if (const auto* accepted = std::get_if<kernel::Accepted>(&answer)) return accepted->verdicts;
  if (const auto* unchanged = std::get_if<kernel::Unchanged>(&answer)) return unchanged->verdicts;
  return kNone;
}

std::optional<Error> refusal_in(const Answer& answer) {
  const auto* refused = std::get_if<kernel::Refused>(&answer);
  if (refused == nullptr) return std::nullopt;
  const auto code = refused->code == base::ErrorCode::kNotFound   ? ErrorCode::kNotFound
                    : refused->code == base::ErrorCode::kConflict ? ErrorCode::kConflict
                                                                  : ErrorCode::kInvalid;
  return Error{code, refused->message};
}

WorkAnswer answer_to_report(const Answer& answer) {
  if (const auto* accepted = std::get_if<kernel::Accepted>(&answer))
    return {WorkVerdict::kOk, accepted->record, {}};
  if (const auto* repeated = std::get_if<kernel::Repeated>(&answer))
    return {WorkVerdict::kRepeated, repeated->record, {}};
  return {WorkVerdict::kStale, 0, {}};
}

Error no_room() { return {ErrorCode::kUnavailable, "the disk is full"}; }

work::Answer problem(long status, const std::string& code) {
  return {status, R"({"code":")" + code + R"(","detail":"simulated"})", 0};
}

std::optional<work::Answer> refusal_of(workers::Refused refused) {
  switch (refused) {
    case workers::Refused::kNo: return std::nullopt;
    case workers::Refused::kUnknown: return problem(404, "not_found");
    case workers::Refused::kNameTaken: return problem(409, "name_taken");
    case workers::Refused::kSession: return problem(409, "session");
    case workers::Refused::kSuperseded: break;
  }
  return problem(409, "superseded");
}

// Empty: it refers to a result that is not there.
base::Bytes whole_result(const FleetDisk& disk, const base::Bytes& outcome) {
  const auto reference = tasks::reference_of(codec::View::of(outcome));
  if (!reference) return outcome;
  const auto found = disk.results.find(reference->hash);
  return found == disk.results.end() ? base::Bytes() : found->second;
}

// What the references of a task read: outcomes never change, so the present world has them.
class WorldResults : public tasks::Outcomes {
 public:
  WorldResults(kernel::World& world, const FleetDisk& disk, std::string graph)
      : world_(world), disk_(disk), graph_(std::move(graph)) {}
  std::optional<tasks::Outcome> find(tasks::TaskIndex task) const override {
    const std::string key = tasks::task_key(graph_, task);
    const auto values = world_.read(defs::kTaskWorkflow, tasks::key_bytes(key));
    if (!values || !*values || (*values)->status != kernel::Status::kCompleted) return std::nullopt;
    held_.push_back(whole_result(disk_, (*values)->outcome));
    if (held_.back().empty()) return std::nullopt;
    ids_.push_back(key);
    return tasks::Outcome{codec::View::of(held_.back()), ids_.back()};
  }

 private:
  kernel::World& world_;
  const FleetDisk& disk_;
  std::string graph_;
  mutable std::list<base::Bytes> held_;
  mutable std::list<std::string> ids_;
};

}  // namespace

const kernel::Machine* FleetMachines::find_system(std::string_view workflow) const {
  if (workflow == defs::kGraphWorkflow) return &graph_;
  return workflow == defs::kTaskWorkflow ? &task_ : nullptr;
}

// What the desk asks for becomes ticks. Answers wait for the disk.
class FleetServer::Records : public workers::Recorder {
 public:
  explicit Records(FleetServer& server) : server_(&server) {}
  void end() { server_ = nullptr; }

  void enroll_worker(const WorkerEnrolment& enrolment, Then<WorkerInfo> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    const kernel::WorkerEnrolled tick{enrolment.worker,
                                      enrolment.node,
                                      enrolment.name,
                                      {enrolment.secret.bytes},
                                      enrolment.description};
    server_->tick(tick, [server = server_, id = enrolment.worker, then](const Answer& answer) {
      if (auto error = refusal_in(answer)) return then(*error);
      const kernel::Workers& workers = server->world_->workers();
      const kernel::Worker* const worker = workers.find(id);
      then(engine::worker_info(id, *worker, workers.is_cordoned(*worker)));
    });
  }

  void change_worker(const WorkerChange& change, Then<WorkerChanged> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    if (change.kind == WorkerChange::Kind::kLose) server_->check_silence(change.worker);
    const kernel::WorkerChanged tick{change.worker, static_cast<kernel::WorkerChange>(change.kind),
                                     change.reason, change.by};
    server_->tick(tick, [this, change, then](const Answer& answer) {
      if (auto error = refusal_in(answer)) return then(*error);
      const auto* accepted = std::get_if<kernel::Accepted>(&answer);
      if (accepted != nullptr && accepted->leases_left != 0) return change_worker(change, then);
      then(WorkerChanged{});
    });
  }

  void lease(std::string_view worker, const std::vector<LeaseRequest>& requests,
             Then<Leased> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    std::vector<kernel::LeaseItem> items;
    std::vector<Hash> intents;
    for (const LeaseRequest& request : requests) {
      items.push_back({{request.intent.bytes},
                       request.detail,
                       request.time_limit_ns,
                       request.if_lost == IfLost::kFail});
      intents.push_back(request.intent);
    }
    codec::Buffer list;
    kernel::write_lease_list(list, items);
    server_->tick(kernel::Leased{worker, list.view()}, [intents, then](const Answer& answer) {
      if (auto error = refusal_in(answer)) return then(*error);
      Leased told;
      const auto& verdicts = verdicts_in(answer);
      for (std::size_t i = 0; i < intents.size() && i < verdicts.size(); ++i) {
        using Kind = kernel::WorkVerdict::Kind;
        const auto kind = verdicts[i].kind == Kind::kGranted ? LeaseVerdict::Kind::kGranted
                          : verdicts[i].kind == Kind::kHeld  ? LeaseVerdict::Kind::kHeld
                                                             : LeaseVerdict::Kind::kNotOpen;
        told.verdicts.push_back({intents[i], kind, verdicts[i].dispatch});
      }
      then(told);
    });
  }

  void give_back(std::string_view worker, const std::vector<WorkReturn>& returns,
                 Then<WorkAnswers> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    std::vector<kernel::ReturnItem> items;
    for (const WorkReturn& each : returns)
      items.push_back({{each.intent.bytes},
                       each.dispatch,
                       static_cast<kernel::ReturnReason>(each.reason),
                       each.resume});
    codec::Buffer list;
    kernel::write_return_list(list, items);
    server_->tick(kernel::Returned{worker, list.view()}, [then](const Answer& answer) {
      if (auto error = refusal_in(answer)) return then(*error);
      WorkAnswers answers;
      for (const kernel::WorkVerdict& verdict : verdicts_in(answer)) {
        using Kind = kernel::WorkVerdict::Kind;
        answers.emplace_back(WorkAnswer{verdict.kind == Kind::kReturned  ? WorkVerdict::kOk
                                        : verdict.kind == Kind::kSettled ? WorkVerdict::kSettled
                                                                         : WorkVerdict::kStale,
                                        0,
                                        {}});
      }
      then(std::move(answers));
    });
  }

  void settle_work(std::string_view worker, const std::vector<WorkReceipt>& receipts,
                   Then<WorkAnswers> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    const auto answers = std::make_shared<WorkAnswers>(receipts.size(), WorkAnswer{});
    const auto left = std::make_shared<std::size_t>(receipts.size());
    for (std::size_t i = 0; i < receipts.size(); ++i) {
      kernel::ReceiptArrived arrived{{receipts[i].intent.bytes},
                                     static_cast<kernel::ReceiptStatus>(receipts[i].status),
                                     receipts[i].payload,
                                     {},
                                     {}};
      arrived.fence = {receipts[i].dispatch == 0 ? std::string_view() : worker,
                       receipts[i].dispatch};
      server_->tick(arrived, [answers, left, i, then](const Answer& answer) {
        if (auto error = refusal_in(answer)) {
          (*answers)[i] = *error;
        } else {
          (*answers)[i] = answer_to_report(answer);
        }
        if (--*left == 0) then(std::move(*answers));
      });
    }
  }

  void progress_work(std::string_view, const std::vector<WorkProgress>&,
                     Then<WorkAnswers>) override {}

  // It survives a crash only after it is told.
  void keep_blob(Bytes bytes, Then<Engine::KeptBlob> then) override {
    if (server_ == nullptr) return;
    if (server_->refuses()) return then(no_room());
    server_->report_.sometimes("a result is kept apart from its cell");
    const base::Hash hash = base::sha256(bytes);
    server_->unwritten_.push_back(
        {{}, {}, [server = server_, hash, bytes = std::move(bytes), then] {
           server->disk_.results.emplace(hash, bytes);
           then(Engine::KeptBlob{{hash.bytes}, nullptr});
         }});
  }

  void work(std::vector<Hash> intents, Then<std::vector<Result<WorkInfo>>> then,
            std::size_t) override {
    if (server_ == nullptr) return;
    auto found = std::make_shared<std::vector<Result<WorkInfo>>>();
    for (const Hash& each : intents) {
      const base::Hash intent{each.bytes};
      const auto open = server_->world_->find_intent(intent);
      if (!open || *open == nullptr) {
        found->push_back(Error{ErrorCode::kNotFound, "it is not open"});
      } else {
        found->push_back(WorkInfo(
            engine::work_view(server_->world_->command_of(intent, **open), (*open)->work.get())));
      }
    }
    server_->unwritten_.push_back({{}, {}, [then, found] { then(std::move(*found)); }});
  }

 private:
  FleetServer* server_;
};

FleetServer::FleetServer(FleetDisk& disk, FleetLedger& ledger, Report& report, Dice& dice,
                         const FleetTimes& times)
    : disk_(disk),
      ledger_(ledger),
      report_(report),
      dice_(dice),
      times_(times),
      opened_ns_(times.calm_ns) {
  workers::DeskOptions options;
  options.watchdog = {kTtlNs, kGraceNs, kRehydrationNs, 1'000'000'000};
  options.dispatcher.no_worker_grace_ns = 20'000'000'000;
  options.stop_grace_ms = 500;
  options.now = [this] { return times_.now_ns; };
  options.render = [this](const std::string& graph, const Bytes& definition,
                          Engine::Then<Bytes> then) { render(graph, definition, std::move(then)); };
  desk_ = workers::Desk::make(std::move(options));
  feed_ = std::make_unique<engine::FeedListener>(desk_);
  records_ = std::make_shared<Records>(*this);
  open();
  desk_->start(records_);
}

FleetServer::~FleetServer() {
  records_->end();
  desk_->stop();
}

void FleetServer::open() {
  kernel::WorldOptions options;
  options.tells_of_work = true;
  std::size_t from = 0;
  if (!disk_.snapshot.empty()) {
    auto restored = kernel::World::restore(disk_.machines, disk_.blobs, disk_.snapshot, options);
    CHECK(restored.has_value());
    world_ = std::make_unique<kernel::World>(std::move(*restored));
    from = disk_.snapshot_after;
  } else {
    world_ = std::make_unique<kernel::World>(disk_.machines, disk_.blobs, options);
  }
  for (std::size_t i = from; i < disk_.journal.size(); ++i) {
    const auto replayed = world_->replay(disk_.journal[i]);
    if (!replayed) return report_.violation("replay: " + replayed.error().to_string());
  }
  for (const auto& [id, worker] : world_->workers().all())
    desk_->worker_changed(engine::worker_info(id, worker, world_->workers().is_cordoned(worker)));
  std::vector<kernel::OpenIntent> conditions;
  const auto visited =
      world_->visit_intents([&](const base::Hash& hash, const kernel::Intent& intent) {
        const kernel::OpenIntent open = world_->command_of(hash, intent);
        if (open.effect->name == defs::kTaskRun)
          desk_->opened(engine::work_view(open, intent.work.get()));
        if (open.effect->name == defs::kTaskCheck) conditions.push_back(open);
        return true;
      });
  CHECK(visited.has_value());
  desk_->recovered();
  for (const kernel::OpenIntent& open : conditions) check_condition(open);
  if (world_->has_ready()) tick(kernel::Continue{}, nullptr);
}

void FleetServer::check_silence(const std::string& worker) {
  const auto heard = heard_.find(worker);
  const std::uint64_t since = heard == heard_.end() ? opened_ns_ : heard->second;
  // A jump of the clock that is taken for none may be as long as this.
  constexpr std::uint64_t kSlackNs = 1'000'000'000;
  if (times_.calm_ns - since + kSlackNs < kTtlNs + kGraceNs)
    report_.violation("a worker is declared lost that was heard lately");
}

Answer FleetServer::tick(const Input& input, const std::function<void(const Answer&)>& then) {
  kernel::Tick tick;
  tick.time_ns = std::max(world_->latest_ns() + 1, times_.wall_ns);
  for (std::uint8_t& byte : tick.entropy) byte = static_cast<std::uint8_t>(dice_.next());
  tick.input = input;
  kernel::Outcome outcome = world_->reduce(tick);
  if (outcome.failure) report_.violation("the world failed: " + outcome.failure->to_string());
  Unwritten entry{std::move(outcome.record), std::move(outcome.commands), {}};
  if (then) entry.then = [then, answer = outcome.answer] { then(answer); };
  unwritten_.push_back(std::move(entry));
  // What an instance did not get to goes on by itself.
  if (!std::holds_alternative<kernel::Continue>(input)) {
    while (world_->has_ready()) this->tick(kernel::Continue{}, nullptr);
  }
  return outcome.answer;
}

void FleetServer::commit(bool all) {
  std::size_t count = unwritten_.size();
  if (!all && count > 1) count = 1 + dice_.below(count);
  for (; count > 0 && !is_crashed_; --count) {
    const Unwritten entry = std::move(unwritten_.front());
    unwritten_.pop_front();
    if (!entry.record.empty()) {
      ledger_.durable(entry.record);
      report_.trace(entry.record);
      disk_.journal.push_back(entry.record);
    }
    for (const kernel::Command& command : entry.commands) perform(command);
    if (entry.then) entry.then();
  }
}

void FleetServer::perform(const kernel::Command& command) {
  if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) {
    if (open->effect->name == defs::kTaskRun) feed_->opened(*open, nullptr);
    if (open->effect->name == defs::kTaskCheck) check_condition(*open);
  } else if (const auto* news = std::get_if<std::shared_ptr<const kernel::WorkNews>>(&command)) {
    feed_->heard(**news);
  }
}

void FleetServer::check_condition(const kernel::OpenIntent& open) {
  const codec::View params = codec::View::of(open.params);
  const auto task = tasks::read_task(*params.find("task"));
  CHECK(task.has_value());
  const auto holds = tasks::condition_holds(
      *task, WorldResults(*world_, disk_, std::string(*params.find("graph")->text())));
  CHECK(holds.has_value());
  codec::Buffer payload;
  codec::write_map_head(payload, 1);
  codec::write_text(payload, "holds");
  codec::write_bool(payload, *holds);
  tick(kernel::ReceiptArrived{open.intent, kernel::ReceiptStatus::kOk, payload.view(), {}, {}},
       nullptr);
}

void FleetServer::render(const std::string& graph, const Bytes& definition,
                         Engine::Then<Bytes> then) {
  const auto task = tasks::read_task(codec::View::of(definition));
  CHECK(task.has_value());
  const auto input = tasks::render(*task, WorldResults(*world_, disk_, graph));
  // A result may be lost with a crash, but not what follows from it: it is durable when it is told.
  then(input ? Result<Bytes>(*input) : Error{ErrorCode::kNotFound, input.error().to_string()});
}

void FleetServer::step() { desk_->step(); }

bool FleetServer::refuses() {
  if (times_.calm_ns >= full_until_ns_) return false;
  report_.sometimes("the disk is full");
  return true;
}

void FleetServer::take_snapshot() {
  if (!unwritten_.empty()) return;  // one of what is not durable would be ahead of the journal
  auto snapshot = world_->snapshot();
  if (!snapshot) return report_.violation("snapshot: " + snapshot.error().to_string());
  disk_.snapshot = std::move(*snapshot);
  disk_.snapshot_after = disk_.journal.size();
  report_.sometimes("a snapshot is taken");
}

void FleetServer::crash() {
  is_crashed_ = true;
  // What was written and not synced is found again, or not; never one without those before it.
  std::size_t kept = dice_.below(unwritten_.size() + 1);
  for (; kept > 0; --kept) {
    if (!unwritten_.front().record.empty()) {
      ledger_.durable(unwritten_.front().record);
      disk_.journal.push_back(unwritten_.front().record);
      report_.sometimes("a record survives that nobody was told of");
    }
    unwritten_.pop_front();
  }
  if (!unwritten_.empty()) report_.sometimes("records are lost with a crash");
  unwritten_.clear();
}

std::function<void()> FleetServer::ask(const work::Request& request, Reply reply) {
  const auto value = normaliser_.from_json(codec::Schema::any(), request.body);
  if (!value) {
    reply(problem(400, "bad_body"));
    return [] {};
  }
  const base::Bytes held(value->begin(), value->end());
  const codec::View body = codec::View::of(held);
  // "/v1/workers/ID/sync"
  std::string worker = request.path.size() > 12 ? request.path.substr(12) : "";
  worker = worker.substr(0, worker.find('/'));
  const auto bad = [&](const base::Error& error) {
    report_.violation("a body is refused: " + error.to_string());
    reply(problem(400, "bad_body"));
  };
  const auto say = [](codec::Buffer& out) { return codec::to_json(codec::View::of(out.view())); };
  if (request.kind != work::Request::Kind::kEnrol) {
    if (!desk_->knows(worker, request.credential)) {
      reply(problem(401, "unauthenticated"));
      return [] {};
    }
    // What is refused is no heartbeat, nor is what was sent before something that was heard.
    const bool is_newer = is_newer_request(request.kind, body);
    reply = [this, worker, is_newer, at = times_.calm_ns,
             told = std::move(reply)](work::Answer answer) {
      if (answer.status == 200 && is_newer) heard_[worker] = std::max(heard_[worker], at);
      told(std::move(answer));
    };
  }
  switch (request.kind) {
    case work::Request::Kind::kEnrol: {
      const auto enrolment = gateway::read_enrolment(body);
      if (!enrolment) return bad(enrolment.error()), [] {};
      desk_->enrol(*enrolment, [this, reply, say](const Result<workers::EnrolAnswer>& answer) {
        if (!answer) return reply(problem(503, "unavailable"));
        if (auto refused = refusal_of(answer->refused)) return reply(*refused);
        codec::Buffer out;
        gateway::put_enrolled(out, *answer, *desk_);
        reply({201, say(out), 0});
      });
      break;
    }
    case work::Request::Kind::kSession: {
      auto session = gateway::read_session(body);
      if (!session) return bad(session.error()), [] {};
      session->worker = worker;
      desk_->begin_session(std::move(*session),
                           [this, reply, say](const Result<workers::SessionAnswer>& answer) {
                             if (!answer) return reply(problem(503, "unavailable"));
                             if (auto refused = refusal_of(answer->refused)) return reply(*refused);
                             if (!answer->drop.empty())
                               report_.sometimes("a worker is told to drop what it holds");
                             codec::Buffer out;
                             gateway::put_session(out, *answer, *desk_);
                             reply({200, say(out), 0});
                           });
      break;
    }
    case work::Request::Kind::kSync: {
      auto sync = gateway::read_sync(body);
      if (!sync) return bad(sync.error()), [] {};
      sync->worker = worker;
      return desk_->sync(std::move(*sync),
                         [this, reply, say](const Result<workers::SyncAnswer>& answer) {
                           if (!answer) return reply(problem(503, "unavailable"));
                           if (auto refused = refusal_of(answer->refused)) return reply(*refused);
                           for (const workers::ReportResult& each : answer->results) {
                             if (each.kind == workers::ReportResult::Kind::kOk)
                               ledger_.acknowledged(each.d);
                             if (each.kind == workers::ReportResult::Kind::kStale)
                               report_.sometimes("a report is stale");
                           }
                           codec::Buffer out;
                           gateway::put_sync(out, *answer);
                           reply({200, say(out), 0});
                         });
    }
    case work::Request::Kind::kLeave: {
      auto leave = gateway::read_leave(body);
      if (!leave) return bad(leave.error()), [] {};
      leave->worker = worker;
      desk_->leave(*leave, [reply](const Result<workers::LeaveAnswer>& answer) {
        if (!answer) return reply(problem(503, "unavailable"));
        if (auto refused = refusal_of(answer->refused)) return reply(*refused);
        reply({200, "{}", 0});
      });
      break;
    }
  }
  return [] {};
}

bool FleetServer::is_newer_request(work::Request::Kind kind, codec::View body) {
  if (kind != work::Request::Kind::kSync) return true;
  const auto sync = gateway::read_sync(body);
  if (!sync || sync->seq <= last_seq_[sync->session]) return false;
  last_seq_[sync->session] = sync->seq;
  return true;
}

void FleetServer::send(std::string_view workflow, std::string_view schema, std::string_view key,
                       base::ByteView value, bool starts) {
  const base::Bytes bytes = tasks::key_bytes(key);
  kernel::EventArrived event{schema, value, {}};
  event.workflow = workflow;
  event.key = bytes;
  event.starts = starts;
  tick(event, nullptr);
}

void FleetServer::submit(const tasks::Plan& plan, const std::string& id) {
  codec::Buffer header;
  tasks::write_header(header, tasks::header_of(plan));
  tasks::TaskIndex next = 0;
  const base::Bytes first = tasks::part_from(plan, next);
  CHECK(next == plan.total_count);  // small graphs have one part
  codec::Buffer opened;
  tasks::write_opened(opened, id, header.view(), first, true);
  send(defs::kGraphWorkflow, tasks::kGraphOpened, id, opened.view(), true);
}

void FleetServer::cancel(const std::string& graph) {
  codec::Buffer event;
  tasks::write_cancel_asked(event, graph, "no longer needed", "ops");
  send(defs::kGraphWorkflow, tasks::kGraphCancelAsked, graph, event.view(), false);
}

void FleetServer::change_worker(const std::string& worker, WorkerChange::Kind kind) {
  records_->change_worker({.worker = worker, .kind = kind, .reason = "by hand", .by = "ops"},
                          [](const Result<WorkerChanged>&) {});
}

std::optional<kernel::InstanceValues> FleetServer::read(std::string_view workflow,
                                                        std::string_view key) {
  auto values = world_->read(workflow, tasks::key_bytes(key));
  CHECK(values.has_value());
  return std::move(*values);
}

bool FleetServer::has_ended(const std::string& graph) {
  const auto values = read(defs::kGraphWorkflow, graph);
  return values && values->status >= kernel::Status::kCompleted;
}

std::string FleetServer::describe(const std::string& graph, std::uint64_t number) {
  const auto values =
      read(defs::kTaskWorkflow, tasks::task_key(graph, static_cast<tasks::TaskIndex>(number)));
  if (!values) return "gone";
  const auto cell = tasks::read_task_cell(codec::View::of(values->state));
  if (!cell) return "unreadable";
  switch (cell->phase) {
    case tasks::TaskPhase::kDone: return cell->is_skipped ? "SKIPPED" : "DONE";
    case tasks::TaskPhase::kFailed: return "FAILED";
    case tasks::TaskPhase::kCancelled: return "CANCELLED";
    case tasks::TaskPhase::kWaiting: return "waits for " + std::to_string(cell->waiting);
    case tasks::TaskPhase::kChecking: return "is checked";
    case tasks::TaskPhase::kStopping: return "is stopped";
    default: return "PENDING";
  }
}

std::uint64_t FleetServer::attempts(const std::string& graph, std::uint64_t number) {
  const auto values =
      read(defs::kTaskWorkflow, tasks::task_key(graph, static_cast<tasks::TaskIndex>(number)));
  if (!values) return 0;
  const auto cell = tasks::read_task_cell(codec::View::of(values->state));
  return cell ? cell->attempts : 0;
}

std::string FleetServer::result(const std::string& graph, std::uint64_t number) {
  const auto values =
      read(defs::kTaskWorkflow, tasks::task_key(graph, static_cast<tasks::TaskIndex>(number)));
  const base::Bytes whole = values ? whole_result(disk_, values->outcome) : base::Bytes();
  return whole.empty() ? "" : codec::to_json(codec::View::of(whole));
}

}  // namespace holdfast::sim
