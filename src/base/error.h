// SPDX-License-Identifier: Apache-2.0
// Error: why something could not be done, as a value. A code exists only where a caller reacts
// differently to it; `where` names the place (a path inside a value, a file and line), `message`
// says what is wrong there in one sentence.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace holdfast::base {

enum class ErrorCode : std::uint8_t {
  kInvalid,      // the input is wrong; the same input will be refused again
  kTooLarge,     // the input passes a limit; the same input will be refused again
  kNotFound,     // the thing named does not exist
  kConflict,     // the request contradicts the present state; trying later may help
  kUnavailable,  // full, busy or not ready; trying again helps
  kIo,           // the operating system refused; trying again may help
  kEnded,        // what was asked has ended, or was closed; another one must be opened first
  kCorrupt,      // stored bytes are not what was written; trying again does not help
};

std::string_view to_string(ErrorCode code) noexcept;
bool retry_may_help(ErrorCode code) noexcept;

// One pointer wide, so that a Result costs no more than its value on the good path.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string where, std::string message);
  Error(ErrorCode code, std::string message);

  ErrorCode code() const noexcept { return body_->code; }
  const std::string& where() const noexcept { return body_->where; }
  const std::string& message() const noexcept { return body_->message; }

  // "where: message", or the message alone where there is no place.
  std::string to_string() const;

  // The same error, seen from outside: "file.json" around "$.type" gives "file.json: $.type".
  Error within(std::string_view place) &&;

  // It comes from the operating system or a database, and may name files of this machine: kNotFound
  // then says that a file is missing, not that a caller named something that does not exist.
  bool is_of_system() const noexcept { return body_->origin != Origin::kOurs; }

  // The process or the machine has no file descriptors left. The code is kUnavailable, as on a full
  // disk, because trying again helps; but the disk is not what is short.
  bool lacks_descriptors() const noexcept { return body_->origin == Origin::kDescriptors; }

  enum class Origin : std::uint8_t { kOurs, kSystem, kDescriptors };
  Origin origin() const noexcept { return body_->origin; }
  Error from(Origin origin) &&;

 private:
  struct Body {
    ErrorCode code;
    std::string where;
    std::string message;
    Origin origin = Origin::kOurs;
  };
  std::unique_ptr<Body> body_;
};

inline Error invalid(std::string where, std::string message) {
  return {ErrorCode::kInvalid, std::move(where), std::move(message)};
}

}  // namespace holdfast::base
