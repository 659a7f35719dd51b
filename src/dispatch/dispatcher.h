// SPDX-License-Identifier: Apache-2.0
// Dispatcher: which waiting task goes to which worker, and which tasks must be given up. It is told
// everything (workers, tasks, leases, the time) and decides; it performs nothing, and remembers
// nothing that cannot be told to it again after a restart.
//
// Invariants:
//  1. A task is waiting, chosen, leased or ending: never two of them.
//  2. What a worker has in use is what its chosen and leased tasks ask for.
//  3. A concurrency key counts the chosen and leased tasks that have it.
//  4. The same calls give the same choices.
//
// A choice holds resources until it is confirmed (`leased`) or taken back (`put_back`). The cost of
// a choice does not grow with the number of tasks; it grows by one word for 64 workers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "dispatch/fleet.h"
#include "dispatch/limits.h"
#include "dispatch/line.h"
#include "dispatch/placement.h"

namespace holdfast::dispatch {

struct DispatcherOptions {
  Policy policy = Policy::kBestFit;
  std::uint64_t age_ns = 10 * kSecondNs;  // what a priority point is worth
  std::uint64_t no_worker_grace_ns =
      60 * kSecondNs;  // until a task that no worker fits is given up
  std::size_t most_workers = 65'536;
};

// A task as the dispatcher needs it.
struct Task {
  base::Hash intent = {};
  std::string graph = {};
  Demand demand = {};
  std::int64_t priority = 0;
  std::uint32_t position = 0;
  std::string key = {};  // of its concurrency limit; empty: none
  std::uint32_t key_limit = 0;
  std::uint64_t queued_ns = 0;  // since when it waits
};

struct Choice {
  base::Hash intent = {};
  std::string worker = {};
  std::vector<std::uint32_t> devices = {};
};

enum class GiveUpReason : std::uint8_t {
  kNoneEligible,  // no worker fits
  kExhausted,     // those that fit have all failed it
};

struct QueueFigures {
  std::uint64_t waiting = 0;
  std::uint64_t running = 0;    // chosen or leased
  std::uint64_t oldest_ns = 0;  // since when the one waits that waits longest; 0: none
};

// Why a task does not run, or where.
struct Explanation {
  enum class Kind : std::uint8_t {
    kUnknown,       // it is not here
    kNoneEligible,  // no worker fits, or all that fit have failed it
    kBusy,          // workers fit, and none is free
    kKeyLimit,      // as many tasks with its key run as may
    kSwapping,      // a worker swaps its recipe in, and no other serves it
    kChosen,        // it is being given to a worker
    kLeased,        // a worker has it
    kEnding,        // its end is being recorded
  };
  Kind kind = Kind::kUnknown;
  std::size_t place = 0;   // kBusy: 1 is next, among tasks with the same demand
  std::size_t length = 0;  // of that line
  std::string worker;      // kChosen, kLeased, kSwapping
  std::string recipe;      // kSwapping
  std::string key;         // kKeyLimit
  std::uint32_t key_limit = 0;
  std::uint64_t key_running = 0;
  std::optional<std::uint64_t> gives_up_ns;  // kNoneEligible
  bool is_exhausted = false;

  struct OfWorker {
    std::string worker = {};
    std::string name = {};
    std::string reason = {};  // a sentence without subject
  };
  std::vector<OfWorker> workers;  // what does not fit or is not free: kNoneEligible, kBusy
  std::size_t more_workers = 0;   // that are not in the list
};

struct GiveUp {
  base::Hash intent = {};
  GiveUpReason reason = GiveUpReason::kNoneEligible;
  std::shared_ptr<const Explanation> why = {};  // the workers, and what does not fit
};

class Dispatcher {
 public:
  explicit Dispatcher(DispatcherOptions options = {})
      : options_(options), fleet_(options.most_workers) {}

  // Workers.
  void put_worker(std::string_view id, std::string_view node, std::string_view name, Offer offer,
                  Mode mode);
  void set_mode(std::string_view worker, Mode mode);
  void set_live(std::string_view worker, bool is_live);
  void set_want(std::string_view worker, std::uint32_t want);
  // What it says of recipes; nothing: it serves all that it offers.
  void set_recipes(std::string_view worker, std::optional<RecipeState> recipes);
  const Fleet& fleet() const noexcept { return fleet_; }

  // Tasks. One that is known is waiting again: `put_back` without a change of what it asks for.
  void add(Task task, std::uint64_t now_ns);
  void put_back(const base::Hash& intent, std::uint64_t queued_ns, std::uint64_t now_ns);
  // A worker holds it, by our placement or not. A worker that is not known holds it all the same.
  void leased(const base::Hash& intent, std::string_view worker,
              const std::vector<std::uint32_t>& devices, std::uint64_t now_ns);
  void remove(const base::Hash& intent, std::uint64_t now_ns);
  // Its worker has reported how it ended, which is being recorded: what it had in use is free.
  void reported(const base::Hash& intent, std::uint64_t now_ns);

  // At most `most` choices, the most urgent first. `has_more` afterwards: call again.
  std::vector<Choice> choose(std::uint64_t now_ns, std::size_t most);
  bool has_more() const noexcept;

