// SPDX-License-Identifier: Apache-2.0
// Schedules: starts of workflows at times: by a cron expression in a time zone, at intervals, or at
// one moment. Each due time starts one instance, once, whatever is killed when.
//
//   holdfast::Schedules schedules(*engine);
//   auto added = schedules.add({.name = "nightly",
//                               .cron = "30 2 * * *",
//                               .zone = "Europe/Berlin",
//                               .workflow = "shop/Report@1",
//                               .input = R"({"id":"{key}"})"});
//
// The instance has the key `key`, in which {schedule} and {due} are replaced. In texts of the input
// {key} is replaced, too.
//
// What a call returns is durable. All of it is for any thread. Forms with `then` call it once, as
// those of the engine do; the others wait, and are not for callbacks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "holdfast/engine.h"

namespace holdfast {

// What a due time does while an earlier run of the schedule has not ended.
enum class ScheduleOverlap : std::uint8_t {
  kSkip,    // it is skipped
  kQueue,   // it starts when the earlier run has ended; 100 may wait, more are skipped
  kAllow,   // it starts beside it; beside 100 it is skipped
  kCancel,  // the earlier run is cancelled, and it starts when that has ended
};

// What becomes of due times that passed while the server was down.
enum class ScheduleCatchUp : std::uint8_t {
  kNone,    // they are missed; 30 s late is still on time
  kLatest,  // the last of them is started
  kAll,     // all of them are started, in order
};

struct ScheduleSpec {
  std::string name = {};  // 1 to 100 letters, digits and ".-_"

  // One of the three. cron has 5 fields, 6 with seconds in front, or is a name such as "@daily".
  std::string cron = {};
  std::chrono::nanoseconds every{0};  // from 1 s
  Time at{};

  std::string zone = "UTC";  // of cron: a name of the tz database
  Time from{};               // nothing is due before; intervals begin here
  Time until{};              // nothing is due after

  std::string workflow = {};
  std::string event = {};    // empty: the first one that the workflow subscribes to
  std::string input = "{}";  // the event's value as JSON
  Bytes value = {};          // or as a canonical value, if it is not empty
  std::string key = {};      // empty: "{schedule}@{due}"

  ScheduleOverlap overlap = ScheduleOverlap::kSkip;
  ScheduleCatchUp catch_up = ScheduleCatchUp::kLatest;
  std::chrono::nanoseconds catch_up_window = std::chrono::hours(24);  // older ones are missed
  std::chrono::nanoseconds jitter{0};  // starts are spread over this time; up to a day
  bool is_paused = false;              // it begins paused
};

// What became of a due time.
struct ScheduleDue {
  std::uint64_t due_ns = 0;
  std::string outcome;  // running, completed, failed, cancelled, skipped, missed
  std::string key;      // of the instance; empty: none was started
  std::string note;     // why it was skipped, missed or failed
};

struct ScheduleInfo {
  ScheduleSpec spec;          // `value` is what is started with; `input` is empty
  std::string status;         // active, paused, removing (its last runs have not ended), ended
  std::uint64_t next_ns = 0;  // 0: nothing is due, or it is being found out
  std::string error;          // why the next due time is not known
  std::uint64_t started = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t skipped = 0;
  std::uint64_t missed = 0;
  std::vector<std::string> running;   // keys
  std::vector<std::uint64_t> queued;  // due times
  std::vector<ScheduleDue> recent;    // the last 20, oldest first
};

struct ScheduleList {
  std::vector<ScheduleInfo> schedules;
  std::uint64_t next = 0;  // where to go on; 0: there are no more
};

enum class ScheduleAction : std::uint8_t {
  kPause,            // due times that pass meanwhile are missed
  kResume,           //
  kRun,              // now, beside its due times; the overlap policy holds
  kRemove,           // runs go on; it is gone when they have ended
  kRemoveAndCancel,  // its runs are cancelled, too
};

class Schedules {
 public:
  template <class T>
  using Then = Engine::Then<T>;

  // The engine must outlive what is under way.
  explicit Schedules(Engine& engine) noexcept : engine_(engine) {}

  // Adds a schedule, or replaces one of the same name if `replaces` says so. The same again changes
  // nothing. kConflict: another one has this name. kInvalid: the message names the place.
  void add(const ScheduleSpec& spec, bool replaces, Then<ScheduleInfo> then);
  Result<ScheduleInfo> add(const ScheduleSpec& spec, bool replaces = false);

  // kNotFound: there is no such schedule. kConflict: it has ended.
  void change(const std::string& name, ScheduleAction action, Then<Done> then);
  Result<Done> change(const std::string& name, ScheduleAction action);

  void schedule(const std::string& name, Then<ScheduleInfo> then);
  Result<ScheduleInfo> schedule(const std::string& name);

  // From the index of the history, changed last first; see Engine::list_raw.
  void list(std::uint64_t after, std::size_t limit, Then<ScheduleList> then);
  Result<ScheduleList> list(std::uint64_t after = 0, std::size_t limit = 1000);

  // The next due times of a rule, from `after` on, without a schedule. Up to 1000.
  static Result<std::vector<Time>> preview(const ScheduleSpec& spec, Time after, std::size_t count);

 private:
  Engine& engine_;
};

}  // namespace holdfast
