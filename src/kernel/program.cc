// SPDX-License-Identifier: Apache-2.0
#include "kernel/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "defs/builtin.h"
#include "defs/name.h"
#include "defs/references.h"
#include "defs/system_names.h"
#include "kernel/work.h"

namespace holdfast::kernel {
namespace {

// What flows may open besides the effects that their definition lists. The definition stays as it
// is: its hash is part of the identity of intents, and journals are replayed by it.
constexpr std::string_view kFlowsAlsoOpen = defs::kTaskRun;

}  // namespace

class ProgramBuilder {
 public:
  ProgramBuilder(const defs::Catalogue& catalogue, const MachineSource& machines,
                 const Entropy& origin, codec::Errors& errors, Program::BuildOptions options = {})
      : catalogue_(&catalogue),
        machines_(machines),
        origin_(origin),
        errors_(errors),
        without_code_(options.without_code),
        numbering_(options.numbering),
        pins_(options.pins),
        program_(std::make_shared<Program>()) {}

  std::shared_ptr<const Program> run(const defs::Bundle& bundle) {
    program_->manifest_hash_ = bundle.manifest->hash;
    auto closure = defs::closure_of(bundle);
    if (closure) {
      program_->closure_ = std::move(*closure);
    } else {
      errors_.push_back(std::move(closure).error());
    }
    const auto& manifest = *std::get_if<defs::Manifest>(&bundle.manifest->definition);
    list_definitions(manifest);
    load_pins();
    reserve_numbers(manifest);
    program_->error_schema_ = schema(std::string(defs::kEffectError));
    for (const defs::NamedRef& ref : manifest.workflows) workflow(ref.name);
    for (const defs::Subscription& subscription : manifest.subscriptions)
      written_.emplace(subscription.event, subscription.workflow);
    for (const defs::Subscription& subscription : manifest.subscriptions) route(subscription);
    for (const defs::NamedRef& ref : manifest.schemas) event(ref.name);
    // Behind the manifest's, whose numbers stand in snapshots of worlds without these.
    system_workflows();
    note_routed(manifest);
    for (const LoadedPin& pin : loaded_) pinned(pin);
    check_missing();
    if (!errors_.empty()) return nullptr;
    // Numbers that were kept for what is gone, at the end, are nobody's.
    program_->is_numbered_in_order_ = program_->pins_.empty() && workflow_numbers_.in_order() &&
                                      effect_numbers_.in_order() &&
                                      workflow_numbers_.count() == program_->workflows_.size() &&
                                      effect_numbers_.count() == program_->effects_.size();
    return program_;
  }

  std::shared_ptr<const Program> run_without_manifest() {
    program_->error_schema_ = schema(std::string(defs::kEffectError));
    system_workflows();
    CHECK(errors_.empty());
    return program_;
  }

 private:
  codec::Schema schema(const std::string& name) {
    const codec::Type* type = catalogue_->find(name);
    std::optional<codec::Schema> made;
    if (type != nullptr) made = codec::Schema::compile(*type, *catalogue_, name, errors_);
    if (type == nullptr) errors_.push_back(base::invalid(name, "there is no such schema"));
    return made ? std::move(*made) : codec::Schema::any();
  }

  std::optional<std::uint32_t> workflow(const std::string& name) {
    if (const auto known = program_->workflow_named(name)) return known;
    auto made = make_workflow(name);
    if (!made) return std::nullopt;
    const std::uint32_t index = workflow_numbers_.take({name, made->form});
    put(program_->workflows_, index, std::move(*made));
    program_->workflow_names_.emplace(name, index);
    return index;
  }

  void allow(WorkflowProgram& workflow, const std::string& effect_name) {
    const auto index = effect(effect_name);
    if (!index) return;
    const EffectProgram& target = program_->effects_[*index];
    workflow.effects.emplace(
        effect_name,
        AllowedEffect{*index, Site(site_hash(origin_, workflow.name, workflow.hash, effect_name,
                                             target.hash, target.executor))});
  }

