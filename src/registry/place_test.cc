// SPDX-License-Identifier: Apache-2.0
#include "registry/place.h"

#include <gtest/gtest.h>

namespace holdfast::registry {
namespace {

TEST(SignalName, path_outside_the_folder_is_refused) {
  const Place place{"/data/gpu"};
  for (const char* path :
       {"/etc/passwd", "../preempt-x", "preempt-../x", "preempt-a/b", "/data/preempt-x",
        "/data/gpu/../preempt-x", "/data/gpu/sub/preempt-x", "/data/gpux/preempt-x", "", "preempt-",
        "workflows.json", ".swap.lock", "swap_log.jsonl", "/data/gpu/workflows.json", "preempt-a b",
        "preempt-\n"}) {
    EXPECT_FALSE(signal_name_of(place, path)) << path;
  }
  EXPECT_FALSE(signal_name_of(place, "preempt-" + std::string(193, 'x')));
}

TEST(SignalName, name_in_the_folder_is_taken_with_and_without_the_folder) {
  const Place place{"/data/gpu"};
  EXPECT_EQ(*signal_name_of(place, "preempt-x.1"), "preempt-x.1");
  EXPECT_EQ(*signal_name_of(place, "/data/gpu/preempt-x.1"), "preempt-x.1");
}

TEST(SignalName, made_up_name_is_a_good_one_whatever_the_workflow_is_called) {
  for (const std::string workflow : {"train-3", "../../etc", "a b\xc3\xa4/", "",
                                     "a-very-long-name-that-goes-on-and-on-and-on-and-on-and-on-and"
                                     "-on-and-on-and-on-and-on-and-on-and-on-and-on"}) {
    const std::string name = made_up_signal_name(workflow, "0123456789abcdef0123456789abcdef");
    EXPECT_TRUE(check_signal_name(name)) << name;
    EXPECT_TRUE(name.ends_with("-0123456789ab")) << name;
  }
}

}  // namespace
}  // namespace holdfast::registry
