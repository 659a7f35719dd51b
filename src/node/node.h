// SPDX-License-Identifier: Apache-2.0
// Node: a world that runs: a Loop (node/loop.h) on threads of its own. One reduces, one makes
// durable and lets out what waited for that, one prepares the journal's next files, one finishes
// snapshots; none of them does anything while nothing is due.
#pragma once

#include <memory>
#include <thread>

#include "node/loop.h"

namespace holdfast::node {

class Node {
 public:
  // Makes sure that what is open is under way, and begins. All of them must outlive it.
  static base::Result<std::unique_ptr<Node>> start(kernel::World& world, store::Journal& journal,
                                                   env::Clock& clock, env::Random& random,
                                                   Executors executors, LoopOptions options = {});
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // As Loop::send.
  base::Result<void> send(Input input, Heard heard) {
    return loop_.send(std::move(input), std::move(heard));
  }

  // As Loop::look.
  base::Result<void> look(Loop::Look look, Loop::LookKind kind = Loop::LookKind::kAsks) {
    return loop_.look(std::move(look), kind);
  }

  // As Loop::ask_for_snapshot.
  base::Result<void> ask_for_snapshot(Loop::Taken taken) {
    return loop_.ask_for_snapshot(std::move(taken));
  }

  LoopFigures figures() { return loop_.figures(); }
  LoopCondition condition() { return loop_.condition(); }

  // Takes nothing new, ends its executors, makes durable what was taken and what they have
  // reported, and ends. What they had under way stays open, and so does what was opened since: it
  // is started when the world is opened again. The error that it ended with, if it ended before.
  base::Result<void> stop();

 private:
  Node(kernel::World& world, store::Journal& journal, env::Clock& clock, env::Random& random,
       Executors executors, LoopOptions options)
      : loop_(world, journal, clock, random, std::move(executors), std::move(options)) {}

  Loop loop_;
  bool has_stopped_ = false;           // and with it the executors, which may be gone since
  std::unique_ptr<env::Alarm> alarm_;  // calls the loop, so it goes first
  std::thread reducer_;
  std::thread writer_;
  std::thread preparer_;
  std::thread keeper_;
};

}  // namespace holdfast::node
