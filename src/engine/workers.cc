// SPDX-License-Identifier: Apache-2.0
// Workers and leases: what include/holdfast/workers.h promises, as ticks.
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "codec/buffer.h"
#include "engine/body.h"
#include "engine/ticket.h"
#include "engine/translate.h"
#include "engine/work_feed.h"
#include "kernel/lease_list.h"
#include "kernel/limits.h"

namespace holdfast {
namespace {

static_assert(kMaxWorkers == kernel::kMaxWorkers);
static_assert(kMaxWorkerIdBytes == kernel::kMaxWorkerNameBytes);
static_assert(kMaxWorkerDescriptionBytes == kernel::kMaxWorkerDescription);
static_assert(kMaxLeasesPerCall == kernel::kMaxLeasesPerTick);
static_assert(kMaxLeaseDetailBytes == kernel::kMaxLeaseDetailBytes);
static_assert(kMaxResumeBytes == kernel::kMaxResumeBytes);

using Verdict = kernel::WorkVerdict;

const std::vector<Verdict>& verdicts_of(const kernel::Answer& answer) {
  static const std::vector<Verdict> kNone;
  if (const auto* accepted = std::get_if<kernel::Accepted>(&answer)) return accepted->verdicts;
  if (const auto* unchanged = std::get_if<kernel::Unchanged>(&answer)) return unchanged->verdicts;
  return kNone;
}

std::uint64_t record_in(const kernel::Answer& answer) {
  const auto* accepted = std::get_if<kernel::Accepted>(&answer);
  return accepted == nullptr ? 0 : accepted->record;
}

LeaseVerdict::Kind kind_of(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kGranted: return LeaseVerdict::Kind::kGranted;
    case Verdict::Kind::kHeld: return LeaseVerdict::Kind::kHeld;
    case Verdict::Kind::kNotLeased: return LeaseVerdict::Kind::kNotLeased;
    default: return LeaseVerdict::Kind::kNotOpen;
  }
}

Result<Leased> leased(const std::vector<Hash>& intents, const Result<kernel::Answer>& answer) {
  if (!answer) return answer.error();
  if (const auto error = engine::refusal(*answer)) return engine::outside(*error);
  Leased told{.record = record_in(*answer), .verdicts = {}};
  const std::vector<Verdict>& verdicts = verdicts_of(*answer);
  for (std::size_t i = 0; i < intents.size() && i < verdicts.size(); ++i)
    told.verdicts.push_back({intents[i], kind_of(verdicts[i].kind), verdicts[i].dispatch});
  return told;
}

WorkAnswer returned(const Verdict& verdict, std::uint64_t record) {
  switch (verdict.kind) {
    case Verdict::Kind::kReturned: return {WorkVerdict::kOk, record, {}};
    case Verdict::Kind::kSettled: return {WorkVerdict::kSettled, record, {}};
    default: return {WorkVerdict::kStale, 0, {}};
  }
}

// Of a report, or of a wish to stop.
Result<WorkAnswer> work_answer(const Result<kernel::Answer>& answer, WorkVerdict if_unchanged) {
  if (!answer) return answer.error();
  if (const auto error = engine::refusal(*answer)) return engine::outside(*error);
  if (const auto* repeated = std::get_if<kernel::Repeated>(&*answer)) {
    WorkAnswer before{WorkVerdict::kRepeated, repeated->record, {}};
    if (repeated->settled) before.settled = engine::outside(*repeated->settled);
    return before;
  }
  const auto* accepted = std::get_if<kernel::Accepted>(&*answer);
  if (accepted == nullptr) return WorkAnswer{if_unchanged, 0, {}};
  WorkAnswer told{WorkVerdict::kOk, accepted->record, {}};
  if (accepted->settled) told.settled = engine::outside(*accepted->settled);
  return told;
}

// Gathers the answers to several inputs, and tells them when there is one to each.
class Gathering {
 public:
  Gathering(std::size_t count, Engine::Then<WorkAnswers> then)
      : answers_(count, Error{ErrorCode::kEnded, "the engine was closed before answering"}),
        left_(count),
        then_(std::move(then)) {}

  void put(std::size_t place, Result<WorkAnswer> answer) {
    {
      const std::lock_guard lock(mutex_);
      answers_[place] = std::move(answer);
      if (--left_ != 0) return;
    }
    then_(std::move(answers_));
  }

