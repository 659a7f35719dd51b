// SPDX-License-Identifier: Apache-2.0
#include "env/process_table.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "env/descriptor.h"
#include "env/system_error.h"

namespace holdfast::env {
namespace {

// Where every pidfd has an inode of its own. Elsewhere all have the same.
constexpr std::uint64_t kPidFileSystem = 0x50494446;

// Behind the name of the program, counted from 0.
constexpr int kStateField = 0;
constexpr int kStartField = 19;

constexpr std::size_t kMostOfStat = 4096;

std::string read_stat(std::int64_t id) {
  const std::string path = "/proc/" + std::to_string(id) + "/stat";
  const Descriptor file(
      again_after_signals([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.is_open()) return {};
  std::string text(kMostOfStat, '\0');
  const ssize_t count =
      again_after_signals([&] { return ::read(file.number(), text.data(), text.size()); });
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

// Of ours, which is like all others.
bool has_inodes() {
  const Descriptor own(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  struct statfs system {};
  return own.is_open() && ::fstatfs(own.number(), &system) == 0 &&
         static_cast<std::uint64_t>(system.f_type) == kPidFileSystem;
}

std::uint64_t inode_of(int pidfd) {
  struct stat status {};
  return ::fstat(pidfd, &status) == 0 ? status.st_ino : 0;
}

// Readable: all its threads have ended.
bool has_ended(int pidfd) {
  pollfd one{.fd = pidfd, .events = POLLIN, .revents = 0};
  return again_after_signals([&] { return ::poll(&one, 1, 0); }) > 0;
}

// Processes that have been looked at before and are looked at again: a pidfd that is kept open says
// with one call that its process, and no other of the same number, has not ended. For any thread.
class Acquaintances {
 public:
  // The inode of its pidfd. Nothing: it is not known, or has ended since.
  std::optional<std::uint64_t> find(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(id);
    if (found == known_.end()) return std::nullopt;
    if (!has_ended(found->second.process.number())) return found->second.inode;
    known_.erase(found);
    return std::nullopt;
  }

  // Those who are no longer asked about would stay for ever: now and then all begin anew.
  void keep(std::int64_t id, Descriptor process, std::uint64_t inode) {
    const std::lock_guard lock(mutex_);
    if (known_.size() >= most_) known_.clear();
    if (most_ > 0) known_.insert_or_assign(id, Known{std::move(process), inode});
  }

  void forget() {
    const std::lock_guard lock(mutex_);
    known_.clear();
  }

 private:
  struct Known {
    Descriptor process;
    std::uint64_t inode;
  };

  // A small part of the descriptors that this process may have.
  static std::size_t most() {
    constexpr std::size_t kMost = 256;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    return std::min<std::size_t>(kMost, limit.rlim_cur / 8);
  }

  std::mutex mutex_;
  std::unordered_map<std::int64_t, Known> known_;
  const std::size_t most_ = most();
};

class PosixProcessTable : public ProcessTable {
 public:
  base::Result<std::optional<ProcessFacts>> find(std::int64_t id) override {
    return look(id, true);
  }
  base::Result<std::optional<ProcessFacts>> find_mark(std::int64_t id) override {
    if (const auto inode = acquaintances_.find(id))
      return std::optional(ProcessFacts{.start_ns = std::nullopt, .pidfd_inode = *inode});
    return look(id, false);
  }

  std::string id_space() override {
    char text[128];
    const ssize_t count = ::readlink("/proc/self/ns/pid", text, sizeof text);
    return count > 0 ? std::string(text, static_cast<std::size_t>(count)) : std::string();
  }

 private:
  base::Result<std::optional<ProcessFacts>> look(std::int64_t id, bool also_start) {
    using Found = std::optional<ProcessFacts>;
    if (id <= 0 || id > std::numeric_limits<pid_t>::max()) return Found();
    Descriptor process = open_pidfd(id);
    if (!process.is_open() && errno == EMFILE) {
      acquaintances_.forget();
      process = open_pidfd(id);
    }
    if (!process.is_open()) {
      switch (errno) {
        case ESRCH:
        case EINVAL:  // a thread's number
        case ENOENT: return Found();
        case ENOSYS:
        case EPERM: return without_pidfd(id);
        default: return system_error("process " + std::to_string(id), "pidfd_open");
      }
    }
    ProcessFacts facts;
    if (has_inodes_) facts.pidfd_inode = inode_of(process.number());
    if (also_start || facts.pidfd_inode == 0) {
      if (const auto line = parse_stat_line(read_stat(id))) facts.start_ns = start_ns(*line);
    }
    // Last: if it had ended before, the line may be another's.
    if (has_ended(process.number())) return Found();
    if (!also_start && facts.pidfd_inode != 0)
      acquaintances_.keep(id, std::move(process), facts.pidfd_inode);
    return Found(facts);
  }

  static Descriptor open_pidfd(std::int64_t id) {
    return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(id), 0)));
  }

  // What the kernel, or whoever guards it from us, leaves us with.
  base::Result<std::optional<ProcessFacts>> without_pidfd(std::int64_t id) const {
    using Found = std::optional<ProcessFacts>;
    const auto line = parse_stat_line(read_stat(id));
    if (line && (line->state == 'Z' || line->state == 'X' || line->state == 'x')) return Found();
    if (line) return Found(ProcessFacts{.start_ns = start_ns(*line)});
    // Refused is not absent: it is there and is not ours to look at.
    const bool there = ::kill(static_cast<pid_t>(id), 0) == 0 || errno == EPERM;
    return there ? Found(ProcessFacts{}) : Found();
  }

  std::int64_t start_ns(const StatLine& line) const {
    return static_cast<std::int64_t>(line.start_ticks) * (1'000'000'000 / ticks_per_second_);
  }

  Acquaintances acquaintances_;
  const bool has_inodes_ = has_inodes();
  const std::int64_t ticks_per_second_ = ::sysconf(_SC_CLK_TCK);
};

}  // namespace

std::unique_ptr<ProcessTable> posix_process_table() {
  return std::make_unique<PosixProcessTable>();
}

std::optional<StatLine> parse_stat_line(std::string_view line) {
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(name_end + 2);
  StatLine found;
  for (int field = 0; field <= kStartField; ++field) {
    const std::string_view text = rest.substr(0, rest.find_first_of(" \n"));
    if (text.empty()) return std::nullopt;
    if (field == kStateField) found.state = text.front();
    if (field == kStartField) {
      const char* const end = text.data() + text.size();
      const auto [stop, problem] = std::from_chars(text.data(), end, found.start_ticks);
      if (problem != std::errc() || stop != end) return std::nullopt;
    }
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  }
  return found;
}

}  // namespace holdfast::env
