// SPDX-License-Identifier: Apache-2.0
#include "cli/variables.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/settings.h"

namespace holdfast::cli {
namespace {

constexpr std::string_view kPrefix = "HOLDFAST_";

// What is no setting. A program that was started by us is told things, and may call us again.
constexpr std::array kTold{std::string_view("HOLDFAST_ATTEMPT"), std::string_view("HOLDFAST_TASK"),
                           std::string_view("HOLDFAST_IDEMPOTENCY_KEY"),
                           std::string_view("HOLDFAST_PREEMPT_PATH")};

// Of the project's own tests and benches, which run the program with what they were given.
constexpr std::array kOfTests{std::string_view("HOLDFAST_AXE"),
                              std::string_view("HOLDFAST_BACKUPS"),
                              std::string_view("HOLDFAST_BENCH_FOLDER"),
                              std::string_view("HOLDFAST_BOOT_STEP"),
                              std::string_view("HOLDFAST_BUILD"),
                              std::string_view("HOLDFAST_CALLS"),
                              std::string_view("HOLDFAST_CLIENTS"),
                              std::string_view("HOLDFAST_CRASH_IMAGES"),
                              std::string_view("HOLDFAST_CRASH_KILLS"),
                              std::string_view("HOLDFAST_CRASH_SEED"),
                              std::string_view("HOLDFAST_DOCS_PICTURES"),
                              std::string_view("HOLDFAST_FLIPS"),
                              std::string_view("HOLDFAST_FUZZ_EXAMPLES"),
                              std::string_view("HOLDFAST_GATE"),
                              std::string_view("HOLDFAST_HANGS"),
                              std::string_view("HOLDFAST_KILLS"),
                              std::string_view("HOLDFAST_PICTURES"),
                              std::string_view("HOLDFAST_POWER_CUTS"),
                              std::string_view("HOLDFAST_RECORDS"),
                              std::string_view("HOLDFAST_REDOCLY"),
                              std::string_view("HOLDFAST_REGISTRY_KILLS"),
                              std::string_view("HOLDFAST_REGISTRY_ROUNDS"),
                              std::string_view("HOLDFAST_REGISTRY_SEED"),
                              std::string_view("HOLDFAST_SANITIZE"),
                              std::string_view("HOLDFAST_SCHEMATHESIS"),
                              std::string_view("HOLDFAST_SLOW_CLIENTS"),
                              std::string_view("HOLDFAST_TRY_AS"),
                              std::string_view("HOLDFAST_VECTORS"),
                              std::string_view("HOLDFAST_WAITING_EFFECTS"),
                              std::string_view("HOLDFAST_WALL_STEP")};

bool is_among(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, comma - begin) == name) return true;
    begin = comma + 1;
  }
  return false;
}

}  // namespace

base::Result<void> check_variables(std::string_view secrets) {
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry = *each;
    if (!entry.starts_with(kPrefix)) continue;
    const std::string_view name = entry.substr(0, entry.find('='));
    const bool is_known = std::ranges::count(kSettings, name, &SettingName::variable) > 0 ||
                          std::ranges::count(kTold, name) > 0 ||
                          std::ranges::count(kOfTests, name) > 0 || is_among(secrets, name);
    if (is_known) continue;
    return base::invalid(std::string(name),
                         "there is no such setting; holdfast config --help names all of them");
  }
  return {};
}

}  // namespace holdfast::cli
