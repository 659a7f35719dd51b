// SPDX-License-Identifier: Apache-2.0
// Child: a process that was started by us, with its process group. No shell, no environment and no
// descriptor of ours; no signal handler, no core file, and the usual number of descriptors. It dies
// when the thread that started it does, and it is killed and waited for when this goes.
//
// Its input is a pipe, or /dev/null if there is none: nothing that can be mapped into memory, so a
// library that somebody writes there cannot be loaded from there. We have to feed it: what was
// given must live as long as there is an input.
//
// What runs is the file that Program::open() has opened and checked, not whatever has its path a
// moment later. The interpreter of a script opens it as /dev/fd/N, so that is the name which the
// script sees in $0.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/descriptor.h"
#include "executors/program.h"

namespace holdfast::executors {

struct ChildPlan {
  Program* program = nullptr;     // which outlives the start
  std::vector<std::string> argv;  // the first is the path of the program
  // Scripts are run by their path, so that $0 is what they expect (launchers such as pyenv decide
  // by it). A file that takes the place of the script at that moment is run instead: only for
  // programs that the user of this process chose.
  bool scripts_by_path = false;
  std::vector<std::string> environment;  // NAME=value
  std::string folder;
  std::string_view input;
  bool keeps_input = false;  // then there is no `input`: it is written later, with Child::write
};

struct Ending {
  int code = 0;    // what it exited with
  int signal = 0;  // what killed it; 0: it exited
};

// kConflict: as Child::start.
base::Result<void> check_child_signal();

// Where orphans become our children (we are the first process of a container), waits for those of
// this group that have ended. True: there are some that have not yet. What was not ours to wait for
// is none of ours, and its number is nobody else's as long as there are some.
bool reap_group(pid_t group) noexcept;

class Child {
 public:
  // An error says which call failed, in the child too. kConflict: the program around us ignores
  // SIGCHLD, so nobody could say how a child ended. kCorrupt: the program is another file.
  static base::Result<Child> start(const ChildPlan& plan);
  ~Child();
  Child(Child&& other) noexcept = default;
  Child& operator=(Child&&) = delete;

  // Become readable when it has ended, when it has written, and when it has closed them.
  int ended() const noexcept { return process_.number(); }
  int output() const noexcept { return output_.number(); }
  int errors() const noexcept { return errors_.number(); }
  // Can be written to as long as there is something to write; then it is closed.
  int input() const noexcept { return input_.number(); }
  // On a thread that SIGPIPE is not delivered to.
  void feed();

  // For a plan that keeps the input: how many of the bytes it took, which may be none. Nothing: it
  // reads no more.
  std::optional<std::size_t> write(std::string_view bytes);
  void close_input() { input_ = env::Descriptor(); }
  void close_output() { output_ = env::Descriptor(); }
  void close_errors() { errors_ = env::Descriptor(); }

  void signal_group(int signal) const noexcept;

  // It has ended: puts an end to what is left of its group, and to it. An error: somebody else in
  // this program has waited for it.
  base::Result<Ending> wait();

  pid_t group() const noexcept { return id_.value; }

 private:
  Child(pid_t id, env::Descriptor process, env::Descriptor output, env::Descriptor errors);
  void give_input(env::Descriptor to, std::string_view input);

  struct Number {  // moves leave nothing behind
    pid_t value = -1;
    explicit Number(pid_t id) noexcept : value(id) {}
    Number(Number&& other) noexcept : value(std::exchange(other.value, -1)) {}
  };
  Number id_;
  env::Descriptor process_;
  env::Descriptor output_;
  env::Descriptor errors_;
  env::Descriptor input_;
  std::string_view unwritten_;
};

}  // namespace holdfast::executors
