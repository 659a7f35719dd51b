// SPDX-License-Identifier: Apache-2.0
// What workers and the desk say to each other, without the form that it has on the wire
// (docs/worker-protocol.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dispatch/candidate.h"
#include "dispatch/deliveries.h"
#include "dispatch/offer.h"
#include "holdfast/effect.h"
#include "holdfast/types.h"

namespace holdfast::workers {

inline constexpr std::uint64_t kProtocol = 1;

// Bounds that workers are told, or that the page names.
inline constexpr std::size_t kMaxBatch = 256;
inline constexpr std::size_t kMaxHolding = 65'536;
inline constexpr std::size_t kMaxDispatchBytes = 128;
inline constexpr std::size_t kMaxProcessBytes = 64;
inline constexpr std::size_t kMaxErrorCodeBytes = 128;
inline constexpr std::size_t kMaxErrorMessageBytes = 4096;
inline constexpr std::size_t kMaxSmallValueBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxLogEntries = 256;
inline constexpr std::size_t kMaxLogLines = 1000;
inline constexpr std::size_t kMaxLogLineBytes = std::size_t{8} << 10;
inline constexpr std::size_t kMaxSwapProblemBytes = 1024;

// Inputs of one answer as JSON: workers take an answer of 16 MiB.
inline constexpr std::size_t kMaxInputsBytes = std::size_t{14} << 20;

// A dispatch as the worker wrote it. One that cannot be ours is stale.
struct NamedDispatch {
  std::string text = {};
  std::optional<dispatch::Dispatch> ours = {};
};

// Why a request was not taken, beside what an engine refuses.
enum class Refused : std::uint8_t { kNo, kUnknown, kNameTaken, kSession, kSuperseded };

struct EnrolRequest {
  std::string node = {};
  std::string name = {};
  std::string secret = {};
  dispatch::Offer offer = {};
};

struct EnrolAnswer {
  Refused refused = Refused::kNo;
  std::string worker = {};
  std::string mode = {};
  bool is_new = false;
};

struct SessionRequest {
  std::string worker = {};
  std::string process = {};
  bool is_first = false;
  std::vector<NamedDispatch> holding = {};
};

struct SessionAnswer {
  Refused refused = Refused::kNo;
  std::string session = {};
  std::vector<std::string> keep = {};
  std::vector<std::string> drop = {};
  std::string mode = {};
};

struct TaskFailure {
  std::string code = {};
  std::string message = {};
  bool is_retryable = true;
  Bytes details = {};  // any value, canonical, without tag; empty: none
};

struct DoneReport {
  NamedDispatch d = {};
  Status status = Status::kOk;
  Bytes payload = {};      // of one that is ok: any value, canonical, without tag
  TaskFailure error = {};  // of all others
};

enum class BackReason : std::uint8_t { kDrain, kRefused, kYield };

struct BackReport {
  NamedDispatch d = {};
  BackReason reason = BackReason::kDrain;
  Bytes resume = {};
};

struct ProgressReport {
  NamedDispatch d = {};
  std::uint64_t number = 0;
  Bytes payload = {};
};

struct LogLine {
  std::uint64_t time_ns = 0;
  bool is_error = false;  // of standard error
  std::string text = {};
};

struct LogReport {
  NamedDispatch d = {};
  std::uint64_t from = 0;
  std::vector<LogLine> lines = {};
};

struct SyncRequest {
  std::string worker = {};
  std::string session = {};
  std::uint64_t seq = 0;
  std::vector<DoneReport> done = {};
  std::vector<BackReport> back = {};
  std::vector<ProgressReport> progress = {};
  std::vector<LogReport> logs = {};
  std::vector<NamedDispatch> holding = {};
  std::uint32_t want = 0;
  std::uint64_t wait_ms = 0;
  bool is_draining = false;
  std::optional<dispatch::RecipeState> recipes = {};  // of a worker with a registry

  bool has_reports() const noexcept { return !done.empty() || !back.empty(); }
};

struct ReportResult {
  enum class Kind : std::uint8_t { kOk, kStale, kRefused };
  std::string d = {};
  Kind kind = Kind::kStale;
  std::string code = {};  // kRefused
  std::string detail = {};
};

struct WorkItem {
  std::string d = {};
  Hash intent = {};
  std::string type = {};
  std::string queue = {};
  std::string graph = {};
  std::uint64_t task = 0;
  std::string name = {};
  std::uint64_t attempt = 1;
  std::uint64_t timeout_ms = 0;
  Bytes input = {};
  std::vector<std::uint32_t> devices = {};
  std::string recipe = {};
  bool is_preemptible = false;
  Bytes resume = {};
  Bytes trace = {};
};

struct StopItem {
  std::string d = {};
  std::string reason = {};
  std::uint64_t grace_ms = 0;
};

struct SyncAnswer {
  Refused refused = Refused::kNo;
  std::uint64_t seq = 0;
  std::string mode = {};
  std::vector<ReportResult> results = {};
  std::vector<WorkItem> work = {};
  std::vector<StopItem> stop = {};
  std::vector<std::string> drop = {};
  std::string swap = {};  // the recipe that it is to swap to; empty: none
  std::vector<std::pair<std::string, std::uint64_t>> logs_to = {};
};

struct LeaveRequest {
  std::string worker = {};
  std::string session = {};
};

struct LeaveAnswer {
  Refused refused = Refused::kNo;
};

}  // namespace holdfast::workers
