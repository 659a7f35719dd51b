// SPDX-License-Identifier: Apache-2.0
// Executor: what performs one kind of effect. It is told to start an intent only after the record
// that opened it is durable; it may be told again, after a restart, and must then make sure that
// the work is under way without doing it twice: the intent is its idempotency key.
#pragma once

#include "base/hash.h"
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
  virtual void report(const kernel::ProgressArrived& progress) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // On a thread of the node, so it must not wait for anything. One `start` at a time.
  virtual void start(const kernel::OpenIntent& intent, Reports& reports) = 0;

  // Whether `start` would take it, and not answer that it is busy. Only another `start` may make it
  // untrue.
  virtual bool has_room(const kernel::OpenIntent&) { return true; }

  // Whether it ends effects by itself whose time limit is over. The node does it for the others.
  virtual bool keeps_time_limits() const { return false; }

  // Nobody waits for it any more. One that is not known, or is over, is ignored.
  virtual void stop(const base::Hash& intent) = 0;

  // Ends what is under way, without receipts: it stays open, and is started again when the world is
  // opened again. Nothing is reported after this returns, and nothing is started any more: it may
  // come while `start` is being called. To be called before whoever hears the reports goes; not
  // from the thread that they come on.
  virtual void shut_down() {}
};

}  // namespace holdfast::executors
