// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <chrono>
#include <utility>

namespace holdfast::node {
namespace {

// How much one turn takes, so that a batch that has become durable is not kept waiting.
constexpr std::size_t kInputsPerTurn = 256;
constexpr std::size_t kTimersPerTurn = 256;

}  // namespace

base::Result<std::unique_ptr<Node>> Node::start(kernel::World& world, store::Journal& journal,
                                                env::Clock& clock, env::Random& random,
                                                Executors executors, NodeOptions options) {
  std::unique_ptr<Node> node(
      new Node(world, journal, clock, random, std::move(executors), options));
  TRY(node->core_.recover());
  node->reducer_ = std::thread([raw = node.get()] { raw->reduce_all(); });
  node->writer_ = std::thread([raw = node.get()] { raw->write_all(); });
  return node;
}

Node::Node(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
           Executors executors, NodeOptions options)
    : journal_(journal),
      options_(options),
      core_(world, clock, random, std::move(executors), *this) {}

Node::~Node() { static_cast<void>(stop()); }

base::Error Node::ended() const {
  if (!failure_) return {base::ErrorCode::kUnavailable, "the node has stopped"};
  return {failure_->code(), std::string(failure_->where()), std::string(failure_->message())};
}

base::Result<void> Node::send(Input input, Heard heard) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || failure_) return ended();
  if (inbox_.size() >= options_.inbox)
    return base::Error(base::ErrorCode::kUnavailable, "too many inputs wait for the node");
  inbox_.push_back({std::move(input), std::move(heard)});
  for_reducer_.notify_one();
  return {};
}

base::Result<void> Node::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for_reducer_.notify_one();
  }
  if (reducer_.joinable()) reducer_.join();
  {
    const std::lock_guard lock(mutex_);
    writer_may_end_ = true;
    for_writer_.notify_one();
  }
  if (writer_.joinable()) writer_.join();
  core_.shut_down_executors();
  if (failure_) return ended();
  return {};
}

void Node::report(const kernel::ReceiptArrived& receipt) { add_result(Input::receipt(receipt)); }
void Node::report(const kernel::ProgressArrived& progress) {
  add_result(Input::progress(progress));
}

void Node::add_result(Input input) {
  const std::lock_guard lock(mutex_);
  if (!input.ends_work() && results_.size() >= options_.inbox) return;
  results_.push_back({std::move(input), nullptr});
  for_reducer_.notify_one();
}

void Node::fail(base::Error error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  for_reducer_.notify_one();
}

// False: it is time to end.
bool Node::wait_for_work(std::unique_lock<std::mutex>& lock) {
  const auto has_work = [this] {
    const bool has_input =
        !inbox_.empty() || !results_.empty() || (core_.wants_to_go_on() && !stopping_);
    return failure_ || stage_ == Stage::kDone || (has_room() && has_input) ||
           (stage_ == Stage::kIdle && !core_.batch().empty()) ||
           (stopping_ && stage_ == Stage::kIdle);
  };
  const auto next_timer = stopping_ ? std::nullopt : core_.next_timer_ns();
  if (next_timer) {
    // By the same clock that timers are set by, so that a jump of it is noticed.
    const std::chrono::system_clock::time_point due(
        std::chrono::nanoseconds(static_cast<std::int64_t>(
            std::min<std::uint64_t>(*next_timer, std::numeric_limits<std::int64_t>::max() / 2))));
    for_reducer_.wait_until(lock, due, has_work);
  } else {
    for_reducer_.wait(lock, has_work);
  }
  if (failure_) return false;
  return !(stopping_ && stage_ == Stage::kIdle && core_.batch().empty() && inbox_.empty());
}

// Results first: somebody waits for them already.
std::optional<Node::Waiting> Node::next_input() {
  const std::lock_guard lock(mutex_);
  std::deque<Waiting>& from = results_.empty() ? inbox_ : results_;
  if (from.empty()) return std::nullopt;
  std::optional<Waiting> next(std::move(from.front()));
  from.pop_front();
  return next;
}

// One turn: what was left over comes in between, so that a cascade without end keeps nobody out. It
// does not keep the node from stopping either: it goes on after the next start.
base::Result<void> Node::reduce_some(bool stopping) {
  if (core_.wants_to_go_on() && !stopping && has_room()) TRY(core_.reduce(Input::go_on(), nullptr));
  for (std::size_t i = 0; i < kInputsPerTurn && has_room(); ++i) {
    auto next = next_input();
    if (!next) break;
    TRY(core_.reduce(next->input, std::move(next->heard)));
  }
  return {};
}

// Gives the batch to the journal, if that is free. A journal that has failed gets no more.
void Node::pass_on() {
  std::unique_lock lock(mutex_);
  if (failure_ || stage_ != Stage::kIdle || core_.batch().empty()) return;
  Batch batch = core_.take_batch();
  if (batch.records.empty()) {  // only answers, and everything they rest on is durable
    lock.unlock();
    return core_.release(std::move(batch));
  }
  at_journal_ = std::move(batch);
  stage_ = Stage::kGiven;
  for_writer_.notify_one();
}

void Node::reduce_all() {
  std::unique_lock lock(mutex_);
  while (wait_for_work(lock)) {
    std::optional<Batch> durable;
    if (stage_ == Stage::kDone) {
      durable = std::exchange(at_journal_, {});
      stage_ = Stage::kIdle;
    }
    const bool stopping = stopping_;
    lock.unlock();
    if (durable) core_.release(std::move(*durable));
    if (auto reduced = reduce_some(stopping); !reduced) fail(std::move(reduced).error());
    if (!stopping) core_.fire_timers(kTimersPerTurn);
    pass_on();
    lock.lock();
  }
}

base::Result<void> Node::write(const Batch& batch) {
  std::vector<base::ByteView> records(batch.records.begin(), batch.records.end());
  TRY(journal_.append(records, batch.ends_work ? store::Room::kReserve : store::Room::kNormal));
  TRY(journal_.sync());
  return {};
}

void Node::write_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    for_writer_.wait(lock, [this] { return stage_ == Stage::kGiven || writer_may_end_; });
    if (stage_ != Stage::kGiven) return;
    lock.unlock();  // nobody else touches the batch while it is here
    auto written = write(at_journal_);
    lock.lock();
    if (!written) {
      if (!failure_) failure_ = std::move(written).error();
      stage_ = Stage::kIdle;  // and what was in it is never answered
    } else {
      stage_ = Stage::kDone;
    }
    for_reducer_.notify_one();
  }
}

}  // namespace holdfast::node
