// SPDX-License-Identifier: Apache-2.0
// TraceContext: where something belongs in a trace, as W3C Trace Context has it: the trace, the
// span that caused it, and flags. Kept as 25 bytes; written as text in the header field
// traceparent.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace holdfast::base {

struct TraceContext {
  static constexpr std::size_t kBytes = 25;

  std::array<std::uint8_t, 16> trace{};
  std::array<std::uint8_t, 8> span{};
  std::uint8_t flags = 0;

  // Nothing: it is none. Of a later version, what this one knows.
  static std::optional<TraceContext> parse(std::string_view traceparent);
  static std::optional<TraceContext> of(ByteView bytes);

  std::string to_text() const;
  Bytes to_bytes() const;

  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

}  // namespace holdfast::base
