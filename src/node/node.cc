// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <utility>

#include "env/quiet_thread.h"

namespace holdfast::node {

base::Result<std::unique_ptr<Node>> Node::start(kernel::World& world, store::Journal& journal,
                                                env::Clock& clock, env::Random& random,
                                                Executors executors, LoopOptions options) {
  std::unique_ptr<Node> node(
      new Node(world, journal, clock, random, std::move(executors), std::move(options)));
  Loop& loop = node->loop_;
  TRY(loop.recover());
  node->reducer_ = env::quiet_thread([&loop] {
    while (loop.wait_for_turn()) loop.turn();
  });
  node->writer_ = env::quiet_thread([&loop] {
    while (loop.wait_for_writing()) {
      loop.write();
      loop.release();
    }
  });
  node->preparer_ = env::quiet_thread([&loop] {
    while (loop.wait_for_preparing()) loop.prepare();
  });
  node->keeper_ = env::quiet_thread([&loop] {
    while (loop.wait_for_keeping()) loop.keep();
  });
  return node;
}

Node::~Node() { static_cast<void>(stop()); }

base::Result<void> Node::stop() {
  if (!std::exchange(has_stopped_, true)) {
    loop_.stop();
    loop_.shut_down_executors();
    for (std::thread* thread : {&reducer_, &writer_, &preparer_, &keeper_})
      if (thread->joinable()) thread->join();
  }
  if (auto failure = loop_.failure()) return std::move(*failure);
  return {};
}

}  // namespace holdfast::node
