// SPDX-License-Identifier: Apache-2.0
#include "schedules/rule.h"

#include <algorithm>
#include <utility>

#include "codec/cbor_writer.h"
#include "kernel/list_reader.h"
#include "schedules/cron.h"

namespace holdfast::schedules {
namespace {

using codec::View;
using kernel::ListReader;

// Steps of one answer, so that years of downtime are counted in pieces.
constexpr std::uint64_t kMostSteps = 100'000;

std::optional<std::uint64_t> next_of_interval(const Rule& rule, std::uint64_t after_ns) {
  if (after_ns < rule.from_ns) return rule.from_ns;
  const std::uint64_t steps = (after_ns - rule.from_ns) / rule.every_ns + 1;
  std::uint64_t due = 0;
  if (__builtin_mul_overflow(steps, rule.every_ns, &due) ||
      __builtin_add_overflow(due, rule.from_ns, &due))
    return std::nullopt;
  return due;
}

std::optional<std::uint64_t> next_of_cron(const Cron& cron, const Zone& zone,
                                          std::uint64_t after_ns) {
  const auto due = cron.next(static_cast<std::int64_t>(after_ns / kSecondNs), zone);
  constexpr std::int64_t kLast = static_cast<std::int64_t>(UINT64_MAX / kSecondNs) - 1;
  if (!due || *due < 0 || *due > kLast) return std::nullopt;
  return static_cast<std::uint64_t>(*due) * kSecondNs;
}

// Gives due times one after the other.
class DueSequence {
 public:
  DueSequence(const Rule& rule, const Zone& zone) : rule_(rule), zone_(zone) {
    if (rule.cron.empty()) return;
    auto parsed = Cron::parse(rule.cron);
    if (parsed) cron_ = std::move(*parsed);
  }

  std::optional<std::uint64_t> after(std::uint64_t after_ns) const {
    std::optional<std::uint64_t> due;
    if (rule_.at_ns != 0) {
      if (rule_.at_ns > after_ns) due = rule_.at_ns;
    } else if (rule_.every_ns != 0) {
      due = next_of_interval(rule_, after_ns);
    } else if (cron_) {
      const std::uint64_t from = rule_.from_ns == 0 ? 0 : rule_.from_ns - 1;
      due = next_of_cron(*cron_, zone_, std::max(after_ns, from));
    }
    if (due && rule_.until_ns != 0 && *due > rule_.until_ns) return std::nullopt;
    return due;
  }

