// SPDX-License-Identifier: Apache-2.0
// What the examples of step workflows share: they show what a run puts out, until it waits for
// somebody or has ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "arguments.h"
#include "holdfast/engine.h"
#include "holdfast/steps.h"

namespace examples {

inline int failed(const std::string& message) {
  return std::fprintf(stderr, "%s\n", message.c_str()), 1;
}

// Entries are given to `print`; the outcome, if there is one, is printed by its `text`. What a
// program returns.
template <class Workflow, class Print>
int show(holdfast::Engine& engine, const std::string& id, std::uint64_t after, Print print) {
  using std::chrono::minutes;
  while (true) {
    const auto page = engine.follow<Workflow>(id, after, 100, minutes(1));
    if (!page) return failed(page.error().message);
    after = page->last;
    for (const auto& [sequence, entry] : page->entries) {
      print(entry);
      if (entry.kind == "idle") return 0;
    }
    if (!page->end) continue;
    const auto ended = engine.wait<Workflow>(id, minutes(1));
    if (!ended) return failed(ended.error().message);
    if (ended->error) return failed(ended->error->code + ": " + ended->error->message);
    const auto outcome = ended->template result_as<typename Workflow::Stop>();
    if (!outcome) return failed("it has no outcome");
    return std::printf("%s\n", outcome->text.c_str()), 0;
  }
}

// Whether there is such a run; says so if not. Whoever sends an event to one that was never begun
// would wait for nothing.
template <class Workflow>
bool is_there(holdfast::Engine& engine, const std::string& id) {
  if (engine.query<Workflow>(id)) return true;
  failed("there is no such run: " + id);
  return false;
}

// How much the run has put out so far: what is shown next comes behind it.
template <class Workflow>
std::uint64_t seen(holdfast::Engine& engine, const std::string& id) {
  std::uint64_t last = 0;
  while (true) {
    const auto page = engine.stream<Workflow>(id, last, 1000);
    if (!page || page->entries.empty()) return last;
    last = page->last;
  }
}

}  // namespace examples
