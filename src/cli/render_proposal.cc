// SPDX-License-Identifier: Apache-2.0
// A proposal, and what its trial has shown.
#include <array>

#include "cli/output.h"
#include "cli/render.h"

namespace holdfast::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string number_text(codec::View map, std::string_view name) {
  return std::to_string(number_in(map, name));
}

// A world may have a report that no trial has made: its figures would all be 0.
bool is_of_a_trial(codec::View report) {
  constexpr std::array<std::string_view, 9> kNumbers{
      "from", "to", "fed", "refused", "answered", "unwanted", "effects", "instances", "different"};
  for (const std::string_view name : kNumbers) {
    const auto member = report.find(name);
    if (!member || !member->nat()) return false;
  }
  return true;
}

void print_summary(codec::View report) {
  const auto number = [&](std::string_view name) { return number_text(report, name); };
  Rows rows{{"records", number("from") + " to " + number("to")},
            {"fed", number("fed") + " ticks, of which " + number("refused") + " were refused"},
            {"effects", number("answered") + " answered from recorded receipts, " +
                            number("unwanted") + " receipts that nobody waited for"},
            {"opened", number("effects") + " effects of instances more or less often"}};
  if (report.find("allowed"))
    rows.push_back({"allowed", number("allowed") + " effects of workflows, " +
                                   number("allowed_differently") + " of them in one of both only"});
  rows.push_back({"instances", number("instances") + " compared, " + number("different") +
                                   " came out differently"});
  print_table(rows);
}

void print_counts(codec::View report) {
  Rows effects{{"EFFECT", "OPENED", "TRIED", "OPEN AT THE END", "TRIED"}};
  for (const codec::View each : list_in(report, "effect_counts"))
    effects.push_back({printable(text_in(each, "effect")), number_text(each, "opened_present"),
                       number_text(each, "opened_tried"), number_text(each, "open_present"),
                       number_text(each, "open_tried")});
  if (effects.size() > 1) print_table(effects);
  Rows statuses{{"INSTANCES", "PRESENT", "TRIED"}};
  for (const codec::View each : list_in(report, "statuses"))
    statuses.push_back({printable(text_in(each, "status")), number_text(each, "present"),
                        number_text(each, "tried")});
  if (statuses.size() > 1) print_table(statuses);
}

void print_allow_lists(codec::View report) {
  for (const codec::View each : list_in(report, "allow_lists")) {
    const bool is_tried = flag_in(each, "tried");
    if (is_tried == flag_in(each, "present")) continue;
    print_line("allowed    " + printable(text_in(each, "effect")) + " of " +
               printable(text_in(each, "workflow")) + ": " +
               (is_tried ? "tried only" : "at present only"));
  }
}

std::string side(codec::View difference, std::string_view name) {
  const auto of = difference.find(name);
  if (!of || of->is_null()) return "is not there";
  const auto outcome = of->find("outcome");
  const bool has_ended = outcome && !outcome->is_null();
  return text_in(*of, "status") + " " + shown(has_ended ? outcome : of->find("state"), 200);
}

}  // namespace

void print_shadow(codec::View report) {
  if (!is_of_a_trial(report)) {
    print_line("What was recorded as its trial is no report of one:");
    return print_json(report);
  }
  print_summary(report);
  if (!text_in(report, "stopped").empty())
    print_line("stopped    " + printable(text_in(report, "stopped")));
  for (const codec::View each : list_in(report, "refusals"))
    print_line("refused    " + printable(each.text().value_or("")));
  for (const codec::View each : list_in(report, "effect_differences"))
    print_line("opened     " + printable(each.text().value_or("")));
  print_allow_lists(report);
  print_counts(report);
  for (const codec::View difference : list_in(report, "differences")) {
    print_line(printable(id_in(difference).text()));
    print_line("  present  " + side(difference, "present"));
    print_line("  tried    " + side(difference, "tried"));
  }
}

void print_proposal(codec::View proposal) {
  Rows rows{{"proposal", number_text(proposal, "proposal")}};
  for (const std::string_view name : {"stage", "description", "by", "reason", "base", "manifest"}) {
    const std::string text = text_in(proposal, name);
    if (!text.empty()) rows.push_back({std::string(name), printable(text)});
  }
  const auto report = proposal.find("report");
  const bool is_tried = report && !report->is_null();
  rows.push_back(
      {"trial", is_tried ? "as follows"
                         : "none yet: holdfast gov shadow " + number_text(proposal, "proposal")});
  print_table(rows);
  if (is_tried) print_shadow(*report);
}

}  // namespace holdfast::cli
