// SPDX-License-Identifier: Apache-2.0
#include "kernel/program.h"

#include <algorithm>
#include <set>
#include <utility>

#include "defs/name.h"
#include "defs/system_names.h"
#include "kernel/work.h"

namespace holdfast::kernel {

class ProgramBuilder {
 public:
  ProgramBuilder(const defs::Bundle& bundle, const MachineSource& machines, const Entropy& origin,
                 codec::Errors& errors)
      : catalogue_(bundle.catalogue),
        machines_(machines),
        origin_(origin),
        errors_(errors),
        program_(std::make_shared<Program>()) {
    program_->manifest_hash_ = bundle.manifest->hash;
    auto closure = defs::closure_of(bundle);
    if (closure) {
      program_->closure_ = std::move(*closure);
    } else {
      errors_.push_back(std::move(closure).error());
    }
  }

  std::shared_ptr<const Program> run(const defs::Manifest& manifest) {
    program_->error_schema_ = schema(std::string(defs::kEffectError));
    for (const defs::NamedRef& ref : manifest.workflows) workflow(ref.name);
    for (const defs::Subscription& subscription : manifest.subscriptions)
      written_.emplace(subscription.event, subscription.workflow);
    for (const defs::Subscription& subscription : manifest.subscriptions) route(subscription);
    for (const defs::NamedRef& ref : manifest.schemas) event(ref.name);
    if (!errors_.empty()) return nullptr;
    return program_;
  }

 private:
  codec::Schema schema(const std::string& name) {
    const codec::Type* type = catalogue_.find(name);
    std::optional<codec::Schema> made;
    if (type != nullptr) made = codec::Schema::compile(*type, catalogue_, name, errors_);
    if (type == nullptr) errors_.push_back(base::invalid(name, "there is no such schema"));
    return made ? std::move(*made) : codec::Schema::any();
  }

  std::optional<std::uint32_t> workflow(const std::string& name) {
    if (const auto known = program_->workflow_named(name)) return known;
    const defs::Entry* entry = catalogue_.find_entry(name);
    const auto* def =
        entry == nullptr ? nullptr : std::get_if<defs::WorkflowDef>(&entry->definition);
    if (def == nullptr)
      return errors_.push_back(base::invalid(name, "there is no such workflow")), std::nullopt;
    WorkflowProgram made;
    made.name = name;
    made.hash = entry->hash;
    made.state = schema(def->state);
    made.event = def->event;
    find_machine(*def, made);
    if (made.machine != nullptr) made.objection = objection(*def);
    listen(*def, made);
    made.has_context = def->context.has_value();
    if (def->context && *def->context != defs::kWorkflowContext) {
      errors_.push_back(base::invalid(name, "its context is '" + *def->context +
                                                "', and there is only '" +
                                                std::string(defs::kWorkflowContext) + "'"));
    }
    if (def->annotations) made.annotations = schema(*def->annotations);
    if (def->key_schema) made.key = schema(*def->key_schema);
    for (const std::string& effect_name : def->effects_emitted) {
      const auto index = effect(effect_name);
      if (!index) continue;
      const EffectProgram& target = program_->effects_[*index];
      made.effects.emplace(
          effect_name, AllowedEffect{*index, Site(site_hash(origin_, name, made.hash, effect_name,
                                                            target.hash, target.executor))});
    }
    const auto index = static_cast<std::uint32_t>(program_->workflows_.size());
    program_->workflows_.push_back(std::move(made));
    program_->workflow_names_.emplace(name, index);
    return index;
  }

  void find_machine(const defs::WorkflowDef& def, WorkflowProgram& made) {
    const auto* module = catalogue_.get<defs::ModuleDef>(def.impl.module);
    if (module != nullptr) {
      made.defined_machine = machines_.make(*module, def, catalogue_);
      made.machine = made.defined_machine ? made.defined_machine.get()
                                          : machines_.find(*module, def.impl.entrypoint);
    }
    if (made.machine == nullptr) {
      errors_.push_back(base::Error(
          base::ErrorCode::kNotFound, def.name,
          "no code is there for '" + def.impl.entrypoint + "' of '" + def.impl.module + "'"));
    }
  }

  std::string objection(const defs::WorkflowDef& def) {
    const std::string why = machines_.objection(def, catalogue_).value_or(std::string());
    program_->has_objections_ |= !why.empty();
    return why;
  }

  // Which messages its event type has room for.
  void listen(const defs::WorkflowDef& def, WorkflowProgram& made) const {
    const codec::Type* type = catalogue_.behind(catalogue_.find(def.event));
    if (type == nullptr || type->kind != codec::TypeKind::kVariant) return;
    for (const codec::Member& arm : type->members) {
      const codec::Type* behind = catalogue_.behind(catalogue_.find(arm.type.ref));
      made.arms.push_back(
          {arm.name, arm.type.ref, behind != nullptr && behind->kind == codec::TypeKind::kUnit});
    }
    made.hears_receipts = made.arm_of_schema(defs::kReceiptEnvelope) != nullptr;
    made.hears_rejected = made.arm_of_schema(defs::kReceiptRejected) != nullptr;
    made.hears_progress = made.arm_of_schema(defs::kStreamFrame) != nullptr;
  }

