// SPDX-License-Identifier: Apache-2.0
// Random workers, tasks and events, held against a model that looks at everything each time.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "dispatch/testing.h"

namespace holdfast::dispatch {
namespace {

struct ModelTask {
  Task task;
  enum class State : std::uint8_t { kWaiting, kHeld } state = State::kWaiting;
  std::string worker = {};
  std::vector<std::uint32_t> devices = {};
  std::uint64_t arrival = 0;
};

class Model {
 public:
  std::map<std::string, Candidate> workers;
  std::map<base::Hash, ModelTask> tasks;

  // A worker with what its tasks have in use, counted anew.
  Candidate candidate(const std::string& id) const {
    Candidate worker = workers.at(id);
    for (const auto& [intent, each] : tasks) {
      if (each.state != ModelTask::State::kHeld || each.worker != id) continue;
      ++worker.used_slots;
      worker.used_cpu_milli += each.task.demand.resources.cpu_milli;
      worker.used_memory_bytes += each.task.demand.resources.memory_bytes;
      worker.used_devices.insert(worker.used_devices.end(), each.devices.begin(),
                                 each.devices.end());
    }
    std::ranges::sort(worker.used_devices);
    return worker;
  }

  bool could_run(const Task& task, const std::string& id) const {
    const Candidate worker = candidate(id);
    return misfit_of(task.demand, worker) == Misfit::kNone &&
           lack_of(task.demand, worker) == Lack::kNone;
  }

  bool has_key_room(const Task& task) const {
    if (task.key.empty()) return true;
    const auto running = std::ranges::count_if(tasks, [&](const auto& each) {
      return each.second.state == ModelTask::State::kHeld && each.second.task.key == task.key;
    });
    return static_cast<std::uint64_t>(running) < task.key_limit;
  }

  bool can_be_placed(const Task& task) const {
    return has_key_room(task) && std::ranges::any_of(workers, [&](const auto& each) {
             return could_run(task, each.first);
           });
  }
};

Offer random_offer() {
  Offer made = testing::offer(*rc::gen::inRange(1u, 4u));
  if (*rc::gen::arbitrary<bool>()) made.types.push_back("train");
  made.cpu_milli = *rc::gen::inRange(0u, 4u) * 1000;
  const unsigned devices = *rc::gen::inRange(0u, 3u);
  for (unsigned i = 0; i < devices; ++i) made.devices.push_back({i * 2, "T4", i});
  return made;
}

Task random_task(int number) {
  Task made =
      testing::task("t" + std::to_string(number), "g" + std::to_string(*rc::gen::inRange(0, 3)));
  if (*rc::gen::inRange(0, 3) == 0) made.demand.type = "train";
  made.demand.resources.cpu_milli = *rc::gen::inRange(0u, 3u) * 1000;
  if (*rc::gen::inRange(0, 4) == 0) made.demand.resources.gpu = tasks::Gpu{"", 1, 0};
  if (*rc::gen::inRange(0, 5) == 0) made.demand.avoided = {"w0"};
  made.priority = *rc::gen::inRange(-1, 2);
  if (*rc::gen::inRange(0, 3) == 0) {
    made.key = "k" + std::to_string(*rc::gen::inRange(0, 2));
    made.key_limit = *rc::gen::inRange(1u, 3u);
  }
  return made;
}

base::Hash pick(const std::vector<base::Hash>& from) {
  return from[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(from.size())))];
}

std::vector<base::Hash> those_in(const Model& model, ModelTask::State state) {
  std::vector<base::Hash> found;
  for (const auto& [intent, task] : model.tasks)
    if (task.state == state) found.push_back(intent);
  return found;
}

