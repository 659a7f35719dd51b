// SPDX-License-Identifier: Apache-2.0
#include "node/history.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "node/unhandled.h"
#include "store/history_swap.h"

namespace holdfast::node {
namespace {

// How long an index that has failed is let alone: at first, and at most.
constexpr std::int64_t kFirstDelayNs = 1'000'000'000;
constexpr std::int64_t kLongestDelayNs = 60 * kFirstDelayNs;

// Between two slices that are not full, when somebody waits for a list.
constexpr std::int64_t kListGatherNs = 10'000'000;

// Between two calls of a visit, for all others.
constexpr std::int64_t kVisitGapNs = 4'000'000;

bool is_of_index(const base::Error& error) {
  return error.where().find(store::kHistoryFile) != std::string::npos;
}

// What those are told who ask: not where it is.
base::Error unreadable(base::ErrorCode code = base::ErrorCode::kIo) {
  return {code, "history", "cannot be read now"};
}

// A fault of what is read, and not of the question.
bool is_trouble(const base::Error& error) {
  return error.code() == base::ErrorCode::kIo || error.code() == base::ErrorCode::kCorrupt;
}

constexpr store::RecordNumber kNever = std::numeric_limits<store::RecordNumber>::max();

}  // namespace

History::History(store::WorldFolder& folder, store::Journal& journal, env::Clock& clock,
                 HistoryOptions options)
    : folder_(folder),
      journal_(journal),
      clock_(clock),
      options_(std::move(options)),
      sealing_(folder, journal, clock, options_.slice, options_.trouble),
      delay_ns_(kFirstDelayNs),
      begun_at_(journal.durable()),
      wake_at_(kNever) {}

History::~History() = default;

// For others.

// Most often there is nobody to wake, and this is one comparison.
void History::became_durable(store::RecordNumber record) {
  if (record < wake_at_) return;
  wake_at_ = kNever;
  const std::lock_guard lock(mutex_);
  for_worker_.notify_one();
}

base::Result<void> History::ask(StreamQuery query, Told told) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return base::Error(base::ErrorCode::kUnavailable, "the node has stopped");
  if (queries_.size() + parked_count_ >= options_.most_queries)
    return base::Error(base::ErrorCode::kUnavailable, "too many read streams");
  queries_.push_back({std::move(query), std::move(told)});
  for_worker_.notify_one();
  return {};
}

base::Result<void> History::ask(store::HistoryQuery query, ToldList told) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return base::Error(base::ErrorCode::kUnavailable, "the node has stopped");
  if (lists_.size() >= options_.most_lists)
    return base::Error(base::ErrorCode::kUnavailable, "too many ask for lists");
  lists_.push_back({std::move(query), std::move(told), journal_.durable()});
  list_needs_ = lists_.back().needs;
  for_worker_.notify_one();
  return {};
}

base::Result<void> History::visit(Visit visit) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return base::Error(base::ErrorCode::kUnavailable, "the node has stopped");
  if (asked_visits_.size() >= options_.most_visits)
    return base::Error(base::ErrorCode::kUnavailable, "too many copy or read the index");
  asked_visits_.push_back(std::move(visit));
  for_worker_.notify_one();
  return {};
}

store::RecordNumber History::needs_from() const {
  const store::RecordNumber durable = journal_.durable();
  const store::RecordNumber bound = durable < options_.most_lag ? 0 : durable - options_.most_lag;
  return std::max(std::min(seen_ + 1, sealing_.needs_from()), bound + 1);
}

HistoryFigures History::figures() const {
  const store::RecordNumber seen = seen_;
  const store::RecordNumber durable = journal_.durable();
  return {seen, durable > seen ? durable - seen : 0, failures_, is_well_};
}

void History::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for_worker_.notify_one();
}

// What they handed over may do anything when it goes, so it goes without the mutex.
void History::finish() {
  sealing_.finish();
  const Visit visiting = std::exchange(visiting_, nullptr);
  const std::deque<Query> parked = std::exchange(parked_, {});
  std::deque<Query> queries;
  std::deque<ListQuery> lists;
  std::deque<Visit> asked_visits;
  const std::lock_guard lock(mutex_);
  std::swap(asked_visits, asked_visits_);
  std::swap(queries, queries_);
  std::swap(lists, lists_);
}

// When the next slice is due; nothing: not before something comes. One that is not full waits for
// more, but not so long if somebody waits for it.
std::optional<std::int64_t> History::feeds_at() const {
  const store::RecordNumber lag = feed_->lag();
  if (lag == 0) return std::nullopt;
  const bool is_full = lag >= options_.slice.records;
  const std::int64_t gather_ns =
      seen_ < list_needs_ ? std::min(kListGatherNs, options_.gather_ns) : options_.gather_ns;
  const std::int64_t gathered = is_full || !fed_ns_ ? 0 : *fed_ns_ + gather_ns;
  return std::max(gathered, retry_ns_);
}

