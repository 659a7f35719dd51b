// SPDX-License-Identifier: Apache-2.0
// Step workflows of the simulated world. A survey fans out, joins, collects, asks people, tries
// again what failed, has somebody mend what failed for good, and cancels a step, or itself. A vigil
// waits for one nudge after the other, and not for longer than it may.
//
// Bodies run wherever the outside runs them, and tell a Witness what they saw.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "holdfast/steps.h"
#include "sim/report.h"

namespace holdfast::sim {

// What bodies did and heard. It outlives processes, as the world outside does.
class Witness {
 public:
  explicit Witness(Report& report) : report_(report) {}

  // A part was measured: the number of this measurement.
  std::uint64_t measured(const std::string& survey, std::uint64_t part) {
    measured_[{survey, part}].insert(++last_);
    return last_;
  }
  bool has_measured(const std::string& survey, std::uint64_t part, std::uint64_t number) const {
    const auto found = measured_.find({survey, part});
    return found != measured_.end() && found->second.contains(number);
  }

  void violation(const std::string& what) { report_.violation(what); }
  void sometimes(std::string_view what) { report_.sometimes(what); }

 private:
  Report& report_;
  std::uint64_t last_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, std::set<std::uint64_t>> measured_;
};

struct SurveyBegun {
  static constexpr std::string_view kSchema = "sim/SurveyBegun@1";
  std::string id;
  std::uint64_t parts = 0;
  std::uint64_t samples = 0;
  std::uint64_t rounds = 0;      // questions to a person, one after the other
  std::uint64_t patience_s = 0;  // for each; 0: for ever
  std::uint64_t unlucky = 0;     // two bits a part: how often it fails before it works
  std::uint64_t asking = 0;      // a bit a part: somebody may be asked about it
  bool watched = false;
};

// What a person says. `round` is what it is about, `serial` is its own.
struct Decision {
  static constexpr std::string_view kSchema = "sim/Decision@1";
  std::string id;
  std::uint64_t round = 0;
  std::uint64_t serial = 0;
  bool aborts = false;
};
inline constexpr std::uint64_t kSecondNs = 1'000'000'000;
inline constexpr std::uint64_t kRoundOfPart = 100;  // and its number
inline constexpr std::uint64_t kRoundOfWatch = 999;

struct Question {
  static constexpr std::string_view kSchema = "sim/Question@1";
  std::uint64_t round = 0;
};

struct Part {
  static constexpr std::string_view kSchema = "sim/Part@1";
  std::uint64_t n = 0;
  std::uint64_t fails = 0;
  bool asks = false;
};
struct Measured {
  static constexpr std::string_view kSchema = "sim/Measured@1";
  std::uint64_t n = 0;
  std::uint64_t number = 0;  // of the measurement; 0: it was mended
};
struct Summary {
  static constexpr std::string_view kSchema = "sim/Summary@1";
  std::vector<Measured> parts;
};
struct Sample {
  static constexpr std::string_view kSchema = "sim/Sample@1";
  std::uint64_t n = 0;
  std::uint64_t of = 0;
};
struct Gathered {
  static constexpr std::string_view kSchema = "sim/Gathered@1";
  std::vector<std::uint64_t> samples;
};
struct Verdict {
  static constexpr std::string_view kSchema = "sim/Verdict@1";
  std::vector<Measured> parts;
  std::vector<std::uint64_t> serials;  // of the decisions, by round; 0: nobody answered in time
};
struct Watch {
  static constexpr std::string_view kSchema = "sim/Watch@1";
  std::uint64_t since = 0;
};
// Told to whoever is outside.
struct Noted {
  static constexpr std::string_view kSchema = "sim/Noted@1";
  std::uint64_t serial = 0;
};
struct SurveyDone {
  static constexpr std::string_view kSchema = "sim/SurveyDone@1";
  std::vector<Measured> parts;
  std::vector<std::uint64_t> samples;
  std::uint64_t counted = 0;  // samples, as the store of the run has them
  std::vector<std::uint64_t> serials;
};

struct Survey : StepWorkflow {
  static constexpr std::string_view kWorkflow = "sim/Survey@1";
  static constexpr std::string_view kWatch = "watch";  // the step that is cancelled
  using Events = holdfast::Events<On<SurveyBegun, &SurveyBegun::id>, On<Decision, &Decision::id>>;
  using Stop = SurveyDone;
  using Asks = holdfast::Asks<Question, Noted>;
  using Sends = holdfast::Sends<Sample, Gathered, Watch>;

  explicit Survey(Witness& the_witness) : witness(the_witness) {}

  std::vector<Part> split(const SurveyBegun& begun, StepContext& context);
  Measured measure(const Part& part, StepContext& context);
  Measured mend(const StepFailed& failed, StepContext& context);
  Summary total(const std::vector<Measured>& parts, StepContext& context);
  std::optional<Gathered> gather(const Sample& sample, StepContext& context);
  std::optional<Verdict> ask(const Summary& summary, StepContext& context);
  Noted watch(const Watch& watch, StepContext& context);
  std::optional<SurveyDone> close(const std::variant<Gathered, Verdict>& one, StepContext& context);

  static StepsOf<Survey> steps();

  Witness& witness;
};

struct VigilBegun {
  static constexpr std::string_view kSchema = "sim/VigilBegun@1";
  std::string id;
  std::uint64_t nudges = 0;  // that it waits for
};
struct Nudge {
  static constexpr std::string_view kSchema = "sim/Nudge@1";
  std::string id;
  std::uint64_t serial = 0;
};
struct VigilDone {
  static constexpr std::string_view kSchema = "sim/VigilDone@1";
  std::vector<std::uint64_t> serials;
};

struct Vigil : StepWorkflow {
  static constexpr std::string_view kWorkflow = "sim/Vigil@1";
  static constexpr std::uint64_t kTimeoutSeconds = 90;
  using Events = holdfast::Events<On<VigilBegun, &VigilBegun::id>, On<Nudge, &Nudge::id>>;
  using Stop = VigilDone;

  explicit Vigil(Witness& the_witness) : witness(the_witness) {}

  VigilDone keep(const VigilBegun& begun, StepContext& context);

  static StepsOf<Vigil> steps();

  Witness& witness;
};

// What performs the steps of both, and of a census (sim/census.h).
std::vector<Handler> survey_handlers(Witness& witness);

Module survey_module();

}  // namespace holdfast::sim
