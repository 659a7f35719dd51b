// SPDX-License-Identifier: Apache-2.0
#include "kernel/manifest_change.h"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::kernel {
namespace {

// Both are in order. `differs` gets the names that only one side has, or both with another hash.
template <class Differs>
void walk(const std::vector<Named>& before, const std::vector<Named>& after,
          const Differs& differs) {
  auto was = before.begin();
  auto is = after.begin();
  while (was != before.end() || is != after.end()) {
    const bool only_was = is == after.end() || (was != before.end() && was->name < is->name);
    const bool only_is = was == before.end() || (is != after.end() && is->name < was->name);
    if (only_was) {
      differs(&*was++, static_cast<const Named*>(nullptr));
    } else if (only_is) {
      differs(static_cast<const Named*>(nullptr), &*is++);
    } else {
      if (was->hash != is->hash) differs(&*was, &*is);
      ++was;
      ++is;
    }
  }
}

void add_reason(std::vector<std::string>& because, std::string reason) {
  if (because.size() < kMaxReasonsForTouch) because.push_back(std::move(reason));
}

// The routes that `before` had and `after` has not.
void compare_routes(const WorkflowProgram& before, const WorkflowProgram& after,
                    std::vector<std::string>& because) {
  std::multiset<std::pair<std::string_view, std::string_view>> routes;
  for (std::size_t i = 0; i < after.woken_by.size(); ++i)
    routes.emplace(after.woken_by[i], after.key_fields[i]);
  for (std::size_t i = 0; i < before.woken_by.size(); ++i) {
    const auto found = routes.find({before.woken_by[i], before.key_fields[i]});
    if (found == routes.end()) {
      add_reason(because, "the route of " + before.woken_by[i]);
    } else {
      routes.erase(found);
    }
  }
}

// What of these the candidate lists in another form, or not at all. The system's own are not
// listed.
void compare_events(const std::vector<Named>& events, const Program& present,
                    const Program& candidate, std::vector<std::string>& because) {
  const auto lists = [](const Program& program, const Named& each) {
    return std::ranges::binary_search(program.definitions(), each);
  };
  for (const Named& each : events) {
    const bool changes = lists(present, each) && !lists(candidate, each);
    if (changes && std::ranges::find(because, each.name) == because.end())
      add_reason(because, each.name);
  }
}

ManifestChange::Touched compare(std::uint32_t number, const Program& present,
                                const Program& candidate) {
  const WorkflowProgram& before = present.workflow(number);
  ManifestChange::Touched touched{number, {}, {}};
  const auto now = candidate.workflow_named(before.name);
  if (!now) {
    touched.because = touched.also_pinned = {before.name};
    return touched;
  }
  const WorkflowProgram& after = candidate.workflow(*now);
  compare_events(before.taken, present, candidate, touched.also_pinned);
  compare_events(present.routed(), present, candidate, touched.also_pinned);
  compare_routes(before, after, touched.also_pinned);
  if (before.is_pinned) {
    touched.because = touched.also_pinned;
    return touched;
  }
  walk(before.uses, after.uses, [&](const Named* was, const Named* is) {
    add_reason(touched.because, was != nullptr ? was->name : is->name);
  });
  compare_routes(before, after, touched.because);
  return touched;
}

}  // namespace

const ManifestChange::Touched* ManifestChange::find(std::uint32_t workflow) const {
  const auto found = std::ranges::lower_bound(touched, workflow, {}, &Touched::workflow);
  return found == touched.end() || found->workflow != workflow ? nullptr : &*found;
}

ManifestChange compare(const Program& present, const Program& candidate) {
  ManifestChange change;
  walk(present.definitions(), candidate.definitions(), [&](const Named* was, const Named* is) {
    auto& list = was == nullptr ? change.added : is == nullptr ? change.removed : change.changed;
    list.push_back(was != nullptr ? was->name : is->name);
  });
  for (std::uint32_t i = 0; i < present.workflow_count(); ++i) {
    const WorkflowProgram& workflow = present.workflow(i);
    if (workflow.name.empty()) continue;
    auto touched = compare(i, present, candidate);
    if (!touched.because.empty()) change.touched.push_back(std::move(touched));
  }
  return change;
}

}  // namespace holdfast::kernel
