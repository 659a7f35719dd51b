// SPDX-License-Identifier: Apache-2.0
// Rule: when a schedule is due. It has one of three forms: a cron expression in a time zone, an
// interval from an anchor on, or one moment. due_times() lists due times; it needs the rules of the
// time zone, which change with releases of the tz database, so it runs at the edge and what it
// answers is journaled (sys/schedule.next@1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"
#include "schedules/zone.h"

namespace holdfast::schedules {

inline constexpr std::uint64_t kSecondNs = 1'000'000'000;
inline constexpr std::uint64_t kLeastIntervalNs = kSecondNs;
inline constexpr std::uint64_t kLongestNs = 100ULL * 366 * 24 * 3600 * kSecondNs;  // 100 years

struct Rule {
  std::string cron;            // empty: none
  std::string zone = "UTC";    // for cron
  std::uint64_t every_ns = 0;  // 0: none
  std::uint64_t at_ns = 0;     // 0: none
  std::uint64_t from_ns = 0;   // nothing is due before; the anchor of an interval
  std::uint64_t until_ns = 0;  // nothing is due after; 0: no end

  friend bool operator==(const Rule&, const Rule&) = default;
};

// What is wrong with it, apart from the zone, of which only the name is looked at.
base::Result<void> check(const Rule& rule);

struct DueQuery {
  std::uint64_t after_ns = 0;
  std::uint64_t until_ns = 0;  // due times up to this one are listed
  std::uint64_t since_ns = 0;  // those before are only counted
  std::size_t limit = 0;
  bool keeps_last = false;  // of too many the last ones are listed and the others counted;
                            // otherwise the first ones, and the caller asks again
};

struct DueTimes {
  std::vector<std::uint64_t> due_ns;          // in (after, until]
  std::uint64_t passed = 0;                   // that many more, which are not listed
  std::uint64_t reached_ns = 0;               // all up to here are listed or counted
  bool is_complete = true;                    // false: ask again after reached_ns
  std::optional<std::uint64_t> next_ns = {};  // the first one after `until`, if it is complete
};

// The rule must have passed check().
DueTimes due_times(const Rule& rule, const Zone& zone, const DueQuery& query);

void write_rule(codec::Buffer& out, const Rule& rule);
std::optional<Rule> read_rule(codec::View value);

// The parameters and the receipt of sys/schedule.next@1.
void write_query(codec::Buffer& out, const Rule& rule, const DueQuery& query);
struct AskedQuery {
  Rule rule;
  DueQuery query;
};
std::optional<AskedQuery> read_query(codec::View params);
void write_due_times(codec::Buffer& out, const DueTimes& times);
std::optional<DueTimes> read_due_times(codec::View receipt);

}  // namespace holdfast::schedules
