// SPDX-License-Identifier: Apache-2.0
#include "cli/guarded_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "env/system_error.h"

namespace holdfast::cli {
namespace {

constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr int kKilled = 128;
constexpr char kGo = 'G';
constexpr std::array kToEnd = {SIGINT, SIGTERM, SIGHUP};

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Until the other end is closed. Nobody writes more than a name and a path.
std::string read_gate(int gate) {
  std::string text;
  char chunk[1024];
  for (;;) {
    const ssize_t count =
        env::again_after_signals([&] { return ::read(gate, chunk, sizeof chunk); });
    if (count <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(count));
  }
}

// In the child. This program has one thread, so it may do what it likes.
[[noreturn]] void become(const std::vector<std::string>& command, int gate, pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent) ::_exit(kCannotRun);
  const std::string told = read_gate(gate);
  if (told.empty() || told.front() != kGo) ::_exit(kCannotRun);
  if (told.size() > 1) {
    const std::size_t equals = told.find('=');
    ::setenv(told.substr(1, equals - 1).c_str(), told.substr(equals + 1).c_str(), 1);
  }
  // What we ignore and hold back is not for the program.
  std::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_UNBLOCK, &signals_held_back(), nullptr);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int code = errno == ENOENT ? kNotFound : kCannotRun;
  std::fprintf(stderr, "holdfast: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  ::_exit(code);
}

}  // namespace

const sigset_t& signals_held_back() {
  static const sigset_t signals = [] {
    sigset_t set;
    sigemptyset(&set);
    // Held back, one that is ignored would wait for us, and no longer be ignored.
    for (const int each : kToEnd)
      if (!is_ignored(each)) sigaddset(&set, each);
    sigaddset(&set, SIGCHLD);
    return set;
  }();
  return signals;
}

void hold_signals_back() {
  ::sigprocmask(SIG_BLOCK, &signals_held_back(), nullptr);
  // Ignored, nobody could be waited for: not even that the program has ended would be told.
  std::signal(SIGCHLD, SIG_DFL);
}

bool is_asked_to_end() {
  sigset_t waiting;
  sigemptyset(&waiting);
  ::sigpending(&waiting);
  return std::any_of(kToEnd.begin(), kToEnd.end(),
                     [&](int each) { return sigismember(&waiting, each) == 1; });
}

base::Result<GuardedProgram> GuardedProgram::make(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return env::system_error("process", "pipe2");
  env::Descriptor from(ends[0]);
  env::Descriptor to(ends[1]);
  hold_signals_back();
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return env::system_error("process", "fork");
  if (child == 0) {
    ::close(to.number());
    become(command, from.number(), parent);
  }
  return GuardedProgram(child, std::move(to));
}

GuardedProgram::GuardedProgram(GuardedProgram&& other) noexcept
    : id_(std::exchange(other.id_, -1)), gate_(std::move(other.gate_)) {}

GuardedProgram::~GuardedProgram() {
  if (id_ <= 0) return;
  gate_ = env::Descriptor();  // if it was not let go, it ends now
  send(SIGTERM);
  env::again_after_signals([&] { return ::waitpid(id_, nullptr, 0); });
}

base::Result<void> GuardedProgram::let_go(const std::string& variable) {
  const std::string text = kGo + variable;
  const ssize_t count =
      env::again_after_signals([&] { return ::write(gate_.number(), text.data(), text.size()); });
  gate_ = env::Descriptor();
  // Less than a pipe holds is written whole.
  if (count != static_cast<ssize_t>(text.size())) return env::system_error("process", "write");
  return {};
}

std::optional<int> GuardedProgram::reap() {
  int status = 0;
  if (::waitpid(id_, &status, WNOHANG) != id_) return std::nullopt;
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled + WTERMSIG(status);
}

std::optional<int> GuardedProgram::wait(std::chrono::milliseconds most) {
  if (const auto code = reap()) return code;
  const timespec time{most.count() / 1000, most.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int signal = ::sigtimedwait(&signals_held_back(), &info, &time);
  // From the terminal it went to the program too.
  if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL) send(signal);
  return reap();
}

bool GuardedProgram::has_ended() const {
  siginfo_t how{};
  return id_ <= 0 ||
         (::waitid(P_PID, static_cast<id_t>(id_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          how.si_pid == id_);
}

void GuardedProgram::send(int signal) const {
  if (id_ > 0) ::kill(id_, signal);
}

bool GuardedProgram::catches(int signal) const {
  std::ifstream status("/proc/" + std::to_string(id_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    const unsigned long long caught = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

}  // namespace holdfast::cli
