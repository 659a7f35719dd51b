// SPDX-License-Identifier: Apache-2.0
// The messages of docs/worker-protocol.md: the bodies that a worker sends, as JSON, and the answers
// that it takes apart. Members of an answer that are not known are ignored; one that is missing or
// has another type is an error that names the place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace holdfast::work {

struct Device {
  std::uint64_t index = 0;
  std::string type;
  std::uint64_t memory_bytes = 0;
};

struct Resources {
  std::uint64_t cpu_milli = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<Device> devices;
};

// What a worker says of itself when it enrols.
struct Offer {
  std::string node;
  std::string name;
  std::vector<std::string> queues;
  std::vector<std::string> types;
  std::uint64_t slots = 1;
  std::map<std::string, std::string> labels;
  Resources resources;
  std::vector<std::string> recipes = {};
};

std::string enrol_body(const Offer& offer, std::string_view secret);

struct Enrolled {
  std::string worker;
  std::uint64_t ttl_ms = 0;
  std::uint64_t max_wait_ms = 0;
  std::uint64_t max_batch = 0;
  std::uint64_t max_result_bytes = 0;
  bool takes_recipes = false;  // in a sync
};
base::Result<Enrolled> read_enrolled(std::string_view json);

std::string session_body(std::string_view process, bool first,
                         const std::vector<std::string>& holding);

enum class Mode : std::uint8_t { kActive, kDraining, kCordoned };

struct SessionBegun {
  std::string session;
  std::vector<std::string> drop;
  Mode mode = Mode::kActive;
};
base::Result<SessionBegun> read_session(std::string_view json);

// One piece of work.
struct Task {
  std::string dispatch;
  std::string key;
  std::string kind;
  std::string type;
  std::string name;
  std::string graph;
  std::uint64_t attempt = 1;
  std::uint64_t timeout_ms = 0;  // 0: no limit
  base::Bytes input;             // a canonical value without the self-describe tag
  base::Bytes resume = {};       // the same; empty: none
  std::vector<std::uint64_t> devices = {};
  std::string trace = {};
  std::string recipe = {};  // that it needs; empty: none
  bool is_preemptible = false;
};

enum class StopReason : std::uint8_t { kCancelled, kTimeout, kPreempt, kDrain };

struct Stop {
  std::string dispatch;
  StopReason reason = StopReason::kCancelled;
  std::uint64_t grace_ms = 0;
};

enum class Verdict : std::uint8_t { kTaken, kStale, kRefused };

struct ReportResult {
  std::string dispatch;
  Verdict verdict = Verdict::kTaken;
  std::string detail;  // of what was refused
};

struct SyncAnswer {
  std::uint64_t seq = 0;
  Mode mode = Mode::kActive;
  std::vector<ReportResult> results;
  std::vector<Task> work;
  std::vector<Stop> stop;
  std::vector<std::string> drop;
  std::string swap;  // the recipe that the server wants; empty: none
  std::vector<std::pair<std::string, std::uint64_t>> logs_to;
};
base::Result<SyncAnswer> read_sync(std::string_view json);

// A problem document; empty where the body is none.
struct Refusal {
  std::string code;
  std::string detail;
};
Refusal read_refusal(std::string_view json);

// How a task ended.
enum class Status : std::uint8_t { kOk, kError, kCancelled, kTimeout };

struct TaskError {
  std::string code;
  std::string message;
  bool retryable = true;
};

struct Ended {
  Status status = Status::kOk;
  base::Bytes payload = {};  // if it is kOk: a canonical value without the self-describe tag
  TaskError error = {};      // otherwise

  static Ended ok(base::Bytes payload) { return {.payload = std::move(payload)}; }
  static Ended failed(std::string code, std::string message, bool retryable = true) {
    return {.status = Status::kError, .error = {std::move(code), std::move(message), retryable}};
  }
};

struct Times {
  std::uint64_t started_ns = 0;
  std::uint64_t ended_ns = 0;
};

// Entries of `done` and of `back`, as JSON. Texts are cut to what the server takes, and made UTF-8.
std::string done_entry(std::string_view dispatch, const Ended& ended, const Times& times);
std::string back_entry(std::string_view dispatch, std::string_view reason,
                       base::ByteView resume = {});

// An entry as the outbox holds it: which list it belongs to, and its JSON.
enum class EntryList : char { kDone = 'D', kBack = 'B' };
base::Bytes held_entry(EntryList list, std::string_view json);
EntryList list_of(base::ByteView held);
std::string_view json_of(base::ByteView held);

struct LogLine {
  std::uint64_t time_ns = 0;
  bool is_error = false;  // of standard error
  std::string text;
};

struct LogPart {
  std::string dispatch;
  std::uint64_t from = 0;
  std::vector<LogLine> lines;
};

struct Progress {
  std::string dispatch;
  std::uint64_t number = 0;
  std::string json;
};

// What a worker with a registry says of its recipes.
struct RecipeReport {
  std::vector<std::string> serving = {};
  std::string swapping = {};  // the recipe that is being swapped in; empty: none
  bool can_swap = false;
  std::string problem = {};  // why the last swap was not done, or nothing is served; empty: none

  friend bool operator==(const RecipeReport&, const RecipeReport&) = default;
};

struct SyncBody {
  std::string session;
  std::uint64_t seq = 0;
  std::vector<std::string_view> done;  // entries
  std::vector<std::string_view> back;
  std::vector<Progress> progress;
  std::vector<LogPart> logs;
  std::vector<std::string> holding;
  std::uint64_t want = 0;
  std::uint64_t wait_ms = 0;
  bool is_draining = false;
  std::optional<RecipeReport> recipes;
};
std::string sync_body(const SyncBody& body);
std::string leave_body(std::string_view session);

// A value from JSON text: canonical, without the self-describe tag.
base::Result<base::Bytes> value_of_json(std::string_view json);

// The text as UTF-8 and at most `most` bytes; what is not UTF-8 is taken for Latin-1.
std::string plain_text(std::string_view text, std::size_t most);

}  // namespace holdfast::work
