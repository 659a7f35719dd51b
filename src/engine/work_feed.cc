// SPDX-License-Identifier: Apache-2.0
#include "engine/work_feed.h"

namespace holdfast {

std::string_view name_of(WorkerMode mode) noexcept {
  return kernel::name_of(static_cast<kernel::WorkerMode>(mode));
}

std::string_view name_of(ReturnReason reason) noexcept {
  return kernel::name_of(static_cast<kernel::ReturnReason>(reason));
}

namespace engine {
namespace {

// The enumerations of both sides are the same.
template <auto inside, auto outside>
constexpr bool kSame = static_cast<int>(inside) == static_cast<int>(outside);
static_assert(kSame<kernel::WorkerMode::kActive, WorkerMode::kActive> &&
              kSame<kernel::WorkerMode::kDraining, WorkerMode::kDraining> &&
              kSame<kernel::WorkerMode::kLost, WorkerMode::kLost> &&
              kSame<kernel::WorkerMode::kLeft, WorkerMode::kLeft>);
static_assert(kSame<kernel::ReturnReason::kLost, ReturnReason::kLost> &&
              kSame<kernel::ReturnReason::kDrain, ReturnReason::kDrain> &&
              kSame<kernel::ReturnReason::kDenied, ReturnReason::kDenied> &&
              kSame<kernel::ReturnReason::kYield, ReturnReason::kYield> &&
              kSame<kernel::ReturnReason::kRefused, ReturnReason::kRefused>);
static_assert(kSame<kernel::ReceiptStatus::kOk, Status::kOk> &&
              kSame<kernel::ReceiptStatus::kError, Status::kError> &&
              kSame<kernel::ReceiptStatus::kTimeout, Status::kTimeout> &&
              kSame<kernel::ReceiptStatus::kCancelled, Status::kCancelled>);

}  // namespace

WorkLease lease_view(const kernel::Lease& lease) {
  return {.worker = lease.worker,
          .dispatch = lease.dispatch,
          .leased_ns = lease.leased_ns,
          .time_limit_ns = lease.time_limit_ns,
          .if_lost = lease.fails_if_lost ? IfLost::kFail : IfLost::kReturn,
          .is_stopping = lease.is_stopping,
          .detail = lease.detail};
}

Status outside(kernel::ReceiptStatus status) { return static_cast<Status>(status); }

WorkerInfo worker_info(const std::string& id, const kernel::Worker& worker, bool is_cordoned) {
  return {.worker = id,
          .node = worker.node,
          .name = worker.name,
          .secret = {worker.secret.bytes},
          .description = worker.description,
          .mode = static_cast<WorkerMode>(worker.mode),
          .is_cordoned = is_cordoned,
          .reason = worker.reason,
          .by = worker.by,
          .enrolled_ns = worker.enrolled_ns,
          .changed_ns = worker.changed_ns,
          .leases = worker.leases.size()};
}

WorkView work_view(const kernel::OpenIntent& open, const kernel::Work* work) {
  WorkView view{.intent = {open.intent.bytes},
                .effect = open.effect->name,
                .queue = open.effect->executor.queue,
                .workflow = open.workflow,
                .key = open.key,
                .params = open.params,
                .trace = open.trace,
                .opened_ns = open.opened_ns,
                .queued_ns = open.opened_ns};
  if (work == nullptr) return view;
  view.queued_ns = work->queued_ns;
  view.losses = work->losses;
  view.leases = work->leases;
  view.lost_by = work->lost_by;
  view.resume = work->resume;
  if (work->lease) view.lease = lease_view(*work->lease);
  return view;
}

void FeedListener::opened(const kernel::OpenIntent& open,
                          const std::shared_ptr<const kernel::Work>& work) {
  feed_->opened(work_view(open, work.get()));
}

void FeedListener::heard(const kernel::WorkNews& news) {
  using Kind = kernel::WorkNews::Kind;
  switch (news.kind) {
    case Kind::kWorker:
      return feed_->worker_changed(worker_info(news.worker, *news.now, news.is_cordoned));
    case Kind::kLeased: return feed_->leased(work_view(news.open, news.work.get()));
    case Kind::kReturned:
      return feed_->returned(work_view(news.open, news.work.get()), news.worker, news.dispatch,
                             static_cast<ReturnReason>(news.reason));
    case Kind::kStopAsked: return feed_->stop_asked(work_view(news.open, news.work.get()));
    case Kind::kEnded:
      return feed_->ended({.intent = {news.open.intent.bytes},
                           .status = outside(news.status),
                           .worker = news.worker,
                           .dispatch = news.dispatch,
                           .by_worker = news.by_worker});
  }
}

}  // namespace engine
}  // namespace holdfast
