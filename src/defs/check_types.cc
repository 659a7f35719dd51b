// SPDX-License-Identifier: Apache-2.0
// Types that contain themselves, nest too deep or cannot be told apart. Each schema is looked at
// once, however many refer to it: compiling every one with all that it reaches takes a time that
// grows with the square of a bundle.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "defs/check.h"
#include "defs/references.h"

namespace holdfast::defs {
namespace {

using codec::Errors;
using codec::Type;
using codec::TypeKind;

// Finds types that contain themselves. Walks the references depth first with a stack of its own;
// what has been left behind is known to be sound and is not walked again. Of each type, one way
// back to itself is reported.
class CycleFinder {
 public:
  CycleFinder(const Catalogue& catalogue, Errors& errors)
      : catalogue_(catalogue), errors_(errors) {}

  void run() {
    for (const auto& [name, entry] : catalogue_.entries()) {
      if (std::holds_alternative<SchemaDef>(entry.definition) && !done_.contains(name)) walk(name);
    }
  }

  bool found_none() const noexcept { return reported_.empty(); }

  // The schemas here, each behind those it refers to.
  const std::vector<std::string_view>& order() const noexcept { return order_; }

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
        order_.push_back(step.name);
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
  std::vector<std::string_view> order_;
};

// How many types nest in a schema, as the compiler counts them.
class Depths {
 public:
  explicit Depths(const Catalogue& catalogue) : catalogue_(catalogue) {}

  // At most kTooDeep. The recursion is bounded by `level`, should what lies below be unsound.
  std::size_t of_schema(std::string_view name, std::size_t level = 0) {
    if (level == kTooDeep) return kTooDeep;
    const auto [known, added] = depths_.try_emplace(std::string(name), kTooDeep);
    if (!added) return known->second;
    const Type* type = catalogue_.find(name);
    if (type != nullptr) known->second = std::min(of_type(*type, level), kTooDeep);
    return known->second;
  }

  // Reported once, a schema counts for nothing in those that use it.
  void forget(std::string_view name) { depths_[std::string(name)] = 0; }

  static constexpr std::size_t kTooDeep = codec::kMaxTypeDepth + 1;

 private:
  std::size_t of_type(const Type& type, std::size_t level) {
    if (type.kind == TypeKind::kRef) return 1 + of_schema(type.ref, level + 1);
    std::size_t deepest = 0;
    for (const codec::Member& member : type.members)
      deepest = std::max(deepest, of_type(member.type, level));
    for (const Type& inner : type.inner) deepest = std::max(deepest, of_type(inner, level));
    return 1 + deepest;
  }

  const Catalogue& catalogue_;
  std::map<std::string, std::size_t> depths_;
};

// Gives a small type in the place of each schema: all that matters of it to those who use it is
// whether its values can be null.
class StandIns : public codec::TypeSource {
 public:
  explicit StandIns(const Catalogue& catalogue) : catalogue_(catalogue) {}

  const Type* find(std::string_view name) const override {
    const Type* type = catalogue_.behind(catalogue_.find(name));
    if (type == nullptr) return &other_;
    if (type->kind == TypeKind::kOption) return &option_;
    return type->kind == TypeKind::kUnit ? &unit_ : &other_;
  }

 private:
  const Catalogue& catalogue_;
  Type option_{TypeKind::kOption, {}, {}, {Type{TypeKind::kBool, {}, {}, {}}}};
  Type unit_{TypeKind::kUnit, {}, {}, {}};
  Type other_{TypeKind::kBool, {}, {}, {}};
};

}  // namespace

void check_types(const Catalogue& catalogue, bool references_good, Errors& errors) {
  CycleFinder cycles(catalogue, errors);
  cycles.run();
  if (!references_good || !cycles.found_none()) return;
  Depths depths(catalogue);
  const StandIns stand_ins(catalogue);
  for (const std::string_view name : cycles.order()) {
    const Entry& entry = catalogue.entries().find(name)->second;
    const std::string path = entry.place + ".type";
    if (depths.of_schema(name) == Depths::kTooDeep) {
      errors.push_back(
          base::invalid(path, "types nest deeper than " + std::to_string(codec::kMaxTypeDepth)));
      depths.forget(name);
    }
    codec::Schema::compile(std::get<SchemaDef>(entry.definition).type, stand_ins, path, errors);
  }
}

}  // namespace holdfast::defs
