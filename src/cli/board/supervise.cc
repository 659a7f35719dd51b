// SPDX-License-Identifier: Apache-2.0
#include "cli/board/supervise.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "cli/output.h"

namespace holdfast::cli {
namespace {

// Signals that the parent takes: those for the server are handed on.
sigset_t supervised_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  return set;
}

// Gives the status of the child when it has ended.
int wait_for_child(pid_t child, const sigset_t& signals) {
  for (;;) {
    int signal = 0;
    ::sigwait(&signals, &signal);
    int status = 0;
    if (signal != SIGCHLD)
      ::kill(child, signal);
    else if (::waitpid(child, &status, WNOHANG) == child)
      return status;
  }
}

}  // namespace

std::optional<ExitCode> supervise(Supervised*& shared) {
  void* const memory = ::mmap(nullptr, sizeof(Supervised), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return refuse({base::ErrorCode::kIo, "no memory to share"});
  shared = new (memory) Supervised;
  if (!flush_output()) return ExitCode::kRefused;
  const sigset_t signals = supervised_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  for (;;) {
    const std::uint32_t kills = shared->kills;
    ++shared->life;
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return refuse({base::ErrorCode::kIo, "no process for the server"});
    if (child == 0) {
      // Ctrl-C reaches the parent, which hands it on: a second signal would end the server at once.
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      return std::nullopt;
    }
    const int status = wait_for_child(child, signals);
    const bool is_again = WIFSIGNALED(status) && shared->kills != kills;
    if (is_again) continue;
    return WIFEXITED(status) ? static_cast<ExitCode>(WEXITSTATUS(status)) : ExitCode::kRefused;
  }
}

void kill_self(Supervised& shared) {
  ++shared.kills;
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

}  // namespace holdfast::cli
