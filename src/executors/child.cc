// SPDX-License-Identifier: Apache-2.0
#include "executors/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "env/system_error.h"

namespace holdfast::executors {
namespace {

using env::Descriptor;

// What the child needs to know, made before there is a child.
struct Launch {
  int program;
  const char* script;  // null: scripts are run from the descriptor, too
  char* const* argv;
  char* const* environment;
  const char* folder;
  int input;
  int output;
  int errors;
  int failure;  // where it says what went wrong
  pid_t parent;
};

struct Failure {
  int step;
  int number;
};

constexpr std::array<const char*, 7> kSteps = {"setpgid", "prctl",       "setrlimit", "dup2",
                                               "chdir",   "close_range", "execve"};

// The soft limit that programs are used to: one that was raised for a server is not for those that
// use select(), or close every descriptor there could be.
constexpr rlim_t kUsualDescriptors = 1024;

[[noreturn]] void give_up(const Launch& launch, int step) noexcept {
  const Failure failure{step, errno};
  [[maybe_unused]] const auto written = ::write(launch.failure, &failure, sizeof failure);
  ::_exit(127);
}

// In the child, whose memory is still the parent's: nothing but system calls, nothing changed.
[[noreturn]] void become(const Launch& launch) noexcept {
  if (::setpgid(0, 0) != 0) give_up(launch, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(launch, 1);
  if (::getppid() != launch.parent) ::_exit(127);  // it has died already, and nobody will tell
  const rlimit no_core{0, 0};
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) give_up(launch, 2);
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) give_up(launch, 2);
  descriptors.rlim_cur = std::min(descriptors.rlim_cur, kUsualDescriptors);
  if (::setrlimit(RLIMIT_NOFILE, &descriptors) != 0) give_up(launch, 2);
  if (::dup2(launch.input, 0) < 0 || ::dup2(launch.output, 1) < 0 || ::dup2(launch.errors, 2) < 0)
    give_up(launch, 3);
  if (::chdir(launch.folder) != 0) give_up(launch, 4);
  // What others of this program have opened may not be marked to be closed.
  if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) give_up(launch, 5);
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const auto run = [&launch] {
    ::execveat(launch.program, "", launch.argv, launch.environment, AT_EMPTY_PATH);
  };
  run();
  // A script: its interpreter would find the descriptor closed.
  if (errno == ENOENT && launch.script != nullptr)
    ::execve(launch.script, launch.argv, launch.environment);
  else if (errno == ENOENT && ::fcntl(launch.program, F_SETFD, 0) == 0)
    run();
  give_up(launch, 6);
}

// vfork: a copy of the page tables of a large world would take longer than all the rest. The
// signals of this thread are blocked, so no handler runs in the child.
[[gnu::noinline]] pid_t launch_child(const Launch& launch) noexcept {
  const pid_t id = ::vfork();   // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (id == 0) become(launch);  // NOLINT(clang-analyzer-unix.Vfork)
  return id;
}

// Above the three that the child's own will replace.
base::Result<Descriptor> above_standard(int number, const char* call) {
  if (number < 0) return env::system_error("process", call);
  if (number > 2) return Descriptor(number);
  const Descriptor low(number);
  Descriptor high(::fcntl(number, F_DUPFD_CLOEXEC, 3));
  if (!high.is_open()) return env::system_error("process", "fcntl");
  return high;
}

struct Pipe {
  Descriptor from;
  Descriptor to;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return env::system_error("process", "pipe2");
  auto from = above_standard(ends[0], "pipe2");
  auto to = above_standard(ends[1], "pipe2");
  if (!from) return std::move(from).error();
  if (!to) return std::move(to).error();
  return Pipe{std::move(*from), std::move(*to)};
}

// Without anything to read it is not a pipe: somebody else who forks at this moment may hold the
// other end of one, and the child would wait for its end.
base::Result<Pipe> make_input(const ChildPlan& plan) {
  if (!plan.input.empty() || plan.keeps_input) return make_pipe();
  Pipe nothing;
  nothing.from = TRY(above_standard(::open("/dev/null", O_RDONLY | O_CLOEXEC), "open"));
  return nothing;
}

base::Result<void> set_nonblocking(const Descriptor& file) {
  if (::fcntl(file.number(), F_SETFL, O_NONBLOCK) != 0)
    return env::system_error("process", "fcntl");
  return {};
}

// Of texts that outlive it.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Child::Child(pid_t id, Descriptor process, Descriptor output, Descriptor errors)
    : id_(id),
      process_(std::move(process)),
      output_(std::move(output)),
      errors_(std::move(errors)) {}

base::Result<void> check_child_signal() {
  struct sigaction now {};
  if (::sigaction(SIGCHLD, nullptr, &now) != 0) return env::system_error("process", "sigaction");
  if (now.sa_handler != SIG_IGN && (now.sa_flags & SA_NOCLDWAIT) == 0) return {};
  return base::Error(base::ErrorCode::kConflict, "process",
                     "SIGCHLD is ignored in this program: nobody would hear how a child ends");
}

