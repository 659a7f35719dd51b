// SPDX-License-Identifier: Apache-2.0
// RequestParser: the bytes of a connection in, requests out. It does no I/O and knows no time. It
// is as strict as it can be about where a request ends: whatever two readers could take for
// different requests is refused, and the connection with it.
//
// One request at a time: bytes behind it stay with the caller until `begin_next`.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "gateway/limits.h"
#include "gateway/problem.h"
#include "gateway/request.h"

namespace holdfast::gateway {

class RequestParser {
 public:
  // `limits` must outlive it.
  explicit RequestParser(const Limits& limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;

  enum class State : std::uint8_t {
    kHeader,   // needs more bytes of the header
    kBody,     // the header is there; needs more bytes of the body
    kWhole,    // `request` is there
    kRefused,  // `problem` says why; nothing that follows can be trusted
  };

  // How many bytes it took from the front; those that it did not take come again, with more.
  std::size_t take(std::string_view bytes);

  State state() const noexcept;
  const Request& request() const noexcept;
  const Problem& problem() const noexcept;

  // The header is there, and the client waits to hear that it may send the body. Asked once.
  bool wants_continue() noexcept;

  std::size_t body_size() const noexcept;  // so far

  void begin_next();

  // Between two requests: gives away what was kept for the next one.
  void release_memory();

 private:
  bool take_header(std::string_view bytes);
  std::size_t read_header(std::string_view bytes);
  std::size_t take_body(std::string_view bytes);

  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace holdfast::gateway
