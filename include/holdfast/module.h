// SPDX-License-Identifier: Apache-2.0
// Module: the code of some workflows together with their definitions, all derived from the types.
//
//   const auto module = holdfast::Module::of<Order, Invoice>("shop/code@1");
//
// The definitions are schemas, effects, workflows and the routes of a manifest; nobody writes JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/detail/check.h"
#include "holdfast/detail/flow.h"
#include "holdfast/workflow.h"

namespace holdfast {

class Module {
 public:
  // A name and its type expression or definition, as JSON.
  using Definitions = std::set<std::pair<std::string, std::string>>;

  struct Route {
    std::string event;
    std::string workflow;
    std::string key_field;  // empty: the workflow has no key
  };
  struct Code {
    std::string workflow;
    StepFunction step;
    std::vector<std::string> emits;          // the schemas of the events that it emits
    std::vector<std::string> children = {};  // the workflows that it runs
    MigrateFunction migrate = nullptr;       // null: it has no migration
  };

  template <class... Workflows>
  static Module of(std::string_view name) {
    Module module(name);
    (module.add<Workflows>(), ...);
    return module;
  }

  // Also has the code of an earlier version of these workflows, for instances that began with it:
  //
  //   Module::of<Order>("shop/code@1").with_earlier(Module::of<v1::Order>("shop/code@1"))
  //
  // Its definitions are not applied.
  Module with_earlier(Module earlier) && {
    earlier_.push_back(std::move(earlier));
    return std::move(*this);
  }
  const std::vector<Module>& earlier() const noexcept { return earlier_; }

  const std::string& name() const noexcept { return name_; }
  const Definitions& schemas() const noexcept { return schemas_.all; }
  const Definitions& effects() const noexcept { return effects_; }
  const Definitions& workflows() const noexcept { return workflows_; }
  const std::vector<Route>& routes() const noexcept { return routes_; }
  const std::vector<Code>& code() const noexcept { return code_; }
  const std::vector<detail::Flow>& flows() const noexcept { return flows_; }  // step workflows

  // The module that step workflows belong to: they are not code of this one, but data for code that
  // is built in.
  std::string name_of_flows() const;

 private:
  struct WorkflowParts {
    std::string_view name;
    std::string state;
    std::string key;                     // empty: none
    std::string entry;                   // of its stream; empty: it has none
    std::vector<std::string_view> arms;  // the schemas of its events
    std::vector<std::string_view> effects;
    std::string module;
    std::string entrypoint;
    std::string graph = {};    // of a step workflow, as JSON; empty: it is none
    std::string context = {};  // that it declares; empty: none
  };

  explicit Module(std::string_view name) : name_(name) {}

  // The name of a type: its own, or one made of the name that it belongs to.
  template <class T>
  std::string schema(std::string_view owner, std::string_view part) {
    std::string type = detail::Form<T>::type(schemas_);
    if constexpr (detail::Named<T>) {
      return std::string(T::kSchema);
    } else {
      return add_schema(owner, part, std::move(type));
    }
  }

  template <class W>
  void add() {
    if constexpr (std::is_base_of_v<StepWorkflow, W>) {
      add_flow<W>();
    } else {
      add_native<W>();
    }
  }

  // Everything but who gets its events is known to the list of its steps (holdfast/steps.h).
  template <class W>
  void add_flow() {
    using Parts = detail::Parts<W>;
    WorkflowParts parts;
    parts.name = W::kWorkflow;
    if constexpr (!std::is_same_v<typename Parts::Key, detail::NoKey>)
      parts.key = schema<typename Parts::Key>(W::kWorkflow, "Key");
    add_events<W>(parts, typename Parts::Events());
    add_flow(parts, W::steps().flow(schemas_));
  }

  template <class W>
  void add_native() {
    static_assert(detail::kIsWorkflow<W>);
    using Parts = detail::Parts<W>;
    WorkflowParts parts;
    parts.name = W::kWorkflow;
    parts.module = name_;
    parts.entrypoint = W::kWorkflow;
    parts.state = schema<typename W::State>(W::kWorkflow, "State");
    if constexpr (!std::is_same_v<typename Parts::Key, detail::NoKey>)
      parts.key = schema<typename Parts::Key>(W::kWorkflow, "Key");
    if constexpr (!std::is_same_v<typename Parts::Entry, detail::NoEntry>)
      parts.entry = schema<typename Parts::Entry>(W::kWorkflow, "Entry");
    if constexpr (detail::kDeclaresContext<W>) parts.context = WorkflowContext::kSchema;
    add_events<W>(parts, typename Parts::Events());
    add_effects<W>(parts, typename Parts::Effects());
    add_workflow(parts);
    code_.push_back({std::string(W::kWorkflow), &detail::run<W>, add_emits(typename Parts::Emits()),
                     names_of(typename Parts::Children())});
    if constexpr (detail::Migrates<W>) code_.back().migrate = &detail::migrate<W>;
  }

  template <class W, class... Ons>
  void add_events(WorkflowParts& parts, Events<Ons...>) {
    (add_event<W, detail::OnParts<Ons>>(parts), ...);
  }
  template <class W, class On>
  void add_event(WorkflowParts& parts) {
    using Event = typename On::Event;
    parts.arms.push_back(Event::kSchema);
    routes_.push_back({schema<Event>({}, {}), std::string(W::kWorkflow), On::key_field()});
  }

  // The engine tells a workflow of an answer only if its event type has an arm for it.
  template <class W, class... Types>
  void add_effects(WorkflowParts& parts, Effects<Types...>) {
    (parts.effects.push_back(Types::kEffect), ...);
    (add_effect<Types>(), ...);
    if constexpr (sizeof...(Types) != 0) parts.arms.push_back(detail::kReceiptEnvelope);
    if constexpr ((detail::HasStep<W, Rejected<Types>> || ...))
      parts.arms.push_back(detail::kReceiptRejected);
    if constexpr ((detail::HasStep<W, Progress<Types>> || ...))
      parts.arms.push_back(detail::kStreamFrame);
  }
  template <class Effect>
  void add_effect() {
    if (detail::is_reserved(Effect::kEffect)) return;
    std::optional<std::uint64_t> timeout_ns;
    if constexpr (requires { Effect::kTimeout; })
      timeout_ns = static_cast<std::uint64_t>(Duration(Effect::kTimeout).count());
    add_effect(Effect::kEffect, schema<typename Effect::Params>(Effect::kEffect, "Params"),
               schema<typename Effect::Receipt>(Effect::kEffect, "Receipt"), Effect::kExecutor,
               timeout_ns);
  }

  template <class... Types>
  std::vector<std::string> add_emits(Emits<Types...>) {
    return {schema<Types>({}, {})...};
  }

  template <class... Workflows>
  static std::vector<std::string> names_of(Children<Workflows...>) {
    return {std::string(Workflows::kWorkflow)...};
  }

  std::string add_schema(std::string_view owner, std::string_view part, std::string type);
  void add_effect(std::string_view name, std::string params, std::string receipt, Executor executor,
                  std::optional<std::uint64_t> timeout_ns);
  void add_workflow(const WorkflowParts& parts);
  void add_flow(WorkflowParts& parts, detail::Flow flow);

  std::string name_;
  detail::Schemas schemas_;
  Definitions effects_;
  Definitions workflows_;
  std::vector<Route> routes_;
  std::vector<Code> code_;
  std::vector<detail::Flow> flows_;
  std::vector<Module> earlier_;
};

// Everything the modules define, and a manifest of it, as one JSON list. What two modules define
// alike is there once.
std::string definitions_of(std::span<const Module> modules);

}  // namespace holdfast