// When something may have to be forgotten.
std::optional<std::int64_t> History::looks_at() const {
  if (!retention_) return std::nullopt;
  const auto looks = retention_->next_ns(seen_);
  if (!looks) return std::nullopt;
  return std::max(*looks, retry_ns_);
}

std::optional<std::int64_t> History::next_at() const {
  std::optional<std::int64_t> next = sealing_.due_ns();
  const auto or_at = [&next](std::optional<std::int64_t> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  or_at(feed_ ? feeds_at() : retry_ns_);
  if (feed_) or_at(looks_at());
  if (visiting_) or_at(visit_ns_);
  return next;
}

// The record that is worth waking up for.
store::RecordNumber History::wakes_at() const {
  const bool feeds = feed_ && retry_ns_ <= clock_.since_boot_ns();
  const store::RecordNumber of_feed =
      feeds ? seen_ + (feed_->lag() == 0 ? 1 : options_.slice.records) : kNever;
  return std::min(of_feed, sealing_.wakes_at());
}

// The first list has what it needs, or will not get it soon.
bool History::is_list_ready() const {
  return !lists_.empty() &&
         (lists_.front().needs <= seen_ || !feed_ || retry_ns_ > clock_.since_boot_ns());
}

bool History::has_work() {
  const std::lock_guard lock(mutex_);
  const auto next = next_at();
  return is_asked() || (next && *next <= clock_.since_boot_ns());
}

bool History::wait_for_work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // First said, then looked: what becomes durable in between is seen or wakes.
    wake_at_ = wakes_at();
    const auto next = next_at();
    const std::int64_t now = clock_.since_boot_ns();
    if (is_asked() || (next && *next <= now)) break;
    if (next) {
      for_worker_.wait_for(lock, std::chrono::nanoseconds(*next - now));
    } else {
      for_worker_.wait(lock);
    }
  }
  wake_at_ = kNever;
  return !stopping_;
}

// For whoever works.

void History::work() {
  const auto is_due = [this](std::optional<std::int64_t> at) {
    return at && *at <= clock_.since_boot_ns();
  };
  if (is_due(sealing_.due_ns())) sealing_.work();
  if (!feed_ && is_due(retry_ns_)) {
    if (auto opened = open(); !opened) failed(std::move(opened).error());
  }
  answer();
  if (feed_ && is_due(feeds_at())) {
    if (auto fed = feed_slice(); fed) {
      went_well();
      answer();
    } else {
      failed(std::move(fed).error());
    }
  }
  answer_list();
  let_visit();
  if (feed_ && is_due(looks_at())) {
    if (auto looked = retention_->look(*index_); !looked) failed(std::move(looked).error());
  }
}

base::Result<void> History::open() {
  index_ = TRY(store::HistoryIndex::open(folder_));
  // One that has followed the journal knows what was told when the program ended; for one that is
  // made anew all of it was.
  if (!told_of_) {
    const store::RecordNumber seen = index_->cursor().record;
    told_of_ = seen != 0 ? std::min(seen, begun_at_) : begun_at_;
  }
  // One that has seen nothing begins where the journal does.
  if (index_->cursor().record == 0 && journal_.first() > 1) {
    index_->begin_with(journal_.first());
    TRY(index_->apply({}, index_->cursor().record, {}));
  }
  feed_.emplace(TRY(HistoryFeed::start(journal_, *index_)));
  if (options_.failed) {
    feed_->shows = [this](const kernel::RecordView& record) {
      if (record.number <= *told_of_) return;
      told_of_ = record.number;
      if (const auto failed = failed_effect(record)) options_.failed(*failed);
      if (!options_.instance_failed) return;
      for (const FailedInstance& each : failed_instances(record)) options_.instance_failed(each);
    };
  }
  seen_ = index_->cursor().record;
  const Retention::Times keep{options_.retention_ns, options_.graph_retention_ns};
  if ((keep.instances_ns != 0 || keep.graphs_ns != 0) && options_.send && !retention_) {
    const auto wake = [this] {
      const std::lock_guard lock(mutex_);
      for_worker_.notify_one();
    };
    retention_.emplace(clock_, keep, options_.send, wake, journal_.durable());
  }
  return {};
}

// What it had is of no use; the records come in slices, as always.
base::Result<void> History::begin_anew() {
  if (!told_of_) told_of_ = begun_at_;
  auto index = TRY(store::begin_new_history(folder_));
  index->begin_with(journal_.first());
  TRY(index->apply({}, index->cursor().record, {}));
  TRY(store::put_in_place(folder_, std::move(index)));
  return open();
}

