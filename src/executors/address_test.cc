// SPDX-License-Identifier: Apache-2.0
#include "executors/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace holdfast::executors {
namespace {

bool judge(const std::string& text) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    const auto* address = reinterpret_cast<const sockaddr*>(&v4);
    EXPECT_EQ(address_text(address), text);
    return is_public(address);
  }
  EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr), 1) << text;
  return is_public(reinterpret_cast<const sockaddr*>(&v6));
}

TEST(Address, public_ones_are_public) {
  for (const char* text : {"1.1.1.1",         "8.8.8.8",         "9.255.255.255",
                           "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
                           "126.255.255.255", "128.0.0.0",       "169.253.255.255",
                           "172.15.255.255",  "172.32.0.0",      "192.0.1.0",
                           "192.167.255.255", "198.17.255.255",  "198.20.0.0",
                           "223.255.255.255", "2606:4700::1111", "2001:4860:4860::8888",
                           "2001:200::1",     "::ffff:8.8.8.8",  "64:ff9b::808:808",
                           "2002:808:808::1"}) {
    EXPECT_TRUE(judge(text)) << text;
  }
}

TEST(Address, all_others_are_not) {
  for (const char* text :
       {"0.0.0.0",       "0.1.2.3",          "10.0.0.0",        "10.255.255.255",
        "100.64.0.0",    "100.127.255.255",  "127.0.0.1",       "127.255.255.255",
        "169.254.0.0",   "169.254.169.254",  "172.16.0.0",      "172.31.255.255",
        "192.0.0.1",     "192.0.2.1",        "192.88.99.1",     "192.168.0.1",
        "198.18.0.1",    "198.19.255.255",   "198.51.100.1",    "203.0.113.1",
        "224.0.0.1",     "240.0.0.1",        "255.255.255.255", "::",
        "::1",           "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
        "::7f00:1",      "64:ff9b::7f00:1",  "64:ff9b:1::1",    "2002:7f00:1::1",
        "2002:a00:1::1", "2001::1",          "2001:db8::1",     "3fff::1",
        "100::1",        "fc00::1",          "fd12::1",         "fe80::1",
        "fec0::1",       "ff02::1",          "4000::1"}) {
    EXPECT_FALSE(judge(text)) << text;
  }
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_FALSE(is_public(&other));
}

}  // namespace
}  // namespace holdfast::executors