  std::optional<WorkflowProgram> make_workflow(const std::string& name) {
    const defs::Entry* entry = catalogue_->find_entry(name);
    const auto* def =
        entry == nullptr ? nullptr : std::get_if<defs::WorkflowDef>(&entry->definition);
    if (def == nullptr)
      return errors_.push_back(base::invalid(name, "there is no such workflow")), std::nullopt;
    WorkflowProgram made;
    made.name = name;
    made.hash = entry->hash;
    made.module.name = def->impl.module;
    if (const defs::Entry* module = catalogue_->find_entry(def->impl.module))
      made.module.hash = module->hash;
    made.state = schema(def->state);
    made.event = def->event;
    made.machine = machines_.find_system(name);
    made.is_system = made.machine != nullptr && is_system(name);
    if (!made.is_system) find_machine(*def, made);
    listen(*def, made);
    made.has_context = def->context.has_value();
    if (def->context && *def->context != defs::kWorkflowContext) {
      errors_.push_back(base::invalid(name, "its context is '" + *def->context +
                                                "', and there is only '" +
                                                std::string(defs::kWorkflowContext) + "'"));
    }
    if (def->annotations) made.annotations = schema(*def->annotations);
    if (def->key_schema) made.key = schema(*def->key_schema);
    for (const std::string& effect_name : def->effects_emitted) allow(made, effect_name);
    if (made.is_system && name == defs::kFlowWorkflow) allow(made, std::string(kFlowsAlsoOpen));
    made.uses = uses_of({name});
    made.form = form_of(made.uses);
    std::vector<std::string> taken;
    if (def->key_schema) taken.push_back(*def->key_schema);
    for (const Arm& arm : made.arms) taken.push_back(arm.schema);
    if (made.arms.empty()) taken.push_back(def->event);
    made.taken = uses_of(std::move(taken));
    return made;
  }

  static base::Hash form_of(const std::vector<Named>& uses) {
    codec::Buffer out;
    for (const Named& each : uses) {
      codec::write_text(out, each.name);
      codec::write_bytes(out, each.hash.bytes);
    }
    return base::sha256(out.view());
  }

  // Versions of before, each with the definitions that it is of.
  struct LoadedPin {
    const Pin* pin = nullptr;
    std::shared_ptr<const defs::Bundle> bundle;
  };
  void load_pins() {
    if (pins_ == nullptr) return;
    std::map<const base::Bytes*, std::shared_ptr<const defs::Bundle>> known;
    for (const Pin& pin : *pins_) {
      auto& bundle = known[pin.closure.get()];
      if (bundle == nullptr) {
        bundle = std::make_shared<const defs::Bundle>(
            defs::load(codec::View::of(*pin.closure), "$", &defs::builtin_catalogue()));
      }
      loaded_.push_back({&pin, bundle});
    }
  }

  // At the number that it has. One that has become the present version again is there already; one
  // whose workflow goes is not kept.
  void pinned(const LoadedPin& loaded) {
    const Named& wanted = loaded.pin->workflow;
    const auto present = program_->workflow_named(wanted.name);
    if (!present || program_->workflows_[*present].form == wanted.hash) return;
    const defs::Catalogue* const outer = std::exchange(catalogue_, &loaded.bundle->catalogue);
    const bool outer_without_code = std::exchange(without_code_, true);
    auto made = make_workflow(wanted.name);
    without_code_ = outer_without_code;
    catalogue_ = outer;
    if (!made) return;
    if (made->form != wanted.hash) {
      errors_.push_back(base::invalid(wanted.name, "an earlier version of it cannot be kept"));
      return;
    }
    made->is_pinned = true;
    // Events reach it as they reach the present version, as far as it takes them.
    const WorkflowProgram& now = program_->workflows_[*present];
    for (std::size_t i = 0; i < now.woken_by.size(); ++i) {
      if (made->event != now.woken_by[i] && made->arm_of_schema(now.woken_by[i]) == nullptr)
        continue;
      made->woken_by.push_back(now.woken_by[i]);
      made->key_fields.push_back(now.key_fields[i]);
    }
    const std::uint32_t index = workflow_numbers_.take(wanted);
    put(program_->workflows_, index, std::move(*made));
    program_->earlier_versions_[*present].push_back(index);
    program_->pins_.push_back(*loaded.pin);
  }

