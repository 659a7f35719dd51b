// SPDX-License-Identifier: Apache-2.0
// Counts the instructions that a program really executes on this processor between two marks, by
// stepping through it: callgrind does not know all instructions, and makes the program take other
// paths, with SHA-256 by hand instead of by the processor. A mark is a SIGCONT that the program
// raises, which does nothing to a program that nobody watches. The program marks twice with nothing
// in between, and then before and after what is to be counted. A repeated instruction, such as
// copies large memory, counts once for each repetition.
//
//   count_instructions PROGRAM [ARGUMENT...]     prints the count last
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Goes on to the next mark; how many steps that took, if they are counted. Nothing: it has ended.
std::optional<std::uint64_t> to_next_mark(pid_t child, bool counted) {
  std::uint64_t steps = 0;
  int signal = 0;
  while (true) {
    if (::ptrace(counted ? PTRACE_SINGLESTEP : PTRACE_CONT, child, nullptr, signal) != 0)
      give_up("ptrace");
    int status = 0;
    if (::waitpid(child, &status, 0) != child) give_up("waitpid");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::nullopt;
    if (!WIFSTOPPED(status)) {
      std::fprintf(stderr, "the program failed\n");
      std::exit(1);
    }
    signal = WSTOPSIG(status);
    if (signal == SIGCONT) return steps;
    if (signal == SIGTRAP) {
      signal = 0;
      ++steps;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: count_instructions PROGRAM [ARGUMENT...]\n"), 2;
  const pid_t child = ::fork();
  if (child < 0) give_up("fork");
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::execv(argv[1], argv + 1);
    give_up(argv[1]);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) give_up("the program");
  to_next_mark(child, false);
  const auto of_marking = to_next_mark(child, true);
  to_next_mark(child, false);
  const auto counted = to_next_mark(child, true);
  if (!of_marking || !counted) return std::fprintf(stderr, "the program has no marks\n"), 1;
  to_next_mark(child, false);
  std::printf("%llu\n", static_cast<unsigned long long>(*counted - *of_marking));
}
