// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_settings.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "codec/scalar_text.h"
#include "executors/allowed_hosts.h"
#include "executors/process.h"
#include "executors/program.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kMostHotCells = 10'000'000;
constexpr std::size_t kMostHandlerThreads = 1024;
constexpr std::chrono::seconds kLongestRetention = std::chrono::hours(24) * 365 * 100;

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; !list.empty() && begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    parts.emplace_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

template <class Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

// "7d", "1h30m", "90"
std::optional<std::chrono::seconds> time_in(std::string_view text) {
  const bool is_bare = text.find_first_not_of("0123456789") == std::string_view::npos;
  std::int64_t ns = 0;
  if (!codec::parse_duration(is_bare ? std::string(text) + "s" : std::string(text), ns))
    return std::nullopt;
  const std::chrono::nanoseconds time(ns);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  if (ns < 0 || seconds != time || seconds > kLongestRetention) return std::nullopt;
  return seconds;
}

base::Error bad(const Setting& setting, const std::string& message) {
  return base::invalid(setting.place(), message);
}

base::Result<void> use_hosts(const Setting& setting, std::vector<AllowedHost>& hosts) {
  hosts.clear();
  for (const std::string& part : parts_of(setting.value)) {
    const auto host = executors::parse_allowed_host(part);
    if (!host) return bad(setting, "'" + part + "' is no host: expected HOST[:PORT][/private]");
    hosts.push_back({host->name, host->port, host->private_addresses});
  }
  return {};
}

base::Result<void> use_programs(const Setting& setting, std::vector<std::string>& programs) {
  programs = parts_of(setting.value);
  for (const std::string& program : programs) {
    const auto allowed = executors::Program::allow(program);
    if (!allowed) return bad(setting, allowed.error().message());
  }
  return {};
}

base::Result<void> use_variables(const Setting& setting, std::vector<std::string>& variables) {
  variables = parts_of(setting.value);
  for (const std::string& variable : variables) {
    const auto checked = executors::check_variable(variable);
    if (!checked) return bad(setting, checked.error().message());
  }
  return {};
}

base::Result<void> use_numbers(const Settings& settings, EngineOptions& options) {
  const auto use_time = [&](const char* name, std::chrono::seconds& kept) -> base::Result<void> {
    const Setting* setting = settings.find(name);
    if (setting == nullptr) return {};
    const auto time = time_in(setting->value);
    if (!time) return bad(*setting, "expected a time up to 100 years, as 7d, 12h, 30m or 90s");
    kept = *time;
    return {};
  };
  TRY(use_time("retention", options.retention));
  TRY(use_time("graph-retention", options.graph_retention));
  TRY(use_time("replay-bound", options.replay_bound));
  if (options.replay_bound < std::chrono::seconds(1) ||
      options.replay_bound > std::chrono::hours(1))
    return bad(*settings.find("replay-bound"), "expected a time from 1s to 1h");
  if (const Setting* setting = settings.find("snapshot-every")) {
    const auto records = parsed_number<std::uint64_t>(setting->value);
    if (!records) return bad(*setting, "expected a number of records");
    options.snapshot_every = *records;
  }
  if (const Setting* setting = settings.find("handler-threads")) {
    const auto threads = parsed_number<std::size_t>(setting->value);
    if (!threads || *threads == 0 || *threads > kMostHandlerThreads)
      return bad(*setting, "expected a number from 1 to " + std::to_string(kMostHandlerThreads));
    options.handler_threads = *threads;
  }
  if (const Setting* setting = settings.find("hot-cells")) {
    const auto cells = parsed_number<std::size_t>(setting->value);
    if (!cells || *cells == 0 || *cells > kMostHotCells)
      return bad(*setting, "expected a number from 1 to " + std::to_string(kMostHotCells));
    options.hot_cells = *cells;
  }
  return {};
}

// Up to a day.
base::Result<void> use_time(const Settings& settings, std::string_view key, std::uint64_t& ns) {
  const Setting* const setting = settings.find(key);
  if (setting == nullptr) return {};
  const auto time = time_in(setting->value);
  if (!time || time->count() == 0 || *time > std::chrono::hours(24))
    return bad(*setting, "expected a time from 1s to 24h");
  ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(*time).count());
  return {};
}

}  // namespace

base::Result<void> use_settings(const Settings& settings, workers::DeskOptions& options) {
  if (const Setting* setting = settings.find("placement")) {
    const auto policy = dispatch::policy_named(setting->value);
    if (!policy) return bad(*setting, "expected best_fit or first_fit");
    options.dispatcher.policy = *policy;
  }
  TRY(use_time(settings, "worker-ttl", options.watchdog.ttl_ns));
  TRY(use_time(settings, "worker-grace", options.watchdog.grace_ns));
  TRY(use_time(settings, "rehydration-grace", options.watchdog.rehydration_ns));
  return use_time(settings, "no-worker-grace", options.dispatcher.no_worker_grace_ns);
}

base::Result<void> use_settings(const Settings& settings, EngineOptions& options) {
  if (const Setting* setting = settings.find("http-hosts"))
    TRY(use_hosts(*setting, options.http_hosts));
  if (const Setting* setting = settings.find("programs"))
    TRY(use_programs(*setting, options.programs));
  if (const Setting* setting = settings.find("program-variables"))
    TRY(use_variables(*setting, options.program_variables));
  if (const Setting* setting = settings.find("secret-folder"))
    options.secrets.folder = setting->value;
  if (const Setting* setting = settings.find("secret-variables"))
    options.secrets.variables = parts_of(setting->value);
  if (const Setting* setting = settings.find("backup-folder"))
    options.backup_folder = setting->value;
  if (const Setting* setting = settings.find("history")) {
    if (setting->value != "true" && setting->value != "false")
      return bad(*setting, "expected true or false");
    options.history = setting->value == "true";
  }
  return use_numbers(settings, options);
}

}  // namespace holdfast::cli
