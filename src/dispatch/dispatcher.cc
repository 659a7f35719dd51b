// SPDX-License-Identifier: Apache-2.0
#include "dispatch/dispatcher.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace holdfast::dispatch {

// Workers.

void Dispatcher::put_worker(std::string_view id, std::string_view node, std::string_view name,
                            Offer offer, Mode mode) {
  const WorkerIndex index = fleet_.put(id, node, name, std::move(offer), mode);
  for (auto& [number, state] : lines_)
    state.line.fitting.set(index,
                           misfit_of_offer(state.line.demand(), fleet_.at(index)) == Misfit::kNone);
  fleet_changed(index);
}

void Dispatcher::set_mode(std::string_view worker, Mode mode) {
  const auto index = fleet_.find(worker);
  if (!index || fleet_.at(*index).mode == mode) return;
  fleet_.set_mode(*index, mode);
  fleet_changed(*index);
}

void Dispatcher::set_live(std::string_view worker, bool is_live) {
  const auto index = fleet_.find(worker);
  if (!index || fleet_.at(*index).is_live == is_live) return;
  fleet_.set_live(*index, is_live);
  fleet_changed(*index);
}

void Dispatcher::set_want(std::string_view worker, std::uint32_t want) {
  const auto index = fleet_.find(worker);
  if (!index) return;
  const bool is_more = want > fleet_.at(*index).want;
  fleet_.set_want(*index, want);
  if (is_more) freed_.set(*index, true);
}

void Dispatcher::fleet_changed(WorkerIndex worker) {
  all_unchecked_ = true;
  freed_.set(worker, true);
}

// Tasks.

void Dispatcher::add(Task task, std::uint64_t now_ns) {
  const auto [at, is_new] = tasks_.try_emplace(task.intent);
  if (!is_new) return put_back(task.intent, task.queued_ns, now_ns);
  Known& known = at->second;
  known.line = line_for(std::move(task.demand));
  known.graph = graph_for(task.graph);
  known.order = {task.priority, task.position, ++arrivals_, task.intent};
  known.queued_ns = task.queued_ns;
  known.key = std::move(task.key);
  known.key_limit = task.key_limit;
  begin_wait(known, now_ns);
}

void Dispatcher::put_back(const base::Hash& intent, std::uint64_t queued_ns, std::uint64_t now_ns) {
  const auto at = tasks_.find(intent);
  if (at == tasks_.end()) return;
  Known& task = at->second;
  if (task.state == State::kWaiting || task.state == State::kParked) return;
  end_state(task, now_ns);
  task.queued_ns = queued_ns;
  begin_wait(task, now_ns);
}

void Dispatcher::leased(const base::Hash& intent, std::string_view worker,
                        const std::vector<std::uint32_t>& devices, std::uint64_t now_ns) {
  const auto at = tasks_.find(intent);
  if (at == tasks_.end()) return;
  Known& task = at->second;
  const auto index = fleet_.find(worker);
  const bool is_as_chosen =
      task.state == State::kChosen && task.worker == index && task.devices == devices;
  if (!is_as_chosen) {
    end_state(task, now_ns);
    begin_use(task, index, devices);
  }
  task.state = State::kLeased;
}

void Dispatcher::remove(const base::Hash& intent, std::uint64_t now_ns) {
  const auto at = tasks_.find(intent);
  if (at == tasks_.end()) return;
  end_state(at->second, now_ns);
  const LineIndex line = at->second.line;
  const GraphIndex graph = at->second.graph;
  tasks_.erase(at);
  let_go_of_queue(lines_.at(line).line.demand().queue);
  let_go_of_line(line);
  let_go_of_graph(graph);
}

void Dispatcher::reported(const base::Hash& intent, std::uint64_t now_ns) {
  const auto at = tasks_.find(intent);
  if (at == tasks_.end() || at->second.state != State::kLeased) return;
  end_state(at->second, now_ns);
  at->second.state = State::kEnding;
}

void Dispatcher::end_state(Known& task, std::uint64_t now_ns) {
  switch (task.state) {
    case State::kWaiting:
      leave_line(task);
      end_wait(task);
      // It may be the one that was let into its line when its key had room: others are next.
      if (!task.key.empty()) unpark(task.key, now_ns);
      break;
    case State::kParked: {
      const auto key = keys_.find(task.key);
      const auto of_line = key->second.parked.find(task.line);
      of_line->second.erase(task.order);
      if (of_line->second.empty()) key->second.parked.erase(of_line);
      if (key->second.running == 0 && key->second.parked.empty()) keys_.erase(key);
      end_wait(task);
      break;
    }
    case State::kChosen:
    case State::kLeased: end_use(task, now_ns); break;
    case State::kEnding: break;
  }
}

