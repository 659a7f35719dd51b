// SPDX-License-Identifier: Apache-2.0
// What the tests of the dispatcher share: short ways to write workers and tasks. For tests only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "codec/normaliser.h"
#include "dispatch/dispatcher.h"

namespace holdfast::dispatch::testing {

using Lines = std::vector<std::string>;

inline base::Hash intent(std::string_view name) { return base::sha256(base::as_bytes(name)); }

inline Offer offer(std::uint32_t slots = 1) {
  return {.queues = {"default"}, .types = {"echo"}, .slots = slots};
}

inline Offer with_cpu(Offer of, std::uint64_t milli) {
  of.cpu_milli = milli;
  return of;
}

inline Offer with_gpus(Offer of, std::vector<Device> devices) {
  of.devices = std::move(devices);
  return of;
}

// Its name is "N": the tests look choices up by it.
inline Task task(std::string_view name, std::string_view graph = "g") {
  Task made;
  made.intent = intent(name);
  made.graph = graph;
  made.demand.queue = "default";
  made.demand.type = "echo";
  return made;
}

// A dispatcher whose tasks and choices are texts.
class Desk {
 public:
  explicit Desk(DispatcherOptions options = {}) : dispatcher(options) {}

  void worker(std::string_view id, Offer of, std::uint32_t want = 1000) {
    dispatcher.put_worker(id, "node", id, std::move(of), Mode::kActive);
    dispatcher.set_live(id, true);
    dispatcher.set_want(id, want);
  }
  void add(std::string_view name, Task made) {
    names_.emplace_back(intent(name), name);
    made.queued_ns = now;
    dispatcher.add(std::move(made), now);
  }
  void add(std::string_view name, std::string_view graph = "g") { add(name, task(name, graph)); }
  void end(std::string_view name) { dispatcher.remove(intent(name), now); }
  void give_back(std::string_view name) { dispatcher.put_back(intent(name), now, now); }

  // "a -> w1", "a -> w1 [0,1]"
  Lines choose(std::size_t most = 1000) {
    Lines lines;
    do {
      for (const Choice& choice : dispatcher.choose(now, most - lines.size())) {
        std::string line = name_of(choice.intent) + " -> " + choice.worker;
        for (std::size_t i = 0; i < choice.devices.size(); ++i)
          line += (i == 0 ? " [" : ",") + std::to_string(choice.devices[i]);
        lines.push_back(line + (choice.devices.empty() ? "" : "]"));
      }
    } while (dispatcher.has_more() && lines.size() < most);
    return lines;
  }
  Lines expire(std::size_t most = 1000) {
    Lines lines;
    for (const GiveUp& each : dispatcher.expire(now, most))
      lines.push_back(name_of(each.intent) +
                      (each.reason == GiveUpReason::kExhausted ? " exhausted" : " none eligible"));
    return lines;
  }
  Explanation explain(std::string_view name) { return dispatcher.explain(intent(name)); }

  std::string name_of(const base::Hash& hash) const {
    for (const auto& [known, name] : names_)
      if (known == hash) return name;
    return "?";
  }

  std::uint64_t now = 1'000 * kSecondNs;
  Dispatcher dispatcher;

 private:
  std::vector<std::pair<base::Hash, std::string>> names_;
};

}  // namespace holdfast::dispatch::testing
