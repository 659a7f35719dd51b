// SPDX-License-Identifier: Apache-2.0
// AllowedHosts: where requests may go. What is not listed is refused, and so an empty list refuses
// everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::executors {

struct AllowedHost {
  // "api.example.com", an address ("10.0.0.7", "::1" without brackets), "*.example.com" for
  // everything below example.com, or "*". In lower case.
  std::string name;
  std::uint16_t port = 0;          // 0: any
  bool private_addresses = false;  // it may have an address that is not public
};

// "api.example.com", "*.example.com:443", "127.0.0.1:8080/private", "[::1]:80/private". Nothing:
// the text is not such a host.
std::optional<AllowedHost> parse_allowed_host(std::string_view text);

// The first that fits; null: none. The host in lower case, without brackets.
const AllowedHost* find_allowed(const std::vector<AllowedHost>& hosts, std::string_view host,
                                std::uint16_t port);

}  // namespace holdfast::executors
