// SPDX-License-Identifier: Apache-2.0
// For the tests over random ticks: what came of a tick, and how an instance stands, as text, so
// that the world and the model can be compared, and a difference can be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hex.h"
#include "kernel/cell.h"

namespace holdfast::kernel::testing {

using Name = std::pair<std::string, std::string>;  // of an instance: workflow, canonical key

struct Told {
  std::string answer;
  std::vector<std::string> commands;

  friend bool operator==(const Told&, const Told&) = default;
};

inline bool is_answer(MailKind kind) {
  return kind == MailKind::kReceipt || kind == MailKind::kRejected;
}

inline std::string words(const Name& name) {
  return name.first + " " + base::to_hex(base::as_bytes(name.second));
}

// Of a tick that was accepted: what is answered then, and when it comes again.
inline std::string reached(std::uint64_t record, std::uint32_t delivered, std::uint32_t ignored,
                           bool unrouted) {
  return std::to_string(record) + ", delivered " + std::to_string(delivered) + ", ignored " +
         std::to_string(ignored) + (unrouted ? ", unrouted" : "");
}

inline std::string accepted(const std::string& whom) { return "accepted " + whom; }
inline std::string repeated(const std::string& whom) { return "repeated " + whom; }
inline std::string repeated(std::uint64_t record) { return repeated(reached(record, 0, 0, false)); }
inline std::string repeated(std::uint64_t record, ReceiptStatus settled) {
  return repeated(record) + " " + std::string(name_of(settled));
}

inline std::string refused(base::ErrorCode code) {
  return "refused " + std::string(base::to_string(code));
}

inline Status status_of(Phase phase, bool waits) {
  constexpr Status kEnds[] = {Status::kRunning, Status::kCompleted, Status::kFailed,
                              Status::kCancelled};
  return waits ? Status::kWaiting : kEnds[static_cast<std::size_t>(phase)];
}

// How an instance stands; its intents by their numbers.
inline std::string standing(Status status, bool paused, const std::vector<std::size_t>& intents,
                            std::size_t mail) {
  std::string text(name_of(status));
  if (paused) text += ", paused";
  for (const std::size_t number : intents) text += ", intent " + std::to_string(number);
  return text + ", mail " + std::to_string(mail);
}

inline std::string opens(std::string_view effect, const Name& origin, std::string_view script) {
  return "open " + std::string(effect) + " for " + words(origin) + ": " + std::string(script);
}

inline std::string stops(std::size_t intent) { return "stop " + std::to_string(intent); }

// Effects that run an instance have the number of that one, from here on: an instance runs one of a
// name at a time.
inline constexpr std::size_t kFirstRun = 1'000'000;
inline std::size_t run_number(std::string_view child) {
  return kFirstRun + static_cast<std::size_t>(child.back() - '0');
}

inline constexpr char kContinues[] = "continue";

}  // namespace holdfast::kernel::testing
