// SPDX-License-Identifier: Apache-2.0
#include "steps/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"

namespace holdfast::steps {
namespace {

using Types = std::set<TypeIndex>;

// What a list of events of some types leads to on its own level. A fan-out on the way is passed
// over: what its joins return is on this level again. Levels may lead to each other in circles, so
// all of them grow together until none grows any more.
class Levels {
 public:
  Levels(const std::vector<StepDef>& steps, const std::vector<std::optional<StepIndex>>& handlers)
      : steps_(steps), handlers_(handlers), reached_(steps.size()) {
    for (std::size_t opener = 0; opener < steps.size(); ++opener)
      reached_[opener].insert(steps[opener].returns_list.begin(), steps[opener].returns_list.end());
    while (grow()) {
    }
  }

  // Whether a fan-out of `opener` leads to what the step joins.
  bool joins(std::size_t opener, const StepDef& step) const {
    return step.join && !steps_[opener].returns_list.empty() &&
           reached_[opener].contains(step.join->type);
  }

 private:
  bool grow() {
    bool grown = false;
    for (std::size_t opener = 0; opener < steps_.size(); ++opener) {
      Types& reached = reached_[opener];
      const std::size_t before = reached.size();
      for (std::size_t taker = 0; taker < steps_.size(); ++taker) {
        if (takes(steps_[taker], reached)) pass(taker, reached);
      }
      grown |= reached.size() != before;
    }
    return grown;
  }

  static bool takes(const StepDef& step, const Types& reached) {
    const auto has = [&](TypeIndex type) { return reached.contains(type); };
    return std::any_of(step.accepts.begin(), step.accepts.end(), has) ||
           (!step.slots.empty() && std::all_of(step.slots.begin(), step.slots.end(), has));
  }

  // What a step on this level returns to it, also by way of its own fan-out; and if one that joins
  // that fans out in its turn, by way of that. A handler goes on where the step has failed.
  void pass(std::size_t first, Types& reached) const {
    std::set<std::size_t> passed;
    std::vector<std::size_t> left{first};
    while (!left.empty()) {
      const std::size_t step = left.back();
      left.pop_back();
      if (!passed.insert(step).second) continue;
      reached.insert(steps_[step].returns.begin(), steps_[step].returns.end());
      if (handlers_[step]) left.push_back(*handlers_[step]);
      for (std::size_t joiner = 0; joiner < steps_.size(); ++joiner) {
        if (joins(step, steps_[joiner])) left.push_back(joiner);
      }
    }
  }

  const std::vector<StepDef>& steps_;
  const std::vector<std::optional<StepIndex>>& handlers_;
  std::vector<Types> reached_;
};

void write_types(codec::Buffer& out, const std::vector<TypeIndex>& types) {
  codec::write_list_head(out, types.size());
  for (const TypeIndex type : types) codec::write_nat(out, type);
}

}  // namespace

Graph::Graph(std::vector<EventType> types, std::vector<StepDef> steps, std::uint64_t timeout_ns,
             std::vector<std::string> children, Rules rules)
    : types_(std::move(types)),
      steps_(std::move(steps)),
      timeout_ns_(timeout_ns),
      children_(std::move(children)),
      rules_(rules) {
  std::sort(children_.begin(), children_.end());
  children_.erase(std::unique(children_.begin(), children_.end()), children_.end());
  std::sort(steps_.begin(), steps_.end(),
            [](const StepDef& a, const StepDef& b) { return a.name < b.name; });
  for (TypeIndex type = 0; type < types_.size(); ++type) {
    if (types_[type].role == Role::kStepFailed) step_failed_ = type;
  }
  find_handlers();
  find_joins();
}

std::optional<TypeIndex> Graph::type_named(std::string_view schema) const {
  for (TypeIndex type = 0; type < types_.size(); ++type) {
    if (types_[type].schema == schema) return type;
  }
  return std::nullopt;
}

std::optional<StepIndex> Graph::step_named(std::string_view name) const {
  const auto found = std::lower_bound(
      steps_.begin(), steps_.end(), name,
      [](const StepDef& step, std::string_view wanted) { return step.name < wanted; });
  if (found == steps_.end() || found->name != name) return std::nullopt;
  return static_cast<StepIndex>(found - steps_.begin());
}

// Handlers have no handlers. One that names its steps comes before one that takes all.
void Graph::find_handlers() {
  handlers_.resize(steps_.size());
  std::optional<StepIndex> of_all;
  for (StepIndex handler = 0; handler < steps_.size(); ++handler) {
    if (!steps_[handler].is_handler) continue;
    if (steps_[handler].handles.empty()) of_all = handler;
    for (const std::string& name : steps_[handler].handles) {
      const auto step = step_named(name);
      if (step && !steps_[*step].is_handler) handlers_[*step] = handler;
    }
  }
  for (StepIndex step = 0; step < steps_.size(); ++step) {
    if (!steps_[step].is_handler && !handlers_[step]) handlers_[step] = of_all;
  }
}

void Graph::find_joins() {
  const Levels levels(steps_, handlers_);
  joins_.resize(steps_.size());
  for (StepIndex opener = 0; opener < steps_.size(); ++opener) {
    for (StepIndex step = 0; step < steps_.size(); ++step) {
      if (levels.joins(opener, steps_[step])) joins_[opener].push_back(step);
    }
  }
}

base::Hash Graph::digest() const {
  codec::Buffer out;
  const bool keeps_early = has(Rules::kKeepsEarly);
  const bool has_children = keeps_early || !children_.empty();
  const bool is_newer = rules_ > Rules::kKeepsEarly;
  codec::write_list_head(out,
                         3U + (has_children ? 1 : 0) + (keeps_early ? 1 : 0) + (is_newer ? 1 : 0));
  codec::write_nat(out, timeout_ns_);
  codec::write_list_head(out, types_.size());
  for (const EventType& type : types_) {
    codec::write_list_head(out, 2);
    codec::write_text(out, type.schema);
    codec::write_nat(out, static_cast<std::uint64_t>(type.role));
  }
  codec::write_list_head(out, steps_.size());
  for (const StepDef& step : steps_) {
    // Without slots it is what it was before there were any.
    codec::write_list_head(out, step.slots.empty() ? 9 : 10);
    codec::write_text(out, step.name);
    write_types(out, step.accepts);
    write_types(out, step.join ? std::vector<TypeIndex>{step.join->type, step.join->take}
                               : std::vector<TypeIndex>());
    write_types(out, step.returns);
    write_types(out, step.returns_list);
    codec::write_nat(out, step.workers);
    codec::write_bool(out, step.is_handler);
    codec::write_nat(out, step.is_handler ? step.max_recoveries : 0);
    codec::write_list_head(out, step.handles.size());
    for (const std::string& name : step.handles) codec::write_text(out, name);
    if (!step.slots.empty()) write_types(out, step.slots);
  }
  if (has_children) {
    codec::write_list_head(out, children_.size());
    for (const std::string& child : children_) codec::write_text(out, child);
  }
  if (keeps_early) codec::write_bool(out, true);
  if (is_newer) codec::write_nat(out, static_cast<std::uint64_t>(rules_));
  return base::sha256(out.view());
}

}  // namespace holdfast::steps
