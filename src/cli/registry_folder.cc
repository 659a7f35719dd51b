// SPDX-License-Identifier: Apache-2.0
#include "cli/registry_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>

#include "cli/output.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "codec/scalar_text.h"
#include "errors/translate.h"
#include "registry/utc.h"

namespace holdfast::cli {
namespace {

std::string data_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value == '/' ? std::string(value) : std::string();
  };
  if (std::string data = variable("XDG_DATA_HOME"); !data.empty()) return data;
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share";
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? std::string(user->pw_dir) + "/.local/share" : std::string();
}

std::string_view name_of(LeaseStanding standing) {
  switch (standing) {
    case LeaseStanding::kLive: return "live";
    case LeaseStanding::kDead: return "dead";
    case LeaseStanding::kExpired: break;
  }
  return "expired";
}

void text(codec::Buffer& out, const char* name, std::string_view value) {
  codec::write_text(out, name);
  codec::write_text(out, value);
}
void text_or_null(codec::Buffer& out, const char* name, std::string_view value) {
  codec::write_text(out, name);
  value.empty() ? codec::write_null(out) : codec::write_text(out, value);
}
void integer(codec::Buffer& out, const char* name, std::int64_t value) {
  codec::write_text(out, name);
  codec::write_int(out, value);
}

}  // namespace

Result<std::shared_ptr<Registry>> RegistryFolder::open() const {
  if (!dir.empty()) return Registry::open({.dir = dir});
  const std::string data = data_folder();
  if (data.empty())
    return Error{ErrorCode::kInvalid, "--dir: there is no home folder; name a folder"};
  return Registry::open({.dir = data + "/holdfast/registry"});
}

void add_dir(CLI::App& command, RegistryFolder& folder) {
  command.add_option(
      "--dir", folder.dir,
      "folder of the registry; default: holdfast/registry in the user's data folder");
}

void add_dir_and_json(CLI::App& command, RegistryFolder& folder) {
  add_dir(command, folder);
  command.add_flag("--json", folder.json, "print JSON");
}

void print_done(const RegistryFolder& folder, std::string_view name, std::string_view what) {
  if (!folder.json) return;
  codec::Buffer out;
  codec::write_map_head(out, 2);
  text(out, "name", name);
  codec::write_text(out, what);
  codec::write_bool(out, true);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

ExitCode refuse(const Error& error) {
  const ExitCode refused = refuse(errors::inside(error));
  return error.code == ErrorCode::kUnavailable ? ExitCode::kTryAgain : refused;
}

Result<std::int64_t> duration_ns(const std::string& option, const std::string& text) {
  std::int64_t nanoseconds = 0;
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (codec::parse_duration(plain ? text + "s" : text, nanoseconds) && nanoseconds >= 0)
    return nanoseconds;
  return Error{ErrorCode::kInvalid, option + ": " + text + " is no duration; 90, 90s, 1m30s are"};
}

Result<std::chrono::seconds> whole_seconds(const std::string& option, const std::string& text) {
  const auto nanoseconds = duration_ns(option, text);
  if (!nanoseconds) return nanoseconds.error();
  if (*nanoseconds % 1'000'000'000 != 0)
    return Error{ErrorCode::kInvalid, option + ": " + text + " is not of whole seconds"};
  return std::chrono::seconds(*nanoseconds / 1'000'000'000);
}

void write_lease(codec::Buffer& out, const LeaseView& lease) {
  codec::write_map_head(out, 12);
  text(out, "name", lease.name);
  text(out, "recipe", lease.recipe);
  text(out, "standing", name_of(lease.standing));
  integer(out, "owner_pid", lease.owner_pid);
  integer(out, "owner_start_ns", lease.owner_start_ns);
  text(out, "owner_nonce", lease.nonce);
  text(out, "started_at", registry::to_utc(lease.started_at_ns));
  text(out, "last_renewed_at", registry::to_utc(lease.last_renewed_at_ns));
  integer(out, "ttl_seconds", lease.ttl.count());
  codec::write_text(out, "preemptible");
  codec::write_bool(out, lease.preemptible);
  // The name of a folder may be any bytes, and JSON holds none that are not UTF-8.
  text_or_null(out, "preempt_signal_path", printable(lease.signal_path));
  text_or_null(out, "preempt_requested_by", lease.preempt_requested_by);
}

void write_swap_or_null(codec::Buffer& out, const std::optional<SwapView>& swap) {
  if (!swap) return codec::write_null(out);
  codec::write_map_head(out, 5);
  text(out, "swap_id", swap->id);
  text(out, "recipe", swap->recipe);
  integer(out, "holder_pid", swap->holder_pid);
  integer(out, "holder_start_ns", swap->holder_start_ns);
  text(out, "started_at", registry::to_utc(swap->started_at_ns));
}

void add_claim(CLI::App& command, ClaimOptions& options) {
  command.add_option("--pid", options.pid, "the owner; the process that runs this command else")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()));
  command.add_option("--lease", options.lease, "the nonce that registering printed");
  command.add_flag("--operator", options.is_operator, "act as operator, for leases of any owner");
}

LeaseClaim ClaimOptions::claim() const {
  return {.pid = owner_or_parent(pid), .nonce = lease, .is_operator = is_operator};
}

std::int64_t owner_or_parent(std::int64_t pid) { return pid != 0 ? pid : ::getppid(); }

}  // namespace holdfast::cli