bool reap_group(pid_t group) noexcept {
  while (true) {
    siginfo_t info{};
    const auto waited = env::again_after_signals(
        [&] { return ::waitid(P_PGID, static_cast<id_t>(group), &info, WEXITED | WNOHANG); });
    if (waited != 0) return false;
    if (info.si_pid == 0) return true;
  }
}

base::Result<Child> Child::start(const ChildPlan& plan) {
  CHECK(!plan.argv.empty() && plan.program != nullptr);
  TRY(check_child_signal());
  Descriptor program = TRY(plan.program->open());
  if (program.number() <= 2)
    program = TRY(above_standard(::fcntl(program.number(), F_DUPFD_CLOEXEC, 3), "fcntl"));
  Pipe input = TRY(make_input(plan));
  Pipe output = TRY(make_pipe());
  Pipe errors = TRY(make_pipe());
  Pipe failure = TRY(make_pipe());
  if (input.to.is_open()) TRY(set_nonblocking(input.to));
  TRY(set_nonblocking(output.from));
  TRY(set_nonblocking(errors.from));
  // Somebody else who forks at this moment may hold its other end for as long as they like.
  TRY(set_nonblocking(failure.from));
  const std::vector<char*> argv = pointers_to(plan.argv);
  const std::vector<char*> environment = pointers_to(plan.environment);
  const char* const script = plan.scripts_by_path ? plan.program->path.c_str() : nullptr;
  const pid_t id = launch_child({program.number(), script, argv.data(), environment.data(),
                                 plan.folder.c_str(), input.from.number(), output.to.number(),
                                 errors.to.number(), failure.to.number(), ::getpid()});
  if (id < 0) return env::system_error("process", "vfork");
  // Not glibc's pidfd_open: its header is not for C++ in 2.36.
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  const int opening = errno;
  Child child(id, std::move(process), std::move(output.from), std::move(errors.from));
  if (!child.process_.is_open()) return env::system_error("process", "pidfd_open", opening);
  failure.to = Descriptor();
  Failure why{};  // was written before vfork came back, if at all
  const auto got =
      env::again_after_signals([&] { return ::read(failure.from.number(), &why, sizeof why); });
  if (got == static_cast<ssize_t>(sizeof why)) {
    const bool known = why.step >= 0 && static_cast<std::size_t>(why.step) < kSteps.size();
    return env::system_error(plan.argv[0], known ? kSteps[static_cast<std::size_t>(why.step)] : "?",
                             why.number);
  }
  if (plan.keeps_input) {
    child.input_ = std::move(input.to);
  } else {
    child.give_input(std::move(input.to), plan.input);
  }
  return child;
}

void Child::give_input(Descriptor to, std::string_view input) {
  input_ = std::move(to);
  unwritten_ = input;
  feed();
}

void Child::feed() {
  while (input_.is_open() && !unwritten_.empty()) {
    const auto written = env::again_after_signals(
        [&] { return ::write(input_.number(), unwritten_.data(), unwritten_.size()); });
    if (written < 0 && errno == EAGAIN) return;
    if (written <= 0) break;  // nobody reads it any more
    unwritten_.remove_prefix(static_cast<std::size_t>(written));
  }
  unwritten_ = {};
  input_ = Descriptor();
}

std::optional<std::size_t> Child::write(std::string_view bytes) {
  if (!input_.is_open()) return std::nullopt;
  const auto written = env::again_after_signals(
      [&] { return ::write(input_.number(), bytes.data(), bytes.size()); });
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EAGAIN) return 0;
  input_ = Descriptor();
  return std::nullopt;
}

Child::~Child() {
  if (id_.value < 0) return;
  signal_group(SIGKILL);
  ::kill(id_.value, SIGKILL);  // if it did not get as far as having a group
  siginfo_t info{};
  env::again_after_signals(
      [&] { return ::waitid(P_PID, static_cast<id_t>(id_.value), &info, WEXITED); });
}

void Child::signal_group(int signal) const noexcept {
  if (id_.value > 0) ::kill(-id_.value, signal);
}

base::Result<Ending> Child::wait() {
  // As long as it is not waited for, its number is not given to anybody else.
  signal_group(SIGKILL);
  siginfo_t info{};
  const auto waited = env::again_after_signals(
      [&] { return ::waitid(P_PIDFD, static_cast<id_t>(process_.number()), &info, WEXITED); });
  id_.value = -1;
  if (waited != 0) return env::system_error("process", "waitid");
  if (info.si_code == CLD_EXITED) return Ending{info.si_status, 0};
  return Ending{0, info.si_status};
}

}  // namespace holdfast::executors
