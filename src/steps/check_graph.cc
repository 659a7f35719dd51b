// SPDX-License-Identifier: Apache-2.0
#include "steps/check_graph.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::steps {
namespace {

bool is_step_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= 64 && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

class Checker {
 public:
  Checker(const Graph& graph, base::Errors& errors)
      : graph_(graph), errors_(errors), taken_(graph.types().size()), made_(graph.types().size()) {
    for (const StepDef& step : graph_.steps()) {
      for (const TypeIndex type : takes(step)) taken_[type] = true;
      for (const TypeIndex type : makes(step)) made_[type] = true;
    }
    for (TypeIndex type = 0; type < graph_.types().size(); ++type) {
      if (graph_.type(type).is_sent) made_[type] = true;
    }
  }

  void check() {
    check_sizes();
    for (std::size_t i = 0; i < graph_.steps().size(); ++i) {
      check_step(graph_.steps()[i]);
      if (i != 0 && graph_.steps()[i - 1].name == graph_.steps()[i].name)
        wrong_step(graph_.steps()[i], "there are two of that name");
    }
    check_handlers();
    check_start_and_stop();
    for (TypeIndex type = 0; type < graph_.types().size(); ++type) check_type(type);
    // What else is found in a graph with such mistakes only repeats them.
    if (errors_.empty()) check_ways();
  }

 private:
  static std::vector<TypeIndex> takes(const StepDef& step) {
    std::vector<TypeIndex> types = step.accepts;
    types.insert(types.end(), step.slots.begin(), step.slots.end());
    if (step.join) types.push_back(step.join->type);
    return types;
  }
  static std::vector<TypeIndex> makes(const StepDef& step) {
    std::vector<TypeIndex> types = step.returns;
    types.insert(types.end(), step.returns_list.begin(), step.returns_list.end());
    return types;
  }
  Role role(TypeIndex type) const { return graph_.type(type).role; }

  void wrong_step(const StepDef& step, std::string message) {
    errors_.push_back(base::invalid("step '" + step.name + "'", std::move(message)));
  }
  void wrong_type(TypeIndex type, std::string message) {
    errors_.push_back(
        base::invalid("event '" + graph_.type(type).schema + "'", std::move(message)));
  }
  void wrong(std::string message) { errors_.push_back(base::invalid("steps", std::move(message))); }

  void check_sizes() {
    if (graph_.steps().empty()) wrong("there are none");
    if (graph_.steps().size() > kMaxSteps) wrong("there are more than 256");
    if (graph_.types().size() > kMaxTypes) wrong("they have more than 1024 types of events");
  }

  void check_step(const StepDef& step) {
    if (!is_step_name(step.name))
      wrong_step(step, "a name is a letter, then letters, digits and underscores, 64 at most");
    if (step.workers == 0) wrong_step(step, "it has no slot to run in");
    if (step.workers > kMaxWorkers) wrong_step(step, "it has more than 1024 slots");
    if (takes(step).empty()) wrong_step(step, "it takes no event");
    if (!step.slots.empty() && (step.join || !step.accepts.empty()))
      wrong_step(step, "it takes some events together and others alone");
    if (step.slots.size() > kMaxSlots) wrong_step(step, "it takes more than 16 events together");
    for (const TypeIndex type : takes(step)) {
      if (role(type) == Role::kStop) wrong_step(step, "it takes the event that ends the run");
      if (role(type) == Role::kStepFailed && !step.is_handler)
        wrong_step(step, "it takes failures of steps, and is no error handler");
    }
    for (const TypeIndex type : makes(step)) {
      if (role(type) == Role::kStart) wrong_step(step, "it returns the event that begins a run");
      if (role(type) == Role::kStepFailed) wrong_step(step, "it returns a failure of a step");
    }
    if (step.join && !is_joined(step))
      wrong_step(step, "it joins a list of '" + graph_.type(step.join->type).schema +
                           "', and no fan-out leads to any");
  }

  bool is_joined(const StepDef& joiner) const {
    const auto index = graph_.step_named(joiner.name);
    for (StepIndex opener = 0; opener < graph_.steps().size(); ++opener) {
      const std::vector<StepIndex>& joins = graph_.joins_of(opener);
      if (std::find(joins.begin(), joins.end(), *index) != joins.end()) return true;
    }
    return false;
  }

  void check_handlers() {
    std::vector<std::string> claimed;
    bool has_one_of_all = false;
    for (const StepDef& handler : graph_.steps()) {
      if (!handler.is_handler) continue;
      check_handler(handler);
      if (handler.handles.empty() && std::exchange(has_one_of_all, true))
        wrong_step(handler, "there is another error handler of all steps");
      for (const std::string& name : handler.handles) {
        const auto step = graph_.step_named(name);
        if (!step) {
          wrong_step(handler, "it handles '" + name + "', which is no step");
        } else if (graph_.step(*step).is_handler) {
          wrong_step(handler, "it handles '" + name + "', which is an error handler");
        } else if (std::find(claimed.begin(), claimed.end(), name) != claimed.end()) {
          wrong_step(handler, "it handles '" + name + "', which has another error handler");
        }
        claimed.push_back(name);
      }
    }
  }

  void check_handler(const StepDef& handler) {
    if (handler.accepts.size() != 1 || role(handler.accepts[0]) != Role::kStepFailed ||
        handler.join || !handler.slots.empty())
      wrong_step(handler, "an error handler takes failures of steps and nothing else");
    if (handler.workers != 1) wrong_step(handler, "an error handler has one slot");
    if (handler.max_recoveries == 0) wrong_step(handler, "it may never help");
  }

