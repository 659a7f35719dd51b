// SPDX-License-Identifier: Apache-2.0
// The workflow in an engine, over two processes: `durable begin WORLD` asks and ends,
// `durable answer WORLD` is told the answer and comes to the end.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "approval.h"
#include "holdfast/engine.h"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc < 3) return failed("usage: durable begin|answer WORLD");
  auto engine =
      holdfast::Engine::open({.dir = argv[2],
                              .modules = {holdfast::Module::of<Approval>("outside/code@1")},
                              .handlers = holdfast::step_handlers(std::make_shared<Approval>()),
                              .any_file_system = true});
  if (!engine) return failed(engine.error().message);
  if (std::string(argv[1]) == "begin") {
    if (const auto sent = (*engine)->send(Request{"r-1"}); !sent)
      return failed(sent.error().message);
    for (std::uint64_t after = 0;;) {
      const auto page = (*engine)->follow<Approval>("r-1", after, 100, 1min);
      if (!page) return failed(page.error().message);
      after = page->last;
      for (const auto& [sequence, entry] : page->entries) {
        if (const auto question = entry.as<Question>())
          return std::printf("asks: %s\n", question->text.c_str()), 0;
      }
    }
  }
  if (const auto sent = (*engine)->send(Decision{"r-1", true}); !sent)
    return failed(sent.error().message);
  const auto ended = (*engine)->wait<Approval>("r-1", 1min);
  if (!ended) return failed(ended.error().message);
  const auto outcome = ended->result_as<Outcome>();
  if (!outcome) return failed("it has no outcome");
  std::printf("ended: %s\n", outcome->text.c_str());
}
