// SPDX-License-Identifier: Apache-2.0
// Program: a manifest made ready to run: schemas compiled, routes by event, effects with their
// identities, machines found. Immutable; a world holds one and swaps it when a manifest is applied.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "codec/schema.h"
#include "defs/load.h"
#include "kernel/identity.h"
#include "kernel/machine.h"
#include "kernel/name_table.h"
#include "kernel/tick.h"

namespace holdfast::kernel {

// What the reducer performs itself (kernel/children.cc); everything else leaves as a command.
enum class InKernel : std::uint8_t { kNo, kRunWorkflow, kStopWorkflow };

// A definition by its name, and what it says by its hash.
struct Named {
  std::string name;
  base::Hash hash;

  friend bool operator==(const Named&, const Named&) = default;
  friend auto operator<=>(const Named&, const Named&) = default;
};

// Which number each workflow and each effect has. Open intents, and the lists of a snapshot, know
// them by it, so it stays while anything is under way. The hash is the form: of the definition and
// all that it leads to. An empty name is a number that is free.
struct Numbering {
  std::vector<Named> workflows;
  std::vector<Named> effects;
};

// A version of a workflow that instances keep which were begun with it.
struct Pin {
  Named workflow;                              // its form, which has a number
  std::shared_ptr<const base::Bytes> closure;  // the definitions that it is of
};

// How many a world may have.
inline constexpr std::size_t kMaxPins = 256;

struct EffectProgram {
  std::string name;  // empty: the number is free
  base::Hash hash;
  base::Hash form;
  codec::Schema params = codec::Schema::any();
  codec::Schema receipt = codec::Schema::any();
  defs::Executor executor;
  std::optional<std::uint64_t> timeout_ns;
  InKernel in_kernel = InKernel::kNo;
  bool by_workers = false;  // it can be leased
};

// An effect that a workflow may emit, and the hash that binds the two and who performs it.
struct AllowedEffect {
  std::uint32_t effect;
  Site site;
};

// One arm of the variant that is a workflow's event type.
struct Arm {
  std::string tag;
  std::string schema;
  bool unit = false;  // it has no value
};

struct WorkflowProgram {
  std::string name;  // empty: the number is free
  base::Hash hash;
  base::Hash form;
  Named module;            // that its code is in
  bool is_pinned = false;  // an earlier version: instances go on with it, and none begins
  codec::Schema state = codec::Schema::any();
  std::optional<codec::Schema> key;
  std::optional<codec::Schema> annotations;
  bool has_context = false;  // declared: sys/WorkflowContext@1
  bool is_system = false;    // one of defs::kSystemWorkflows: no manifest lists it
  NameTable<AllowedEffect> effects;
  std::string event;      // the schema of its events
  std::vector<Arm> arms;  // if that is a variant
  // Whether its event type has an arm for them. What it does not hear of is recorded all the same.
  bool hears_receipts = false;
  bool hears_rejected = false;
  bool hears_progress = false;
  const Machine* machine = nullptr;
  std::shared_ptr<const Machine> defined_machine;  // then it is that one; see MachineSource::make
  std::string objection;  // why the code does not fit, see MachineSource; empty: it does
  std::vector<std::string> woken_by;    // the schemas of the events that are routed to it
  std::vector<std::string> key_fields;  // how each of them names the instance; empty: it does not
  std::vector<Named> uses;              // itself and all that its definition leads to, by name
  std::vector<Named> taken;             // the same for its key and its events

  const Arm* arm_of_schema(std::string_view schema) const;
  const Arm* arm_of_tag(std::string_view tag) const;
};

struct Route {
  std::uint32_t workflow;
  std::vector<std::string> key_path;  // empty: the workflow has no key
};

struct EventProgram {
  std::string schema_name;
  codec::Schema schema;
  std::vector<Route> routes;  // in manifest order
};

// Finds the machine of a workflow. What `find` returns must outlive the program.
class MachineSource {
 public:
  virtual ~MachineSource() = default;
  virtual const Machine* find(const defs::ModuleDef& module, std::string_view entrypoint) const = 0;

  // The machine of one of the system's own workflows. Nothing: the world does not have it.
  virtual const Machine* find_system(std::string_view workflow) const {
    static_cast<void>(workflow);
    return nullptr;
  }

  // A machine that is what the definition says, whatever code is here: it steps as it did when the
  // definition was applied, so records replay with it even if the code does not fit any more.
  // Nothing: only code can step this workflow, and is looked for with `find`.
  virtual std::shared_ptr<const Machine> make(const defs::ModuleDef& module,
                                              const defs::WorkflowDef& workflow,
                                              const defs::Catalogue& catalogue) const {
    static_cast<void>(module);
    static_cast<void>(workflow);
    static_cast<void>(catalogue);
    return nullptr;
  }