base::Result<void> History::feed_slice() {
  const std::size_t waiting = count_lists();
  auto fed = feed_->run(options_.slice);
  let_go_on(waiting);
  fed_ns_ = clock_.since_boot_ns();
  if (!fed) return fed;
  seen_ = index_->cursor().record;
  if (retention_) retention_->index_changed();
  return {};
}

std::size_t History::count_lists() {
  const std::lock_guard lock(mutex_);
  return lists_.size();
}

// One slice is what a list waits for, however far the index is behind.
void History::let_go_on(std::size_t lists) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < lists; ++i) lists_[i].needs = 0;
}

void History::went_well() {
  delay_ns_ = kFirstDelayNs;
  retry_ns_ = 0;
  is_well_ = true;
  last_trouble_.clear();
}

// The same trouble is told once, however often it comes.
void History::say_trouble(const base::Error& error) {
  std::string text = error.to_string();
  if (options_.trouble && text != std::exchange(last_trouble_, text))
    options_.trouble({error.code(), "history", text});
}

void History::failed(base::Error error) {
  ++failures_;
  is_well_ = false;
  say_trouble(error);
  refuse_parked();
  retry_ns_ = clock_.since_boot_ns() + delay_ns_;
  delay_ns_ = std::min(2 * delay_ns_, kLongestDelayNs);
  const bool is_left_behind =
      error.code() == base::ErrorCode::kNotFound && journal_.first() > seen_ + 1;
  // Without room nothing has changed, and what is wrong with the journal is no fault of the index.
  // One that could not even undo what it had begun has ended, whatever the error was.
  const bool can_go_on = (error.code() == base::ErrorCode::kUnavailable || !is_of_index(error)) &&
                         index_ && !index_->has_ended();
  if (feed_ && can_go_on && !is_left_behind) return;
  close_index();
  if (!is_left_behind && !(is_of_index(error) && store::needs_rebuild(error))) return;
  if (const auto begun = begin_anew(); !begun) close_index();
}

void History::close_index() {
  visiting_ = nullptr;
  feed_.reset();
  index_.reset();
}

void History::let_visit() {
  if (!visiting_) {
    const std::lock_guard lock(mutex_);
    if (asked_visits_.empty()) return;
    visiting_ = std::move(asked_visits_.front());
    asked_visits_.pop_front();
    visit_ns_ = 0;
  }
  if (visit_ns_ > clock_.since_boot_ns()) return;
  const bool goes_on = visiting_(index_ ? &index_->database() : nullptr, sealing_.database());
  if (!goes_on) visiting_ = nullptr;
  // A clock that somebody moves may stand still.
  visit_ns_ = clock_.since_boot_ns() + (options_.gather_ns == 0 ? 0 : kVisitGapNs);
}

void History::answer() {
  std::deque<Query> queries = std::exchange(parked_, {});
  {
    const std::lock_guard lock(mutex_);
    std::move(queries_.begin(), queries_.end(), std::back_inserter(queries));
    queries_.clear();
    parked_count_ = queries.size();  // until they are answered
  }
  std::optional<base::Error> trouble;
  for (Query& query : queries) {
    if (!feed_) {
      query.told(unreadable());
      continue;
    }
    auto page = read_stream(journal_, *index_, query.what);
    if (page && !*page) {
      parked_.push_back(std::move(query));
    } else if (page) {
      query.told(std::move(**page));
    } else if (is_trouble(page.error())) {
      query.told(unreadable(page.error().code()));
      trouble = std::move(page).error();
    } else {
      query.told(std::move(page).error());
    }
  }
  parked_count_ = parked_.size();
  if (!trouble) return;
  // What is wrong with the journal keeps nobody from reading what else there is.
  if (!is_of_index(*trouble)) return say_trouble(*trouble);
  failed(std::move(*trouble));
}

// One at a time, so that streams and the feed are not kept waiting by many.
void History::answer_list() {
  std::optional<ListQuery> query;
  {
    const std::lock_guard lock(mutex_);
    if (!is_list_ready()) return;
    query = std::move(lists_.front());
    lists_.pop_front();
  }
  if (!feed_) return query->told(unreadable());
  auto page = index_->list(query->what);
  if (page) {
    // A row whose record cannot be read is shown.
    std::erase_if(page->rows, [this](const store::InstanceRow& row) {
      const auto is_nothing = is_unhandled(journal_, *index_, row);
      return is_nothing && *is_nothing;
    });
    const HistoryFigures now = figures();
    return query->told(HistoryList{std::move(*page), now.seen, now.lag});
  }
  if (!is_trouble(page.error())) return query->told(std::move(page).error());
  query->told(unreadable(page.error().code()));
  failed(std::move(page).error());
}

void History::refuse_parked() {
  const std::deque<Query> parked = std::exchange(parked_, {});
  parked_count_ = 0;
  for (const Query& query : parked) query.told(unreadable());
}

}  // namespace holdfast::node
