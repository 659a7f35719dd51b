// SPDX-License-Identifier: Apache-2.0
// Halt: a part of a tick that did not come to its end for a reason that is not in its input: memory
// ran out, a blob is damaged, the code of a step threw an exception with a text of its own. Another
// machine, or this one tomorrow, would come to another end. So what was decided is data in the
// record: a replay reads it and decides the same, without running or reading anything.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace holdfast::kernel {

// The numbers are part of the format of records.
enum class HaltKind : std::uint8_t {
  kOutOfMemory = 0,  // of a step: its instance is paused, and the message stays the next one
  kUnreadable = 1,   // the same, as the state or the message of the step cannot be read
  kThrew = 2,        // of a step: its instance fails with this text
  kStateUnread = 3,  // of a touched instance: its state stands in the record by its blob
  kNoCode = 4,  // as kOutOfMemory: the program has no code for the version that it goes on with
};

struct Halt {
  HaltKind kind = HaltKind::kOutOfMemory;
  std::uint64_t at = 0;  // the delivery of the step, or the place of the instance in the record
  std::string text;      // kThrew: what the exception said

  friend bool operator==(const Halt&, const Halt&) = default;
};

// What an exception says is kept up to this size.
inline constexpr std::size_t kMaxThrownBytes = 1024;

// Whether the bytes of one blob are gone or damaged. Any other error is one of the whole store.
inline bool is_damage(const base::Error& error) noexcept {
  return error.code() == base::ErrorCode::kCorrupt || error.code() == base::ErrorCode::kNotFound;
}

}  // namespace holdfast::kernel
