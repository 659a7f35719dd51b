// SPDX-License-Identifier: Apache-2.0
// Connection: one connection to PostgreSQL through libpq. Calls wait for the server, but not for
// ever: every call has a time limit, and `Patience` lets another thread end it.
//
// Error codes: kUnavailable, the server cannot be reached, has closed the connection or has no room
// (the connection is then of no use any more); kConflict, another bridge has taken over; kEnded,
// the caller was told to stop; kInvalid, the server refused the statement, with its SQLSTATE.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "executors/wake_up.h"

struct pg_conn;
struct pg_result;

namespace holdfast::postgres {

// How long a thread that waits may be kept waiting.
class Patience {
 public:
  explicit Patience(executors::WakeUp wake) : wake_(std::move(wake)) {}

  // From any thread. The second one is for good.
  void wake() noexcept {
    is_called_ = true;
    wake_.call();
  }
  void stop() noexcept {
    is_stopped_ = true;
    wake_.call();
  }
  bool is_stopped() const noexcept { return is_stopped_; }

  // Whether somebody has called `wake` since this was asked last.
  bool take_call() noexcept { return is_called_.exchange(false); }

  // Until the descriptor (-1: none) is ready, somebody wakes or stops this, or the time is over.
  enum class Woken : std::uint8_t { kReady, kCalled, kTimedOut };
  Woken wait(int descriptor, bool for_writing, std::chrono::milliseconds limit) const;

 private:
  executors::WakeUp wake_;
  std::atomic<bool> is_called_ = false;
  std::atomic<bool> is_stopped_ = false;
};

// Rows of texts.
class Rows {
 public:
  explicit Rows(pg_result* result) noexcept : result_(result) {}

  int size() const noexcept;
  int columns() const noexcept;
  bool is_null(int row, int column) const noexcept;
  std::string_view text(int row, int column) const noexcept;  // empty if it is null
  std::string string(int row, int column) const { return std::string(text(row, column)); }
  bool is_true(int row, int column) const noexcept { return text(row, column) == "t"; }
  std::int64_t number(int row, int column) const noexcept;  // 0 if it is none

 private:
  struct Clear {
    void operator()(pg_result* result) const noexcept;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

using Value = std::optional<std::string>;

// The text of an array of PostgreSQL, whatever its elements hold.
std::string array_of(const std::vector<Value>& elements);

class Connection {
 public:
  static constexpr std::chrono::seconds kLimit{30};

  static base::Result<Connection> open(const std::string& conninfo, Patience& patience);

  // One statement with its values, or several without.
  base::Result<Rows> run(const char* statement, const std::vector<Value>& values);
  base::Result<Rows> run(const std::string& statements);

  // The same without a time limit, until `is_stopped` says that nobody waits any more: then the
  // server is asked to cancel it. kEnded: it has, or does not answer.
  base::Result<Rows> run_until(const std::string& statement, const std::vector<Value>& values,
                               const std::function<bool()>& is_stopped);

  // Of a statement that was prepared under this name.
  base::Result<Rows> run_prepared_until(const char* name, const std::vector<Value>& values,
                                        const std::function<bool()>& is_stopped);

  // The SQLSTATE of the last statement that was refused; empty: the connection was lost.
  const std::string& last_state() const noexcept { return last_state_; }

  // Sends a statement and does not wait for its answer; then the connection is of no use any more.
  void run_last(const char* statement, const std::vector<Value>& values);

  // Waits for something that the server says by itself, or for a call. True: there were
  // notifications.
  base::Result<bool> wait_for_notification(std::chrono::milliseconds limit);

 private:
  struct Finish {
    void operator()(pg_conn* connection) const noexcept;
  };
  using Handle = std::unique_ptr<pg_conn, Finish>;

  Connection(Handle handle, Patience& patience)
      : handle_(std::move(handle)), patience_(&patience) {}

  bool send(const char* statement, const std::vector<Value>& values);
  base::Result<Rows> results();
  base::Result<Rows> results_until(const std::function<bool()>& is_stopped);
  base::Result<Rows> take_results(const std::function<base::Result<void>(bool writing)>& wait_more);
  void ask_to_cancel() noexcept;
  base::Result<void> wait(bool for_writing, std::chrono::steady_clock::time_point until);
  bool take_notifications();

  Handle handle_;
  Patience* patience_;
  std::string last_state_;
};

}  // namespace holdfast::postgres
