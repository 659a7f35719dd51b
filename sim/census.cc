// SPDX-License-Identifier: Apache-2.0
#include "sim/census.h"

#include <chrono>

namespace holdfast::sim {
namespace {

using namespace std::chrono_literals;

Retry stubborn() { return {jittered(fixed(2s)), after_attempts(5)}; }

}  // namespace

TallyDone Tally::hear(const TallyBegun& begun, StepContext& context) {
  static_cast<void>(context.wait_for<TallyHeard>({.timeout = 30s}));
  return {begun.number};
}

StepsOf<Tally> Tally::steps() { return StepsOf<Tally>().step("hear", &Tally::hear); }

std::vector<District> Census::divide(const CensusBegun& begun, StepContext&) {
  std::vector<District> districts;
  for (std::uint64_t n = 0; n < begun.districts; ++n)
    districts.push_back({streets_of(begun, n), ((begun.unlucky >> n) & 1) != 0});
  return districts;
}

std::vector<Street> Census::walk(const District& district, StepContext&) {
  std::vector<Street> streets(district.streets);
  if (!streets.empty()) streets.front().is_unlucky = district.is_unlucky;
  return streets;
}

Counted Census::count(const Street& street, StepContext& context) {
  if (street.is_unlucky && context.attempt() == 1) throw StepError("count.unlucky", "it rained");
  return {1};
}

Estimated Census::estimate(const std::vector<Counted>& counted, StepContext&) {
  Estimated estimated;
  for (const Counted& one : counted) estimated.streets += one.streets;
  if (counted.empty()) witness.sometimes("a fan-out inside a fan-out is empty");
  if (counted.size() > kEnough) witness.violation("a step gets more than it takes");
  return estimated;
}

Drawn Census::draw(const Estimated& estimated, StepContext&) { return {estimated.streets}; }
Written Census::write(const Estimated& estimated, StepContext&) { return {estimated.streets}; }
Packed Census::pack(const Drawn& drawn, const Written& written, StepContext&) {
  if (drawn.streets != written.streets)
    witness.sometimes("what is taken together comes of two branches");
  return {drawn.streets, written.streets};
}

CensusDone Census::publish(const std::vector<Packed>& packed, StepContext& context) {
  CensusDone done{packed, 0};
  const std::string census = context.run_key<std::string>();
  try {
    done.told = context.run<Tally>(TallyBegun{tally_of(census), packed.size()}).number;
    witness.sometimes("a child completes");
  } catch (const ChildFailed&) {
    witness.sometimes("a child fails");
  }
  return done;
}

StepsOf<Census> Census::steps() {
  return StepsOf<Census>()
      .step("divide", &Census::divide, {.retry = stubborn()})
      .step("walk", &Census::walk, {.workers = 2, .retry = stubborn()})
      .step("count", &Census::count, {.workers = 3, .retry = stubborn()})
      .step("estimate", &Census::estimate, {.retry = stubborn(), .take = kEnough})
      .step("draw", &Census::draw, {.workers = 1, .retry = stubborn()})
      .step("write", &Census::write, {.retry = stubborn()})
      .step("pack", &Census::pack, {.retry = stubborn()})
      .step("publish", &Census::publish, {.retry = stubborn()});
}

}  // namespace holdfast::sim
