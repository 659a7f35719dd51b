// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <utility>

#include "defs/check.h"
#include "defs/references.h"

namespace holdfast::defs {
namespace {

using codec::Errors;
using codec::TypeKind;

// Whether every name that is used is there, and is of the right kind.
bool check_references(const Catalogue& catalogue, Errors& errors) {
  const std::size_t before = errors.reported();
  for (const auto& [name, entry] : catalogue.entries()) {
    visit_references(entry.definition, [&, &place = entry.place](const Reference& reference) {
      auto problem = reference_problem(catalogue, reference.kind, reference.name);
      if (problem)
        errors.push_back(base::invalid(place + std::string(reference.path), std::move(*problem)));
    });
  }
  return errors.reported() == before;
}

// An event type is a record, or a variant whose arms are references to different schemas.
void check_event_type(const WorkflowDef& workflow, const std::string& place,
                      const Catalogue& catalogue, Errors& errors) {
  const codec::Type* type = catalogue.behind(catalogue.find(workflow.event));
  if (type == nullptr || type->kind == TypeKind::kRecord) return;
  const auto refuse = [&](std::string message) {
    errors.push_back(
        base::invalid(place + ".event", "'" + workflow.event + "' " + std::move(message)));
  };
  if (type->kind != TypeKind::kVariant) {
    return refuse("is a " + std::string(codec::name_of(type->kind)) +
                  "; an event type is a record or a variant");
  }
  std::set<std::string_view> seen;
  for (const codec::Member& arm : type->members) {
    if (arm.type.kind != TypeKind::kRef) {
      refuse("has an arm '" + arm.name + "' that is not a reference to a schema");
    } else if (!seen.insert(arm.type.ref).second) {
      refuse("has two arms for '" + arm.type.ref + "', so an event cannot tell which it is");
    }
  }
}

// Keys are compared, hashed and shown, so they are scalars with one spelling.
void check_key_type(const WorkflowDef& workflow, const std::string& place,
                    const Catalogue& catalogue, Errors& errors) {
  if (!workflow.key_schema) return;
  const codec::Type* type = catalogue.behind(catalogue.find(*workflow.key_schema));
  if (type == nullptr || codec::is_key_type(type->kind)) return;
  errors.push_back(base::invalid(
      place + ".key_schema", "a key is int, nat, text, uuid or hash, but '" + *workflow.key_schema +
                                 "' is a " + std::string(codec::name_of(type->kind))));
}

}  // namespace

void check_definitions(const Catalogue& catalogue, Errors& errors) {
  const bool references_good = check_references(catalogue, errors);
  check_types(catalogue, references_good, errors);
  for (const auto& [name, entry] : catalogue.entries()) {
    if (const auto* workflow = std::get_if<WorkflowDef>(&entry.definition)) {
      check_event_type(*workflow, entry.place, catalogue, errors);
      check_key_type(*workflow, entry.place, catalogue, errors);
    }
  }
}

}  // namespace holdfast::defs