 private:
  std::mutex mutex_;
  WorkAnswers answers_;
  std::size_t left_;
  const Engine::Then<WorkAnswers> then_;
};

kernel::Fence fence_of(std::string_view worker, std::uint64_t dispatch) {
  return {dispatch == 0 ? std::string_view() : worker, dispatch};
}

// Who reports on a dispatch is a worker: the engine's own word has no name.
std::optional<Error> check_reporter(std::string_view worker, std::uint64_t dispatch) {
  if (dispatch == 0 || !worker.empty()) return std::nullopt;
  return Error{ErrorCode::kInvalid, "a report on a dispatch needs the id of its worker"};
}

// How an input is sent; the answer comes once, also if there is none.
using Send = std::function<void(node::Input, Engine::Then<kernel::Answer>)>;

template <class Report, class MakeInput>
void send_reports(const Send& send, std::string_view worker, const std::vector<Report>& reports,
                  const MakeInput& make, Engine::Then<WorkAnswers> then) {
  if (reports.empty()) return then(WorkAnswers());
  const auto gathering = std::make_shared<Gathering>(reports.size(), std::move(then));
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (auto error = check_reporter(worker, reports[i].dispatch)) {
      gathering->put(i, std::move(*error));
      continue;
    }
    send(make(reports[i]), [gathering, i](const Result<kernel::Answer>& answer) {
      gathering->put(i, work_answer(answer, WorkVerdict::kStale));
    });
  }
}

Result<WorkerInfo> read_worker(kernel::World& world, const std::string& id) {
  const kernel::Worker* const worker = world.workers().find(id);
  if (worker == nullptr) return Error{ErrorCode::kNotFound, "there is no worker '" + id + "'"};
  return engine::worker_info(id, *worker, world.workers().is_cordoned(*worker));
}

Result<WorkInfo> read_work(kernel::World& world, const base::Hash& intent) {
  const auto found = world.find_intent(intent);
  if (!found) return engine::outside(found.error());
  if (*found == nullptr) return Error{ErrorCode::kNotFound, "no open effect " + intent.to_text()};
  const kernel::OpenIntent open = world.command_of(intent, **found);
  if (!open.effect->by_workers)
    return Error{ErrorCode::kConflict, "workers do not perform '" + open.effect->name + "'"};
  return WorkInfo(engine::work_view(open, (*found)->work.get()));
}

// As many as fit: one at least.
std::vector<Result<WorkInfo>> read_work(kernel::World& world, const std::vector<Hash>& intents,
                                        std::size_t most_bytes) {
  std::vector<Result<WorkInfo>> all;
  std::size_t bytes = 0;
  for (const Hash& intent : intents) {
    auto work = read_work(world, {intent.bytes});
    if (work) bytes += work->params.size() + work->resume.size();
    if (bytes > most_bytes && !all.empty()) break;
    all.push_back(std::move(work));
  }
  return all;
}

Error too_many(std::string_view what) {
  return {ErrorCode::kInvalid, "more than " + std::to_string(kMaxLeasesPerCall) + " " +
                                   std::string(what) + " in one call"};
}

// A worker that goes gives back what it holds in parts; each is durable before the next is asked
// for.
struct Leaving : std::enable_shared_from_this<Leaving> {
  Leaving(Send the_send, WorkerChange the_change, Engine::Then<WorkerChanged> then)
      : send(std::move(the_send)),
        change(std::move(the_change)),
        ticket(engine::ticket(std::move(then))) {}

  void go_on() {
    const kernel::WorkerChanged tick{change.worker, static_cast<kernel::WorkerChange>(change.kind),
                                     change.reason, change.by};
    send(node::Input::change_worker(tick),
         [self = shared_from_this()](const Result<kernel::Answer>& answer) { self->hear(answer); });
  }

  void hear(const Result<kernel::Answer>& answer) {
    if (!answer) return ticket->tell(answer.error());
    if (const auto error = engine::refusal(*answer)) return ticket->tell(engine::outside(*error));
    if (told.record == 0) told.record = record_in(*answer);
    for (const Verdict& verdict : verdicts_of(*answer))
      ++(verdict.kind == Verdict::Kind::kReturned ? told.returned : told.settled);
    const auto* accepted = std::get_if<kernel::Accepted>(&*answer);
    if (accepted != nullptr && accepted->leases_left != 0) return go_on();
    ticket->tell(told);
  }

  const Send send;
  const WorkerChange change;
  const std::shared_ptr<engine::Ticket<WorkerChanged>> ticket;
  WorkerChanged told;
};

}  // namespace

void Engine::enroll_worker(const WorkerEnrolment& enrolment, Then<WorkerInfo> then) {
  const kernel::WorkerEnrolled tick{enrolment.worker,
                                    enrolment.node,
                                    enrolment.name,
                                    {enrolment.secret.bytes},
                                    enrolment.description};
  const auto ticket = engine::ticket(std::move(then));
  body_->send(node::Input::enrol(tick),
              [this, id = enrolment.worker, ticket](const Result<kernel::Answer>& answer) {
                if (!answer) return ticket->tell(answer.error());
                if (const auto error = engine::refusal(*answer))
                  return ticket->tell(engine::outside(*error));
                worker(id, [ticket](Result<WorkerInfo> info) { ticket->tell(std::move(info)); });
              });
}

