// SPDX-License-Identifier: Apache-2.0
// GET /v1/overview: the world at a glance.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "gateway/documents.h"
#include "gateway/handlers.h"

namespace holdfast::gateway {
namespace {

constexpr std::size_t kLastFailures = 200;  // that are grouped by their code
constexpr std::size_t kMostGroups = 20;

// Of `rates`: the index keeps two days, in steps of 10 s.
constexpr std::uint64_t kMostMinutes = 2880;
constexpr std::uint64_t kMostPoints = 120;
constexpr std::uint64_t kShortestStepNs = 10'000'000'000;

struct FailureGroup {
  std::string workflow;
  std::string code;
  std::uint64_t count = 0;
  std::uint64_t last_ns = 0;
};

std::vector<FailureGroup> grouped(const std::vector<ListedInstance>& failed) {
  std::map<std::pair<std::string, std::string>, FailureGroup> groups;
  for (const ListedInstance& instance : failed) {
    FailureGroup& group = groups[{instance.workflow, instance.error_code}];
    group.workflow = instance.workflow;
    group.code = instance.error_code;
    ++group.count;
    group.last_ns = std::max(group.last_ns, instance.last_ns);
  }
  std::vector<FailureGroup> sorted;
  for (auto& [name, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::greater(), &FailureGroup::count);
  if (sorted.size() > kMostGroups) sorted.resize(kMostGroups);
  return sorted;
}

// The counts come sorted by workflow.
void put_workflows(codec::Buffer& out, const std::vector<InstanceCount>& counts) {
  std::size_t workflows = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    workflows += i == 0 || counts[i].workflow != counts[i - 1].workflow;
  codec::write_text(out, "workflows");
  codec::write_list_head(out, workflows);
  for (std::size_t begin = 0; begin < counts.size();) {
    std::size_t end = begin;
    while (end < counts.size() && counts[end].workflow == counts[begin].workflow) ++end;
    codec::write_map_head(out, 2);
    put(out, "workflow", counts[begin].workflow);
    codec::write_text(out, "counts");
    codec::write_map_head(out, end - begin);
    for (; begin < end; ++begin) put_number(out, counts[begin].status, counts[begin].count);
  }
}

// How many began and ended, in steps of this many seconds.
void put_rates(codec::Buffer& out, const std::vector<InstanceRate>& rates, std::uint64_t step_ns) {
  codec::write_text(out, "rates");
  codec::write_map_head(out, 2);
  put_number(out, "step_ns", step_ns);
  codec::write_text(out, "points");
  codec::write_list_head(out, rates.size());
  for (const InstanceRate& rate : rates) {
    codec::write_map_head(out, 5);
    put_number(out, "from_ns", rate.from_ns);
    put_number(out, "begun", rate.begun);
    put_number(out, "completed", rate.completed);
    put_number(out, "failed", rate.failed);
    put_number(out, "cancelled", rate.cancelled);
  }
}

void answer_overview(Exchange& exchange, const Result<InstanceList>& list, std::uint64_t step_ns) {
  if (!list) return exchange.refuse(list.error(), ProblemCode::kHistory);
  codec::Buffer& out = exchange.document();
  codec::write_map_head(out, step_ns == 0 ? 4 : 5);
  put_workflows(out, list->counts);
  const std::vector<FailureGroup> failures = grouped(list->instances);
  codec::write_text(out, "failures");
  codec::write_list_head(out, failures.size());
  for (const FailureGroup& group : failures) {
    codec::write_map_head(out, 4);
    put(out, "workflow", group.workflow);
    put(out, "code", group.code);
    put_number(out, "count", group.count);
    put_number(out, "last_ns", group.last_ns);
  }
  if (step_ns != 0) put_rates(out, list->rates, step_ns);
  put_number(out, "seen", list->seen);
  put_number(out, "lag", list->lag);
  exchange.answer(200);
}

}  // namespace

void get_overview(Exchange& exchange) {
  const auto minutes = exchange.number_in_query("minutes", 0, kMostMinutes);
  if (!minutes) return;
  ListOptions options{.status = "failed", .limit = kLastFailures, .counts = true};
  std::uint64_t step_ns = 0;
  if (*minutes > 0) {
    const std::uint64_t steps = (*minutes * 60 + kMostPoints * 10 - 1) / (kMostPoints * 10);
    step_ns = steps * kShortestStepNs;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto now_ns = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    options.rates_from_ns = now_ns - *minutes * 60 * 1'000'000'000;
    options.rates_step_ns = step_ns;
  }
  exchange.service().engine.list_raw(
      std::move(options),
      exchange.later<InstanceList>([step_ns](Exchange& self, const Result<InstanceList>& list) {
        answer_overview(self, list, step_ns);
      }));
}

}  // namespace holdfast::gateway