// Waiting.

void Dispatcher::begin_wait(Known& task, std::uint64_t now_ns) {
  LineState& state = lines_.at(task.line);
  task.added_ns = now_ns;
  if (state.arrivals.empty()) {
    unchecked_.insert(task.line);
    if (!state.line.demand().resources.recipe.empty()) with_recipe_.insert(task.line);
  }
  state.arrivals.emplace(std::pair(now_ns, task.order.arrival), task.order.intent);
  const std::string& queue = state.line.demand().queue;
  QueueFigures& figures = figures_[queue];
  auto& oldest = oldest_[queue];
  ++figures.waiting;
  oldest.emplace(task.queued_ns, task.order.arrival);
  figures.oldest_ns = oldest.begin()->first;
  enter_line(task, now_ns);
}

void Dispatcher::end_wait(Known& task) {
  LineState& state = lines_.at(task.line);
  state.arrivals.erase({task.added_ns, task.order.arrival});
  if (state.arrivals.empty()) {
    starving_.erase(task.line);
    with_recipe_.erase(task.line);
    state.none_since.reset();
  }
  const std::string& queue = state.line.demand().queue;
  QueueFigures& figures = figures_[queue];
  auto& oldest = oldest_[queue];
  --figures.waiting;
  oldest.erase({task.queued_ns, task.order.arrival});
  figures.oldest_ns = oldest.empty() ? 0 : oldest.begin()->first;
}

void Dispatcher::enter_line(Known& task, std::uint64_t now_ns) {
  LineState& state = lines_.at(task.line);
  unlist(task.line, state);
  state.line.add(task.graph, task.order, next_turn(now_ns), graphs_.at(task.graph).served,
                 options_.age_ns);
  task.state = State::kWaiting;
  list(task.line, state);
}

void Dispatcher::leave_line(Known& task) {
  LineState& state = lines_.at(task.line);
  unlist(task.line, state);
  state.line.remove(task.graph, task.order, options_.age_ns);
  list(task.line, state);
}

void Dispatcher::list(LineIndex index, LineState& state) {
  if (state.line.empty()) {
    state.is_blocked = false;
    blocked_.erase(index);
  }
  if (state.line.empty() || state.is_blocked) return;
  state.listed = state.line.head().rank;
  ready_.emplace(*state.listed, index);
}

void Dispatcher::unlist(LineIndex index, LineState& state) {
  if (state.listed) ready_.erase({*state.listed, index});
  state.listed.reset();
}

// Concurrency keys.

void Dispatcher::park(Known& task) {
  leave_line(task);
  keys_[task.key].parked[task.line].insert(task.order);
  task.state = State::kParked;
}

// One task of each line: which of them can be placed is not known here.
void Dispatcher::unpark(const std::string& key, std::uint64_t now_ns) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return;
  std::vector<base::Hash> first;
  for (auto of_line = at->second.parked.begin(); of_line != at->second.parked.end();) {
    first.push_back(of_line->second.begin()->intent);
    of_line->second.erase(of_line->second.begin());
    of_line = of_line->second.empty() ? at->second.parked.erase(of_line) : std::next(of_line);
  }
  if (at->second.running == 0 && at->second.parked.empty()) keys_.erase(at);
  for (const base::Hash& intent : first) enter_line(tasks_.at(intent), now_ns);
}

void Dispatcher::begin_use(Known& task, std::optional<WorkerIndex> worker,
                           std::vector<std::uint32_t> devices) {
  const Demand& demand = lines_.at(task.line).line.demand();
  task.worker = worker;
  task.devices = std::move(devices);
  if (worker) fleet_.use(*worker, demand, task.devices);
  if (!task.key.empty()) ++keys_[task.key].running;
  ++figures_[demand.queue].running;
  task.state = State::kChosen;
}

void Dispatcher::end_use(Known& task, std::uint64_t now_ns) {
  const Demand& demand = lines_.at(task.line).line.demand();
  if (task.worker) {
    fleet_.release(*task.worker, demand, task.devices);
    freed_.set(*task.worker, true);
  }
  task.worker.reset();
  task.devices.clear();
  --figures_[demand.queue].running;
  if (task.key.empty()) return;
  Key& key = keys_.at(task.key);
  --key.running;
  unpark(task.key, now_ns);
}

// Lines and graphs.

