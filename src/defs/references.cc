// SPDX-License-Identifier: Apache-2.0
#include "defs/references.h"

#include "defs/name.h"

namespace holdfast::defs {
namespace {

class Collector {
 public:
  std::vector<Reference> found;

  void operator()(const SchemaDef& schema) { type(schema.type, ".type"); }
  void operator()(const ModuleDef&) {}
  void operator()(const WorkflowDef& workflow) {
    schema(workflow.state, ".state");
    schema(workflow.event, ".event");
    if (workflow.context) schema(*workflow.context, ".context");
    if (workflow.annotations) schema(*workflow.annotations, ".annotations");
    if (workflow.key_schema) schema(*workflow.key_schema, ".key_schema");
    for (const std::string& effect : workflow.effects_emitted)
      found.push_back({"defeffect", effect, ".effects_emitted"});
    found.push_back({"defmodule", workflow.impl.module, ".impl.module"});
  }
  void operator()(const EffectDef& effect) {
    schema(effect.params, ".params");
    schema(effect.receipt, ".receipt");
    if (const auto* impl = std::get_if<Impl>(&effect.performer))
      found.push_back({"defmodule", impl->module, ".impl.module"});
  }
  void operator()(const SecretDef&) {}
  void operator()(const Manifest&) {
  }  // lists definitions rather than using them: see check_manifest

 private:
  void schema(const std::string& name, std::string path) {
    found.push_back({"defschema", name, std::move(path)});
  }

  // Bounded: a type expression nests no deeper than the value it was read from.
  void type(const codec::Type& at, const std::string& path) {
    const std::string inside = path + "." + std::string(codec::name_of(at.kind));
    if (at.kind == codec::TypeKind::kRef) schema(at.ref, inside);
    for (const codec::Member& member : at.members) type(member.type, inside + "." + member.name);
    const bool map = at.kind == codec::TypeKind::kMap;
    for (std::size_t i = 0; i < at.inner.size(); ++i)
      type(at.inner[i], map ? inside + (i == 0 ? ".key" : ".value") : inside);
  }
};

}  // namespace

std::vector<Reference> references_of(const Definition& definition) {
  Collector collector;
  std::visit(collector, definition);
  return std::move(collector.found);
}

std::string missing(std::string_view kind, std::string_view name) {
  const std::string what = std::string(kind) + " named '" + std::string(name) + "'";
  return is_reserved(name) ? "the system has no " + what : "there is no " + what;
}

}  // namespace holdfast::defs