 private:
  const Rule& rule_;
  const Zone& zone_;
  std::optional<Cron> cron_;
};

}  // namespace

base::Result<void> check(const Rule& rule) {
  const int forms =
      (rule.cron.empty() ? 0 : 1) + (rule.every_ns == 0 ? 0 : 1) + (rule.at_ns == 0 ? 0 : 1);
  if (forms != 1) return base::invalid("rule", "a schedule has one of cron, every and at");
  if (!rule.cron.empty()) TRY(Cron::parse(rule.cron));
  if (!is_zone_name(rule.zone))
    return base::invalid("zone", "'" + rule.zone.substr(0, 64) + "' cannot be a time zone's name");
  if (rule.every_ns != 0 && (rule.every_ns < kLeastIntervalNs || rule.every_ns > kLongestNs))
    return base::invalid("every", "an interval is from 1s to 100 years");
  if (rule.until_ns != 0 && rule.until_ns < rule.from_ns)
    return base::invalid("until", "it is before the beginning");
  return {};
}

DueTimes due_times(const Rule& rule, const Zone& zone, const DueQuery& query) {
  const DueSequence sequence(rule, zone);
  DueTimes times;
  std::uint64_t at = query.after_ns;
  // Of an interval any number is counted at once.
  if (rule.every_ns != 0 && query.since_ns > at && query.since_ns > rule.from_ns) {
    const std::uint64_t end =
        rule.until_ns == 0 ? query.since_ns - 1 : std::min(query.since_ns - 1, rule.until_ns);
    const auto first = sequence.after(at);
    if (first && *first <= end) {
      times.passed = (end - *first) / rule.every_ns + 1;
      at = *first + (times.passed - 1) * rule.every_ns;
    }
  }
  auto due = sequence.after(at);
  for (std::uint64_t steps = 0; due && *due <= query.until_ns; ++steps) {
    const bool is_full = !query.keeps_last && times.due_ns.size() >= query.limit;
    if (is_full || steps >= kMostSteps) {
      times.is_complete = false;
      times.reached_ns = at;
      return times;
    }
    at = *due;
    if (at < query.since_ns) {
      ++times.passed;
    } else {
      times.due_ns.push_back(at);
      if (times.due_ns.size() > query.limit) {
        times.due_ns.erase(times.due_ns.begin());
        ++times.passed;
      }
    }
    due = sequence.after(at);
  }
  times.reached_ns = std::max(at, query.after_ns);
  times.next_ns = due;
  return times;
}

void write_rule(codec::Buffer& out, const Rule& rule) {
  codec::write_list_head(out, 6);
  codec::write_text(out, rule.cron);
  codec::write_text(out, rule.zone);
  codec::write_nat(out, rule.every_ns);
  codec::write_nat(out, rule.at_ns);
  codec::write_nat(out, rule.from_ns);
  codec::write_nat(out, rule.until_ns);
}

std::optional<Rule> read_rule(View value) {
  ListReader list(value);
  Rule rule;
  rule.cron = list.text();
  rule.zone = list.text();
  rule.every_ns = list.nat();
  rule.at_ns = list.nat();
  rule.from_ns = list.nat();
  rule.until_ns = list.nat();
  if (!list.done() || !check(rule)) return std::nullopt;
  return rule;
}

// In canonical order.
void write_query(codec::Buffer& out, const Rule& rule, const DueQuery& query) {
  codec::write_map_head(out, 6);
  codec::write_text(out, "rule");
  write_rule(out, rule);
  codec::write_text(out, "limit");
  codec::write_nat(out, query.limit);
  codec::write_text(out, "after_ns");
  codec::write_nat(out, query.after_ns);
  codec::write_text(out, "since_ns");
  codec::write_nat(out, query.since_ns);
  codec::write_text(out, "until_ns");
  codec::write_nat(out, query.until_ns);
  codec::write_text(out, "keeps_last");
  codec::write_bool(out, query.keeps_last);
}

std::optional<AskedQuery> read_query(View params) {
  const auto nat = [&](std::string_view name) {
    const auto found = params.find(name);
    return found ? found->nat().value_or(0) : 0;
  };
  const auto rule = params.find("rule");
  auto read = rule ? read_rule(*rule) : std::nullopt;
  if (!read) return std::nullopt;
  AskedQuery asked;
  asked.rule = std::move(*read);
  asked.query.limit = nat("limit");
  asked.query.after_ns = nat("after_ns");
  asked.query.since_ns = nat("since_ns");
  asked.query.until_ns = nat("until_ns");
  const auto keeps_last = params.find("keeps_last");
  asked.query.keeps_last = keeps_last && keeps_last->boolean().value_or(false);
  return asked;
}

void write_due_times(codec::Buffer& out, const DueTimes& times) {
  codec::write_map_head(out, 5);
  codec::write_text(out, "due_ns");
  codec::write_list_head(out, times.due_ns.size());
  for (const std::uint64_t due : times.due_ns) codec::write_nat(out, due);
  codec::write_text(out, "passed");
  codec::write_nat(out, times.passed);
  codec::write_text(out, "next_ns");
  kernel::write_optional_nat(out, times.next_ns);
  codec::write_text(out, "complete");
  codec::write_bool(out, times.is_complete);
  codec::write_text(out, "reached_ns");
  codec::write_nat(out, times.reached_ns);
}

std::optional<DueTimes> read_due_times(View receipt) {
  const auto due = receipt.find("due_ns");
  const auto passed = receipt.find("passed");
  const auto next = receipt.find("next_ns");
  const auto complete = receipt.find("complete");
  const auto reached = receipt.find("reached_ns");
  if (!due || !passed || !next || !complete || !reached) return std::nullopt;
  DueTimes times;
  for (const View each : due->elements()) times.due_ns.push_back(each.nat().value_or(0));
  times.passed = passed->nat().value_or(0);
  times.next_ns = next->nat();
  times.is_complete = complete->boolean().value_or(true);
  times.reached_ns = reached->nat().value_or(0);
  return times;
}

}  // namespace holdfast::schedules
