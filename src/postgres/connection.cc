// SPDX-License-Identifier: Apache-2.0
#include "postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <charconv>

#include "codec/printable.h"

namespace holdfast::postgres {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMostMessageBytes = 1024;

// How often somebody who waits for a statement looks whether it is still wanted, and how long one
// that was cancelled may take to say so.
constexpr milliseconds kLookAtStop{50};
constexpr std::chrono::seconds kCancelLimit{5};

// What libpq says may have several lines.
std::string one_line(const char* message) {
  std::string text(message == nullptr ? "" : message);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return codec::printable(text, kMostMessageBytes);
}

base::Error unavailable(const pg_conn* connection) {
  return {base::ErrorCode::kUnavailable, "postgres", one_line(PQerrorMessage(connection))};
}

// Whether a statement that failed so may succeed on another connection.
bool is_passing(std::string_view state) {
  return state.empty() || state.starts_with("08") || state.starts_with("53") ||
         state.starts_with("57") || state == "40001" || state == "40P01" || state == "25006";
}

base::Error refused(const pg_conn* connection, const PGresult* result) {
  const char* const field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = field == nullptr ? "" : field;
  if (state.empty()) return unavailable(connection);
  std::string message = one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (state == "HF010") return {base::ErrorCode::kConflict, "postgres", std::move(message)};
  message += " (SQLSTATE " + state + ")";
  return {is_passing(state) ? base::ErrorCode::kUnavailable : base::ErrorCode::kInvalid, "postgres",
          std::move(message)};
}

base::Error stopped() { return {base::ErrorCode::kEnded, "postgres", "the bridge is stopping"}; }

std::vector<const char*> texts_of(const std::vector<Value>& values) {
  std::vector<const char*> texts;
  texts.reserve(values.size());
  for (const Value& value : values) texts.push_back(value ? value->c_str() : nullptr);
  return texts;
}

milliseconds left_until(Clock::time_point until) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(until - Clock::now()));
}

}  // namespace

Patience::Woken Patience::wait(int descriptor, bool for_writing, milliseconds limit) const {
  pollfd watched[2] = {{wake_.descriptor(), POLLIN, 0},
                       {descriptor, static_cast<short>(for_writing ? POLLOUT : POLLIN), 0}};
  const int most = static_cast<int>(std::min<milliseconds::rep>(limit.count(), 3'600'000));
  const int ready = ::poll(watched, descriptor < 0 ? 1 : 2, most);
  if (ready <= 0) return Woken::kTimedOut;  // also after a signal: whoever waits looks at the clock
  if (watched[1].revents != 0) return Woken::kReady;
  wake_.listened();
  return Woken::kCalled;
}