  // Which workers are to swap to which recipe, from what waits now: `Candidate::asked_for`. A
  // worker is asked if a task waits for a recipe that no worker that fits serves or is swapping to,
  // and nothing that it could run waits for a recipe that it serves. Those that are asked for
  // something else than before.
  std::vector<std::string> plan_swaps();

  // Tasks whose grace is over, at most `most`. Each is told once, unless it is put back.
  std::vector<GiveUp> expire(std::uint64_t now_ns, std::size_t most);

  Explanation explain(const base::Hash& intent) const;
  const std::map<std::string, QueueFigures, std::less<>>& queues() const noexcept {
    return figures_;
  }
  std::size_t size() const noexcept { return tasks_.size(); }

 private:
  enum class State : std::uint8_t { kWaiting, kParked, kChosen, kLeased, kEnding };
  struct Known {
    State state = State::kWaiting;
    LineIndex line = 0;
    GraphIndex graph = 0;
    Order order;
    std::uint64_t queued_ns = 0;
    std::uint64_t added_ns = 0;  // in this life of the server
    std::string key = {};
    std::uint32_t key_limit = 0;
    std::optional<WorkerIndex> worker = {};
    std::vector<std::uint32_t> devices = {};
  };
  struct Graph {
    std::string name = {};
    std::uint64_t tasks = 0;
    Turn served;
  };
  struct Key {
    std::uint64_t running = 0;
    std::map<LineIndex, std::set<Order>> parked = {};
  };
  struct LineState {
    explicit LineState(Demand demand) : line(std::move(demand)) {}
    Line line;
    std::uint64_t tasks = 0;  // in any state
    bool is_blocked = false;
    std::optional<Rank> listed = {};  // under which it stands among the lines
    // Waiting tasks, also those that wait for their key, by added_ns and arrival.
    std::map<std::pair<std::uint64_t, std::uint64_t>, base::Hash> arrivals = {};
    std::optional<std::uint64_t> none_since = {};  // no worker fits
  };

  LineIndex line_for(Demand demand);
  GraphIndex graph_for(const std::string& name);
  void let_go_of_line(LineIndex index);
  void let_go_of_graph(GraphIndex index);
  Turn next_turn(std::uint64_t now_ns) { return {now_ns, ++turns_}; }

  void begin_wait(Known& task, std::uint64_t now_ns);
  void end_wait(Known& task);
  void enter_line(Known& task, std::uint64_t now_ns);
  void leave_line(Known& task);
  void park(Known& task);
  void unpark(const std::string& key, std::uint64_t now_ns);
  void begin_use(Known& task, std::optional<WorkerIndex> worker,
                 std::vector<std::uint32_t> devices);
  void end_use(Known& task, std::uint64_t now_ns);
  void end_state(Known& task, std::uint64_t now_ns);  // whichever it is in
  void let_go_of_queue(const std::string& queue);

  void list(LineIndex index, LineState& state);
  void unlist(LineIndex index, LineState& state);
  void fleet_changed(WorkerIndex worker);
  void sweep();
  void check_eligible(LineIndex index, std::uint64_t now_ns);
  bool is_exhausted(const Demand& demand) const;
  void explain_workers(const Demand& demand, Explanation& out) const;
  bool is_served(const Line& line) const;
  bool is_needed(WorkerIndex worker) const;
  std::optional<WorkerIndex> swapper_for(const Line& line,
                                         const std::map<WorkerIndex, std::string>& asked) const;

  DispatcherOptions options_;
  Fleet fleet_;
  std::unordered_map<base::Hash, Known, base::HashOfHash> tasks_;  // looked up only
  std::map<std::string, LineIndex> line_of_;                       // by the key of its demand
  std::map<LineIndex, LineState> lines_;
  std::map<std::string, GraphIndex> graph_of_;
  std::map<GraphIndex, Graph> graphs_;
  std::map<std::string, Key> keys_;
  std::set<std::pair<Rank, LineIndex>> ready_;  // lines that may have a worker
  std::set<LineIndex> blocked_;                 // lines that had none when it was looked
  Bits freed_;                                  // workers with more room since
  Bits swept_;                                  // those that blocked lines are being compared with
  std::optional<LineIndex> sweep_at_;
  std::set<LineIndex> unchecked_;  // lines of which it is not known whether a worker fits
  bool all_unchecked_ = false;
  std::set<LineIndex> unused_;    // lines without tasks, kept for the next that asks for the same
  std::set<LineIndex> starving_;  // lines that no worker fits
  std::set<LineIndex> with_recipe_;  // lines whose waiting tasks need a recipe
  std::set<WorkerIndex> asked_;      // workers that are asked to swap
  std::map<std::string, QueueFigures, std::less<>> figures_;
  std::map<std::string, std::set<std::pair<std::uint64_t, std::uint64_t>>> oldest_;
  LineIndex next_line_ = 0;
  GraphIndex next_graph_ = 0;
  WorkerIndex next_candidate_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t arrivals_ = 0;
  std::uint64_t choices_ = 0;
};

}  // namespace holdfast::dispatch
