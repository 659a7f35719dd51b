// SPDX-License-Identifier: Apache-2.0
#include "postgres/sql_steps.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/hex.h"
#include "base/sha256.h"
#include "codec/schema.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "postgres/conninfo.h"

namespace holdfast::postgres {
namespace {

using codec::View;
using codec::ViewKind;
using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLastPause{2'000};
constexpr int kMostConflicts = 20;
constexpr const char* kNoSuchStatement = "26000";

// What holds whatever the executor role, or a tenant in its name, has set for itself.
constexpr const char* kSettings =
    "SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = "
    "off; "
    "SET default_transaction_deferrable = off; SET statement_timeout = 0; SET lock_timeout = 0; "
    "SET idle_in_transaction_session_timeout = 0; SET synchronous_commit = on; "
    "SET search_path = pg_catalog, pg_temp";

std::string hex_of(const std::string& text) {
  return base::to_hex(base::sha256(base::as_bytes(text)).bytes);
}

// holdfast.run_node compares it.
std::string proof_of(const std::string& secret, const std::string& message) {
  return hex_of(secret + hex_of(message));
}

// At an end of an item; depth is bounded by that of values.
void copy(View from, Writer& to) {
  switch (from.kind()) {
    case ViewKind::kBool: return to.boolean(from.boolean().value_or(false));
    case ViewKind::kInt:
      if (const auto nat = from.nat()) return to.nat(*nat);
      return to.integer(from.integer().value_or(0));
    case ViewKind::kFloat: return to.real(from.real().value_or(0));
    case ViewKind::kBytes: return to.bytes(from.bytes().value_or(base::ByteView()));
    case ViewKind::kText: return to.text(from.text().value_or(""));
    case ViewKind::kList:
      to.list(from.size());
      for (const View each : from.elements()) copy(each, to);
      return;
    case ViewKind::kMap:
      to.map(from.size());
      for (const auto [key, value] : from.entries()) {
        copy(key, to);
        copy(value, to);
      }
      return;
    default: return to.null();
  }
}

// Whether the same on another connection may end differently.
bool is_lost(const std::string& state) {
  return state.empty() || state.starts_with("08") || state.starts_with("53") ||
         state.starts_with("57P") || state == "25006";
}

}  // namespace

base::Result<std::shared_ptr<SqlSteps>> SqlSteps::make(SqlStepsOptions options) {
  TRY(check_conninfo("--postgres", options.owner));
  TRY(check_conninfo("--postgres-exec", options.executor));
  executors::WakeUp wake = TRY(executors::WakeUp::make());
  return std::shared_ptr<SqlSteps>(new SqlSteps(std::move(options), std::move(wake)));
}

SqlSteps::SqlSteps(SqlStepsOptions options, executors::WakeUp wake)
    : options_(std::move(options)), patience_(std::move(wake)) {}

Handler SqlSteps::handler(std::shared_ptr<SqlSteps> steps) {
  return {std::string(defs::kSqlRun), built_in("sql"),
          [steps = std::move(steps)](Reader params, const Call& call, Writer& receipt) {
            return steps->run(params, call, receipt);
          }};
}

std::optional<EffectError> SqlSteps::run(Reader params, const Call& call, Writer& receipt) {
  Step step;
  std::uint64_t fields = 0;
  if (!params.map(fields)) return EffectError{"sql.params", "they are no map"};
  for (std::uint64_t i = 0; i < fields; ++i) {
    std::string_view name;
    std::string_view text;
    std::uint64_t number = 0;
    if (!params.text(name)) return EffectError{"sql.params", "a field has no name"};
    const bool is_read = name == "role" ? params.nat(number) : params.text(text);
    if (!is_read) return EffectError{"sql.params", "a field is not as expected"};
    if (name == "role") step.role = std::to_string(number);
    if (name == "flow") step.flow = text;
    if (name == "path") step.path = text;
    if (name == "query") step.query = text;
  }
  step.node = call.key;
  milliseconds pause = kFirstPause;
  for (int conflicts = 0; !call.stopped();) {
    Attempt tried = attempt(step, call);
    if (tried.error && !(tried.is_conflict && ++conflicts < kMostConflicts)) {
      ++options_.figures->steps;
      ++options_.figures->failed_steps;
      return tried.error;
    }
    if (tried.result) {
      codec::Normaliser normaliser;
      const auto value = normaliser.part_from_json(codec::Schema::any(), *tried.result);
      if (!value) return EffectError{"sql.result", value.error().to_string()};
      ++options_.figures->steps;
      receipt.map(1);
      receipt.text("result");
      copy(View::of(*value), receipt);
      return std::nullopt;
    }
    const auto until = std::chrono::steady_clock::now() + pause;
    while (!call.stopped() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::min(pause, milliseconds(50)));
    pause = std::min(pause * 2, kLastPause);
  }
  return EffectError{"sql.stopped", "nobody waits for the statement any more"};
}

SqlSteps::Attempt SqlSteps::attempt(const Step& step, const Call& call) {
  const auto secret = secret_of(step.role);
  if (!secret) return {};
  if (!*secret) {
    return {{}, EffectError{"sql.not_permitted", "the role may not run SQL steps any more"}, false};
  }
  auto pooled = take(step.role);
  if (!pooled) return {};
  const std::string message = step.flow + "\n" + step.node + "\n" + step.path + "\n" + step.query;
  const auto rows = ask(*pooled, step, proof_of(**secret, message), call);
  if (rows) {
    Attempt done;
    done.result = rows->string(0, 0);
    give_back(std::move(*pooled));
    return done;
  }
  const std::string state = pooled->connection.last_state();
  if (rows.error().code() == base::ErrorCode::kEnded || is_lost(state)) {
    ++options_.figures->repeated_steps;
    return {};
  }
  give_back(std::move(*pooled));
  if (state == "HF011") {
    // The secret is another one, as after the role was permitted anew.
    forget_secret(step.role);
    return {{},
            EffectError{"sql.not_permitted", "the database does not take the server's proof"},
            true};
  }
  EffectError error{"sql." + state, rows.error().message()};
  const bool is_conflict = state == "40001" || state == "40P01" || state == kNoSuchStatement;
  error.retryable = is_conflict;
  return {{}, std::move(error), is_conflict};
}

base::Result<Rows> SqlSteps::ask(Pooled& pooled, const Step& step, const std::string& proof,
                                 const Call& call) {
  if (!pooled.is_prepared) {
    auto prepared = pooled.connection.run(
        "PREPARE holdfast_step (uuid, text, text, text, text) AS "
        "SELECT holdfast_" +
        step.role + ".run($1, $2, $3, $4, $5)");
    if (!prepared) return prepared;
    pooled.is_prepared = true;
  }
  auto rows = pooled.connection.run_prepared_until(
      "holdfast_step", {step.flow, step.node, step.path, step.query, proof},
      [&call] { return call.stopped(); });
  // A statement can drop it: then the next step prepares it again.
  if (!rows && pooled.connection.last_state() == kNoSuchStatement) pooled.is_prepared = false;
  return rows;
}

base::Result<std::optional<std::string>> SqlSteps::secret_of(const std::string& role) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = secrets_.find(role); known != secrets_.end())
      return std::optional(known->second);
  }
  const std::lock_guard lock(asking_);
  if (!owner_) owner_.emplace(TRY(Connection::open(options_.owner, patience_)));
  auto rows = owner_->run("SELECT holdfast.role_secret($1)", {role});
  if (!rows) {
    owner_.reset();
    return std::move(rows).error();
  }
  if (rows->size() == 0 || rows->is_null(0, 0)) return std::optional<std::string>();
  const std::lock_guard also(mutex_);
  return std::optional(secrets_[role] = rows->string(0, 0));
}

void SqlSteps::forget_secret(const std::string& role) {
  const std::lock_guard lock(mutex_);
  secrets_.erase(role);
}

base::Result<SqlSteps::Pooled> SqlSteps::take(const std::string& role) {
  std::optional<Pooled> found;
  {
    const std::lock_guard lock(mutex_);
    auto at = std::find_if(idle_.begin(), idle_.end(),
                           [&](const Pooled& each) { return each.role == role; });
    if (at == idle_.end() && !idle_.empty()) at = idle_.begin();
    if (at != idle_.end()) {
      found.emplace(std::move(*at));
      idle_.erase(at);
    }
  }
  if (found && found->role == role) return std::move(*found);
  if (found && found->connection.run("DISCARD ALL") && found->connection.run(kSettings)) {
    found->role = role;
    found->is_prepared = false;
    return std::move(*found);
  }
  Connection fresh = TRY(Connection::open(options_.executor, patience_));
  TRY(fresh.run(kSettings));
  return Pooled{role, std::move(fresh)};
}

void SqlSteps::give_back(Pooled pooled) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(pooled));
}

}  // namespace holdfast::postgres
