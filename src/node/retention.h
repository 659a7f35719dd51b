// SPDX-License-Identifier: Apache-2.0
// Retention: which instances are to be forgotten, and when to look again. It names what the index
// shows as over for long enough, a few hundred at a time, and waits until the index has read what
// came of it before it names more. The world decides: what was touched since stays.
//
// A task graph is kept whole: its tasks stay as long as it does, and go before it. Graphs have a
// time of their own.
//
// It belongs to whoever has the index; only `heard` comes from elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "env/clock.h"
#include "node/batch.h"
#include "node/input.h"
#include "store/history_index.h"

namespace holdfast::node {

class Retention {
 public:
  using Send = std::function<base::Result<void>(Input, Heard)>;

  // How long what has ended is kept. 0: for ever.
  struct Times {
    std::uint64_t instances_ns = 0;
    std::uint64_t graphs_ns = 0;
  };

  // Nothing is named before the index has seen record `durable`. `wake` is called, on any thread,
  // when an answer was heard.
  Retention(env::Clock& clock, Times keep, Send send, std::function<void()> wake,
            store::RecordNumber durable);

  // When to look next, since boot; nothing: not before the index has gone on, or an answer comes.
  std::optional<std::int64_t> next_ns(store::RecordNumber seen) const;

  // Names what is to go. An error is the index's, or says that somebody who was named is named
  // again though the world has nothing to forget.
  base::Result<void> look(store::HistoryIndex& index);

  // The index has changed: something may have ended.
  void index_changed();

 private:
  // What the answers said, which come on another thread and may come after this is gone.
  struct Answers {
    std::atomic<std::size_t> pending = 0;
    std::atomic<store::RecordNumber> record = 0;  // the last that forgets something
    std::atomic<bool> is_refused = false;
  };

  using Ended = std::vector<store::EndedInstance>;

  base::Result<Ended> find_due(store::HistoryIndex& index, const store::OverQuery& of,
                               std::uint64_t keep_ns, std::uint64_t now_ns);
  base::Result<Ended> find_due_graphs(store::HistoryIndex& index, std::uint64_t now_ns);
  base::Result<void> send(const std::vector<store::EndedInstance>& ended);
  void look_after(std::uint64_t wait_ns);

  env::Clock& clock_;
  Times keep_;
  Send send_;
  std::function<void()> wake_;
  std::shared_ptr<Answers> answers_ = std::make_shared<Answers>();
  std::optional<std::int64_t> next_ns_ = 0;
  std::optional<store::EndedInstance> named_;  // the first of the last look
};

}  // namespace holdfast::node
