// SPDX-License-Identifier: Apache-2.0
// Spec: everything that a user says of a schedule: when it is due, which workflow it starts and
// with what, and what happens when a start meets one that still runs or comes too late.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "schedules/rule.h"

namespace holdfast::schedules {

// What a due time does while an earlier run of the schedule has not ended.
enum class Overlap : std::uint8_t {
  kSkip,    // it is skipped
  kQueue,   // it waits for the end of the earlier run
  kAllow,   // it starts beside it
  kCancel,  // the earlier run is cancelled, and it starts when that has ended
};

// What becomes of due times that passed while the server was down.
enum class CatchUp : std::uint8_t {
  kNone,    // they are skipped
  kLatest,  // the last of them is started, the others are skipped
  kAll,     // all of them are started
};

std::string_view name_of(Overlap overlap) noexcept;
std::string_view name_of(CatchUp catch_up) noexcept;
std::optional<Overlap> overlap_named(std::string_view name) noexcept;
std::optional<CatchUp> catch_up_named(std::string_view name) noexcept;

struct Spec {
  Rule rule;
  std::string workflow;
  std::string event;  // a schema
  base::Bytes value;  // canonical, without tag; its texts may have placeholders
  std::string key = "{schedule}@{due}";
  Overlap overlap = Overlap::kSkip;
  CatchUp catch_up = CatchUp::kLatest;
  std::uint64_t window_ns = 24ULL * 3600 * kSecondNs;  // older due times are not caught up
  std::uint64_t jitter_ns = 0;  // a start is delayed by up to this, always the same for a due time

  friend bool operator==(const Spec&, const Spec&) = default;
};

void write_spec(codec::Buffer& out, const Spec& spec);
std::optional<Spec> read_spec(codec::View value);

base::Result<void> check(const Spec& spec);

// What is wrong with the name of a schedule, or nothing: 1 to 100 letters, digits and ".-_",
// beginning with a letter or digit.
std::optional<std::string> name_problem(std::string_view name);

// "2026-11-18T06:00:00Z"; with nine digits of fraction if it has any.
std::string due_text(std::uint64_t due_ns);

// Texts with {schedule}, {due} and {key} replaced. {key} is not replaced in keys.
struct Placeholders {
  std::string_view schedule;
  std::string due;
  std::string key;
};
std::string fill_text(std::string_view text, const Placeholders& with);
void fill_value(codec::View value, const Placeholders& with, codec::Buffer& out);

// The key of the instance that a due time starts, and the value that it starts with.
struct Start {
  std::string key;
  base::Bytes value;
};
Start start_of(const Spec& spec, std::string_view schedule, std::uint64_t due_ns);

// How much later than `due_ns` it starts: from 0 to the jitter, decided by both names.
std::uint64_t delay_of(const Spec& spec, std::string_view schedule, std::uint64_t due_ns);

}  // namespace holdfast::schedules
