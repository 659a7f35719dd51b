// SPDX-License-Identifier: Apache-2.0
#include "registry/state.h"

#include <gtest/gtest.h>

namespace holdfast::registry {
namespace {

// One member a line, so that a test can leave one out or put another in its place.
const char* const kWhole = R"({
  "version": 1,
  "workflows": [
    {
      "name": "train-3",
      "recipe": "llama-70b",
      "owner_pid": 4711,
      "owner_start_ns": 61893950000000,
      "owner_boot_id": "3f0c",
      "owner_pid_namespace": "pid:[4026531836]",
      "owner_pidfd_inode": 477390,
      "owner_nonce": "00112233445566778899aabbccddeeff",
      "started_at": "2026-01-05T10:30:00.000Z",
      "last_renewed_at": "2026-01-05T10:31:00.250Z",
      "renewed_since_boot_ns": 61900000000001,
      "ttl_seconds": 60,
      "preemptible": true,
      "preempt_signal_path": "preempt-train-3-001122334455",
      "preempt_requested_by": "ffeeddccbbaa99887766554433221100",
      "owner_host": {
        "rack": 7
      }
    },
    {
      "name": "serve",
      "recipe": "qwen",
      "owner_pid": 1,
      "owner_start_ns": 0,
      "owner_boot_id": "3f0c",
      "owner_pid_namespace": null,
      "owner_pidfd_inode": null,
      "owner_nonce": "11",
      "started_at": "1970-01-01T00:00:00.000Z",
      "last_renewed_at": "2026-01-05T10:31:00.250Z",
      "renewed_since_boot_ns": 0,
      "ttl_seconds": 31622400,
      "preemptible": false,
      "preempt_signal_path": null,
      "preempt_requested_by": null
    }
  ],
  "swap_in_progress": {
    "recipe": "qwen",
    "holder_pid": 4712,
    "holder_start_ns": 61893950000001,
    "holder_boot_id": "3f0c",
    "holder_pid_namespace": "pid:[4026531836]",
    "holder_pidfd_inode": 477391,
    "swap_id": "ffeeddccbbaa99887766554433221100",
    "started_at": "2026-01-05T10:31:05.000Z",
    "note": "from somebody else"
  },
  "site": [
    1,
    2.5,
    null
  ]
}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kWhole;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(RegistryState, file_holds_the_workflows_and_the_swap_marker) {
  const auto state = parse_state(kWhole);
  ASSERT_TRUE(state) << state.error().to_string();
  ASSERT_EQ(state->workflows.size(), 2u);
  const Workflow& workflow = state->workflows[0];
  EXPECT_EQ(workflow.name, "train-3");
  EXPECT_EQ(workflow.recipe, "llama-70b");
  EXPECT_EQ(workflow.owner.pid, 4711);
  EXPECT_EQ(workflow.owner.start_ns, 61893950000000);
  EXPECT_EQ(workflow.owner.boot_id, "3f0c");
  EXPECT_EQ(workflow.owner.id_space, "pid:[4026531836]");
  EXPECT_EQ(workflow.owner.pidfd_inode, 477390u);
  EXPECT_EQ(workflow.owner.nonce, "00112233445566778899aabbccddeeff");
  EXPECT_EQ(workflow.last_renewed_at_ns - workflow.started_at_ns, 60'250'000'000);
  EXPECT_EQ(workflow.renewed_since_boot_ns, 61900000000001);
  EXPECT_EQ(workflow.ttl_seconds, 60);
  EXPECT_TRUE(workflow.preemptible);
  EXPECT_EQ(workflow.signal_name, "preempt-train-3-001122334455");
  ASSERT_TRUE(state->swap);
  EXPECT_EQ(state->swap->recipe, "qwen");
  EXPECT_EQ(state->swap->holder.pid, 4712);
  EXPECT_EQ(state->swap->holder.start_ns, 61893950000001);
  EXPECT_EQ(state->swap->id(), workflow.preempt_requested_by);
}

TEST(RegistryState, round_trip_keeps_every_member_also_those_that_nobody_knows) {
  const auto state = parse_state(kWhole);
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_EQ(*to_json(*state), kWhole);
}

TEST(RegistryState, file_of_the_two_structures_alone_is_enough) {
  const auto state = parse_state(R"({"workflows": [], "swap_in_progress": null})");
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_TRUE(state->workflows.empty());
  EXPECT_FALSE(state->swap);
  EXPECT_TRUE(parse_state(R"({"workflows": []})"));
}

TEST(RegistryState, every_prefix_of_a_file_is_refused) {
  const std::string whole = kWhole;
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    const auto state = parse_state(whole.substr(0, size));
    ASSERT_FALSE(state) << size;
    ASSERT_EQ(state.error().code(), base::ErrorCode::kCorrupt) << size;
  }
}

TEST(RegistryState, what_is_missing_or_of_another_kind_is_refused_and_named) {
  const std::pair<std::string, std::string> kChanges[] = {
      {"\"name\": \"train-3\",", ""},
      {"\"recipe\": \"llama-70b\"", "\"recipe\": 7"},
      {"\"recipe\": \"llama-70b\"", "\"recipe\": \"\""},
      {"\"recipe\": \"llama-70b\"", "\"recipe\": \"a\\nb\""},
      {"\"recipe\": \"qwen\"", "\"recipe\": \"\\u001b[31m\""},
      {"\"name\": \"serve\"", "\"name\": \"\\u007f\""},
      {"\"name\": \"serve\"", "\"name\": \"" + std::string(256, 'a') + "\""},
      {"\"owner_nonce\": \"00112233445566778899aabbccddeeff\"", "\"owner_nonce\": \"\""},
      {"\"swap_id\": \"ffeeddccbbaa99887766554433221100\"", "\"swap_id\": \"a\\\"b\""},
      {"\"swap_id\": \"ffeeddccbbaa99887766554433221100\"",
       "\"swap_id\": \"" + std::string(65, 'a') + "\""},
      {"\"preempt_requested_by\": \"ffee", "\"preempt_requested_by\": \"\\nffee"},
      {"\"owner_pid\": 4711,", ""},
      {"\"owner_pid\": 4711", "\"owner_pid\": -1"},
      {"\"owner_start_ns\": 61893950000000", "\"owner_start_ns\": \"early\""},
      {"\"owner_boot_id\": \"3f0c\",", ""},
      {"\"owner_pidfd_inode\": 477390", "\"owner_pidfd_inode\": 1.5"},
      {"\"owner_nonce\": \"00112233445566778899aabbccddeeff\",", ""},
      {"\"started_at\": \"2026-01-05T10:30:00.000Z\"", "\"started_at\": \"yesterday\""},
      {"\"renewed_since_boot_ns\": 61900000000001,", ""},
      {"\"ttl_seconds\": 60", "\"ttl_seconds\": 0"},
      {"\"ttl_seconds\": 60", "\"ttl_seconds\": 31622401"},
      {"\"preemptible\": true", "\"preemptible\": 1"},
      {"\"preemptible\": true", "\"preemptible\": false"},
      {"\"preempt_signal_path\": \"preempt-train-3-001122334455\"",
       "\"preempt_signal_path\": \"/etc/passwd\""},
      {"\"preempt_signal_path\": \"preempt-train-3-001122334455\"",
       "\"preempt_signal_path\": \"workflows.json\""},
      {"\"preempt_signal_path\": \"preempt-train-3-001122334455\"",
       "\"preempt_signal_path\": null"},
      {"\"name\": \"serve\"", "\"name\": \"train-3\""},
      {"\"holder_pid\": 4712,", ""},
      {"\"swap_id\": \"ffeeddccbbaa99887766554433221100\",", ""},
      {"\"version\": 1", "\"version\": 2"},
      {"\"version\": 1", "\"version\": 1, \"version\": 1"},
      {"\"workflows\": [", "\"workflows\": {}, \"others\": ["},
      {"\"workflows\": [", "\"others\": ["},
      {"\"swap_in_progress\": {", "\"swap_in_progress\": 7, \"swap\": {"}};
  for (const auto& [from, to] : kChanges) {
    const auto state = parse_state(with(from, to));
    ASSERT_FALSE(state) << from << " -> " << to;
    EXPECT_EQ(state.error().code(), base::ErrorCode::kCorrupt) << from;
    EXPECT_NE(state.error().to_string().find('$'), std::string::npos)
        << "the place is not named: " << state.error().to_string();
  }
}

TEST(RegistryState, more_than_it_may_hold_is_not_written) {
  State state;
  Workflow workflow = parse_state(kWhole)->workflows[1];
  for (std::size_t i = 0; i <= kMaxWorkflows; ++i) {
    workflow.name = "w" + std::to_string(i);
    state.workflows.push_back(workflow);
  }
  EXPECT_EQ(to_json(state).error().code(), base::ErrorCode::kTooLarge);
  state.workflows.pop_back();
  EXPECT_TRUE(to_json(state));
  EXPECT_TRUE(parse_state(*to_json(state)));
}

TEST(RegistryName, one_that_cannot_be_shown_is_refused) {
  EXPECT_TRUE(check_name("name", "train-3 \xc3\xa4/b \xc2\xa0"));
  for (const std::string& name :
       {std::string(), std::string("a\nb"), std::string("\xff"), std::string("\x7f"),
        std::string("\xc2\x9b"), std::string(256, 'a'), std::string("a\0b", 3)})
    EXPECT_FALSE(check_name("name", name));
}

}  // namespace
}  // namespace holdfast::registry