// Takes over a choice, after it was checked.
void accept(Model& model, const Choice& choice) {
  const auto at = model.tasks.find(choice.intent);
  RC_ASSERT(at != model.tasks.end());
  ModelTask& task = at->second;
  RC_ASSERT(task.state == ModelTask::State::kWaiting);
  RC_ASSERT(model.could_run(task.task, choice.worker));
  RC_ASSERT(model.has_key_room(task.task));
  RC_ASSERT(choice.devices == pick_devices(task.task.demand, model.candidate(choice.worker)));
  // Nothing of its graph that asks for the same and could run comes before it.
  for (const auto& [intent, other] : model.tasks) {
    if (intent == choice.intent || other.state != ModelTask::State::kWaiting) continue;
    if (other.task.graph != task.task.graph || !(other.task.demand == task.task.demand)) continue;
    if (!model.has_key_room(other.task)) continue;
    const Order its{other.task.priority, 0, other.arrival, intent};
    const Order ours{task.task.priority, 0, task.arrival, choice.intent};
    RC_ASSERT(ours < its);
  }
  task.state = ModelTask::State::kHeld;
  task.worker = choice.worker;
  task.devices = choice.devices;
  Candidate& worker = model.workers.at(choice.worker);
  if (worker.want != 0) --worker.want;
}

void run_random_story() {
  Dispatcher dispatcher(
      {.policy = *rc::gen::arbitrary<bool>() ? Policy::kBestFit : Policy::kFirstFit});
  Model model;
  std::uint64_t now = 1000 * kSecondNs;
  std::uint64_t arrivals = 0;
  int made = 0;
  const int steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    now += *rc::gen::inRange<std::uint64_t>(0, 3) * kSecondNs;
    const std::string id = "w" + std::to_string(*rc::gen::inRange(0, 4));
    const bool is_known = model.workers.contains(id);
    switch (*rc::gen::inRange(0, 9)) {
      case 0: {
        const Offer of = random_offer();
        dispatcher.put_worker(id, "n", id, of, Mode::kActive);
        dispatcher.set_live(id, true);
        Candidate& worker = model.workers[id];
        worker.id = worker.name = id;
        worker.node = "n";
        worker.offer = of;
        worker.mode = Mode::kActive;
        worker.is_live = true;
        break;
      }
      case 1: {
        const auto mode = static_cast<Mode>(*rc::gen::inRange(0, 5));
        dispatcher.set_mode(id, mode);
        if (is_known) model.workers[id].mode = mode;
        break;
      }
      case 2: {
        const bool is_live = *rc::gen::arbitrary<bool>();
        dispatcher.set_live(id, is_live);
        if (is_known) model.workers[id].is_live = is_live;
        break;
      }
      case 3:
      case 4: {
        const auto want = *rc::gen::inRange(0u, 5u);
        dispatcher.set_want(id, want);
        if (is_known) model.workers[id].want = want;
        break;
      }
      case 5:
      case 6: {
        const Task task = random_task(++made);
        dispatcher.add(task, now);
        model.tasks[task.intent] = {.task = task, .arrival = ++arrivals};
        break;
      }
      case 7: {
        const auto held = those_in(model, ModelTask::State::kHeld);
        if (held.empty()) break;
        const base::Hash intent = pick(held);
        if (*rc::gen::arbitrary<bool>()) {
          dispatcher.remove(intent, now);
          model.tasks.erase(intent);
        } else {
          dispatcher.put_back(intent, now, now);
          model.tasks[intent].state = ModelTask::State::kWaiting;
        }
        break;
      }
      default: {
        const auto waiting = those_in(model, ModelTask::State::kWaiting);
        if (waiting.empty() || *rc::gen::inRange(0, 3) != 0) break;
        const base::Hash intent = pick(waiting);
        dispatcher.remove(intent, now);
        model.tasks.erase(intent);
        break;
      }
    }
    // One at a time, so that each is checked against what was so before it.
    for (int i = 0; i < 200; ++i) {
      const auto choices = dispatcher.choose(now, 1);
      for (const Choice& choice : choices) accept(model, choice);
      if (choices.empty() && !dispatcher.has_more()) break;
      RC_ASSERT(i < 199);
    }
    std::uint64_t waiting = 0;
    for (const auto& [intent, task] : model.tasks) {
      const auto kind = dispatcher.explain(intent).kind;
      if (task.state == ModelTask::State::kHeld) {
        RC_ASSERT(kind == Explanation::Kind::kChosen);
        continue;
      }
      ++waiting;
      RC_ASSERT(!model.can_be_placed(task.task));
      const bool is_eligible = std::ranges::any_of(model.workers, [&](const auto& each) {
        return misfit_of(task.task.demand, model.candidate(each.first)) == Misfit::kNone;
      });
      RC_ASSERT((kind == Explanation::Kind::kNoneEligible) == !is_eligible);
      if (is_eligible)
        RC_ASSERT((kind == Explanation::Kind::kKeyLimit) == !model.has_key_room(task.task));
    }
    RC_ASSERT(dispatcher.size() == model.tasks.size());
    const auto figures = dispatcher.queues().find("default");
    RC_ASSERT((figures == dispatcher.queues().end() ? 0 : figures->second.waiting) == waiting);
  }
}

