// SPDX-License-Identifier: Apache-2.0
// LiveProgress: the pieces that one running function puts out, on their way to the node. The first
// goes out at once. While one frame is on its way the next pieces are gathered for the frame after
// it, so they stay in order, each once, whatever is refused for want of room. What was refused is
// offered again within a second, also while the function says nothing. A function that is faster
// than the node waits. From any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "executors/executor.h"
#include "executors/progress.h"
#include "executors/progress_retries.h"

namespace holdfast::executors {

class LiveProgress : public Progress, public std::enable_shared_from_this<LiveProgress> {
 public:
  // `last_sequence`: of the frames that came of the intent before. Not 0: it begins again, and says
  // so first. `retries` outlives it.
  LiveProgress(const base::Hash& intent, std::uint64_t last_sequence, Reports& reports,
               ProgressRetries& retries);

  void begin();
  bool put(base::ByteView piece) override;

  // Of ProgressRetries: what was refused may find room now.
  void try_again();

  // Waits until everything is with the node, or nobody hears it any more.
  void finish();

  // Nobody hears it any more. Nothing is reported after this returns.
  void close();

 private:
  struct Frame {
    std::string_view kind;
    base::Bytes payload;
  };
  void send_next();  // with the mutex
  void offer();      // likewise: the frame that is on its way
  void wait(std::unique_lock<std::mutex>& lock);
  void offer_if_due();  // with the mutex
  void refused();       // likewise
  void heard(const kernel::Answer& answer);
  Frame gathered();

  const base::Hash intent_;
  Reports& reports_;
  ProgressRetries& retries_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<base::Bytes> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint64_t sequence_;
  std::optional<Frame> on_its_way_;
  bool begins_again_;
  bool is_refused_ = false;  // what is on its way has to be offered again
  std::chrono::milliseconds delay_;
  ProgressRetries::Time again_at_;
  bool will_be_tried_ = false;  // by the retries
  bool closed_ = false;
};

}  // namespace holdfast::executors
