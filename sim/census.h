// SPDX-License-Identifier: Apache-2.0
// A step workflow of the simulated world that fans out inside a fan-out, takes the first few of
// what comes of it, goes on two ways, takes what comes of both together, and has another workflow
// hear what it has counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/steps.h"
#include "sim/survey.h"

namespace holdfast::sim {

struct CensusBegun {
  static constexpr std::string_view kSchema = "sim/CensusBegun@1";
  std::string id;
  std::uint64_t districts = 0;
  std::uint64_t streets = 0;  // two bits a district: how many it has
  std::uint64_t unlucky = 0;  // a bit a district: counting one of its streets fails first
};
// So many streets of a district are enough.
inline constexpr std::uint64_t kEnough = 2;
constexpr std::uint64_t streets_of(const CensusBegun& begun, std::uint64_t district) {
  return (begun.streets >> (2 * district)) & 3;
}

struct District {
  static constexpr std::string_view kSchema = "sim/District@1";
  std::uint64_t streets = 0;
  bool is_unlucky = false;
};
struct Street {
  static constexpr std::string_view kSchema = "sim/Street@1";
  bool is_unlucky = false;
};
struct Counted {
  static constexpr std::string_view kSchema = "sim/Counted@1";
  std::uint64_t streets = 0;
};
struct Estimated {
  static constexpr std::string_view kSchema = "sim/Estimated@1";
  std::uint64_t streets = 0;
};
struct Drawn {
  static constexpr std::string_view kSchema = "sim/Drawn@1";
  std::uint64_t streets = 0;
};
struct Written {
  static constexpr std::string_view kSchema = "sim/Written@1";
  std::uint64_t streets = 0;
};
struct Packed {
  static constexpr std::string_view kSchema = "sim/Packed@1";
  std::uint64_t drawn = 0;
  std::uint64_t written = 0;
};
struct CensusDone {
  static constexpr std::string_view kSchema = "sim/CensusDone@1";
  std::vector<Packed> districts;
  std::uint64_t told = 0;  // what the tally has heard; 0: it was not there for it
};

// Hears one number, and waits for somebody to say that it was heard.
struct TallyBegun {
  static constexpr std::string_view kSchema = "sim/TallyBegun@1";
  std::string id;
  std::uint64_t number = 0;
};
struct TallyHeard {
  static constexpr std::string_view kSchema = "sim/TallyHeard@1";
  std::string id;
};
struct TallyDone {
  static constexpr std::string_view kSchema = "sim/TallyDone@1";
  std::uint64_t number = 0;
};

struct Tally : StepWorkflow {
  static constexpr std::string_view kWorkflow = "sim/Tally@1";
  using Events = holdfast::Events<On<TallyBegun, &TallyBegun::id>, On<TallyHeard, &TallyHeard::id>>;
  using Stop = TallyDone;

  TallyDone hear(const TallyBegun& begun, StepContext& context);
  static StepsOf<Tally> steps();
};
inline std::string tally_of(const std::string& census) { return census + "/tally"; }

struct Census : StepWorkflow {
  static constexpr std::string_view kWorkflow = "sim/Census@1";
  using Events = holdfast::Events<On<CensusBegun, &CensusBegun::id>>;
  using Stop = CensusDone;
  using Children = holdfast::Children<Tally>;

  explicit Census(Witness& the_witness) : witness(the_witness) {}

  std::vector<District> divide(const CensusBegun& begun, StepContext& context);
  std::vector<Street> walk(const District& district, StepContext& context);
  Counted count(const Street& street, StepContext& context);
  Estimated estimate(const std::vector<Counted>& counted, StepContext& context);
  Drawn draw(const Estimated& estimated, StepContext& context);
  Written write(const Estimated& estimated, StepContext& context);
  Packed pack(const Drawn& drawn, const Written& written, StepContext& context);
  CensusDone publish(const std::vector<Packed>& packed, StepContext& context);

  static StepsOf<Census> steps();

  Witness& witness;
};

}  // namespace holdfast::sim
