// SPDX-License-Identifier: Apache-2.0
// The two runs, and the comparison of what came of them.
#include "node/shadow.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "node/shadow_run.h"

namespace holdfast::node {
namespace {

using store::RecordNumber;

base::Error not_there(const PastSource& source, const char* which, RecordNumber record) {
  return {base::ErrorCode::kNotFound, std::string(which) + " " + std::to_string(record),
          "the journal has records " + std::to_string(source.first) + " to " +
              std::to_string(source.last)};
}

base::Result<void> check_stretch(const PastSource& source, const ShadowOptions& options,
                                 RecordNumber to) {
  if (options.to != 0 && (to < source.first || to > source.last))
    return not_there(source, "to", to);
  if (options.from == 0) return {};
  if (options.from < source.first || options.from > source.last)
    return not_there(source, "from", options.from);
  if (options.from > to) {
    return base::invalid("from " + std::to_string(options.from),
                         "it is behind the end, " + std::to_string(to));
  }
  if (to - options.from < options.most_records) return {};
  return base::Error(base::ErrorCode::kTooLarge,
                     "the stretch has " + std::to_string(to - options.from + 1) +
                         " records; at most " + std::to_string(options.most_records) +
                         " are fed again");
}

// What differs first; so many as a report lists.
template <class T, class Differs>
void cut(std::vector<T>& list, Differs differs) {
  std::stable_partition(list.begin(), list.end(), differs);
  if (list.size() > ShadowReport::kMostListed) list.resize(ShadowReport::kMostListed);
}

base::Result<ShadowSide> side_of(kernel::World& world, const ShadowRun::Name& name) {
  auto found = TRY(world.read(name.first, name.second));
  ShadowSide side;
  if (!found) return side;
  side.status = std::string(kernel::name_of(found->status)) + (found->paused ? ", paused" : "");
  side.state = std::move(found->state);
  side.outcome = std::move(found->outcome);
  return side;
}

void count_effects(ShadowRun& run, std::uint64_t ShadowEffect::*opened,
                   std::uint64_t ShadowEffect::*open,
                   std::map<std::string, ShadowEffect, std::less<>>& effects) {
  for (const auto& [effect, count] : run.opened()) effects[effect].*opened = count;
  // Where the trial begins nothing is open, so all that is was opened by it.
  for (const kernel::World::OpenEffects& each : run.world().open_effects())
    effects[std::string(each.effect)].*open = each.count;
}

void compare_effects(ShadowRun& present, ShadowRun& tried, ShadowReport& report) {
  std::map<std::string, ShadowEffect, std::less<>> effects;
  if (present.has_run())
    count_effects(present, &ShadowEffect::opened_present, &ShadowEffect::open_present, effects);
  count_effects(tried, &ShadowEffect::opened_tried, &ShadowEffect::open_tried, effects);
  report.effect_kinds = effects.size();
  for (auto& [name, counts] : effects) {
    counts.effect = name;
    report.effect_counts.push_back(std::move(counts));
  }
  cut(report.effect_counts, [](const ShadowEffect& each) {
    return each.opened_present != each.opened_tried || each.open_present != each.open_tried;
  });
}

base::Result<void> compare_openings(const ShadowSetting& setting, const ShadowRun& present,
                                    const ShadowRun& tried, ShadowReport& report) {
  std::set<std::string_view> names;
  for (const auto& [name, count] : present.opened_of_instances()) names.insert(name);
  for (const auto& [name, count] : tried.opened_of_instances()) names.insert(name);
  const auto count_in = [](const ShadowRun& run, std::string_view name) {
    const auto found = run.opened_of_instances().find(name);
    return found == run.opened_of_instances().end() ? std::uint64_t{0} : found->second;
  };
  for (const std::string_view name : names) {
    TRY(setting.goes_on());
    const std::uint64_t before = count_in(present, name);
    const std::uint64_t now = count_in(tried, name);
    if (before == now) continue;
    ++report.effects;
    if (report.effect_differences.size() < ShadowReport::kMostListed)
      report.effect_differences.push_back(std::string(name) + ": " + std::to_string(before) +
                                          " at present, " + std::to_string(now) + " tried");
  }
  return {};
}

using AllowLists = std::map<std::pair<std::string, std::string>, ShadowAllowed>;

void note_allowed(const kernel::Program& program, bool ShadowAllowed::*side, AllowLists& lists) {
  for (std::uint32_t i = 0; i < program.workflow_count(); ++i) {
    const kernel::WorkflowProgram& workflow = program.workflow(i);
    for (std::uint32_t j = 0; j < program.effect_count(); ++j) {
      const std::string& effect = program.effect(j).name;
      if (workflow.effects.find(effect) == nullptr) continue;
      ShadowAllowed& each = lists[std::pair(workflow.name, effect)];
      each.workflow = workflow.name;
      each.effect = effect;
      each.*side = true;
    }
  }
}

void compare_allow_lists(ShadowRun& present, ShadowRun& tried, ShadowReport& report) {
  const auto differs = [](const ShadowAllowed& each) { return each.present != each.tried; };
  AllowLists lists;
  if (present.has_run()) note_allowed(present.world().program(), &ShadowAllowed::present, lists);
  note_allowed(tried.world().program(), &ShadowAllowed::tried, lists);
  report.allowed = lists.size();
  for (auto& [name, each] : lists) {
    if (differs(each)) ++report.allowed_differently;
    report.allow_lists.push_back(std::move(each));
  }
  cut(report.allow_lists, differs);
}

base::Result<void> compare_instances(const ShadowSetting& setting, ShadowRun& present,
                                     ShadowRun& tried, ShadowReport& report) {
  std::set<ShadowRun::Name> names = present.touched();
  names.insert(tried.touched().begin(), tried.touched().end());
  std::map<std::string, ShadowStatus> statuses;
  for (const ShadowRun::Name& name : names) {
    TRY(setting.goes_on());
    ShadowDifference difference{name.first, name.second, {}, {}};
    difference.present = TRY(side_of(present.world(), name));
    difference.tried = TRY(side_of(tried.world(), name));
    ++report.instances;
    ++statuses[difference.present.status].present;
    ++statuses[difference.tried.status].tried;
    if (difference.present.status == difference.tried.status &&
        difference.present.state == difference.tried.state &&
        difference.present.outcome == difference.tried.outcome)
      continue;
    ++report.different;
    if (report.differences.size() < ShadowReport::kMostListed)
      report.differences.push_back(std::move(difference));
  }
  for (auto& [name, counts] : statuses) {
    counts.status = name;
    report.statuses.push_back(std::move(counts));
  }
  return {};
}

}  // namespace

base::Result<ShadowDefinitions> definitions_to_try(const kernel::World& world,
                                                   std::uint64_t proposal) {
  ShadowDefinitions definitions;
  definitions.tried = TRY(world.proposed_definitions(proposal));
  definitions.present = world.program().closure();
  for (const kernel::ProposalView& view : world.proposals()) {
    // As the tick that would record it says, and before anything is tried.
    if (view.id == proposal && view.stage != "proposed" && view.stage != "shadowed")
      return base::Error(base::ErrorCode::kConflict, "the proposal is " + std::string(view.stage));
  }
  return definitions;
}

base::Result<ShadowReport> shadow(const PastSource& source, const kernel::MachineSource& machines,
                                  const ShadowDefinitions& definitions,
                                  const ShadowOptions& options, const ReplayProgress& progress) {
  const RecordNumber to = options.to == 0 ? source.last : options.to;
  TRY(check_stretch(source, options, to));
  const ShadowSetting setting{source, machines, to, options, progress};
  const ShadowBeginning beginning = TRY(find_beginning(setting));
  ShadowRun present(setting);
  if (!definitions.present.empty()) TRY(present.run(beginning, definitions.present));
  ShadowRun tried(setting);
  TRY(tried.run(beginning, definitions.tried));
  if (tried.fed() == 0) {
    return base::Error(base::ErrorCode::kConflict,
                       "nothing has come since record " + std::to_string(beginning.behind) +
                           ", the last moment to begin the trial with: choose an earlier one");
  }
  ShadowReport report;
  report.tried_manifest = tried.world().program().manifest_hash();
  report.from = tried.from();
  report.to = to;
  report.fed = tried.fed();
  report.refused = tried.refused();
  report.refusals = tried.refusals();
  report.stopped = tried.stopped().empty() ? present.stopped() : tried.stopped();
  report.answered = tried.answered();
  report.unwanted = tried.unwanted();
  TRY(compare_openings(setting, present, tried, report));
  compare_effects(present, tried, report);
  compare_allow_lists(present, tried, report);
  if (present.has_run()) {
    report.present_manifest = present.world().program().manifest_hash();
    TRY(compare_instances(setting, present, tried, report));
  }
  return report;
}

}  // namespace holdfast::node
