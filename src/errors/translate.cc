// SPDX-License-Identifier: Apache-2.0
#include "errors/translate.h"

namespace holdfast::errors {

// Without a default, so that the compiler names a code that was forgotten. Behind the switch comes
// only a number that is no code.
ErrorCode outside(base::ErrorCode code) noexcept {
  switch (code) {
    case base::ErrorCode::kInvalid: return ErrorCode::kInvalid;
    case base::ErrorCode::kTooLarge: return ErrorCode::kTooLarge;
    case base::ErrorCode::kNotFound: return ErrorCode::kNotFound;
    case base::ErrorCode::kConflict: return ErrorCode::kConflict;
    case base::ErrorCode::kUnavailable: return ErrorCode::kUnavailable;
    case base::ErrorCode::kIo: return ErrorCode::kIo;
    case base::ErrorCode::kEnded: return ErrorCode::kEnded;
    case base::ErrorCode::kCorrupt: return ErrorCode::kCorrupt;
  }
  return ErrorCode::kCorrupt;
}

base::ErrorCode inside(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalid: return base::ErrorCode::kInvalid;
    case ErrorCode::kTooLarge: return base::ErrorCode::kTooLarge;
    case ErrorCode::kNotFound: return base::ErrorCode::kNotFound;
    case ErrorCode::kConflict: return base::ErrorCode::kConflict;
    case ErrorCode::kTimedOut:
    case ErrorCode::kUnavailable: return base::ErrorCode::kUnavailable;
    case ErrorCode::kEnded: return base::ErrorCode::kEnded;
    case ErrorCode::kIo: return base::ErrorCode::kIo;
    case ErrorCode::kCorrupt: return base::ErrorCode::kCorrupt;
  }
  return base::ErrorCode::kCorrupt;
}

// A file of ours that is missing is nothing that a caller has named.
Error outside(const base::Error& error) {
  const bool is_missing_file = error.is_of_system() && error.code() == base::ErrorCode::kNotFound;
  return {is_missing_file ? ErrorCode::kIo : outside(error.code()), error.to_string(),
          error.is_of_system()};
}

base::Error inside(const Error& error) { return {inside(error.code), error.message}; }

}  // namespace holdfast::errors
