// SPDX-License-Identifier: Apache-2.0
// The workflow as its tests run it: in a world in memory, and in runs of its own.
#include <chrono>
#include <cstdio>
#include <memory>

#include "approval.h"
#include "holdfast/testing.h"

using namespace std::chrono_literals;

int main() {
  auto world =
      holdfast::testing::World::open({holdfast::Module::of<Approval>("outside/code@1")},
                                     holdfast::step_handlers(std::make_shared<Approval>()));
  if (!world) return failed(world.error().message);
  if (const auto sent = (*world)->send(Request{"r-1"}); !sent) return failed(sent.error().message);
  (*world)->advance(24h * 31);
  const auto run = (*world)->query<Approval>("r-1");
  if (!run) return failed(run.error().message);
  const auto outcome = run->result_as<Outcome>();
  std::printf("world: %s\n", outcome ? outcome->text.c_str() : "no outcome");

  auto runs = holdfast::MemoryRuns<Approval>::open(std::make_shared<Approval>());
  if (!runs) return failed(runs.error().message);
  if (const auto sent = (*runs)->send(Request{"r-1"}); !sent) return failed(sent.error().message);
  (*runs)->advance(24h * 31);
  const auto alone = (*runs)->find("r-1");
  if (!alone || !alone->outcome) return failed("the run has not ended");
  const auto end = alone->outcome->as<Outcome>();
  std::printf("alone: %s\n", end ? end->text.c_str() : "no outcome");
}