  // The same as `find`, where there may be code for several versions of a workflow: that which
  // fits, or else any, and then `why` says why it does not.
  virtual const Machine* find_fitting(const defs::ModuleDef& module,
                                      const defs::WorkflowDef& workflow,
                                      const defs::Catalogue& catalogue, std::string& why) const {
    const Machine* found = find(module, workflow.impl.entrypoint);
    if (found != nullptr) why = objection(workflow, catalogue).value_or(std::string());
    return found;
  }

  // Why the code of a workflow does not fit its definition, as when code is newer than the
  // definitions of a world; nothing: it does. Nothing new happens to such a workflow. A machine
  // that was found, and not made of the definition, is not even run for records of the past: its
  // steps would fail instances that were well, and replay would come to another end.
  virtual std::optional<std::string> objection(const defs::WorkflowDef& workflow,
                                               const defs::Catalogue& catalogue) const {
    static_cast<void>(workflow);
    static_cast<void>(catalogue);
    return std::nullopt;
  }
};

class Program {
 public:
  struct BuildOptions {
    // What has a number there keeps it; null: the numbers are those of the manifest's order.
    const Numbering* numbering = nullptr;

    // A workflow without code is not an error: its objection says so. For what was applied once.
    bool without_code = false;

    // Earlier versions that stay.
    const std::vector<Pin>* pins = nullptr;
  };

  // `origin` is that of the world that will run it. All errors are reported: workflows without a
  // machine, first of all.
  static std::shared_ptr<const Program> build(const defs::Bundle& bundle,
                                              const MachineSource& machines, const Entropy& origin,
                                              codec::Errors& errors, BuildOptions options);
  static std::shared_ptr<const Program> build(const defs::Bundle& bundle,
                                              const MachineSource& machines, const Entropy& origin,
                                              codec::Errors& errors) {
    return build(bundle, machines, origin, errors, {});
  }

  // What a world runs before its first manifest: the system's own workflows, and nothing else.
  static std::shared_ptr<const Program> none(const MachineSource& machines, const Entropy& origin);

  // The same program in a world with another origin, which is part of the identity of its effects.
  std::shared_ptr<const Program> in_world(const Entropy& origin) const;

  const base::Hash& manifest_hash() const noexcept { return manifest_hash_; }

  // The definitions it was built from, as one canonical value (defs/load.h).
  const base::Bytes& closure() const noexcept { return closure_; }

  // What the manifest lists, by name.
  const std::vector<Named>& definitions() const noexcept { return definitions_; }

  // The events that are routed, and all that their schemas lead to.
  const std::vector<Named>& routed() const noexcept { return routed_; }

  // Earlier versions of a workflow of the manifest, by number.
  std::span<const std::uint32_t> earlier_versions(std::uint32_t workflow) const {
    const auto found = earlier_versions_.find(workflow);
    if (found == earlier_versions_.end()) return {};
    return found->second;
  }
  bool has_pins() const noexcept { return !pins_.empty(); }
  const std::vector<Pin>& pins() const noexcept { return pins_; }

  Numbering numbering() const;

  // Whether the numbers are those that the manifest's order gives.
  bool is_numbered_in_order() const noexcept { return is_numbered_in_order_; }

  const EventProgram* event(std::string_view schema) const;

  // Events that this workflow sends and takes. Those of the system's own workflows are apart from
  // those of the manifest: no other workflow can send one.
  const EventProgram* event_of(const WorkflowProgram& workflow, std::string_view schema) const;
  const WorkflowProgram& workflow(std::uint32_t index) const { return workflows_[index]; }
  const EffectProgram& effect(std::uint32_t index) const { return effects_[index]; }
  std::optional<std::uint32_t> workflow_named(std::string_view name) const;
  std::optional<std::uint32_t> effect_named(std::string_view name) const;
  std::size_t workflow_count() const noexcept { return workflows_.size(); }
  std::size_t effect_count() const noexcept { return effects_.size(); }
  const codec::Schema& error_schema() const noexcept { return *error_schema_; }

  // Whether the machine of some workflow does not fit; that says why.
  bool has_objections() const noexcept { return has_objections_; }

 private:
  friend class ProgramBuilder;

  base::Hash manifest_hash_;
  base::Bytes closure_;
  std::vector<Named> definitions_;
  std::vector<Named> routed_;
  std::vector<Pin> pins_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> earlier_versions_;
  bool is_numbered_in_order_ = true;
  std::vector<WorkflowProgram> workflows_;
  std::vector<EffectProgram> effects_;
  std::map<std::string, std::uint32_t, std::less<>> workflow_names_;
  std::map<std::string, std::uint32_t, std::less<>> effect_names_;
  NameTable<EventProgram> events_;
  NameTable<EventProgram> system_events_;
  std::optional<codec::Schema> error_schema_;  // sys/EffectError@1
  bool has_objections_ = false;
};

}  // namespace holdfast::kernel
