// SPDX-License-Identifier: Apache-2.0
// Program: a manifest made ready to run: schemas compiled, routes by event, effects with their
// identities, machines found. Immutable; a world holds one and swaps it when a manifest is applied.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

struct EffectProgram {
  std::string name;
  base::Hash hash;
  codec::Schema params;
  codec::Schema receipt;
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
  std::string name;
  base::Hash hash;
  codec::Schema state = codec::Schema::any();
  std::optional<codec::Schema> key;
  std::optional<codec::Schema> annotations;
  bool has_context = false;  // declared: sys/WorkflowContext@1
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
  std::vector<std::string> woken_by;  // the schemas of the events that are routed to it

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
  // `origin` is that of the world that will run it. All errors are reported: workflows without a
  // machine, first of all.
  static std::shared_ptr<const Program> build(const defs::Bundle& bundle,
                                              const MachineSource& machines, const Entropy& origin,
                                              codec::Errors& errors);

  // What a world runs before its first manifest: nothing.
  static std::shared_ptr<const Program> none();

  const base::Hash& manifest_hash() const noexcept { return manifest_hash_; }

  // The definitions it was built from, as one canonical value (defs/load.h).
  const base::Bytes& closure() const noexcept { return closure_; }
  const EventProgram* event(std::string_view schema) const;
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
  std::vector<WorkflowProgram> workflows_;
  std::vector<EffectProgram> effects_;
  std::map<std::string, std::uint32_t, std::less<>> workflow_names_;
  std::map<std::string, std::uint32_t, std::less<>> effect_names_;
  NameTable<EventProgram> events_;
  std::optional<codec::Schema> error_schema_;  // sys/EffectError@1
  bool has_objections_ = false;
};

}  // namespace holdfast::kernel
