// SPDX-License-Identifier: Apache-2.0
// usage: sim --seed N [--steps N]      one run, with what happened in it
//        sim --seeds A..B [--first]    many; a seed that fails is printed with the steps it needs,
//                                      or, with --first, ends it as it is
//        sim --timers COUNT [--seed N] so many timers, and a wall clock that jumps
//        sim --fleet N                 a server with workers, one seed, with what happened
//        sim --fleets A..B             many seeds of it
//        sim --change N                definitions that change while everything goes on, one seed
//        sim --changes A..B            many seeds of it
//
// Every hundredth seed is run twice and must leave the same trace. At the end: how often each rare
// thing took place.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "sim/change_run.h"
#include "sim/fleet_run.h"
#include "sim/simulation.h"
#include "sim/timer_run.h"

namespace {

using namespace holdfast;

constexpr std::uint64_t kTwiceEvery = 100;

[[noreturn]] void usage() {
  std::fputs(
      "usage: sim --seed N [--steps N] | --seeds A..B [--first] | --timers COUNT [--seed N]\n"
      "       sim --fleet N | --fleets A..B | --change N | --changes A..B\n",
      stderr);
  std::exit(2);
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) usage();
  return value;
}

// What one run came to. The exit code: 1 if it broke a promise.
int show(std::uint64_t seed, const sim::Report& report) {
  for (const std::string& note : report.notes()) std::printf("  %s\n", note.c_str());
  for (const auto& [what, times] : report.counts())
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  std::printf("seed %llu: trace %016llx, %llu steps\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(report.trace()),
              static_cast<unsigned long long>(report.steps));
  if (report.violation().empty()) return 0;
  std::printf("VIOLATION: %s\n", report.violation().c_str());
  return 1;
}

// Many seeds of a kind of run, until one breaks a promise. `one` is how to look at that.
template <class Run>
int run_each(std::uint64_t first, std::uint64_t last, const char* one, const Run& run) {
  std::map<std::string, std::uint64_t> counts;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const sim::Report report = run(seed);
    for (const auto& [what, times] : report.counts()) counts[what] += times;
    std::string violation = report.violation();
    if (violation.empty() && seed % kTwiceEvery == 0 && run(seed).trace() != report.trace())
      violation = "the same seed leaves another trace";
    if (violation.empty()) continue;
    std::printf("seed %llu: VIOLATION: %s; try sim %s %llu\n",
                static_cast<unsigned long long>(seed), violation.c_str(), one,
                static_cast<unsigned long long>(seed));
    return 1;
  }
  for (const auto& [what, times] : counts)
    std::printf("%10llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  std::printf("passed: %s %llu to %llu\n", one, static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(last));
  return 0;
}

int run_many(std::uint64_t first, std::uint64_t last, bool stops_at_first) {
  std::map<std::string, std::uint64_t> counts;
  int failed = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const sim::Options options{.seed = seed};
    const sim::Report report = sim::simulate(options);
    for (const auto& [what, times] : report.counts()) counts[what] += times;
    std::string violation = report.violation();
    if (violation.empty() && seed % kTwiceEvery == 0 &&
        sim::simulate(options).trace() != report.trace())
      violation = "the same seed leaves another trace";
    if (violation.empty()) continue;
    std::printf(
        "seed %llu: VIOLATION: %s; try sim --seed %llu --steps %llu\n",
        static_cast<unsigned long long>(seed), violation.c_str(),
        static_cast<unsigned long long>(seed),
        static_cast<unsigned long long>(stops_at_first ? options.steps : sim::shortest(options)));
    std::fflush(stdout);
    if (++failed == 10 || stops_at_first) break;
  }
  for (const auto& [what, times] : counts)
    std::printf("%10llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  std::printf("%s: seeds %llu to %llu\n", failed == 0 ? "passed" : "FAILED",
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(last));
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  sim::Options options{.keeps_notes = true};
  const bool stops_at_first = argc == 4 && std::string_view(argv[3]) == "--first";
  if ((argc == 3 || stops_at_first) && std::string_view(argv[1]) == "--seeds") {
    const std::string_view range = argv[2];
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) usage();
    return run_many(number(range.substr(0, dots)), number(range.substr(dots + 2)), stops_at_first);
  }
  if (argc == 3 && std::string_view(argv[1]) == "--fleet") {
    const std::uint64_t seed = number(argv[2]);
    return show(seed, sim::run_fleet({.seed = seed, .keeps_notes = true}));
  }
  if (argc == 3 && std::string_view(argv[1]) == "--fleets") {
    const std::string_view range = argv[2];
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) usage();
    return run_each(number(range.substr(0, dots)), number(range.substr(dots + 2)), "--fleet",
                    [](std::uint64_t seed) { return sim::run_fleet({.seed = seed}); });
  }
  if (argc == 3 && std::string_view(argv[1]) == "--change") {
    const std::uint64_t seed = number(argv[2]);
    return show(seed, sim::run_changes({.seed = seed, .keeps_notes = true}));
  }
  if (argc == 3 && std::string_view(argv[1]) == "--changes") {
    const std::string_view range = argv[2];
    const std::size_t dots = range.find("..");
    if (dots == std::string_view::npos) usage();
    return run_each(number(range.substr(0, dots)), number(range.substr(dots + 2)), "--change",
                    [](std::uint64_t seed) { return sim::run_changes({.seed = seed}); });
  }
  if ((argc == 3 || argc == 5) && std::string_view(argv[1]) == "--timers") {
    if (argc == 5 && std::string_view(argv[3]) != "--seed") usage();
    const sim::TimerOptions timers{.seed = argc == 5 ? number(argv[4]) : 1,
                                   .timers = number(argv[2])};
    return show(timers.seed, sim::run_timers(timers));
  }
  if ((argc != 3 && argc != 5) || std::string_view(argv[1]) != "--seed") usage();
  options.seed = number(argv[2]);
  if (argc == 5 && std::string_view(argv[3]) != "--steps") usage();
  if (argc == 5) options.steps = number(argv[4]);
  return show(options.seed, sim::simulate(options));
}