  void note_routed(const defs::Manifest& manifest) {
    std::vector<std::string> events;
    for (const defs::Subscription& each : manifest.subscriptions) events.push_back(each.event);
    program_->routed_ = uses_of(std::move(events));
  }

  // These and everything that they lead to.
  std::vector<Named> uses_of(std::vector<std::string> left) const {
    std::set<std::string, std::less<>> seen;
    std::vector<Named> uses;
    const auto reach = [&](std::string_view name) {
      if (!seen.contains(name)) left.emplace_back(name);
    };
    while (!left.empty()) {
      const std::string name = std::move(left.back());
      left.pop_back();
      const defs::Entry* entry = catalogue_->find_entry(name);
      if (entry == nullptr || !seen.insert(name).second) continue;
      uses.push_back({name, entry->hash});
      defs::visit_references(entry->definition,
                             [&](const defs::Reference& reference) { reach(reference.name); });
      const auto* def = std::get_if<defs::WorkflowDef>(&entry->definition);
      // The events that steps hand on stand there and nowhere else.
      if (def != nullptr && def->graph) reach_texts(codec::View::of(*def->graph), reach);
    }
    std::sort(uses.begin(), uses.end());
    return uses;
  }

  // Bounded: the graph is a value, which is no deeper than any.
  template <class Reach>
  void reach_texts(codec::View value, const Reach& reach) const {
    if (const auto text = value.text()) {
      const defs::Entry* entry = catalogue_->find_entry(*text);
      if (entry != nullptr && std::holds_alternative<defs::SchemaDef>(entry->definition))
        reach(*text);
    } else if (value.kind() == codec::ViewKind::kList) {
      for (const codec::View each : value.elements()) reach_texts(each, reach);
    } else if (value.kind() == codec::ViewKind::kMap) {
      for (const auto& [key, each] : value.entries()) reach_texts(each, reach);
    }
  }

