// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_crowd.h"

#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "errors/translate.h"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kInFlight = 1024;

base::Result<std::unique_ptr<Engine>> open(const std::string& folder, const Crowd& crowd) {
  EngineOptions options = crowd.options();
  options.dir = folder + "/world";
  options.any_file_system = true;  // it is gone afterwards
  auto engine = Engine::open(std::move(options));
  if (!engine) return errors::inside(engine.error());
  return std::move(*engine);
}

// The memory of this process, without what it has freed.
std::uint64_t resident_bytes() {
  ::malloc_trim(0);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

// Of all files of the world, as much of them as takes room.
std::uint64_t disk_bytes(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;  // a file may go while it is looked at
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    const std::uint64_t size = file.is_regular_file(ignored) ? file.file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

// Begins them, a bounded number at a time.
class Beginning {
 public:
  Beginning(Engine& engine, const Crowd& crowd) : engine_(engine), crowd_(crowd) {}

  std::optional<Error> run(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t id = 0; id < count && !error_; ++id) {
      changed_.wait(lock, [this] { return under_way_ < kInFlight; });
      ++under_way_;
      lock.unlock();
      crowd_.start(engine_, id, [this](Result<Sent> sent) { went(std::move(sent)); });
      lock.lock();
    }
    changed_.wait(lock, [this] { return under_way_ == 0; });
    return error_;
  }

 private:
  void went(Result<Sent> sent) {
    const std::lock_guard lock(mutex_);
    if (!sent && !error_) error_ = sent.error();
    --under_way_;
    changed_.notify_one();
  }

  Engine& engine_;
  const Crowd& crowd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t under_way_ = 0;
  std::optional<Error> error_;
};

// What the child says before it kills itself.
struct Word {
  std::uint64_t resident_bytes = 0;
  char error[200] = {};  // empty: all is well
};

Word begin_all(const std::string& folder, const Crowd& crowd, std::uint64_t count,
               std::unique_ptr<Engine>& keeps_running) {
  Word word;
  const auto say = [&](const std::string& error) {
    error.copy(word.error, sizeof word.error - 1);
    return word;
  };
  auto engine = open(folder, crowd);
  if (!engine) return say(engine.error().to_string());
  const std::uint64_t before = resident_bytes();
  if (const auto error = Beginning(**engine, crowd).run(count)) return say(error->message);
  if (crowd.settle) {
    if (const auto error = crowd.settle(**engine)) return say(error->message);
  }
  const std::uint64_t after = resident_bytes();
  word.resident_bytes = after > before ? after - before : 0;
  keeps_running = std::move(*engine);
  return word;
}

[[noreturn]] void be_the_child(const std::string& folder, const Crowd& crowd, std::uint64_t count,
                               int pipe) {
  std::unique_ptr<Engine> engine;
  const Word word = begin_all(folder, crowd, count, engine);
  const bool said = ::write(pipe, &word, sizeof word) == static_cast<ssize_t>(sizeof word);
  ::kill(::getpid(), said ? SIGKILL : SIGABRT);
  ::_exit(1);
}

base::Result<Word> run_child(const std::string& folder, const Crowd& crowd, std::uint64_t count) {
  int ends[2];
  if (::pipe(ends) != 0) return base::Error(base::ErrorCode::kIo, "no pipe can be made");
  const pid_t child = ::fork();
  if (child == 0) be_the_child(folder, crowd, count, ends[1]);
  ::close(ends[1]);
  Word word;
  const bool said =
      child > 0 && ::read(ends[0], &word, sizeof word) == static_cast<ssize_t>(sizeof word);
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (!said) return base::Error(base::ErrorCode::kIo, "the process that was to be killed is gone");
  if (word.error[0] != 0) return base::Error(base::ErrorCode::kIo, word.error);
  return word;
}

}  // namespace

base::Result<RecoveredCrowd> begin_and_kill(const std::string& folder, const Crowd& crowd,
                                            std::uint64_t count) {
  const Word word = TRY(run_child(folder, crowd, count));
  RecoveredCrowd recovered;
  const auto each = [&](std::uint64_t all) {
    return static_cast<double>(all) / static_cast<double>(count);
  };
  recovered.figures.resident_bytes_each = each(word.resident_bytes);
  recovered.figures.disk_bytes_each = each(disk_bytes(folder));
  const auto begin = Clock::now();
  recovered.engine = TRY(open(folder, crowd));
  recovered.figures.recovery_ms =
      std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return recovered;
}

}  // namespace holdfast::cli
