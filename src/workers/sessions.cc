// SPDX-License-Identifier: Apache-2.0
// Enrolment, sessions and leaving.
#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "codec/buffer.h"
#include "codec/normaliser.h"
#include "workers/desk.h"
#include "workers/identity.h"

namespace holdfast::workers {
namespace {

Error closed() { return {ErrorCode::kEnded, "the server is stopping"}; }

Bytes description_of(const dispatch::Offer& offer) {
  codec::Buffer out;
  dispatch::write_offer(out, offer);
  const base::ByteView bytes = out.view();
  return {bytes.begin(), bytes.end()};
}

// Gives dispatches back, some at a time, and says when all are.
void give_back_all(Recorder& engine, const std::string& worker, std::vector<WorkReturn> returns,
                   const std::function<void(std::optional<Error>)>& then) {
  if (returns.empty()) return then(std::nullopt);
  std::vector<WorkReturn> rest;
  if (returns.size() > kMaxLeasesPerCall) {
    rest.assign(returns.begin() + kMaxLeasesPerCall, returns.end());
    returns.resize(kMaxLeasesPerCall);
  }
  engine.give_back(worker, returns,
                   [&engine, worker, rest, then](const Result<WorkAnswers>& answers) {
                     if (!answers) return then(answers.error());
                     for (const Result<WorkAnswer>& each : *answers)
                       if (!each) return then(each.error());
                     give_back_all(engine, worker, rest, then);
                   });
}

}  // namespace

void Desk::enrol(const EnrolRequest& request, Then<EnrolAnswer> then) {
  const std::string id = worker_id(request.node, request.name, request.secret);
  Recorder* engine = nullptr;
  bool is_taken = false;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    engine = engine_;
    is_new = !workers_.contains(id);
    if (const auto named = by_name_.find({request.node, request.name}); named != by_name_.end()) {
      is_taken = std::ranges::any_of(named->second, [&](const std::string& other) {
        return other != id && watchdog_.is_live(other);
      });
    }
  }
  if (engine == nullptr) return then(closed());
  if (is_taken) return then(EnrolAnswer{.refused = Refused::kNameTaken});
  WorkerEnrolment enrolment{.worker = id,
                            .node = request.node,
                            .name = request.name,
                            .secret = {secret_hash(request.secret).bytes},
                            .description = description_of(request.offer)};
  engine->enroll_worker(enrolment, [self = shared_from_this(), id, is_new,
                                    then = std::move(then)](const Result<WorkerInfo>& info) {
    if (!info) return then(info.error());
    EnrolAnswer answer{.worker = id, .is_new = is_new};
    {
      const std::lock_guard lock(self->mutex_);
      const auto at = self->workers_.find(id);
      if (at != self->workers_.end()) answer.mode = self->mode_text(at->second);
    }
    then(std::move(answer));
  });
}

void Desk::end_session(Worker& worker, Actions& actions) {
  worker.session.clear();
  dispatcher_.set_want(worker.info.worker, 0);
  if (const PendingPtr pending = worker.parked) {
    unpark(worker);
    pending->answer.refused = Refused::kSession;
    actions.push_back([pending] { pending->then(std::move(pending->answer)); });
  }
}