LineIndex Dispatcher::line_for(Demand demand) {
  const auto [at, is_new] = line_of_.try_emplace(key_of(demand), next_line_);
  if (is_new) {
    LineState& state = lines_.try_emplace(next_line_++, std::move(demand)).first->second;
    for (WorkerIndex worker = 0; worker < fleet_.size(); ++worker) {
      if (misfit_of_offer(state.line.demand(), fleet_.at(worker)) == Misfit::kNone)
        state.line.fitting.set(worker, true);
    }
  }
  unused_.erase(at->second);
  ++lines_.at(at->second).tasks;
  return at->second;
}

void Dispatcher::let_go_of_line(LineIndex index) {
  if (--lines_.at(index).tasks != 0) return;
  unused_.insert(index);
  if (unused_.size() <= kMostUnusedLines) return;
  const LineIndex oldest = *unused_.begin();
  unused_.erase(unused_.begin());
  unchecked_.erase(oldest);
  line_of_.erase(key_of(lines_.at(oldest).line.demand()));
  lines_.erase(oldest);
}

void Dispatcher::let_go_of_queue(const std::string& queue) {
  const auto at = figures_.find(queue);
  if (at == figures_.end() || at->second.waiting != 0 || at->second.running != 0) return;
  figures_.erase(at);
  oldest_.erase(queue);
}

GraphIndex Dispatcher::graph_for(const std::string& name) {
  const auto [at, is_new] = graph_of_.try_emplace(name, next_graph_);
  if (is_new) graphs_[next_graph_++].name = name;
  ++graphs_.at(at->second).tasks;
  return at->second;
}

void Dispatcher::let_go_of_graph(GraphIndex index) {
  const auto at = graphs_.find(index);
  if (--at->second.tasks != 0) return;
  graph_of_.erase(at->second.name);
  graphs_.erase(at);
}

// Choices.

bool Dispatcher::has_more() const noexcept {
  return !ready_.empty() || sweep_at_.has_value() || (!blocked_.empty() && !freed_.none());
}

// Lines for which there was no worker may have one now that some have more room.
void Dispatcher::sweep() {
  if (!sweep_at_ && !freed_.none()) {
    swept_ = std::exchange(freed_, Bits());
    sweep_at_ = 0;
  }
  if (!sweep_at_) return;
  auto at = blocked_.lower_bound(*sweep_at_);
  for (std::size_t looks = 0; looks < kMostLooks && at != blocked_.end(); ++looks) {
    LineState& state = lines_.at(*at);
    if (!meet(state.line.fitting, swept_)) {
      ++at;
      continue;
    }
    const LineIndex index = *at;
    at = blocked_.erase(at);
    state.is_blocked = false;
    list(index, state);
  }
  if (at == blocked_.end()) {
    sweep_at_.reset();
  } else {
    sweep_at_ = *at;
  }
}

std::vector<Choice> Dispatcher::choose(std::uint64_t now_ns, std::size_t most) {
  sweep();
  std::vector<Choice> choices;
  for (std::size_t looks = 0; looks < kMostLooks && choices.size() < most && !ready_.empty();
       ++looks) {
    const LineIndex index = ready_.begin()->second;
    LineState& state = lines_.at(index);
    const Line::Head head = state.line.head();
    Graph& graph = graphs_.at(head.graph);
    if (state.line.refresh(head.graph, graph.served, options_.age_ns)) {
      unlist(index, state);
      list(index, state);
      continue;
    }
    Known& task = tasks_.at(head.task.intent);
    if (!task.key.empty()) {
      const auto key = keys_.find(task.key);
      if (key != keys_.end() && key->second.running >= task.key_limit) {
        park(task);
        continue;
      }
    }
    const Demand& demand = state.line.demand();
    const auto worker =
        place(options_.policy, fleet_, state.line.fitting, demand,
              options_.policy == Policy::kBestFit ? next_candidate_ : WorkerIndex{0});
    if (!worker) {
      unlist(index, state);
      state.is_blocked = true;
      blocked_.insert(index);
      continue;
    }
    leave_line(task);
    end_wait(task);
    begin_use(task, *worker, pick_devices(demand, fleet_.at(*worker)));
    fleet_.chosen(*worker, ++choices_);
    next_candidate_ = *worker + 1;
    graph.served = next_turn(now_ns);
    choices.push_back({head.task.intent, fleet_.at(*worker).id, task.devices});
  }
  return choices;
}

// Graces.

void Dispatcher::check_eligible(LineIndex index, std::uint64_t now_ns) {
  LineState& state = lines_.at(index);
  if (state.arrivals.empty() || meet(state.line.fitting, fleet_.working())) {
    state.none_since.reset();
    starving_.erase(index);
  } else if (!state.none_since) {
    state.none_since = now_ns;
    starving_.insert(index);
  }
}