  // What the manifest lists.
  void list_definitions(const defs::Manifest& manifest) {
    for (const auto* refs : {&manifest.schemas, &manifest.modules, &manifest.workflows,
                             &manifest.effects, &manifest.secrets}) {
      for (const defs::NamedRef& ref : *refs) {
        if (const defs::Entry* entry = catalogue_->find_entry(ref.name))
          program_->definitions_.push_back({ref.name, entry->hash});
      }
    }
    auto& all = program_->definitions_;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  // Numbers, as names come along.
  class Numbers {
   public:
    // What has a number keeps it, if it is still wanted.
    void keep(const std::vector<Named>& names, const std::set<Named>& wanted) {
      for (std::uint32_t i = 0; i < names.size(); ++i) {
        if (wanted.contains(names[i])) {
          kept_.emplace(names[i], i);
        } else {
          free_.insert(i);
        }
      }
      next_ = static_cast<std::uint32_t>(names.size());
    }
    std::uint32_t take(const Named& name) {
      const std::uint32_t number = find(name);
      in_order_ &= number == count_++;
      return number;
    }
    bool in_order() const noexcept { return in_order_; }
    std::size_t count() const noexcept { return count_; }

   private:
    std::uint32_t find(const Named& name) {
      if (const auto kept = kept_.find(name); kept != kept_.end()) return kept->second;
      if (free_.empty()) return next_++;
      return free_.extract(free_.begin()).value();
    }

    std::map<Named, std::uint32_t> kept_;
    std::set<std::uint32_t> free_;
    std::uint32_t next_ = 0;
    std::uint32_t count_ = 0;
    bool in_order_ = true;
  };

  void reserve_numbers(const defs::Manifest& manifest) {
    if (numbering_ == nullptr) return;
    std::set<std::string> names;
    for (const defs::NamedRef& ref : manifest.workflows) names.insert(ref.name);
    for (const defs::Subscription& each : manifest.subscriptions) names.insert(each.workflow);
    for (const std::string_view name : defs::kSystemWorkflows) names.emplace(name);
    std::set<Named> workflows;
    std::set<Named> effects;
    const auto want = [&](const std::string& name) {
      const auto* def = catalogue_->get<defs::WorkflowDef>(name);
      if (def == nullptr) return;
      workflows.insert({name, form_of(uses_of({name}))});
      for (const std::string& effect : def->effects_emitted)
        effects.insert({effect, form_of(uses_of({effect}))});
    };
    for (const std::string& name : names) want(name);
    for (const LoadedPin& loaded : loaded_) {
      const defs::Catalogue* const outer = std::exchange(catalogue_, &loaded.bundle->catalogue);
      want(loaded.pin->workflow.name);
      catalogue_ = outer;
    }
    workflow_numbers_.keep(numbering_->workflows, workflows);
    effect_numbers_.keep(numbering_->effects, effects);
  }

  template <class T>
  static void put(std::vector<T>& all, std::uint32_t index, T made) {
    if (index >= all.size()) all.resize(std::size_t{index} + 1);
    all[index] = std::move(made);
  }

  static bool is_system(std::string_view name) {
    return std::find(defs::kSystemWorkflows.begin(), defs::kSystemWorkflows.end(), name) !=
           defs::kSystemWorkflows.end();
  }

  // Everything in the event type of such a workflow goes to the instance that the event names.
  void system_workflows() {
    for (const std::string_view name : defs::kSystemWorkflows) {
      if (machines_.find_system(name) == nullptr) continue;
      const auto index = workflow(std::string(name));
      if (!index) continue;
      const Route route{*index, {std::string(defs::kSystemKeyField)}};
      for (const Arm& arm : program_->workflows_[*index].arms) {
        if (arm.schema == defs::kReceiptEnvelope || arm.schema == defs::kReceiptRejected ||
            arm.schema == defs::kStreamFrame)
          continue;
        program_->system_events_.emplace(arm.schema,
                                         EventProgram{arm.schema, schema(arm.schema), {route}});
      }
    }
  }

  void find_machine(const defs::WorkflowDef& def, WorkflowProgram& made) {
    const auto* module = catalogue_->get<defs::ModuleDef>(def.impl.module);
    if (module != nullptr) {
      made.defined_machine = machines_.make(*module, def, *catalogue_);
      if (made.defined_machine) {
        made.machine = made.defined_machine.get();
        made.objection = machines_.objection(def, *catalogue_).value_or(std::string());
      } else {
        made.machine = machines_.find_fitting(*module, def, *catalogue_, made.objection);
      }
    }
    program_->has_objections_ |= !made.objection.empty();
    if (made.machine != nullptr) return;
    std::string why =
        "no code is there for '" + def.impl.entrypoint + "' of '" + def.impl.module + "'";
    if (!without_code_) {
      errors_.push_back(base::Error(base::ErrorCode::kNotFound, def.name, std::move(why)));
      return;
    }
    made.objection = why;
    missing_.push_back(base::Error(base::ErrorCode::kNotFound, def.name, std::move(why)));
    program_->has_objections_ = true;
  }

  // A program without any code for what was applied is another program.
  void check_missing() {
    const bool has_code =
        std::ranges::any_of(program_->workflows_, [](const WorkflowProgram& workflow) {
          return workflow.machine != nullptr && !workflow.is_system;
        });
    if (has_code) return;
    for (base::Error& error : missing_) errors_.push_back(std::move(error));
  }

  // Which messages its event type has room for.
  void listen(const defs::WorkflowDef& def, WorkflowProgram& made) const {
    const codec::Type* type = catalogue_->behind(catalogue_->find(def.event));
    if (type == nullptr || type->kind != codec::TypeKind::kVariant) return;
    for (const codec::Member& arm : type->members) {
      const codec::Type* behind = catalogue_->behind(catalogue_->find(arm.type.ref));
      made.arms.push_back(
          {arm.name, arm.type.ref, behind != nullptr && behind->kind == codec::TypeKind::kUnit});
    }
    made.hears_receipts = made.arm_of_schema(defs::kReceiptEnvelope) != nullptr;
    made.hears_rejected = made.arm_of_schema(defs::kReceiptRejected) != nullptr;
    made.hears_progress = made.arm_of_schema(defs::kStreamFrame) != nullptr;
  }

  std::optional<std::uint32_t> effect(const std::string& name) {
    const base::Hash form = form_of(uses_of({name}));
    if (const auto known = known_effects_.find({name, form}); known != known_effects_.end())
      return known->second;
    const defs::Entry* entry = catalogue_->find_entry(name);
    const auto* def = entry == nullptr ? nullptr : std::get_if<defs::EffectDef>(&entry->definition);
    if (def == nullptr)
      return errors_.push_back(base::invalid(name, "there is no such effect")), std::nullopt;
    EffectProgram made{
        name,           entry->hash,     form,           schema(def->params), schema(def->receipt),
        executor(*def), def->timeout_ns, in_kernel(name)};
    made.by_workers = made.executor.kind == kByWorkers;
    const std::uint32_t index = effect_numbers_.take({name, form});
    put(program_->effects_, index, std::move(made));
    known_effects_.emplace(Named{name, form}, index);
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
    WorkflowProgram& target = program_->workflows_[made.workflow];
    target.woken_by.push_back(event_name);
    std::string& key_field = target.key_fields.emplace_back();
    for (const std::string& part : made.key_path)
      key_field.append(key_field.empty() ? "" : ".").append(part);
    event(event_name)->routes.push_back(std::move(made));
  }

  const defs::Catalogue* catalogue_;
  const MachineSource& machines_;
  const Entropy& origin_;
  codec::Errors& errors_;
  bool without_code_;
  const Numbering* const numbering_;
  const std::vector<Pin>* const pins_;
  std::vector<LoadedPin> loaded_;
  std::map<Named, std::uint32_t> known_effects_;
  std::vector<base::Error> missing_;  // code
  Numbers workflow_numbers_;
  Numbers effect_numbers_;
  std::shared_ptr<Program> program_;
  std::set<std::pair<std::string, std::string>> written_;  // subscriptions: event, workflow
};

std::shared_ptr<const Program> Program::build(const defs::Bundle& bundle,
                                              const MachineSource& machines, const Entropy& origin,
                                              codec::Errors& errors, BuildOptions options) {
  if (!bundle.manifest) {
    errors.push_back(base::invalid("", "the bundle has no manifest"));
    return nullptr;
  }
  return ProgramBuilder(bundle.catalogue, machines, origin, errors, options).run(bundle);
}

Numbering Program::numbering() const {
  Numbering numbering;
  for (const WorkflowProgram& workflow : workflows_)
    numbering.workflows.push_back({workflow.name, workflow.form});
  for (const EffectProgram& effect : effects_)
    numbering.effects.push_back({effect.name, effect.form});
  return numbering;
}

std::shared_ptr<const Program> Program::none(const MachineSource& machines, const Entropy& origin) {
  const bool has_code =
      std::any_of(defs::kSystemWorkflows.begin(), defs::kSystemWorkflows.end(),
                  [&](std::string_view name) { return machines.find_system(name) != nullptr; });
  if (!has_code) return std::make_shared<Program>();
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  codec::Errors errors;
  return ProgramBuilder(builtin, machines, origin, errors).run_without_manifest();
}

std::shared_ptr<const Program> Program::in_world(const Entropy& origin) const {
  auto made = std::make_shared<Program>(*this);
  for (WorkflowProgram& workflow : made->workflows_) {
    workflow.effects.visit([&](const std::string& name, AllowedEffect& allowed) {
      const EffectProgram& effect = effects_[allowed.effect];
      allowed.site =
          Site(site_hash(origin, workflow.name, workflow.hash, name, effect.hash, effect.executor));
    });
  }
  return made;
}

const EventProgram* Program::event_of(const WorkflowProgram& workflow,
                                      std::string_view schema) const {
  if (!workflow.is_system) return event(schema);
  const auto* found = system_events_.find(schema);
  return found == nullptr ? nullptr : &found->second;
}

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
