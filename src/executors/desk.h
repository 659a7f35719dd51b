// SPDX-License-Identifier: Apache-2.0
// Desk: where an executor that has a thread of its own takes its orders and hands in its receipts.
// It keeps the rules that all executors share:
//
//  1. An intent is handed out once, however often it is told. What is told again is heard of at the
//     newest place.
//  2. One receipt for each, and none for one that was stopped.
//  3. A stop of one that is not known is ignored; one that still waits is never handed out.
//  4. No more wait than there is room for, and of one share (executor.h) no more than a quarter of
//     that: what comes then gets an error receipt at once. A node asks before it starts anything.
//  5. When the executor has died, all that is open gets an error receipt, and so does what comes
//     later. When it was ended, nobody hears anything.
//  6. Workflows take turns, and so do shares. One share has no more under way than there are places
//     left: however slow it is, there are places for others, half of them for the first.
//
// From any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "executors/executor.h"
#include "executors/fair_lines.h"
#include "executors/receipt.h"

namespace holdfast::executors {

// The params of all that wait.
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{256} << 20;

struct Orders {
  std::vector<kernel::OpenIntent> starts;
  std::vector<base::Hash> stops;  // of what was handed out before; done() is still to be called
  std::vector<base::Hash> late;   // of the same: to be ended, and to be reported as timed out
  bool end = false;               // leave at once, whatever is open
};

class Desk {
 public:
  using ShareOf = std::function<std::string(const kernel::OpenIntent&)>;
  explicit Desk(std::size_t most_waiting, ShareOf share_of = {})
      : most_waiting_(most_waiting), share_of_(std::move(share_of)) {}

  // Of those who give orders. Rule 4 would not apply to it.
  bool has_room(const kernel::OpenIntent& intent);

  // True: there is something new to be looked at.
  bool start(const kernel::OpenIntent& intent, Reports& reports);
  bool stop(const base::Hash& intent);
  void end();

  // True: it is not under way, and is forgotten. False: the executor's thread is to be told.
  bool end_late(const base::Hash& intent);

  // Of the executor's thread. It has so many places left; what finds none waits.
  Orders take(std::size_t places);
  void done(const base::Hash& intent, const Receipt& receipt);
  // Where what comes of one that was handed out is heard; null: nobody hears it.
  Reports* reports_of(const base::Hash& intent);

  // The thread has left. Unless it was told to, that was its death.
  void left(const std::string& why);

 private:
  struct Share {
    std::size_t waiting = 0;
    std::size_t given = 0;
  };
  using Shares = std::map<std::string, Share>;
  struct Line {
    std::list<kernel::OpenIntent> waiting;
    Shares::iterator share;
    bool empty() const noexcept { return waiting.empty(); }
  };
  using Lines = FairLines<Line>;
  enum class Stage : std::uint8_t { kWaits, kGiven, kStopped };
  struct Entry {
    Reports* reports;
    Stage stage;
    Shares::iterator share;
    Lines::Place line;  // kWaits, and so the next one
    std::list<kernel::OpenIntent>::iterator waiting;
  };
  using Known = std::unordered_map<base::Hash, Entry, base::HashOfHash>;

  std::string share_name(const kernel::OpenIntent& intent) const {
    return share_of_ ? share_of_(intent) : std::string();
  }
  bool is_full_for(const kernel::OpenIntent& intent, const std::string& share) const;
  void add(const kernel::OpenIntent& intent, const std::string& share, Reports& reports);
  void drop_waiting(Known::iterator known);
  void drop(Known::iterator known);
  void leave(Shares::iterator share);

  const std::size_t most_waiting_;
  const ShareOf share_of_;
  std::mutex mutex_;
  Known known_;
  Shares shares_;  // of what is known; the empty name is one without bounds
  Lines lines_;
  std::size_t waiting_ = 0;
  std::size_t waiting_bytes_ = 0;  // of params
  std::vector<base::Hash> stops_;
  std::vector<base::Hash> late_;
  bool ended_ = false;
  std::string died_of_;  // empty: it lives
};

}  // namespace holdfast::executors
