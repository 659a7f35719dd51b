// SPDX-License-Identifier: Apache-2.0
#include "defs/references.h"

#include "defs/name.h"

namespace holdfast::defs {
namespace {

class Visitor {
 public:
  explicit Visitor(const std::function<void(const Reference&)>& visit) : visit_(visit) {}

  void operator()(const SchemaDef& schema) const { type(schema.type, ".type"); }
  void operator()(const ModuleDef&) const {}
  void operator()(const WorkflowDef& workflow) const {
    schema(workflow.state, ".state");
    schema(workflow.event, ".event");
    if (workflow.context) schema(*workflow.context, ".context");
    if (workflow.annotations) schema(*workflow.annotations, ".annotations");
    if (workflow.key_schema) schema(*workflow.key_schema, ".key_schema");
    for (const std::string& effect : workflow.effects_emitted)
      visit_({"defeffect", effect, ".effects_emitted"});
    visit_({"defmodule", workflow.impl.module, ".impl.module"});
  }
  void operator()(const EffectDef& effect) const {
    schema(effect.params, ".params");
    schema(effect.receipt, ".receipt");
    if (const auto* impl = std::get_if<Impl>(&effect.performer))
      visit_({"defmodule", impl->module, ".impl.module"});
  }
  void operator()(const SecretDef&) const {}
  void operator()(const Manifest&) const {
  }  // lists definitions rather than using them: see check_manifest

 private:
  void schema(std::string_view name, std::string_view path) const {
    visit_({"defschema", name, path});
  }

  // Bounded: a type expression nests no deeper than the value it was read from.
  void type(const codec::Type& at, const std::string& path) const {
    const std::string inside = path + "." + std::string(codec::name_of(at.kind));
    if (at.kind == codec::TypeKind::kRef) schema(at.ref, inside);
    for (const codec::Member& member : at.members) type(member.type, inside + "." + member.name);
    const bool map = at.kind == codec::TypeKind::kMap;
    for (std::size_t i = 0; i < at.inner.size(); ++i)
      type(at.inner[i], map ? inside + (i == 0 ? ".key" : ".value") : inside);
  }

  const std::function<void(const Reference&)>& visit_;
};

}  // namespace

void visit_references(const Definition& definition,
                      const std::function<void(const Reference&)>& visit) {
  std::visit(Visitor(visit), definition);
}

std::optional<std::string> reference_problem(const Catalogue& catalogue, std::string_view kind,
                                             std::string_view name) {
  const Entry* target = catalogue.find_entry(name);
  if (target != nullptr && kind_of(target->definition) == kind) return std::nullopt;
  std::string problem = is_reserved(name) ? "the system has no " : "there is no ";
  problem += std::string(kind) + " named '" + std::string(name) + "'";
  if (target != nullptr) problem += "; that name is a " + std::string(kind_of(target->definition));
  return problem;
}

}  // namespace holdfast::defs
