// SPDX-License-Identifier: Apache-2.0
#include "registry/session.h"

#include "registry/swap_log.h"
#include "registry/testing.h"

namespace holdfast::registry {
namespace {

using base::ErrorCode;
using env::DiskOperation;
using testing::Actor;
using testing::code;
using testing::kSecond;
using testing::Machine;
using testing::trouble;

struct SessionTest : ::testing::Test {
  Machine machine;
  Actor a{machine, 50};
  Actor b{machine, 51};
};

TEST_F(SessionTest, every_change_waits_for_the_lock_and_gives_up_in_time) {
  ASSERT_TRUE(a.lease("train", "llama", true));
  const auto lock = Session::open(a.site());
  ASSERT_TRUE(lock);
  const std::int64_t before = machine.clock.since_boot_ns();
  EXPECT_EQ(code(b.lease("other", "llama")), ErrorCode::kUnavailable);
  EXPECT_GE(machine.clock.since_boot_ns() - before, 30 * kSecond);
  EXPECT_LT(machine.clock.since_boot_ns() - before, 31 * kSecond);
  b.site().lock_timeout_ns = kSecond;
  EXPECT_EQ(code(renew_lease(b.site(), "train", {.pid = 50})), ErrorCode::kUnavailable);
  EXPECT_EQ(code(release_lease(b.site(), "train", {.pid = 50})), ErrorCode::kUnavailable);
  EXPECT_EQ(code(b.swap("qwen")), ErrorCode::kUnavailable);
  EXPECT_EQ(code(request_preempt(b.site(), "train")), ErrorCode::kUnavailable);
  EXPECT_EQ(code(clear_preempt(b.site(), "train", {.pid = 50})), ErrorCode::kUnavailable);
  EXPECT_EQ(b.live(), "train") << "who reads does not need it";
}

TEST_F(SessionTest, who_waits_gets_the_lock_when_it_is_given_back) {
  auto lock = std::make_unique<base::Result<Session>>(Session::open(a.site()));
  int pauses = 0;
  b.while_asleep = [&] {
    if (++pauses == 5) lock.reset();
  };
  EXPECT_TRUE(b.lease("other", "llama"));
  EXPECT_EQ(pauses, 5);
}

TEST_F(SessionTest, write_goes_to_a_sibling_is_synced_gets_the_name_and_the_folder_is_synced) {
  ASSERT_TRUE(a.lease("train", "llama"));
  const std::size_t before = machine.disk->operations().size();
  auto session = Session::open(a.site());
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->save());
  std::vector<DiskOperation> done(machine.disk->operations().begin() + static_cast<long>(before),
                                  machine.disk->operations().end());
  ASSERT_EQ(done.size(), 5u);
  using Kind = DiskOperation::Kind;
  EXPECT_EQ(done[0].kind, Kind::kCreate);
  EXPECT_EQ(done[0].path, "./gpu/workflows.json.new");
  EXPECT_EQ(done[1].kind, Kind::kWrite);
  EXPECT_EQ(done[2].kind, Kind::kSync);
  EXPECT_EQ(done[2].file, done[0].file);
  EXPECT_EQ(done[3].kind, Kind::kRename);
  EXPECT_EQ(done[3].other_path, "./gpu/workflows.json");
  EXPECT_EQ(done[4].kind, Kind::kSyncDirectory);
  EXPECT_EQ(done[4].path, "./gpu");
}

TEST_F(SessionTest, durable_write_takes_no_lock) {
  machine.put("workflows.json", "{\"workflows\": []}");
  EXPECT_EQ(machine.names(), std::vector<std::string>{"workflows.json"}) << "no lock file";
}

TEST_F(SessionTest, failed_write_fails_the_call_and_is_not_somebody_busy) {
  ASSERT_TRUE(a.lease("train", "llama"));
  const std::uint64_t begin = machine.disk->changing_calls();
  ASSERT_TRUE(b.lease("other", "llama"));
  const std::uint64_t calls = machine.disk->changing_calls() - begin;
  ASSERT_EQ(calls, 6u) << "remove, create, write, sync, rename, sync of the folder";
  for (const env::DiskFault fault : {env::DiskFault::kIoError, env::DiskFault::kNoSpace}) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      SCOPED_TRACE(call);
      ASSERT_TRUE(release_lease(b.site(), "other", {}));
      const std::string before = *machine.file("workflows.json");
      machine.disk->fail_call(call, fault);
      EXPECT_EQ(code(b.lease("other", "llama")), ErrorCode::kIo);
      EXPECT_FALSE(machine.file("workflows.json.new"));
      // Where only the folder could not be synced it is there, and was not promised.
      if (call + 1 < calls) {
        EXPECT_EQ(*machine.file("workflows.json"), before);
      }
    }
  }
}

