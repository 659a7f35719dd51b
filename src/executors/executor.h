// SPDX-License-Identifier: Apache-2.0
// Executor: what performs one kind of effect. It is told to start an intent only after the record
// that opened it is durable; it may be told again, after a restart, and must then make sure that
// the work is under way without doing it twice: the intent is its idempotency key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/hash.h"
#include "executors/effect_blobs.h"
#include "kernel/outcome.h"
#include "kernel/program.h"
#include "kernel/tick.h"

namespace holdfast::executors {

// Where results go, from any thread; what they borrow is copied. An executor reports progress, and
// one receipt.
class Reports {
 public:
  virtual ~Reports() = default;
  virtual void report(const kernel::ReceiptArrived& receipt) = 0;

  // The same; the pin is let go of when the receipt is durable, or is of no use any more.
  virtual void report_with_pin(const kernel::ReceiptArrived& receipt, BlobPin pin) {
    report(receipt);
    pin.reset();
  }
  virtual void report(const kernel::ProgressArrived& progress) = 0;

  // The same, for whoever must not lose it. False: there is no room now. True: `heard` is called
  // once, on another thread, when it is durable or was refused; or never, if the node ends before.
  using HeardProgress = std::function<void(const kernel::Answer&)>;
  virtual bool offer(const kernel::ProgressArrived& progress, HeardProgress heard) {
    static_cast<void>(heard);
    report(progress);
    return true;
  }
};

class Executor {
 public:
  virtual ~Executor() = default;

  // On a thread of the node, so it must not wait for anything. One `start` at a time.
  virtual void start(const kernel::OpenIntent& intent, Reports& reports) = 0;

  // Whether `start` would take it, and not answer that it is busy. Only another `start` may make it
  // untrue.
  virtual bool has_room(const kernel::OpenIntent&) { return true; }

  // What the effect shares with others that must not take all of the executor, such as the host of
  // a request. Empty: nothing. Effects that find no room wait by share and by workflow.
  virtual std::string share_of(const kernel::OpenIntent&) const { return {}; }

  // How long the effect may take from the tick that opened it, all waiting included; nothing: as
  // long as it likes. The node keeps the time.
  virtual std::optional<std::uint64_t> time_limit_ns(const kernel::OpenIntent& intent) const {
    return intent.effect->timeout_ns;
  }

  // Whether workers perform it, and not this program: they are leased it, and it has no end of its
  // own here. Then `start` and `resume` say that it waits, `time_limit_ns` is how long it may wait
  // for a worker, and `hear` says what becomes of it.
  virtual bool is_leased_out(const kernel::OpenIntent&) const { return false; }

  // The same as `start` of what was open before the node began, for what is leased out; `work` is
  // null if it was never leased. All of them come before `recovered`, and the workers before them.
  virtual void resume(const kernel::OpenIntent&, const std::shared_ptr<const kernel::Work>& work) {
    static_cast<void>(work);
  }
  virtual void recovered() {}

  // News of what is leased out, and of workers, in the order of the records, when they are durable.
  virtual void hear(const kernel::WorkNews&) {}

  // That time is over. True: nothing is under way any more, or nobody will hear of it, and the node
  // says that it was late. False: it is under way; the executor ends it and says so itself.
  virtual bool end_late(const base::Hash& intent) {
    stop(intent);
    return true;
  }

  // Nobody waits for it any more. One that is not known, or is over, is ignored.
  virtual void stop(const base::Hash& intent) = 0;

  // Ends what is under way, without receipts: it stays open, and is started again when the world is
  // opened again. Nothing is reported after this returns, and nothing is started any more: it may
  // come while `start` is being called. To be called before whoever hears the reports goes; not
  // from the thread that they come on.
  virtual void shut_down() {}
};

}  // namespace holdfast::executors
