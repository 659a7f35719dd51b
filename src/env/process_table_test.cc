// SPDX-License-Identifier: Apache-2.0
#include "env/process_table.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "env/descriptor.h"

namespace holdfast::env {
namespace {

TEST(StatLine, start_is_the_22nd_field_whatever_the_program_is_called) {
  const std::string tail =
      " S 1 2 3 0 -1 4194304 101 0 0 0 7 8 9 10 20 0 1 0 6189395 3133440 414\n";
  for (const std::string name : {"cat", "a b", "x) R 1 2", ") ", "((", "))) S 1"}) {
    const auto line = parse_stat_line("4711 (" + name + ")" + tail);
    ASSERT_TRUE(line) << name;
    EXPECT_EQ(line->state, 'S') << name;
    EXPECT_EQ(line->start_ticks, 6189395u) << name;
  }
}

TEST(StatLine, line_that_ends_before_or_holds_no_number_is_refused) {
  EXPECT_FALSE(parse_stat_line(""));
  EXPECT_FALSE(parse_stat_line("4711 (cat"));
  EXPECT_FALSE(parse_stat_line("4711 (cat) S 1 2 3"));
  EXPECT_FALSE(parse_stat_line("4711 (cat) S 1 2 3 0 -1 1 1 0 0 0 7 8 9 10 20 0 1 0 x 3"));
}

pid_t sleeping_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  return child;
}

TEST(ProcessTable, finds_itself_the_same_each_time) {
  const auto table = posix_process_table();
  const auto first = table->find(::getpid());
  ASSERT_TRUE(first && *first) << "we are alive";
  ASSERT_TRUE((*first)->start_ns);
  EXPECT_GT(*(*first)->start_ns, 0);
  const auto mark = table->find_mark(::getpid());
  EXPECT_EQ((*mark)->pidfd_inode, (*first)->pidfd_inode);
  EXPECT_TRUE((*mark)->pidfd_inode != 0 || (*mark)->start_ns == (*first)->start_ns);
  const auto second = table->find(::getpid());
  EXPECT_EQ((*second)->start_ns, (*first)->start_ns);
  EXPECT_EQ((*second)->pidfd_inode, (*first)->pidfd_inode);
  EXPECT_FALSE(table->id_space().empty());
}

TEST(ProcessTable, name_with_parentheses_changes_nothing) {
  const auto table = posix_process_table();
  const auto before = *table->find(::getpid());
  char old[16];
  ASSERT_EQ(::prctl(PR_GET_NAME, old), 0);
  ASSERT_EQ(::prctl(PR_SET_NAME, ") R 1 (2) 3"), 0);
  const auto after = *table->find(::getpid());
  ASSERT_EQ(::prctl(PR_SET_NAME, old), 0);
  EXPECT_EQ(after->start_ns, before->start_ns);
}

TEST(ProcessTable, one_that_has_ended_is_not_found_also_before_it_is_waited_for) {
  const auto table = posix_process_table();
  const pid_t child = sleeping_child();
  ASSERT_TRUE(*table->find(child));
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  siginfo_t how;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(*table->find(child)) << "it is a zombie";
  EXPECT_FALSE(*table->find_mark(child));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(*table->find(child));
}

TEST(ProcessTable, one_that_was_looked_at_before_is_not_found_when_it_has_ended) {
  const auto table = posix_process_table();
  const pid_t child = sleeping_child();
  const auto first = *table->find_mark(child);
  ASSERT_TRUE(first);
  const auto second = *table->find_mark(child);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->pidfd_inode, first->pidfd_inode);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  siginfo_t how;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(*table->find_mark(child)) << "it is a zombie";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(*table->find_mark(child));
}

std::size_t open_descriptors() {
  const auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(ProcessTable, remembers_processes_with_few_descriptors_and_gives_them_up_where_none_are_left) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 80, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto table = posix_process_table();
  std::vector<pid_t> children;
  for (int i = 0; i < 30; ++i) children.push_back(sleeping_child());
  const std::size_t open_before = open_descriptors();
  for (int round = 0; round < 2; ++round) {
    for (const pid_t child : children) {
      const auto mark = *table->find_mark(child);
      ASSERT_TRUE(mark);
      EXPECT_EQ(mark->pidfd_inode, (*table->find(child))->pidfd_inode);
    }
  }
  EXPECT_LE(open_descriptors(), open_before + 10);
  EXPECT_TRUE(*table->find_mark(children[0]));
  std::vector<Descriptor> all;
  for (int number = ::dup(0); number >= 0; number = ::dup(0)) all.emplace_back(number);
  if ((*table->find_mark(children[0]))->pidfd_inode != 0) {
    for (const pid_t child : children) EXPECT_TRUE(table->find_mark(child)) << "there is no room";
  }
  all.clear();
  for (const pid_t child : children) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(ProcessTable, numbers_that_no_process_has_are_not_found) {
  const auto table = posix_process_table();
  for (const std::int64_t id : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40})
    EXPECT_FALSE(*table->find(id)) << id;
  std::int64_t thread = 0;
  std::thread([&] {
    thread = ::syscall(SYS_gettid);
    EXPECT_FALSE(*table->find(thread)) << "a thread is no process";
  }).join();
}

TEST(ProcessTable, each_process_has_an_inode_of_its_own_where_there_are_any) {
  const auto table = posix_process_table();
  const std::uint64_t own = (*table->find(::getpid()))->pidfd_inode;
  if (own == 0) GTEST_SKIP() << "this kernel has none";
  const pid_t child = sleeping_child();
  EXPECT_NE((*table->find(child))->pidfd_inode, own);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace holdfast::env
