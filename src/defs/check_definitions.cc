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

// Finds types that contain themselves. Walks the references depth first with a stack of its own;
// what has been left behind is known to be sound and is not walked again. Of each type, one way
// back to itself is reported.
class CycleFinder {
 public:
  CycleFinder(const Catalogue& catalogue, Errors& errors)
      : catalogue_(catalogue), errors_(errors) {}

  bool run() {
    for (const auto& [name, entry] : catalogue_.entries()) {
      if (std::holds_alternative<SchemaDef>(entry.definition) && !done_.contains(name)) walk(name);
    }
    return reported_.empty();
  }

 private:
  // Names are views into the catalogue.
  struct Step {
    std::string_view name;
    std::vector<std::string_view> references;
    std::size_t next = 0;
  };

  void enter(std::string_view name) {
    const auto own =
        catalogue_.entries().find(name);  // what lies below was checked when it was loaded
    if (own == catalogue_.entries().end()) return;
    Step step{name, {}};
    visit_references(own->second.definition, [&](const Reference& reference) {
      step.references.push_back(reference.name);
    });
    trail_.push_back(std::move(step));
    on_trail_.insert(name);
  }

  void walk(std::string_view start) {
    enter(start);
    while (!trail_.empty()) {
      Step& step = trail_.back();
      if (step.next == step.references.size()) {
        on_trail_.erase(step.name);
        done_.insert(step.name);
        trail_.pop_back();
        continue;
      }
      const std::string_view target = step.references[step.next++];
      if (on_trail_.contains(target)) {
        if (reported_.insert(target).second) report(target);
      } else if (!done_.contains(target)) {
        enter(target);
      }
    }
  }

  void report(std::string_view target) {
    constexpr std::size_t kShown = 8;
    std::string circle;
    std::size_t length = 0;
    for (const Step& step : trail_) {
      if (step.name != target && length == 0) continue;
      if (++length <= kShown) circle += std::string(step.name) + " -> ";
    }
    if (length > kShown) circle += "(" + std::to_string(length - kShown) + " more) -> ";
    const std::string& place = catalogue_.entries().find(target)->second.place;
    errors_.push_back(
        base::invalid(place + ".type", "recursive type: " + circle + std::string(target)));
  }

  const Catalogue& catalogue_;
  Errors& errors_;
  std::vector<Step> trail_;
  std::set<std::string_view> on_trail_;
  std::set<std::string_view> done_;
  std::set<std::string_view> reported_;
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
