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
  const std::size_t before = errors.size();
  for (const auto& [name, entry] : catalogue.entries()) {
    for (const Reference& reference : references_of(entry.definition)) {
      const Entry* target = catalogue.find_entry(reference.name);
      if (target != nullptr && kind_of(target->definition) == reference.kind) continue;
      std::string message = missing(reference.kind, reference.name);
      if (target != nullptr)
        message += "; that name is a " + std::string(kind_of(target->definition));
      errors.push_back(base::invalid(entry.place + reference.path, std::move(message)));
    }
  }
  return errors.size() == before;
}

// Finds types that contain themselves. Walks the references depth first with a stack of its own;
// what has been left behind is known to be sound and is not walked again.
class CycleFinder {
 public:
  CycleFinder(const Catalogue& catalogue, Errors& errors)
      : catalogue_(catalogue), errors_(errors) {}

  bool run() {
    for (const auto& [name, entry] : catalogue_.entries()) {
      if (std::holds_alternative<SchemaDef>(entry.definition) && !done_.contains(name)) walk(name);
    }
    return good_;
  }

 private:
  struct Step {
    std::string name;
    std::vector<Reference> references;
    std::size_t next = 0;
  };

  void enter(const std::string& name) {
    const auto own =
        catalogue_.entries().find(name);  // what lies below was checked when it was loaded
    if (own == catalogue_.entries().end()) return;
    trail_.push_back({name, references_of(own->second.definition)});
    on_trail_.insert(name);
  }

  void walk(const std::string& start) {
    enter(start);
    while (!trail_.empty()) {
      Step& step = trail_.back();
      if (step.next == step.references.size()) {
        on_trail_.erase(step.name);
        done_.insert(step.name);
        trail_.pop_back();
        continue;
      }
      const std::string target = step.references[step.next++].name;
      if (on_trail_.contains(target)) {
        report(target);
      } else if (!done_.contains(target)) {
        enter(target);
      }
    }
  }

  void report(const std::string& target) {
    good_ = false;
    std::string circle;
    for (const Step& step : trail_) {
      if (step.name == target || !circle.empty()) circle += step.name + " -> ";
    }
    const std::string& place = catalogue_.entries().find(target)->second.place;
    errors_.push_back(base::invalid(place + ".type", "recursive type: " + circle + target));
  }

  const Catalogue& catalogue_;
  Errors& errors_;
  std::vector<Step> trail_;
  std::set<std::string, std::less<>> on_trail_;
  std::set<std::string, std::less<>> done_;
  bool good_ = true;
};

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

}  // namespace

void check_definitions(const Catalogue& catalogue, Errors& errors) {
  const bool references_good = check_references(catalogue, errors);
  const bool no_cycles = CycleFinder(catalogue, errors).run();
  for (const auto& [name, entry] : catalogue.entries()) {
    if (const auto* schema = std::get_if<SchemaDef>(&entry.definition);
        schema != nullptr && references_good && no_cycles) {
      codec::Schema::compile(schema->type, catalogue, entry.place + ".type", errors);
    }
    if (const auto* workflow = std::get_if<WorkflowDef>(&entry.definition)) {
      check_event_type(*workflow, entry.place, catalogue, errors);
    }
  }
}

}  // namespace holdfast::defs