std::vector<GiveUp> Dispatcher::expire(std::uint64_t now_ns, std::size_t most) {
  if (std::exchange(all_unchecked_, false)) {
    for (const auto& [index, state] : lines_) check_eligible(index, now_ns);
  } else {
    for (const LineIndex index : unchecked_) check_eligible(index, now_ns);
  }
  unchecked_.clear();
  std::vector<GiveUp> over;
  const std::set<LineIndex> starving = starving_;
  for (const LineIndex index : starving) {
    LineState& state = lines_.at(index);
    std::shared_ptr<const Explanation> why;
    while (over.size() < most && !state.arrivals.empty()) {
      const auto& [arrival, intent] = *state.arrivals.begin();
      const std::uint64_t begun = std::max(*state.none_since, arrival.first);
      if (now_ns < begun || now_ns - begun < options_.no_worker_grace_ns) break;
      if (!why) {
        const auto made = std::make_shared<Explanation>();
        made->is_exhausted = is_exhausted(state.line.demand());
        explain_workers(state.line.demand(), *made);
        why = made;
      }
      over.push_back({intent,
                      why->is_exhausted ? GiveUpReason::kExhausted : GiveUpReason::kNoneEligible,
                      why});
      Known& task = tasks_.at(over.back().intent);
      end_state(task, now_ns);
      task.state = State::kEnding;
    }
  }
  return over;
}

bool Dispatcher::is_exhausted(const Demand& demand) const {
  bool found = false;
  fleet_.each([&](const Candidate& worker) {
    found = misfit_of(demand, worker) == Misfit::kAvoided;
    return !found;
  });
  return found;
}

// Explanations.

void Dispatcher::explain_workers(const Demand& demand, Explanation& out) const {
  fleet_.each([&](const Candidate& worker) {
    if (worker.mode == Mode::kLost || worker.mode == Mode::kLeft) return true;
    if (out.workers.size() == kMostExplained) {
      ++out.more_workers;
      return true;
    }
    const Misfit misfit = misfit_of(demand, worker);
    out.workers.push_back({worker.id, worker.name,
                           misfit == Misfit::kNone
                               ? describe(lack_of(demand, worker), demand, worker)
                               : describe(misfit, demand, worker)});
    return true;
  });
}

Explanation Dispatcher::explain(const base::Hash& intent) const {
  Explanation out;
  const auto at = tasks_.find(intent);
  if (at == tasks_.end()) return out;
  const Known& task = at->second;
  const LineState& state = lines_.at(task.line);
  const Demand& demand = state.line.demand();
  using Kind = Explanation::Kind;
  switch (task.state) {
    case State::kChosen:
    case State::kLeased:
      out.kind = task.state == State::kChosen ? Kind::kChosen : Kind::kLeased;
      if (task.worker) out.worker = fleet_.at(*task.worker).id;
      return out;
    case State::kEnding: out.kind = Kind::kEnding; return out;
    case State::kParked:
    case State::kWaiting: break;
  }
  if (!meet(state.line.fitting, fleet_.working())) {
    out.kind = Kind::kNoneEligible;
    out.is_exhausted = is_exhausted(demand);
    const std::uint64_t begun = std::max(state.none_since.value_or(task.added_ns), task.added_ns);
    out.gives_up_ns = begun + options_.no_worker_grace_ns;
    explain_workers(demand, out);
    return out;
  }
  if (const auto key = keys_.find(task.key);
      !task.key.empty() && key != keys_.end() && key->second.running >= task.key_limit) {
    out.kind = Kind::kKeyLimit;
    out.key = task.key;
    out.key_limit = task.key_limit;
    out.key_running = key->second.running;
    return out;
  }
  if (!demand.resources.recipe.empty() && !is_served(state.line)) {
    for (auto at_worker = first_in_both(state.line.fitting, fleet_.working(), 0); at_worker;
         at_worker = first_in_both(state.line.fitting, fleet_.working(), *at_worker + 1)) {
      const Candidate& worker = fleet_.at(static_cast<WorkerIndex>(*at_worker));
      if (!worker.recipes || worker.recipes->swapping != demand.resources.recipe) continue;
      out.kind = Kind::kSwapping;
      out.worker = worker.id;
      out.recipe = demand.resources.recipe;
      out.workers.push_back({worker.id, worker.name, describe(Lack::kRecipe, demand, worker)});
      return out;
    }
  }
  out.kind = Kind::kBusy;
  out.place = task.state == State::kWaiting ? state.line.count_before(task.graph, task.order) + 1
                                            : state.line.size() + 1;
  out.length = state.line.size() + (task.state == State::kParked ? 1 : 0);
  explain_workers(demand, out);
  return out;
}

}  // namespace holdfast::dispatch
