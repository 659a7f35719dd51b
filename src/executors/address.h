// SPDX-License-Identifier: Apache-2.0
// Which addresses belong to the public internet. Everything else (loopback, private networks, link
// local with the services that clouds have there, multicast, what is reserved) is refused unless a
// host is allowed to have such an address. IPv6 addresses that hold an IPv4 address (mapped, NAT64,
// 6to4) are judged by that one.
#pragma once

#include <sys/socket.h>

#include <string>

namespace holdfast::executors {

bool is_public(const sockaddr* address) noexcept;

// For messages: the address without the port.
std::string address_text(const sockaddr* address);

}  // namespace holdfast::executors
