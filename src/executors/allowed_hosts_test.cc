// SPDX-License-Identifier: Apache-2.0
#include "executors/allowed_hosts.h"

#include <gtest/gtest.h>

namespace holdfast::executors {
namespace {

TEST(AllowedHosts, a_name_is_itself_a_star_is_below_and_a_port_is_one) {
  const std::vector<AllowedHost> hosts = {
      {"a.example"}, {"*.b.example"}, {"c.example", 443}, {"::1"}};
  EXPECT_TRUE(find_allowed(hosts, "a.example", 80));
  EXPECT_FALSE(find_allowed(hosts, "x.a.example", 80));
  EXPECT_FALSE(find_allowed(hosts, "a.example.", 80));
  EXPECT_TRUE(find_allowed(hosts, "x.b.example", 80));
  EXPECT_TRUE(find_allowed(hosts, "y.x.b.example", 80));
  EXPECT_FALSE(find_allowed(hosts, "b.example", 80));
  EXPECT_FALSE(find_allowed(hosts, ".b.example", 80));
  EXPECT_FALSE(find_allowed(hosts, "evilb.example", 80));
  EXPECT_TRUE(find_allowed(hosts, "c.example", 443));
  EXPECT_FALSE(find_allowed(hosts, "c.example", 80));
  EXPECT_TRUE(find_allowed(hosts, "::1", 80));
  EXPECT_FALSE(find_allowed({}, "a.example", 80));
  EXPECT_TRUE(find_allowed({{"*"}}, "a.example", 80));
}

}  // namespace
}  // namespace holdfast::executors
