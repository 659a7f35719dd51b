// SPDX-License-Identifier: Apache-2.0
#include "gateway/access.h"

#include <algorithm>

namespace holdfast::gateway {
namespace {

constexpr std::string_view kBearer = "bearer ";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// "https://example.com:7411" of "example.com:7411".
bool is_origin_of(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.size() == scheme.size() + host.size() &&
        equals_ignoring_case(origin.substr(0, scheme.size()), scheme) &&
        equals_ignoring_case(origin.substr(scheme.size()), host))
      return true;
  }
  return false;
}

}  // namespace

bool is_loopback_host(std::string_view host) noexcept {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.rfind(':');
  std::string_view port;
  if (end != std::string_view::npos) {
    const std::size_t name = host.starts_with('[') ? end + 1 : end;
    port = host.substr(name);
    host = host.substr(0, name);
  }
  if (!port.empty() &&
      (port[0] != ':' || port.size() > 6 ||
       !std::ranges::all_of(port.substr(1), [](char c) { return c >= '0' && c <= '9'; })))
    return false;
  return equals_ignoring_case(host, "localhost") || host == "127.0.0.1" || host == "[::1]";
}

base::Result<void> Access::check_setup() const {
  if (is_loopback_ || !tokens_.all().empty()) return {};
  return base::invalid("",
                       "an address that others can reach needs tokens: holdfast token add makes "
                       "them; without any, listen on 127.0.0.1");
}

std::string_view Access::bearer_of(const Request& request) noexcept {
  const std::string_view shown = request.field(Field::kAuthorization);
  if (shown.size() <= kBearer.size() ||
      !equals_ignoring_case(shown.substr(0, kBearer.size()), kBearer))
    return {};
  return shown.substr(kBearer.size());
}

Caller Access::caller_of(const Request& request) const {
  if (is_open()) return {};
  const std::string_view shown = request.field(Field::kAuthorization);
  const Token* token =
      shown.size() <= kBearer.size() ? nullptr : tokens_.find(shown.substr(kBearer.size()));
  if (token == nullptr) return {.role = Role::kAnybody};
  return {token->id, token->name.empty() ? "token " + token->id : token->name, token->role};
}

std::optional<Problem> Access::check(const Request& request, Role needed) const {
  const std::string_view host = request.field(Field::kHost);
  if (is_open() && request.has_field(Field::kHost) && !is_loopback_host(host))
    return Problem{ProblemCode::kHostRefused, "without tokens only localhost may be asked"};
  if (is_open() && request.has_field(Field::kOrigin) &&
      !is_origin_of(request.field(Field::kOrigin), host))
    return Problem{ProblemCode::kOriginRefused, "without tokens no other origin may ask"};
  if (needed == Role::kEnrolled) {
    if (!bearer_of(request).empty()) return std::nullopt;
    return Problem{ProblemCode::kUnauthenticated, "the secret of the worker is needed"};
  }
  if (needed == Role::kAnybody || is_open()) return std::nullopt;
  const std::string_view shown = request.field(Field::kAuthorization);
  if (shown.empty()) return Problem{ProblemCode::kUnauthenticated, "there is no Authorization"};
  if (shown.size() <= kBearer.size() ||
      !equals_ignoring_case(shown.substr(0, kBearer.size()), kBearer))
    return Problem{ProblemCode::kUnauthenticated, "only Bearer tokens are taken"};
  const auto role = tokens_.role_of(shown.substr(kBearer.size()));
  if (!role) return Problem{ProblemCode::kUnauthenticated, "the token is not known"};
  if (allows(*role, needed)) return std::nullopt;
  return Problem{ProblemCode::kForbidden, "this needs the role " + std::string(name_of(needed)) +
                                              ", and the token has " + std::string(name_of(*role))};
}

}  // namespace holdfast::gateway
