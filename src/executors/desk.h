// SPDX-License-Identifier: Apache-2.0
// Desk: where an executor that has a thread of its own takes its orders and hands in its receipts.
// It keeps the rules that all executors share:
//
//  1. An intent is handed out once, however often it is told. What is told again is heard of at the
//     newest place.
//  2. One receipt for each, and none for one that was stopped.
//  3. A stop of one that is not known is ignored; one that still waits is never handed out.
//  4. No more wait than there is room for: what comes then gets an error receipt at once.
//  5. When the executor has died, all that is open gets an error receipt, and so does what comes
//     later. When it was ended, nobody hears anything.
//
// From any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "executors/executor.h"
#include "executors/receipt.h"

namespace holdfast::executors {

// The params of all that wait.
inline constexpr std::size_t kMaxWaitingBytes = std::size_t{256} << 20;

struct Orders {
  std::vector<kernel::OpenIntent> starts;
  std::vector<base::Hash> stops;  // of what was handed out before; done() is still to be called
  bool end = false;               // leave at once, whatever is open
};

class Desk {
 public:
  explicit Desk(std::size_t most_waiting) : most_waiting_(most_waiting) {}

  // Of those who give orders. Rule 4 would not apply to it.
  bool has_room(const kernel::OpenIntent& intent);

  // True: there is something new to be looked at.
  bool start(const kernel::OpenIntent& intent, Reports& reports);
  bool stop(const base::Hash& intent);
  void end();

  // Of the executor's thread. At most so many starts; the rest waits.
  Orders take(std::size_t most_starts);
  void done(const base::Hash& intent, const Receipt& receipt);

  // The thread has left. Unless it was told to, that was its death.
  void left(const std::string& why);

 private:
  bool is_full_for(const kernel::OpenIntent& intent) const;

  using Waiting = std::list<kernel::OpenIntent>;
  enum class Stage : std::uint8_t { kWaits, kGiven, kStopped };
  struct Entry {
    Reports* reports;
    Stage stage;
    Waiting::iterator waiting;  // kWaits
  };

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::unordered_map<base::Hash, Entry, base::HashOfHash> known_;
  Waiting waiting_;
  std::size_t waiting_bytes_ = 0;  // of params
  std::vector<base::Hash> stops_;
  bool ended_ = false;
  std::string died_of_;  // empty: it lives
};

}  // namespace holdfast::executors
