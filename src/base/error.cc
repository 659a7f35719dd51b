// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <utility>

namespace holdfast::base {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kTooLarge: return "too_large";
    case ErrorCode::kNotFound: return "not_found";
    case ErrorCode::kConflict: return "conflict";
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kIo: return "io";
    case ErrorCode::kEnded: return "ended";
    case ErrorCode::kCorrupt: return "corrupt";
  }
  return "unknown";
}

bool retry_may_help(ErrorCode code) noexcept {
  return code == ErrorCode::kConflict || code == ErrorCode::kUnavailable || code == ErrorCode::kIo;
}

Error::Error(ErrorCode code, std::string where, std::string message)
    : body_(std::make_unique<Body>(Body{code, std::move(where), std::move(message)})) {}

Error::Error(ErrorCode code, std::string message)
    : Error(code, std::string(), std::move(message)) {}

std::string Error::to_string() const {
  return body_->where.empty() ? body_->message : body_->where + ": " + body_->message;
}

Error Error::within(std::string_view place) && {
  body_->where =
      body_->where.empty() ? std::string(place) : std::string(place) + ": " + body_->where;
  return std::move(*this);
}

Error Error::from(Origin origin) && {
  body_->origin = origin;
  return std::move(*this);
}

}  // namespace holdfast::base