TEST_F(SessionTest, short_writes_and_signals_are_gone_on_with) {
  ASSERT_TRUE(a.lease("train", "llama"));
  for (const env::DiskFault fault : {env::DiskFault::kShort, env::DiskFault::kInterrupted}) {
    for (std::uint64_t call = 0; call < 6; ++call) {
      SCOPED_TRACE(call);
      machine.disk->fail_call(call, fault);
      const auto lease = a.lease("train", "llama");
      // But what a sync did that was interrupted nobody knows.
      const bool is_sync = call == 3 || call == 5;
      EXPECT_EQ(lease.has_value(), fault == env::DiskFault::kShort || !is_sync);
      EXPECT_EQ(b.live(), "train");
    }
  }
}

TEST_F(SessionTest, file_that_cannot_be_read_is_told_and_copied_and_never_reset) {
  ASSERT_TRUE(a.lease("train", "llama"));
  for (const std::string text : {"", "{", "[]", "{\"workflows\": [7]}", "\0\0\0\0"}) {
    machine.put("workflows.json", text);
    for (const auto trouble_of : {0, 1, 2, 3}) {
      const auto told = trouble_of == 0   ? code(b.lease("other", "llama"))
                        : trouble_of == 1 ? code(list(b.site()))
                        : trouble_of == 2 ? code(b.swap("qwen"))
                                          : code(release_lease(b.site(), "train", {}));
      EXPECT_EQ(told, ErrorCode::kCorrupt);
    }
    EXPECT_EQ(machine.file("workflows.json"), text) << "it is left as it is";
  }
  std::vector<std::string> copies = machine.names();
  std::erase_if(copies,
                [](const std::string& name) { return name.find(".corrupt-") == name.npos; });
  EXPECT_EQ(copies.size(), 4u) << "one of each, however often it was met";
}

TEST_F(SessionTest, file_that_is_too_large_counts_as_one_that_cannot_be_read) {
  ASSERT_TRUE(a.lease("train", "llama"));
  std::string text = *machine.file("workflows.json");
  text.append(kMaxStateBytes - text.size(), ' ');
  machine.put("workflows.json", text);
  EXPECT_EQ(b.live(), "train") << "as large as it may be";
  machine.put("workflows.json", text + " ");
  const auto refused = b.lease("other", "llama");
  EXPECT_EQ(code(refused), ErrorCode::kCorrupt);
  EXPECT_NE(trouble(refused).find("8388609 bytes"), std::string::npos) << trouble(refused);
  EXPECT_EQ(code(list(b.site())), ErrorCode::kCorrupt);
  EXPECT_EQ(machine.file("workflows.json"), text + " ") << "it is left as it is";
  std::vector<std::string> copies = machine.names();
  std::erase_if(copies,
                [](const std::string& name) { return name.find(".corrupt-") == name.npos; });
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_NE(trouble(refused).find("a copy of its beginning is in ./gpu/" + copies[0]),
            std::string::npos);
  EXPECT_EQ(machine.file(copies[0]), text);
}

TEST_F(SessionTest, leftover_temporary_is_ignored_and_replaced) {
  ASSERT_TRUE(a.lease("train", "llama"));
  machine.put("workflows.json.new", "half of some");
  EXPECT_EQ(b.live(), "train");
  ASSERT_TRUE(b.lease("other", "llama"));
  EXPECT_FALSE(machine.file("workflows.json.new"));
}

TEST_F(SessionTest, lock_files_are_never_removed) {
  {
    auto swap = a.swap("qwen");
    ASSERT_TRUE(swap);
    ASSERT_TRUE(swap->finish(a.site()));
  }
  for (const DiskOperation& each : machine.disk->operations()) {
    if (each.kind == DiskOperation::Kind::kRemove || each.kind == DiskOperation::Kind::kRename) {
      EXPECT_EQ(each.path.find(".lock"), std::string::npos) << each.path;
    }
  }
  EXPECT_TRUE(machine.file(".swap.lock"));
  EXPECT_TRUE(machine.file(".workflows.lock"));
}

TEST_F(SessionTest, reader_changes_nothing_where_there_is_nothing_to_clear) {
  const auto swap = a.swap("qwen");
  ASSERT_TRUE(swap);
  ASSERT_TRUE(b.lease("train", "qwen"));
  const std::uint64_t before = machine.disk->changing_calls();
  EXPECT_EQ(b.live(), "train");
  EXPECT_EQ(b.swapping(), "qwen");
  EXPECT_EQ(machine.disk->changing_calls(), before);
}