RC_GTEST_PROP(Dispatcher, places_what_can_be_placed_and_nothing_else, ()) { run_random_story(); }

// Turns, in the plainest words: a graph waits since its first task came or since it was last
// served; a priority point is worth the age.
RC_GTEST_PROP(Dispatcher, gives_turns_by_waiting_time_and_priority, ()) {
  constexpr std::uint64_t kAge = 10 * kSecondNs;
  Dispatcher dispatcher({.age_ns = kAge});
  dispatcher.put_worker("w", "n", "w", testing::offer(kMaxSlots), Mode::kActive);
  dispatcher.set_live("w", true);
  struct Waiting {
    std::int64_t priority;
    std::uint64_t arrival;
    base::Hash intent;
  };
  struct GraphModel {
    std::vector<Waiting> waiting;
    std::pair<std::uint64_t, std::uint64_t> since{};
  };
  std::map<std::string, GraphModel> graphs;
  std::map<std::string, std::uint64_t> total;  // a graph is forgotten with its last task
  std::uint64_t now = 1000 * kSecondNs;
  std::uint64_t events = 0;
  int made = 0;
  const int steps = *rc::gen::inRange(1, 80);
  for (int step = 0; step < steps; ++step) {
    now += *rc::gen::inRange<std::uint64_t>(0, 8) * kSecondNs;
    if (*rc::gen::inRange(0, 5) < 3) {
      Task task = testing::task("t" + std::to_string(++made),
                                "g" + std::to_string(*rc::gen::inRange(0, 4)));
      task.priority = *rc::gen::inRange(-2, 3);
      GraphModel& graph = graphs[task.graph];
      ++events;
      if (graph.waiting.empty()) graph.since = std::max(graph.since, {now, events});
      graph.waiting.push_back({task.priority, events, task.intent});
      dispatcher.add(task, now);
      continue;
    }
    dispatcher.set_want("w", 1);
    std::optional<std::pair<std::pair<std::int64_t, std::uint64_t>, std::string>> best;
    const auto earlier = [](const Waiting& a, const Waiting& b) {
      return a.priority != b.priority ? a.priority > b.priority : a.arrival < b.arrival;
    };
    for (auto& [name, graph] : graphs) {
      if (graph.waiting.empty()) continue;
      std::ranges::sort(graph.waiting, earlier);
      const std::pair<std::int64_t, std::uint64_t> rank{
          static_cast<std::int64_t>(graph.since.first) -
              graph.waiting.front().priority * static_cast<std::int64_t>(kAge),
          graph.since.second};
      if (!best || rank < best->first) best = {rank, name};
    }
    std::vector<Choice> choices;
    while (choices.empty() && dispatcher.has_more()) choices = dispatcher.choose(now, 1);
    RC_ASSERT(choices.empty() == !best.has_value());
    if (!best) continue;
    GraphModel& graph = graphs[best->second];
    RC_ASSERT(choices.front().intent == graph.waiting.front().intent);
    graph.waiting.erase(graph.waiting.begin());
    graph.since = {now, ++events};
  }
}

}  // namespace
}  // namespace holdfast::dispatch
