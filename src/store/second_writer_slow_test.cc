// SPDX-License-Identifier: Apache-2.0
// Two processes that both want one world, while somebody removes its LOCK again and again. Whatever
// either of them acknowledged, in a ledger outside of the world, is in the journal in the end.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "store/testing.h"

namespace holdfast::store::testing {
namespace {

constexpr int kRemovals = 60;
constexpr std::uint64_t kBetweenRemovals = 5;  // acknowledgements, at least

// Opens the world as soon as it can, and writes until it is told that the world is not its own.
[[noreturn]] void write_until_lost(PosixWorld& world, int ledger) {
  std::uint64_t sequence = 0;
  for (;;) {
    auto open = world.open();
    if (!open && open.error().code() == base::ErrorCode::kConflict) {
      ::usleep(100);
      continue;
    }
    if (!open) {
      std::fprintf(stderr, "%s\n", open.error().to_string().c_str());
      ::_exit(1);
    }
    Journal& journal = (*open)->journal();
    for (;;) {
      const std::string text = std::to_string(::getpid()) + "-" + std::to_string(++sequence);
      const base::ByteView record = base::as_bytes(text);
      if (!journal.append({&record, 1}, Room::kNormal)) break;
      const auto durable = journal.sync();
      if (!durable) break;
      const std::string line = std::to_string(*durable) + " " + text + "\n";
      if (::write(ledger, line.data(), line.size()) < 0) ::_exit(1);
    }
  }
}

std::uint64_t lines_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

TEST(SecondWriter, nothing_that_was_acknowledged_is_lost_though_the_lock_is_removed) {
  PosixWorld world;
  ASSERT_TRUE(world.open());
  const std::string path = world.path() + "-ledger";
  const int ledger = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_GE(ledger, 0);
  std::array<pid_t, 2> writers{};
  for (pid_t& writer : writers) {
    writer = ::fork();
    if (writer == 0) write_until_lost(world, ledger);
  }
  std::uint64_t chance = 1;
  for (int i = 0; i < kRemovals; ++i) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t enough = lines_in(path) + kBetweenRemovals + (chance >> 60);
    while (lines_in(path) < enough) {
      for (const pid_t writer : writers) ASSERT_EQ(::waitpid(writer, nullptr, WNOHANG), 0);
      ::usleep(200);
    }
    std::filesystem::remove(world.path() + "/LOCK");
  }
  for (const pid_t writer : writers) {
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
  }
  ::close(ledger);

  auto open = world.open();
  ASSERT_TRUE(open) << open.error().to_string();
  const auto records = read_all((*open)->journal());
  ASSERT_TRUE(records) << records.error().to_string();
  std::ifstream acknowledged(path);
  std::map<std::string, std::uint64_t> by_writer;
  std::uint64_t number = 0;
  for (std::string text; acknowledged >> number >> text;) {
    ASSERT_LE(number, records->size()) << text;
    ASSERT_EQ((*records)[number - 1], text);
    ++by_writer[text.substr(0, text.find('-'))];
  }
  EXPECT_EQ(by_writer.size(), 2u) << "both had the world at some time";
}

}  // namespace
}  // namespace holdfast::store::testing
