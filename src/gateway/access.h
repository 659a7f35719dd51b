// SPDX-License-Identifier: Apache-2.0
// Access: whether a request may be answered at all. Without tokens a server listens on loopback
// only and is open, but for pages of other origins that a browser lets send: the Host must be one
// of loopback, and an Origin, where there is one, the server's own. With tokens, whoever has one
// may do what its role may.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/problem.h"
#include "gateway/request.h"
#include "gateway/role.h"
#include "gateway/tokens.h"

namespace holdfast::gateway {

class Access {
 public:
  // `is_loopback`: nobody but this machine can connect.
  Access(Tokens tokens, bool is_loopback) : tokens_(std::move(tokens)), is_loopback_(is_loopback) {}

  // kInvalid: a server beyond loopback must have tokens.
  base::Result<void> check_setup() const;

  bool is_open() const noexcept { return !is_shut_ && tokens_.all().empty(); }

  // Why not, if it may not. For kEnrolled somebody else knows the secret: this only asks for one.
  std::optional<Problem> check(const Request& request, Role needed) const;

  // What follows "Bearer" in Authorization; empty: nothing does.
  static std::string_view bearer_of(const Request& request) noexcept;

  // Who sent a request that was let in.
  Caller caller_of(const Request& request) const;

  // Grows whenever somebody may have lost what they had.
  std::uint64_t changes() const noexcept { return changes_; }

  void set_tokens(Tokens tokens) {
    ++changes_;
    // A server that had tokens is not open because somebody has removed the file.
    is_shut_ = is_shut_ || !tokens_.all().empty();
    tokens_ = std::move(tokens);
  }
  // The file cannot be read: nobody is let in.
  void shut() {
    ++changes_;
    is_shut_ = true;
    tokens_ = {};
  }

 private:
  Tokens tokens_;
  bool is_loopback_;
  bool is_shut_ = false;
  std::uint64_t changes_ = 0;
};

// Whether the Host field names this machine itself, with a port or without.
bool is_loopback_host(std::string_view host) noexcept;

}  // namespace holdfast::gateway