void Desk::begin_session(SessionRequest request, Then<SessionAnswer> then) {
  Actions actions;
  Refused refused = Refused::kNo;
  Recorder* engine = nullptr;
  std::vector<WorkReturn> lost;
  bool is_gone = false;
  {
    const std::lock_guard lock(mutex_);
    engine = engine_;
    const auto at = workers_.find(request.worker);
    if (at == workers_.end()) {
      refused = Refused::kUnknown;
    } else {
      Worker& worker = at->second;
      const bool is_other = !worker.process.empty() && worker.process != request.process;
      if (is_other && !request.is_first && !worker.session.empty()) {
        refused = Refused::kSuperseded;
      } else {
        end_session(worker, actions);
        is_gone = worker.info.mode == WorkerMode::kLost || worker.info.mode == WorkerMode::kLeft;
        // Sent again by the same process it must not lose what that got meanwhile.
        if (request.is_first && worker.process != request.process) {
          std::set<dispatch::Dispatch> held;
          for (const NamedDispatch& each : request.holding)
            if (each.ours) held.insert(*each.ours);
          for (const dispatch::Dispatch& each : worker.deliveries.all()) {
            if (!held.contains(each))
              lost.push_back({.intent = {each.intent.bytes},
                              .dispatch = each.number,
                              .reason = ReturnReason::kLost});
          }
        }
      }
    }
  }
  run(actions);
  if (refused != Refused::kNo) return then(SessionAnswer{.refused = refused});
  if (engine == nullptr) return then(closed());
  const auto held = std::make_shared<SessionRequest>(std::move(request));
  const auto go_on = [self = shared_from_this(), engine, held, lost = std::move(lost), then] {
    give_back_all(*engine, held->worker, lost,
                  [self, held, then](const std::optional<Error>& failed) {
                    if (failed) return then(*failed);
                    self->session_ready(held, then);
                  });
  };
  if (!is_gone) return go_on();
  engine->change_worker(
      {.worker = held->worker, .kind = WorkerChange::Kind::kActivate, .reason = "it came back"},
      [go_on, then](const Result<WorkerChanged>& changed) {
        if (!changed) return then(changed.error());
        go_on();
      });
}

void Desk::session_ready(const std::shared_ptr<SessionRequest>& request,
                         const Then<SessionAnswer>& then) {
  SessionAnswer answer;
  Actions actions;
  {
    const std::lock_guard lock(mutex_);
    const auto at = workers_.find(request->worker);
    if (at == workers_.end() || is_stopped_) {
      answer.refused = Refused::kUnknown;
    } else {
      Worker& worker = at->second;
      end_session(worker, actions);
      std::array<std::uint8_t, 16> random{};
      random_->fill(random);
      worker.session = base::to_hex(random);
      worker.process = request->process;
      worker.last_seq = 0;
      worker.sent.clear();
      worker.told_to_stop.clear();
      worker.told_swap.clear();
      worker.told_to_drop.clear();
      worker.drops.clear();
      worker.told_mode = mode_text(worker);
      const std::uint64_t now = now_ns();
      watchdog_.heard(request->worker, now);
      dispatcher_.set_live(request->worker, true);
      worker.deliveries.restart_clock(now);
      answer.session = worker.session;
      answer.mode = worker.told_mode;
      for (const NamedDispatch& each : request->holding) {
        const bool counts = each.ours && worker.deliveries.has(*each.ours);
        (counts ? answer.keep : answer.drop).push_back(each.text);
      }
      // It would have reported them.
      totals_.stale_reports += answer.drop.size();
      changed();
    }
  }
  run(actions);
  then(std::move(answer));
}

void Desk::leave(const LeaveRequest& request, Then<LeaveAnswer> then) {
  Recorder* engine = nullptr;
  Refused refused = Refused::kNo;
  {
    const std::lock_guard lock(mutex_);
    engine = engine_;
    const auto at = workers_.find(request.worker);
    if (at == workers_.end()) {
      refused = Refused::kUnknown;
    } else if (at->second.session.empty() || at->second.session != request.session) {
      refused = Refused::kSession;
    }
  }
  if (refused != Refused::kNo) return then(LeaveAnswer{refused});
  if (engine == nullptr) return then(closed());
  engine->change_worker(
      {.worker = request.worker, .kind = WorkerChange::Kind::kLeave, .reason = "it was stopped"},
      [self = shared_from_this(), id = request.worker, session = request.session,
       then = std::move(then)](const Result<WorkerChanged>& changed) {
        if (!changed) return then(changed.error());
        Actions actions;
        {
          const std::lock_guard lock(self->mutex_);
          const auto at = self->workers_.find(id);
          if (at != self->workers_.end() && at->second.session == session)
            self->end_session(at->second, actions);
        }
        run(actions);
        then(LeaveAnswer{});
      });
}

}  // namespace holdfast::workers