  void check_start_and_stop() {
    std::size_t starts = 0;
    std::size_t stops = 0;
    for (TypeIndex type = 0; type < graph_.types().size(); ++type) {
      if (role(type) == Role::kStart) starts += taken_[type] ? 1U : 0U;
      if (role(type) == Role::kStop) stops += made_[type] ? 1U : 0U;
    }
    if (starts != 1) wrong("exactly one type of event begins a run, and some step takes it");
    if (stops != 1) wrong("exactly one type of event ends a run, and some step returns it");
  }

  void check_type(TypeIndex type) {
    const Role what = role(type);
    const bool comes_from_outside =
        what == Role::kStart || what == Role::kResponse || what == Role::kStepFailed;
    const bool goes_outside = what == Role::kStop || what == Role::kInputRequired;
    // A response may also be what a body waits for: nobody need take it.
    if (taken_[type] && !made_[type] && !comes_from_outside)
      wrong_type(type, "a step takes it, and nobody returns it");
    if (made_[type] && !taken_[type] && !goes_outside && what != Role::kResponse)
      wrong_type(type, "a step returns it, and nobody takes it");
  }

  // Every step can be reached, and from every step an end, or somebody outside.
  void check_ways() {
    std::vector<bool> types(graph_.types().size());
    std::vector<bool> steps(graph_.steps().size());
    for (TypeIndex type = 0; type < types.size(); ++type) {
      const Role what = role(type);
      types[type] = what == Role::kStart || what == Role::kResponse || what == Role::kStepFailed ||
                    graph_.type(type).is_sent;
    }
    spread(steps, types, takes, makes);
    report(steps, "nothing leads to it");
    for (const StepDef& step : graph_.steps()) {
      if (!step.slots.empty() && !is_filled(step))
        wrong_step(step, "what it takes together never comes out of the same fan-out, or of none");
    }

    for (TypeIndex type = 0; type < types.size(); ++type)
      types[type] = role(type) == Role::kStop || role(type) == Role::kInputRequired;
    steps.assign(steps.size(), false);
    spread(steps, types, makes, takes);
    for (StepIndex step = 0; step < steps.size(); ++step) {
      // One that returns nothing at all does something on the side, or only sends.
      if (makes(graph_.step(step)).empty()) steps[step] = true;
    }
    report(steps, "no way leads from it to the end of the run, or to an answer from outside");
  }

  // A step that has one of the types on its one side has all of its other.
  template <class From, class To>
  void spread(std::vector<bool>& steps, std::vector<bool>& types, From from, To to) const {
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      for (StepIndex step = 0; step < steps.size(); ++step) {
        const std::vector<TypeIndex> near = from(graph_.step(step));
        const bool is_reached =
            std::any_of(near.begin(), near.end(), [&](TypeIndex type) { return types[type]; });
        if (steps[step] || !is_reached) continue;
        steps[step] = true;
        has_grown = true;
        for (const TypeIndex type : to(graph_.step(step))) types[type] = true;
      }
    }
  }

  // Whether all events for its slots come to be on one level: that of the run, or of a fan-out.
  bool is_filled(const StepDef& step) const {
    std::vector<TypeIndex> of_run;
    for (TypeIndex type = 0; type < graph_.types().size(); ++type) {
      if (role(type) == Role::kStart || role(type) == Role::kResponse || graph_.type(type).is_sent)
        of_run.push_back(type);
    }
    if (fills(step, of_run)) return true;
    for (StepIndex opener = 0; opener < graph_.steps().size(); ++opener) {
      if (!graph_.joins_of(opener).empty() && fills(step, graph_.step(opener).returns_list))
        return true;
    }
    return false;
  }

  // What comes of these types stays on their level, but for fan-outs: what joins them is on it
  // again.
  bool fills(const StepDef& wanted, const std::vector<TypeIndex>& first) const {
    std::vector<bool> types(graph_.types().size());
    std::vector<bool> passed(graph_.steps().size());
    const auto has = [&](TypeIndex type) { return types[type]; };
    const auto add = [&](const std::vector<TypeIndex>& more) {
      for (const TypeIndex type : more) types[type] = true;
    };
    std::vector<StepIndex> left;
    const auto find_next = [&] {
      for (StepIndex step = 0; step < passed.size() && left.empty(); ++step) {
        const StepDef& def = graph_.step(step);
        const bool is_reached =
            std::any_of(def.accepts.begin(), def.accepts.end(), has) ||
            (!def.slots.empty() && std::all_of(def.slots.begin(), def.slots.end(), has));
        if (is_reached && !passed[step]) left.push_back(step);
      }
    };
    add(first);
    for (find_next(); !left.empty(); left.empty() ? find_next() : void()) {
      const StepIndex step = left.back();
      left.pop_back();
      if (passed[step]) continue;
      passed[step] = true;
      add(graph_.step(step).returns);
      if (const auto handler = graph_.handler_of(step)) left.push_back(*handler);
      const std::vector<StepIndex>& joins = graph_.joins_of(step);
      if (joins.empty()) add(graph_.step(step).returns_list);
      left.insert(left.end(), joins.begin(), joins.end());
    }
    return std::all_of(wanted.slots.begin(), wanted.slots.end(), has);
  }

  void report(const std::vector<bool>& good, const char* message) {
    for (StepIndex step = 0; step < good.size(); ++step) {
      if (!good[step]) wrong_step(graph_.step(step), message);
    }
  }

  const Graph& graph_;
  base::Errors& errors_;
  std::vector<bool> taken_;
  std::vector<bool> made_;
};

}  // namespace

void check_graph(const Graph& graph, base::Errors& errors) { Checker(graph, errors).check(); }

}  // namespace holdfast::steps