TEST(SwapLog, line_that_was_cut_short_gives_way_to_the_next) {
  Machine machine;
  const Actor a(machine, 50);
  machine.put("swap_log.jsonl", "{}\n{\"event\":\"orphan_marker_cleared\",\"swap_id\":\"1\"");
  EXPECT_FALSE(*is_logged(a.site(), SwapEvent::kOrphanCleared, "1"));
  ASSERT_TRUE(append(a.site(), {.event = SwapEvent::kOrphanCleared, .who = {.nonce = "1"}}));
  EXPECT_TRUE(*is_logged(a.site(), SwapEvent::kOrphanCleared, "1"));
  EXPECT_FALSE(*is_logged(a.site(), SwapEvent::kOrphanCleared, "2"));
  EXPECT_FALSE(*is_logged(a.site(), SwapEvent::kFinished, "1"));
  const std::string log = *machine.file("swap_log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2);
  EXPECT_EQ(log.find("{}\n{\"event\":\"orphan_marker_cleared\",\"time\""), 0u) << log;
}

TEST(SwapLog, every_event_is_logged_with_time_recipe_pid_and_start) {
  Machine machine;
  Actor job(machine, 50);
  Actor coordinator(machine, 60);
  ASSERT_TRUE(job.lease("train", "llama"));
  EXPECT_FALSE(coordinator.swap("qwen"));
  ASSERT_TRUE(*release_lease(job.site(), "train", {}));
  ASSERT_TRUE(job.lease("train", "llama", true));
  EXPECT_FALSE(coordinator.swap("qwen"));
  ASSERT_TRUE(*release_lease(job.site(), "train", {}));
  {
    auto swap = coordinator.swap("qwen");
    ASSERT_TRUE(swap);
    ASSERT_TRUE(swap->finish(coordinator.site()));
    auto orphan = coordinator.swap("qwen");
    ASSERT_TRUE(orphan);
  }
  EXPECT_EQ(job.swapping(), "");
  std::string log = *machine.file("swap_log.jsonl");
  std::string events;
  for (std::size_t end = log.find('\n'); end != std::string::npos; end = log.find('\n')) {
    const std::string line = log.substr(0, end);
    log.erase(0, end + 1);
    const std::size_t begin = line.find(':') + 2;
    events += line.substr(begin, line.find('"', begin) - begin) + " ";
    EXPECT_NE(line.find("\"recipe\":\"qwen\""), std::string::npos) << line;
    EXPECT_NE(line.find("\"pid\":60,\"start_ns\":600000000"), std::string::npos) << line;
    EXPECT_NE(line.find("\"time\":\"2025-12-29T"), std::string::npos) << line;
    EXPECT_NE(line.find("\"swap_id\":"), std::string::npos) << line;
  }
  EXPECT_EQ(events,
            "swap_refused swap_begun preempt_requested swap_aborted swap_begun swap_finished "
            "swap_begun orphan_marker_cleared ");
}

TEST(SwapLog, reason_may_be_anybodys_text) {
  Machine machine;
  const Actor a(machine, 50);
  machine.put("swap_log.jsonl", "");
  const std::string ugly = "\x1b[31m\n\xff\"" + std::string(std::size_t{1} << 20, 'x');
  ASSERT_TRUE(
      append(a.site(), {.event = SwapEvent::kAborted, .who = {.nonce = "1"}, .reason = ugly}));
  const std::string log = *machine.file("swap_log.jsonl");
  EXPECT_LT(log.size(), kMaxReason + 500);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1);
  EXPECT_NE(log.find("\"reason\":\"\\\\x1b[31m\\\\x0a\\\\xff\\\"xxx"), std::string::npos) << log;
  EXPECT_NE(log.find("xxx...\""), std::string::npos);
  EXPECT_TRUE(*is_logged(a.site(), SwapEvent::kAborted, "1"));
}

TEST(SwapLog, one_that_has_grown_large_is_put_aside) {
  Machine machine;
  const Actor a(machine, 50);
  machine.put("swap_log.jsonl", std::string(kMaxLogBytes - 1, 'x') + "\n");
  ASSERT_TRUE(append(a.site(), {.event = SwapEvent::kBegun, .who = {.nonce = "1"}}));
  EXPECT_LT(machine.file("swap_log.jsonl")->size(), 1000u);
  EXPECT_EQ(machine.file("swap_log.1.jsonl")->size(), kMaxLogBytes);
}

}  // namespace
}  // namespace holdfast::registry
