// SPDX-License-Identifier: Apache-2.0
// Role: what a client may do. A viewer looks; an operator also sends and controls; an admin also
// changes definitions and the server's own things. A worker performs effects: it sees those that
// are performed outside, reports what came of them, and may do nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::gateway {

// kToken is no role of a token, but what a route may need: any of the others.
// kEnrolled is none either: the worker that the path names, which shows its own secret.
enum class Role : std::uint8_t { kAnybody, kViewer, kOperator, kAdmin, kWorker, kToken, kEnrolled };

constexpr std::string_view name_of(Role role) noexcept {
  switch (role) {
    case Role::kAnybody: return "anybody";
    case Role::kViewer: return "viewer";
    case Role::kOperator: return "operator";
    case Role::kAdmin: return "admin";
    case Role::kWorker: return "worker";
    case Role::kToken: return "token";
    case Role::kEnrolled: return "enrolled";
  }
  return "";
}

// Of those that a token can have.
constexpr std::optional<Role> role_named(std::string_view name) noexcept {
  for (const Role role : {Role::kViewer, Role::kOperator, Role::kAdmin, Role::kWorker})
    if (name_of(role) == name) return role;
  return std::nullopt;
}

// Whether somebody with the role `has` may do what `needed` may.
constexpr bool allows(Role has, Role needed) noexcept {
  if (needed == Role::kAnybody || has == needed) return true;
  if (needed == Role::kToken) return has != Role::kAnybody;
  if (needed == Role::kEnrolled) return false;
  if (has == Role::kAnybody || has == Role::kWorker || needed == Role::kWorker) return false;
  return has > needed;
}

// Who asks.
struct Caller {
  std::string token = {};  // its id; empty: the server has none
  std::string name = {};   // of the token, for people
  Role role = Role::kAdmin;
};

}  // namespace holdfast::gateway
