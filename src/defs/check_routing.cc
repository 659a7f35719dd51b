// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "defs/check.h"
#include "defs/references.h"

namespace holdfast::defs {
namespace {

using codec::Errors;
using codec::Type;
using codec::TypeKind;

class RouteChecker {
 public:
  RouteChecker(const Subscription& route, std::string path, const Catalogue& catalogue,
               Errors& errors)
      : route_(route), path_(std::move(path)), catalogue_(catalogue), errors_(errors) {}

  void run() {
    const auto* workflow = catalogue_.get<WorkflowDef>(route_.workflow);
    const Type* event = catalogue_.find(route_.event);
    auto no_workflow = reference_problem(catalogue_, "defworkflow", route_.workflow);
    auto no_event = reference_problem(catalogue_, "defschema", route_.event);
    if (no_workflow) refuse(".workflow", std::move(*no_workflow));
    if (no_event) refuse(".event", std::move(*no_event));
    if (workflow == nullptr || event == nullptr) return;
    if (!is_deliverable(*workflow)) {
      refuse(".event", "'" + route_.event + "' is neither the event type of '" + route_.workflow +
                           "' nor an arm of it");
    }
    check_key(*workflow, event);
  }

 private:
  bool is_deliverable(const WorkflowDef& workflow) const {
    if (workflow.event == route_.event) return true;
    const Type* type = catalogue_.behind(catalogue_.find(workflow.event));
    if (type == nullptr || type->kind != TypeKind::kVariant) return false;
    for (const codec::Member& arm : type->members) {
      if (arm.type.kind == TypeKind::kRef && arm.type.ref == route_.event) return true;
    }
    return false;
  }

  void check_key(const WorkflowDef& workflow, const Type* event) {
    if (!workflow.key_schema && !route_.key_field) return;
    if (!workflow.key_schema)
      return refuse(".key_field", "'" + route_.workflow + "' has no key_schema");
    if (!route_.key_field)
      return refuse("",
                    "'" + route_.workflow + "' is keyed, so the subscription needs a key_field");
    const Type* wanted = catalogue_.behind(catalogue_.find(*workflow.key_schema));
    const std::vector<const Type*> fields = collect(event, *route_.key_field);
    if (fields.empty())
      return refuse(".key_field",
                    "'" + route_.event + "' has no field '" + *route_.key_field + "'");
    for (const Type* field : fields) {
      if (field == nullptr || wanted == nullptr || field->kind == wanted->kind) continue;
      refuse(".key_field", "the field is a " + std::string(codec::name_of(field->kind)) +
                               ", but '" + *workflow.key_schema + "' is a " +
                               std::string(codec::name_of(wanted->kind)));
    }
  }

  // The types that a dotted path leads to: one for records, one for each arm that has the field
  // where `$value` steps into a variant, null where a reference leads nowhere (which is reported
  // elsewhere). Every step looks at each type once, so the work is bounded by path and types.
  std::vector<const Type*> collect(const Type* event, std::string_view path) const {
    std::vector<const Type*> at{catalogue_.behind(event)};
    for (std::optional<std::string_view> rest = path; rest && !at.empty();) {
      const std::size_t dot = rest->find('.');
      const std::string_view step = rest->substr(0, dot);
      std::vector<const Type*> next;
      std::set<const Type*> seen;
      for (const Type* type : at) {
        if (type == nullptr) continue;
        const bool into_arms = type->kind == TypeKind::kVariant && step == "$value";
        if (!into_arms && type->kind != TypeKind::kRecord) continue;
        for (const codec::Member& member : type->members) {
          if (!into_arms && member.name != step) continue;
          const Type* found = catalogue_.behind(&member.type);
          if (seen.insert(found).second) next.push_back(found);
        }
      }
      at = std::move(next);
      rest = dot == std::string_view::npos ? std::nullopt : std::optional(rest->substr(dot + 1));
    }
    return at;
  }

  void refuse(std::string_view field, std::string message) {
    errors_.push_back(base::invalid(path_ + std::string(field), std::move(message)));
  }

  const Subscription& route_;
  std::string path_;
  const Catalogue& catalogue_;
  Errors& errors_;
};

}  // namespace

void check_routing(const Manifest& manifest, const std::string& place, const Catalogue& catalogue,
                   Errors& errors) {
  for (std::size_t i = 0; i < manifest.subscriptions.size(); ++i) {
    const std::string path = place + ".routing.subscriptions[" + std::to_string(i) + "]";
    RouteChecker(manifest.subscriptions[i], path, catalogue, errors).run();
  }
}

}  // namespace holdfast::defs
