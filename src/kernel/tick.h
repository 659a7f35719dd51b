// SPDX-License-Identifier: Apache-2.0
// Tick: one input of a world. Whatever a step may know of the outside comes in with it. Ticks
// borrow their bytes from the caller; the reducer copies what it keeps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/mail.h"

namespace holdfast::kernel {

using Entropy = std::array<std::uint8_t, 16>;

// An event. Its value was made canonical against its schema before it became a tick, and stands
// here without the self-describe tag.
struct EventArrived {
  std::string_view schema;
  base::ByteView value;
  std::string_view id;  // empty: none. A repeated id gets the first answer again.
};

// The terminal result of an intent, as its executor gave it: the payload is checked here.
struct ReceiptArrived {
  base::Hash intent;
  ReceiptStatus status = ReceiptStatus::kOk;
  base::ByteView payload;  // CBOR
};

// A sign of life of an open intent.
struct ProgressArrived {
  base::Hash intent;
  std::uint64_t sequence = 0;  // from 1
  std::string_view kind;
  base::ByteView payload;  // CBOR
};

// Goes on with mail that a tick before left undelivered.
struct Continue {};

enum class Control : std::uint8_t { kCancel, kPause, kResume };

// Somebody's word about one instance.
struct ControlRequested {
  Control control = Control::kCancel;
  std::string_view workflow;
  base::ByteView key;  // canonical; empty if the workflow has no key
  std::string_view reason;
};

struct Tick {
  std::uint64_t time_ns = 0;
  Entropy entropy{};
  std::variant<EventArrived, ReceiptArrived, ProgressArrived, Continue, ControlRequested> input;
};

}  // namespace holdfast::kernel