void Rows::Clear::operator()(pg_result* result) const noexcept { PQclear(result); }
int Rows::size() const noexcept { return PQntuples(result_.get()); }
int Rows::columns() const noexcept { return PQnfields(result_.get()); }
bool Rows::is_null(int row, int column) const noexcept {
  return PQgetisnull(result_.get(), row, column) != 0;
}
std::string_view Rows::text(int row, int column) const noexcept {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}
std::int64_t Rows::number(int row, int column) const noexcept {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string array_of(const std::vector<Value>& elements) {
  std::string text = "{";
  for (const Value& element : elements) {
    if (text.size() > 1) text += ',';
    if (!element) {
      text += "NULL";
      continue;
    }
    text += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

void Connection::Finish::operator()(pg_conn* connection) const noexcept { PQfinish(connection); }

base::Result<Connection> Connection::open(const std::string& conninfo, Patience& patience) {
  // What comes later goes before what comes earlier.
  const char* const names[] = {"fallback_application_name", "dbname", "client_encoding", nullptr};
  const char* const values[] = {"holdfast", conninfo.c_str(), "UTF8", nullptr};
  Handle handle(PQconnectStartParams(names, values, 1));
  if (handle == nullptr)
    return base::Error(base::ErrorCode::kUnavailable, "postgres", "there is no memory");
  PQsetNoticeProcessor(
      handle.get(), [](void*, const char*) {}, nullptr);
  const Clock::time_point until = Clock::now() + kLimit;
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (wanted != PGRES_POLLING_OK) {
    if (wanted == PGRES_POLLING_FAILED || PQstatus(handle.get()) == CONNECTION_BAD)
      return unavailable(handle.get());
    const auto woken =
        patience.wait(PQsocket(handle.get()), wanted == PGRES_POLLING_WRITING, left_until(until));
    if (patience.is_stopped()) return stopped();
    if (Clock::now() >= until) {
      return base::Error(base::ErrorCode::kUnavailable, "postgres",
                         "the server does not answer within 30 s");
    }
    if (woken == Patience::Woken::kReady) wanted = PQconnectPoll(handle.get());
  }
  if (PQsetnonblocking(handle.get(), 1) != 0) return unavailable(handle.get());
  return Connection(std::move(handle), patience);
}

base::Result<void> Connection::wait(bool for_writing, Clock::time_point until) {
  for (;;) {
    const auto woken = patience_->wait(PQsocket(handle_.get()), for_writing, left_until(until));
    if (patience_->is_stopped()) return stopped();
    if (woken == Patience::Woken::kReady) return {};
    if (Clock::now() < until) continue;  // a call that is not for us is heard later
    return base::Error(base::ErrorCode::kUnavailable, "postgres",
                       "a statement has no answer after 30 s");
  }
}

base::Result<Rows> Connection::results() {
  const Clock::time_point until = Clock::now() + kLimit;
  return take_results([&](bool for_writing) { return wait(for_writing, until); });
}

base::Result<Rows> Connection::take_results(
    const std::function<base::Result<void>(bool writing)>& wait_more) {
  last_state_.clear();
  for (int sent = PQflush(handle_.get()); sent != 0; sent = PQflush(handle_.get())) {
    if (sent < 0) return unavailable(handle_.get());
    TRY(wait_more(true));
    if (PQconsumeInput(handle_.get()) == 0) return unavailable(handle_.get());
  }
  std::optional<Rows> last;
  std::optional<base::Error> error;
  for (;;) {
    while (PQisBusy(handle_.get()) != 0) {
      TRY(wait_more(false));
      if (PQconsumeInput(handle_.get()) == 0) return unavailable(handle_.get());
    }
    PGresult* const result = PQgetResult(handle_.get());
    if (result == nullptr) break;
    last.emplace(result);
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY ||
        error)
      continue;
    error.emplace(refused(handle_.get(), result));
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    last_state_ = state == nullptr ? "" : state;
  }
  if (error) return std::move(*error);
  if (!last) return unavailable(handle_.get());
  return std::move(*last);
}

void Connection::ask_to_cancel() noexcept {
  PGcancel* const cancel = PQgetCancel(handle_.get());
  if (cancel == nullptr) return;
  char why[256];
  static_cast<void>(PQcancel(cancel, why, sizeof why));
  PQfreeCancel(cancel);
}

base::Result<Rows> Connection::run_until(const std::string& statement,
                                         const std::vector<Value>& values,
                                         const std::function<bool()>& is_stopped) {
  if (!send(statement.c_str(), values)) return unavailable(handle_.get());
  return results_until(is_stopped);
}

base::Result<Rows> Connection::run_prepared_until(const char* name,
                                                  const std::vector<Value>& values,
                                                  const std::function<bool()>& is_stopped) {
  const std::vector<const char*> texts = texts_of(values);
  if (PQsendQueryPrepared(handle_.get(), name, static_cast<int>(texts.size()), texts.data(),
                          nullptr, nullptr, 0) == 0)
    return unavailable(handle_.get());
  return results_until(is_stopped);
}

base::Result<Rows> Connection::results_until(const std::function<bool()>& is_stopped) {
  std::optional<Clock::time_point> until;
  return take_results([&](bool for_writing) -> base::Result<void> {
    for (;;) {
      const auto woken = patience_->wait(PQsocket(handle_.get()), for_writing, kLookAtStop);
      if (woken == Patience::Woken::kReady) return {};
      if (!until && is_stopped()) {
        ask_to_cancel();
        until = Clock::now() + kCancelLimit;
      }
      if (until && Clock::now() >= *until) return stopped();
    }
  });
}

bool Connection::send(const char* statement, const std::vector<Value>& values) {
  const std::vector<const char*> texts = texts_of(values);
  return PQsendQueryParams(handle_.get(), statement, static_cast<int>(texts.size()), nullptr,
                           texts.data(), nullptr, nullptr, 0) != 0;
}

base::Result<Rows> Connection::run(const char* statement, const std::vector<Value>& values) {
  if (!send(statement, values)) return unavailable(handle_.get());
  return results();
}

void Connection::run_last(const char* statement, const std::vector<Value>& values) {
  if (send(statement, values)) static_cast<void>(PQflush(handle_.get()));
}

base::Result<Rows> Connection::run(const std::string& statements) {
  if (PQsendQuery(handle_.get(), statements.c_str()) == 0) return unavailable(handle_.get());
  return results();
}

bool Connection::take_notifications() {
  bool found = false;
  while (PGnotify* const notification = PQnotifies(handle_.get())) {
    PQfreemem(notification);
    found = true;
  }
  return found;
}

base::Result<bool> Connection::wait_for_notification(milliseconds limit) {
  if (take_notifications()) return true;
  if (patience_->take_call()) return false;
  const auto woken = patience_->wait(PQsocket(handle_.get()), false, limit);
  if (woken != Patience::Woken::kReady) return false;
  if (PQconsumeInput(handle_.get()) == 0) return unavailable(handle_.get());
  return take_notifications();
}

}  // namespace holdfast::postgres
