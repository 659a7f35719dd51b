// SPDX-License-Identifier: Apache-2.0
// GuardedProgram: a program that a command runs around which something is held. It has our
// terminal, our environment and our folder, but none of our locks. It is there, as a process,
// before it is let go, so that something can be held in its name first; if we die before that, it
// never runs, and if we die later, it gets a SIGTERM.
//
// From `make` on, the signals that are meant to end a command are held back in this process, and
// `wait` passes them on. One that came before there was a process to pass it on to is not passed
// on: whoever makes a program asks `is_asked_to_end` before it is let go.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/descriptor.h"

namespace holdfast::cli {

class GuardedProgram {
 public:
  static base::Result<GuardedProgram> make(const std::vector<std::string>& command);
  ~GuardedProgram();
  GuardedProgram(GuardedProgram&&) noexcept;
  GuardedProgram& operator=(GuardedProgram&&) = delete;

  pid_t id() const noexcept { return id_; }

  // It runs, with this in its environment ("NAME=value"; empty: nothing).
  base::Result<void> let_go(const std::string& variable);

  // What a shell would say that it exited with, or nothing: it has not within this time.
  std::optional<int> wait(std::chrono::milliseconds most);

  // Without waiting for it: `wait` still tells how.
  bool has_ended() const;

  void send(int signal) const;

  // Whether it would do something else on it than the system does by itself.
  bool catches(int signal) const;

 private:
  GuardedProgram(pid_t id, env::Descriptor gate) : id_(id), gate_(std::move(gate)) {}
  std::optional<int> reap();

  pid_t id_;
  env::Descriptor gate_;
};

// Whether somebody wants this command to end: for work that is done while signals are held back.
bool is_asked_to_end();

// SIGINT, SIGTERM and SIGHUP, but not those that we were started to ignore, as nohup does and
// shells do in the background; and SIGCHLD. Once is enough.
void hold_signals_back();
const sigset_t& signals_held_back();

}  // namespace holdfast::cli
