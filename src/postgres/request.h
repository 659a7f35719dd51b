// SPDX-License-Identifier: Apache-2.0
// A request of the inbox, as the bridge reads it, and what was decided about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "postgres/connection.h"

namespace holdfast::postgres {

enum class Verb : std::uint8_t { kStart, kSend, kSignal, kCancel };

struct Request {
  std::string id;
  std::string due;  // with `seq` its place in the inbox
  std::string seq;
  Verb verb = Verb::kStart;
  std::string workflow;
  std::optional<std::string> key;
  std::string event;
  std::string body;  // JSON
  std::string target;
  std::string reason;
  std::string submitter;
  std::uint32_t submitter_oid = 0;  // 0: the schema is of version 1, which has no flows

  // Of a start: its submitter wants it cancelled already.
  bool is_cancelled = false;

  // Of a signal or a cancel: what became of the start: "pending" until the engine has it, or a
  // status of the instance; "gone" if it is not known any more.
  std::string target_state;
};

// Of holdfast.read_requests.
std::vector<Request> requests_of(const Rows& rows);

enum class Outcome : std::uint8_t {
  kLeft,  // not decided: it is tried again
  kAccepted,
  kRefused,
  kCancelled,  // a start that never ran
  kIgnored,    // its instance had ended, or never was
};

// As the inbox has it. Not for kLeft.
const char* name_of(Outcome outcome) noexcept;

struct Decision {
  std::string id;
  Outcome outcome = Outcome::kLeft;
  std::string detail;
};

}  // namespace holdfast::postgres
