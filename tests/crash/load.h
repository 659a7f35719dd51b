// SPDX-License-Identifier: Apache-2.0
// What the programs have in common that tests/crash kills: a ledger of what the outside sees, one
// line each, appended by one write, so that what was written before a kill is there after it; and a
// load of workflows, a bounded number at a time.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

#include "holdfast/engine.h"

namespace crash {

class Ledger {
 public:
  explicit Ledger(const char* path) : file_(::open(path, O_WRONLY | O_APPEND | O_CREAT, 0644)) {
    if (file_ < 0) std::abort();
  }
  void write(const std::string& line) const {
    const std::string whole = line + "\n";
    if (::write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
      std::abort();
  }

 private:
  int file_;
};

class Load {
 public:
  static constexpr std::uint64_t kInFlight = 64;

  Load(holdfast::Engine& engine, const Ledger& ledger) : engine_(engine), ledger_(ledger) {}
  virtual ~Load() = default;

  // False: the engine has ended.
  bool run(std::uint64_t first, std::optional<std::uint64_t> last) {
    std::unique_lock lock(mutex_);
    for (std::uint64_t id = first; !last || id <= *last; ++id) {
      changed_.wait(lock, [this] { return under_way_ < kInFlight || has_failed_; });
      if (has_failed_) return false;
      ++under_way_;
      lock.unlock();
      begin(id);
      lock.lock();
    }
    changed_.wait(lock, [this] { return under_way_ == 0 || has_failed_; });
    return !has_failed_;
  }

 protected:
  // Starts one; whoever hears of its end calls `done`.
  virtual void begin(std::uint64_t id) = 0;

  // What the engine answered to the start. False: it has ended.
  bool acked(std::uint64_t id, const holdfast::Result<holdfast::Sent>& sent) {
    // It has begun in an earlier life, whose name for the event is forgotten by now.
    const bool was_there = !sent && sent.error().code == holdfast::ErrorCode::kConflict;
    if (!sent && !was_there) return fail(sent.error()), false;
    const bool is_new = sent && !sent->is_repeated;
    ledger_.write("acked " + std::to_string(id) + (is_new ? " new" : " known"));
    return true;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    --under_way_;
    changed_.notify_one();
  }
  void fail(const holdfast::Error& error) {
    std::fprintf(stderr, "victim: %s\n", error.message.c_str());
    const std::lock_guard lock(mutex_);
    has_failed_ = true;
    changed_.notify_one();
  }

  holdfast::Engine& engine_;
  const Ledger& ledger_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t under_way_ = 0;
  bool has_failed_ = false;
};

// The program: WORLD LEDGER FIRST, from that id on, for ever; with LAST until all of these have
// ended. `LoadOf` is a Load.
template <class LoadOf>
int live(int argc, char** argv, const Ledger& ledger, holdfast::EngineOptions options) {
  options.dir = argv[1];
  options.any_file_system = true;  // it is killed, and the power stays on
  options.snapshot_every = 2000;
  auto engine = holdfast::Engine::open(std::move(options));
  if (!engine) return std::fprintf(stderr, "victim: %s\n", engine.error().message.c_str()), 1;
  std::optional<std::uint64_t> last;
  if (argc > 4) last = std::strtoull(argv[4], nullptr, 10);
  LoadOf load(**engine, ledger);
  const bool well = load.run(std::strtoull(argv[3], nullptr, 10), last);
  return (*engine)->close() && well ? 0 : 1;  // before the load goes, which may still be told
}

}  // namespace crash
