// SPDX-License-Identifier: Apache-2.0
#include "executors/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace holdfast::executors {
namespace {

struct Range4 {
  std::uint32_t network;
  int bits;
};

constexpr std::uint32_t ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// The IANA registry of special-purpose addresses, and multicast.
constexpr std::array kNotPublic4 = {
    Range4{ip(0, 0, 0, 0), 8},        // this network
    Range4{ip(10, 0, 0, 0), 8},       // private
    Range4{ip(100, 64, 0, 0), 10},    // behind a carrier's translation
    Range4{ip(127, 0, 0, 0), 8},      // loopback
    Range4{ip(169, 254, 0, 0), 16},   // link local
    Range4{ip(172, 16, 0, 0), 12},    // private
    Range4{ip(192, 0, 0, 0), 24},     // protocol assignments
    Range4{ip(192, 0, 2, 0), 24},     // documentation
    Range4{ip(192, 88, 99, 0), 24},   // 6to4 relays
    Range4{ip(192, 168, 0, 0), 16},   // private
    Range4{ip(198, 18, 0, 0), 15},    // benchmarks
    Range4{ip(198, 51, 100, 0), 24},  // documentation
    Range4{ip(203, 0, 113, 0), 24},   // documentation
    Range4{ip(224, 0, 0, 0), 4},      // multicast
    Range4{ip(240, 0, 0, 0), 4},      // reserved, broadcast
};

bool is_public4(std::uint32_t address) {
  return std::none_of(kNotPublic4.begin(), kNotPublic4.end(), [&](const Range4& range) {
    return (address ^ range.network) >> (32 - range.bits) == 0;
  });
}

using Address6 = std::array<std::uint8_t, 16>;

std::uint32_t part4(const Address6& address, std::size_t at) {
  return ip(address[at], address[at + 1], address[at + 2], address[at + 3]);
}

template <std::size_t kSize>
bool starts_with(const Address6& address, const std::array<std::uint8_t, kSize>& prefix) {
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 12> kNat64 = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
constexpr std::array<std::uint8_t, 2> k6to4 = {0x20, 0x02};
constexpr std::array<std::uint8_t, 4> kDocumentation = {0x20, 0x01, 0x0d, 0xb8};

bool is_public6(const Address6& address) {
  if (starts_with(address, kMapped) || starts_with(address, kNat64))
    return is_public4(part4(address, 12));
  if (starts_with(address, k6to4)) return is_public4(part4(address, 2));
  if ((address[0] & 0xe0) != 0x20) return false;  // 2000::/3 is what is given out
  if (address[0] == 0x20 && address[1] == 0x01 && address[2] < 0x02) return false;  // 2001::/23
  if (address[0] == 0x3f && address[1] == 0xff && address[2] < 0x10) return false;  // 3fff::/20
  return !starts_with(address, kDocumentation);
}

}  // namespace

bool is_public(const sockaddr* address) noexcept {
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    return is_public4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    Address6 bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return is_public6(bytes);
  }
  return false;
}

std::string address_text(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, address, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  } else {
    return "an address of an unknown kind";
  }
  return text.data();
}

}  // namespace holdfast::executors