Result<WorkerInfo> Engine::enroll_worker(const WorkerEnrolment& enrolment) {
  return wait_for<WorkerInfo>(
      [&](Then<WorkerInfo> then) { enroll_worker(enrolment, std::move(then)); });
}

void Engine::change_worker(const WorkerChange& change, Then<WorkerChanged> then) {
  std::make_shared<Leaving>(
      [body = body_.get()](node::Input input, Then<kernel::Answer> answered) {
        body->send(std::move(input), std::move(answered));
      },
      change, std::move(then))
      ->go_on();
}

Result<WorkerChanged> Engine::change_worker(const WorkerChange& change) {
  return wait_for<WorkerChanged>(
      [&](Then<WorkerChanged> then) { change_worker(change, std::move(then)); });
}

void Engine::worker(std::string_view id, Then<WorkerInfo> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked = body_->node->look([id = std::string(id), ticket](node::Core& core) {
    core.ask([&](kernel::World& world) -> std::function<void()> {
      auto seen = std::make_shared<Result<WorkerInfo>>(read_worker(world, id));
      return [ticket, seen] { ticket->tell(std::move(*seen)); };
    });
  });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Result<WorkerInfo> Engine::worker(std::string_view id) {
  return wait_for<WorkerInfo>([&](Then<WorkerInfo> then) { worker(id, std::move(then)); });
}

void Engine::workers(std::string_view after, std::size_t limit,
                     Then<std::vector<WorkerInfo>> then) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked =
      body_->node->look([after = std::string(after), limit, ticket](node::Core& core) {
        core.ask([&](kernel::World& world) -> std::function<void()> {
          auto seen = std::make_shared<std::vector<WorkerInfo>>();
          const auto& all = world.workers().all();
          for (auto at = all.upper_bound(after); at != all.end() && seen->size() < limit; ++at)
            seen->push_back(engine::worker_info(at->first, at->second,
                                                world.workers().is_cordoned(at->second)));
          return [ticket, seen] { ticket->tell(std::move(*seen)); };
        });
      });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Result<std::vector<WorkerInfo>> Engine::workers(std::string_view after, std::size_t limit) {
  return wait_for<std::vector<WorkerInfo>>(
      [&](Then<std::vector<WorkerInfo>> then) { workers(after, limit, std::move(then)); });
}

void Engine::lease(std::string_view worker, const std::vector<LeaseRequest>& requests,
                   Then<Leased> then) {
  if (requests.empty()) return then(Leased());
  if (requests.size() > kMaxLeasesPerCall) return then(too_many("leases"));
  std::vector<kernel::LeaseItem> items;
  std::vector<Hash> intents;
  for (const LeaseRequest& request : requests) {
    if (request.detail.size() > kMaxLeaseDetailBytes)
      return then(Error{ErrorCode::kInvalid, "the detail of a lease has more than 4 KiB"});
    items.push_back({{request.intent.bytes},
                     request.detail,
                     request.time_limit_ns,
                     request.if_lost == IfLost::kFail});
    intents.push_back(request.intent);
  }
  codec::Buffer list;
  kernel::write_lease_list(list, items);
  body_->send(node::Input::lease({worker, list.view()}),
              [intents = std::move(intents), then = std::move(then)](
                  const Result<kernel::Answer>& answer) { then(leased(intents, answer)); });
}

Result<Leased> Engine::lease(std::string_view worker, const std::vector<LeaseRequest>& requests) {
  return wait_for<Leased>([&](Then<Leased> then) { lease(worker, requests, std::move(then)); });
}

void Engine::give_back(std::string_view worker, const std::vector<WorkReturn>& returns,
                       Then<WorkAnswers> then) {
  if (returns.empty()) return then(WorkAnswers());
  if (returns.size() > kMaxLeasesPerCall) return then(too_many("returns"));
  std::vector<kernel::ReturnItem> items;
  for (const WorkReturn& one : returns) {
    if (one.resume.size() > kMaxResumeBytes)
      return then(Error{ErrorCode::kInvalid, "what to resume with has more than 64 KiB"});
    if (!one.resume.empty() && one.reason != ReturnReason::kYield)
      return then(Error{ErrorCode::kInvalid, "only a yield has something to resume with"});
    items.push_back({{one.intent.bytes},
                     one.dispatch,
                     static_cast<kernel::ReturnReason>(one.reason),
                     one.resume});
  }
  codec::Buffer list;
  kernel::write_return_list(list, items);
  body_->send(node::Input::give_back({worker, list.view()}),
              [then = std::move(then)](const Result<kernel::Answer>& answer) {
                if (!answer) return then(answer.error());
                if (const auto error = engine::refusal(*answer))
                  return then(engine::outside(*error));
                WorkAnswers answers;
                for (const Verdict& verdict : verdicts_of(*answer))
                  answers.emplace_back(returned(verdict, record_in(*answer)));
                then(std::move(answers));
              });
}

Result<WorkAnswers> Engine::give_back(std::string_view worker,
                                      const std::vector<WorkReturn>& returns) {
  return wait_for<WorkAnswers>(
      [&](Then<WorkAnswers> then) { give_back(worker, returns, std::move(then)); });
}

void Engine::settle_work(std::string_view worker, const std::vector<WorkReceipt>& receipts,
                         Then<WorkAnswers> then) {
  send_reports(
      [body = body_.get()](node::Input input, Then<kernel::Answer> answered) {
        body->send(std::move(input), std::move(answered));
      },
      worker, receipts,
      [worker](const WorkReceipt& receipt) {
        kernel::ReceiptArrived arrived;
        arrived.intent = {receipt.intent.bytes};
        arrived.status = static_cast<kernel::ReceiptStatus>(receipt.status);
        arrived.payload = receipt.payload;
        arrived.cost_cents = receipt.cost_cents;
        arrived.fence = fence_of(worker, receipt.dispatch);
        return node::Input::receipt(arrived);
      },
      std::move(then));
}

void Engine::keep_blob(Bytes bytes, Then<KeptBlob> then) {
  body_->blob_desk.keep(std::move(bytes), std::move(then));
}

void Engine::read_blob(const Hash& hash, Then<Bytes> then) {
  body_->blob_desk.read({hash.bytes}, std::move(then));
}

Result<WorkAnswers> Engine::settle_work(std::string_view worker,
                                        const std::vector<WorkReceipt>& receipts) {
  return wait_for<WorkAnswers>(
      [&](Then<WorkAnswers> then) { settle_work(worker, receipts, std::move(then)); });
}

void Engine::progress_work(std::string_view worker, const std::vector<WorkProgress>& progress,
                           Then<WorkAnswers> then) {
  send_reports(
      [body = body_.get()](node::Input input, Then<kernel::Answer> answered) {
        body->send(std::move(input), std::move(answered));
      },
      worker, progress,
      [worker](const WorkProgress& frame) {
        kernel::ProgressArrived arrived;
        arrived.intent = {frame.intent.bytes};
        arrived.sequence = frame.sequence;
        arrived.kind = frame.kind;
        arrived.payload = frame.payload;
        arrived.fence = fence_of(worker, frame.dispatch);
        return node::Input::progress(arrived);
      },
      std::move(then));
}

Result<WorkAnswers> Engine::progress_work(std::string_view worker,
                                          const std::vector<WorkProgress>& progress) {
  return wait_for<WorkAnswers>(
      [&](Then<WorkAnswers> then) { progress_work(worker, progress, std::move(then)); });
}

void Engine::stop_work(const Hash& intent, std::string_view reason, std::string_view by,
                       Then<WorkAnswer> then) {
  const kernel::StopAsked tick{{intent.bytes}, reason, by};
  body_->send(node::Input::stop_work(tick),
              [then = std::move(then)](const Result<kernel::Answer>& answer) {
                then(work_answer(answer, WorkVerdict::kRepeated));
              });
}

Result<WorkAnswer> Engine::stop_work(const Hash& intent, std::string_view reason,
                                     std::string_view by) {
  return wait_for<WorkAnswer>(
      [&](Then<WorkAnswer> then) { stop_work(intent, reason, by, std::move(then)); });
}

void Engine::work(std::vector<Hash> intents, Then<std::vector<Result<WorkInfo>>> then,
                  std::size_t bytes) {
  const auto ticket = engine::ticket(std::move(then));
  const auto asked =
      body_->node->look([intents = std::move(intents), bytes, ticket](node::Core& core) {
        core.ask([&](kernel::World& world) -> std::function<void()> {
          auto seen =
              std::make_shared<std::vector<Result<WorkInfo>>>(read_work(world, intents, bytes));
          return [ticket, seen] { ticket->tell(std::move(*seen)); };
        });
      });
  if (!asked) ticket->tell(engine::outside(asked.error()));
}

Result<std::vector<Result<WorkInfo>>> Engine::work(const std::vector<Hash>& intents) {
  return wait_for<std::vector<Result<WorkInfo>>>(
      [&](Then<std::vector<Result<WorkInfo>>> then) { work(intents, std::move(then)); });
}

}  // namespace holdfast
