// SPDX-License-Identifier: Apache-2.0
// Request: one request as it came, taken apart but not yet understood. All of it borrows from the
// parser that made it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::gateway {

enum class Method : std::uint8_t { kGet, kHead, kPost, kPut, kDelete, kOther };

// The header fields that anybody here looks at; all others are read and let go of.
enum class Field : std::uint8_t {
  kHost,
  kContentType,
  kContentEncoding,
  kAccept,
  kAcceptEncoding,
  kIfNoneMatch,
  kAuthorization,
  kIdempotencyKey,
  kOrigin,
  kLastEventId,
  kTraceparent,
  kCeSpecVersion,
  kCeId,
  kCeSource,
  kCeType,
};
inline constexpr std::size_t kFields = 15;

struct Request {
  Method method = Method::kOther;
  std::string_view target;
  std::array<std::string_view, kFields> fields{};
  std::array<bool, kFields> has{};
  std::string_view body;
  bool has_body = false;  // the header says that one follows; it may turn out to be empty
  bool keep_alive = false;
  unsigned minor_version = 1;  // of HTTP/1

  std::string_view field(Field name) const noexcept {
    return fields[static_cast<std::size_t>(name)];
  }
  bool has_field(Field name) const noexcept { return has[static_cast<std::size_t>(name)]; }
};

}  // namespace holdfast::gateway
