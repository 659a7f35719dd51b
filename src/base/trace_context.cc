// SPDX-License-Identifier: Apache-2.0
#include "base/trace_context.h"

#include <algorithm>

#include "base/hex.h"

namespace holdfast::base {
namespace {

// "00-" and 32, 16 and 2 digits with a dash between them.
constexpr std::size_t kTextBytes = 55;
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// A trace and a span of zeros stand for none.
bool is_good(const TraceContext& context) {
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  return !std::all_of(context.trace.begin(), context.trace.end(), is_zero) &&
         !std::all_of(context.span.begin(), context.span.end(), is_zero);
}

}  // namespace

std::optional<TraceContext> TraceContext::parse(std::string_view text) {
  if (text.size() < kTextBytes) return std::nullopt;
  for (std::size_t i = 0; i < kTextBytes; ++i) {
    const bool is_dash = i + 1 == kTraceAt || i + 1 == kSpanAt || i + 1 == kFlagsAt;
    if (is_dash ? text[i] != '-' : !is_lower_hex(text[i])) return std::nullopt;
  }
  const std::string_view version = text.substr(0, 2);
  if (version == "ff") return std::nullopt;
  if (text.size() > kTextBytes && (version == "00" || text[kTextBytes] != '-')) return std::nullopt;
  TraceContext context;
  const bool is_read = hex_decode(text.substr(kTraceAt, 32), context.trace) &&
                       hex_decode(text.substr(kSpanAt, 16), context.span) &&
                       hex_decode(text.substr(kFlagsAt, 2), {&context.flags, 1});
  if (!is_read || !is_good(context)) return std::nullopt;
  return context;
}

std::optional<TraceContext> TraceContext::of(ByteView bytes) {
  if (bytes.size() != kBytes) return std::nullopt;
  TraceContext context;
  std::copy_n(bytes.begin(), context.trace.size(), context.trace.begin());
  std::copy_n(bytes.begin() + 16, context.span.size(), context.span.begin());
  context.flags = bytes[kBytes - 1];
  if (!is_good(context)) return std::nullopt;
  return context;
}

std::string TraceContext::to_text() const {
  return "00-" + to_hex(trace) + "-" + to_hex(span) + "-" + to_hex({&flags, 1});
}

Bytes TraceContext::to_bytes() const {
  Bytes bytes(trace.begin(), trace.end());
  bytes.insert(bytes.end(), span.begin(), span.end());
  bytes.push_back(flags);
  return bytes;
}

}  // namespace holdfast::base
