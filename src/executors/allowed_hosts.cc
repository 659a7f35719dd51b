// SPDX-License-Identifier: Apache-2.0
#include "executors/allowed_hosts.h"

#include <algorithm>

namespace holdfast::executors {
namespace {

bool fits(std::string_view pattern, std::string_view host) {
  if (pattern == "*") return true;
  if (!pattern.starts_with("*.")) return pattern == host;
  const std::string_view below = pattern.substr(1);  // with the dot
  return host.size() > below.size() && host.ends_with(below);
}

}  // namespace

const AllowedHost* find_allowed(const std::vector<AllowedHost>& hosts, std::string_view host,
                                std::uint16_t port) {
  const auto found = std::find_if(hosts.begin(), hosts.end(), [&](const AllowedHost& allowed) {
    return (allowed.port == 0 || allowed.port == port) && fits(allowed.name, host);
  });
  return found == hosts.end() ? nullptr : &*found;
}

}  // namespace holdfast::executors