  std::optional<std::uint32_t> effect(const std::string& name) {
    if (const auto known = program_->effect_named(name)) return known;
    const defs::Entry* entry = catalogue_.find_entry(name);
    const auto* def = entry == nullptr ? nullptr : std::get_if<defs::EffectDef>(&entry->definition);
    if (def == nullptr)
      return errors_.push_back(base::invalid(name, "there is no such effect")), std::nullopt;
    EffectProgram made{name,           entry->hash,     schema(def->params), schema(def->receipt),
                       executor(*def), def->timeout_ns, in_kernel(name)};
    made.by_workers = made.executor.kind == kByWorkers;
    const auto index = static_cast<std::uint32_t>(program_->effects_.size());
    program_->effects_.push_back(std::move(made));
    program_->effect_names_.emplace(name, index);
    return index;
  }

  // An effect that names a module and an entrypoint is performed by the executor of that name.
  static defs::Executor executor(const defs::EffectDef& def) {
    if (const auto* executor = std::get_if<defs::Executor>(&def.performer)) return *executor;
    return {std::get_if<defs::Impl>(&def.performer)->entrypoint, {}};
  }

  // By name: whoever asks for the same executor under a name of their own is not meant.
  static InKernel in_kernel(std::string_view name) {
    if (name == defs::kWorkflowRun) return InKernel::kRunWorkflow;
    return name == defs::kWorkflowStop ? InKernel::kStopWorkflow : InKernel::kNo;
  }

  EventProgram* event(const std::string& name) {
    if (auto* known = program_->events_.find(name)) return &known->second;
    return &program_->events_.emplace(name, EventProgram{name, schema(name), {}}).second;
  }

  void route(const defs::Subscription& subscription) {
    const auto target = workflow(subscription.workflow);
    if (!target) return;
    Route made{*target, {}};
    if (subscription.key_field) {
      std::string_view rest = *subscription.key_field;
      for (std::size_t dot; (dot = rest.find('.')) != std::string_view::npos;
           rest.remove_prefix(dot + 1)) {
        made.key_path.emplace_back(rest.substr(0, dot));
      }
      made.key_path.emplace_back(rest);
    }
    add_route(subscription.event, made);
    // Who takes the whole variant takes each of its arms, unless a route for the arm says how.
    if (program_->workflows_[*target].event != subscription.event) return;
    if (!made.key_path.empty() && made.key_path.front() == "$value")
      made.key_path.erase(made.key_path.begin());
    for (const Arm& arm : std::vector<Arm>(program_->workflows_[*target].arms)) {
      if (defs::is_reserved(arm.schema)) continue;
      if (!written_.contains({arm.schema, subscription.workflow})) add_route(arm.schema, made);
    }
  }

  void add_route(const std::string& event_name, Route made) {
    program_->workflows_[made.workflow].woken_by.push_back(event_name);
    event(event_name)->routes.push_back(std::move(made));
  }

  const defs::Catalogue& catalogue_;
  const MachineSource& machines_;
  const Entropy& origin_;
  codec::Errors& errors_;
  std::shared_ptr<Program> program_;
  std::set<std::pair<std::string, std::string>> written_;  // subscriptions: event, workflow
};

std::shared_ptr<const Program> Program::build(const defs::Bundle& bundle,
                                              const MachineSource& machines, const Entropy& origin,
                                              codec::Errors& errors) {
  if (!bundle.manifest) {
    errors.push_back(base::invalid("", "the bundle has no manifest"));
    return nullptr;
  }
  const auto& manifest = *std::get_if<defs::Manifest>(&bundle.manifest->definition);
  return ProgramBuilder(bundle, machines, origin, errors).run(manifest);
}

std::shared_ptr<const Program> Program::none() { return std::make_shared<Program>(); }

const Arm* WorkflowProgram::arm_of_schema(std::string_view schema) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [&](const Arm& arm) { return arm.schema == schema; });
  return found == arms.end() ? nullptr : &*found;
}

const Arm* WorkflowProgram::arm_of_tag(std::string_view tag) const {
  const auto found =
      std::find_if(arms.begin(), arms.end(), [&](const Arm& arm) { return arm.tag == tag; });
  return found == arms.end() ? nullptr : &*found;
}

const EventProgram* Program::event(std::string_view schema) const {
  const auto* found = events_.find(schema);
  return found == nullptr ? nullptr : &found->second;
}

std::optional<std::uint32_t> Program::workflow_named(std::string_view name) const {
  const auto found = workflow_names_.find(name);
  if (found == workflow_names_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> Program::effect_named(std::string_view name) const {
  const auto found = effect_names_.find(name);
  if (found == effect_names_.end()) return std::nullopt;
  return found->second;
}

}  // namespace holdfast::kernel
