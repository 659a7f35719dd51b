// SPDX-License-Identifier: Apache-2.0
#include "cli/serving_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "cli/engine_settings.h"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t kMostMilliseconds = 3'600'000;

// SQL steps wait for the database most of the time, so more of them than threads of the machine run
// at once.
constexpr std::size_t kSqlThreads = 16;

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::string_view of;
};

// The number is as it was if there is no such setting.
base::Result<void> fill_number(const Settings& settings, std::string_view key,
                               const NumberRange& range, std::uint64_t& number) {
  const Setting* const setting = settings.find(key);
  if (setting == nullptr) return {};
  const std::string& text = setting->value;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < range.least ||
      number > range.most) {
    return base::invalid(setting->place(), "expected " + std::string(range.of) + ", from " +
                                               std::to_string(range.least) + " to " +
                                               std::to_string(range.most));
  }
  return {};
}

base::Result<void> fill_time(const Settings& settings, std::string_view key, std::uint64_t least,
                             std::chrono::milliseconds& time) {
  auto number = static_cast<std::uint64_t>(time.count());
  TRY(fill_number(settings, key, {least, kMostMilliseconds, "milliseconds"}, number));
  time = std::chrono::milliseconds(number);
  return {};
}

base::Result<void> fill_log(const Settings& settings, ServingOptions& options) {
  if (const Setting* const setting = settings.find("log-format")) {
    auto format = log_format_named(setting->value);
    if (!format) return base::invalid(setting->place(), format.error().message());
    options.log_format = *format;
  }
  if (const Setting* const setting = settings.find("log-level")) {
    auto level = log_level_named(setting->value);
    if (!level) return base::invalid(setting->place(), level.error().message());
    options.log_level = *level;
  }
  if (const Setting* const setting = settings.find("access-log")) {
    if (setting->value != "true" && setting->value != "false")
      return base::invalid(setting->place(), "expected true or false");
    options.logs_requests = setting->value == "true";
  }
  return {};
}

}  // namespace

ServingFlags::ServingFlags(CLI::App& command) {
  for (const SettingName& name : kSettings) {
    if (name.of != SettingOf::kServer) continue;
    Flag& flag = flags_.emplace_back(Flag{name.key, {}, nullptr});
    flag.option =
        command.add_option("--" + std::string(name.key), flag.value,
                           std::string(name.what) + " (" + std::string(name.variable) + ")");
  }
}

base::Result<ServingOptions> ServingFlags::settle(const Program& program, const std::string& world,
                                                  const std::string& otherwise) const {
  const auto secrets = std::ranges::find(flags_, std::string_view("secret-variables"), &Flag::key);
  Settings settings = TRY(Settings::load(secrets->value, program.engine.secrets.variables));
  for (const Flag& flag : flags_)
    if (flag.option->count() > 0) settings.give(flag.key, flag.value);
  if (!world.empty()) settings.give("world", world);
  ServingOptions options;
  options.engine = program.engine;
  options.engine.modules = program.modules;
  options.engine.handlers = program.handlers;
  options.engine.dir = otherwise;
  const auto fill = [&](std::string& value, std::string_view key) {
    if (const Setting* setting = settings.find(key)) value = setting->value;
  };
  fill(options.engine.dir, "world");
  fill(options.listen, "listen");
  fill(options.tls.certificate, "tls-certificate");
  fill(options.tls.key, "tls-key");
  fill(options.tls.client_authorities, "client-authorities");
  fill(options.postgres.conninfo, "postgres");
  fill(options.postgres_exec, "postgres-exec");
  if (!options.postgres_exec.empty() && options.postgres.conninfo.empty())
    return base::invalid("postgres-exec", "is of no use without postgres");
  TRY(fill_time(settings, "postgres-sweep", 100, options.postgres.sweep));
  TRY(fill_time(settings, "postgres-poll", 0, options.postgres.poll));
  TRY(fill_number(settings, "postgres-keep", {0, INT64_MAX, "a number of rows"},
                  options.postgres.keep_rows));
  if (!options.postgres_exec.empty()) options.engine.handler_threads = kSqlThreads;
  TRY(fill_log(settings, options));
  TRY(use_settings(settings, options.engine));
  TRY(use_settings(settings, options.desk));
  if (options.engine.dir.empty())
    return base::invalid("", "--world is required\n(or HOLDFAST_WORLD, or world in holdfast.yaml)");
  return options;
}

}  // namespace holdfast::cli
