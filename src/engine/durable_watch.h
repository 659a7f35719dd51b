// SPDX-License-Identifier: Apache-2.0
// DurableWatch: those who wait until some record is durable, as whoever follows the journal does.
// While nobody waits it costs the writer one comparison a batch.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "engine/ticket.h"
#include "store/journal.h"

namespace holdfast::engine {

class DurableWatch {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  // From any thread. The ticket is told the last durable record, as soon as that is `record` or
  // behind it. False: too many wait, or nobody may any more; the ticket is not told.
  // Whoever adds looks at the journal again: what became durable before wakes nobody.
  [[nodiscard]] bool add(std::uint64_t number, store::RecordNumber record,
                         std::shared_ptr<Ticket<std::uint64_t>> ticket);
  void remove(std::uint64_t number);

  // Records up to this one are durable.
  void became_durable(store::RecordNumber record) {
    if (record >= wanted_) tell(record);
  }

  // Everybody is let go of, and nobody taken any more.
  void close();

 private:
  static constexpr store::RecordNumber kNobody = std::numeric_limits<store::RecordNumber>::max();
  struct Waiter {
    store::RecordNumber record;
    std::shared_ptr<Ticket<std::uint64_t>> ticket;
  };

  using Waiters = std::map<std::uint64_t, Waiter>;

  void tell(store::RecordNumber record);
  Waiter take(Waiters::iterator waiter);

  std::mutex mutex_;
  Waiters waiters_;  // by the number of the question
  std::set<std::pair<store::RecordNumber, std::uint64_t>> by_record_;  // their records and numbers
  std::atomic<store::RecordNumber> wanted_ = kNobody;
  bool is_closed_ = false;
};

}  // namespace holdfast::engine
