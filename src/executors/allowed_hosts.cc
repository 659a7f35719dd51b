// SPDX-License-Identifier: Apache-2.0
#include "executors/allowed_hosts.h"

#include <algorithm>
#include <charconv>

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

std::optional<AllowedHost> parse_allowed_host(std::string_view text) {
  constexpr std::string_view kPrivate = "/private";
  AllowedHost host;
  host.private_addresses = text.ends_with(kPrivate);
  if (host.private_addresses) text.remove_suffix(kPrivate.size());
  const bool has_brackets = text.starts_with('[');
  const std::size_t end = has_brackets ? text.find(']') : text.find(':');
  if (has_brackets && end == std::string_view::npos) return std::nullopt;
  host.name = text.substr(has_brackets ? 1 : 0, has_brackets ? end - 1 : end);
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(end);
  if (has_brackets) rest.remove_prefix(1);
  if (!rest.empty()) {
    if (!rest.starts_with(':')) return std::nullopt;
    const char* const last = rest.data() + rest.size();
    const auto read = std::from_chars(rest.data() + 1, last, host.port);
    if (read.ec != std::errc() || read.ptr != last || host.port == 0) return std::nullopt;
  }
  if (host.name.empty() || host.name.find_first_of("/ []@?#") != std::string::npos)
    return std::nullopt;
  std::ranges::transform(host.name, host.name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return host;
}

}  // namespace holdfast::executors
