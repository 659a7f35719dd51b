// SPDX-License-Identifier: Apache-2.0
// holdfast registry: who needs which recipe on this machine.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/registry_folder.h"
#include "cli/registry_hold.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "registry/utc.h"

namespace holdfast::cli {
namespace {

struct RegistryCommandOptions {
  RegistryFolder folder;
  std::string name;
  std::string recipe;
  std::string ttl = "60s";
  bool preemptible = false;
  std::string signal_path;
  ClaimOptions claim;
  bool all = false;
};

void print_document(codec::Buffer& out) {
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

void print_view_json(const RegistryView& view) {
  codec::Buffer out;
  codec::write_map_head(out, 2);
  codec::write_text(out, "workflows");
  codec::write_list_head(out, view.workflows.size());
  for (const LeaseView& lease : view.workflows) write_lease(out, lease);
  codec::write_text(out, "swap_in_progress");
  write_swap_or_null(out, view.swap);
  print_document(out);
}

std::string remark_on(const LeaseView& lease) {
  if (lease.standing == LeaseStanding::kDead) return "its owner has ended";
  if (lease.standing == LeaseStanding::kExpired) return "not renewed in time";
  if (!lease.preempt_requested_by.empty()) return "asked to yield";
  return lease.preemptible ? "preemptible" : "";
}

void print_view(const RegistryView& view) {
  std::vector<std::vector<std::string>> table{{"NAME", "RECIPE", "OWNER", "RENEWED", "TTL", ""}};
  for (const LeaseView& lease : view.workflows) {
    table.push_back({printable(lease.name), printable(lease.recipe),
                     std::to_string(lease.owner_pid), registry::to_utc(lease.last_renewed_at_ns),
                     std::to_string(lease.ttl.count()) + "s", remark_on(lease)});
  }
  print_table(table);
  if (view.swap) {
    print_line("A swap to " + printable(view.swap->recipe) + " is under way, by process " +
               std::to_string(view.swap->holder_pid) + ".");
  }
}

ExitCode list_sites(const RegistryCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  auto view = (*registry)->list();
  if (!view) return refuse(view.error());
  if (!options.all) {
    std::erase_if(view->workflows,
                  [](const LeaseView& lease) { return lease.standing != LeaseStanding::kLive; });
  }
  options.folder.json ? print_view_json(*view) : print_view(*view);
  return ExitCode::kDone;
}

ExitCode add(const RegistryCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto ttl = whole_seconds("--ttl", options.ttl);
  if (!ttl) return refuse(ttl.error());
  const std::int64_t owner = owner_or_parent(options.claim.pid);
  // 0: it is in another pid namespace, as with `docker exec`, and cannot be named from here.
  if (owner == 0)
    return refuse(
        Error{ErrorCode::kInvalid, "--pid: who runs this command cannot be seen; name the owner"});
  const auto lease = (*registry)->take_lease({.name = options.name,
                                              .recipe = options.recipe,
                                              .ttl = *ttl,
                                              .preemptible = options.preemptible,
                                              .signal_path = options.signal_path,
                                              .pid = owner});
  if (!lease) return refuse(lease.error());
  if (!options.folder.json) {
    print_line(lease->nonce());
    return ExitCode::kDone;
  }
  codec::Buffer out;
  codec::write_map_head(out, 3);
  codec::write_text(out, "name");
  codec::write_text(out, lease->name());
  codec::write_text(out, "owner_nonce");
  codec::write_text(out, lease->nonce());
  codec::write_text(out, "preempt_signal_path");
  options.preemptible ? codec::write_text(out, printable(lease->signal_path()))
                      : codec::write_null(out);
  print_document(out);
  return ExitCode::kDone;
}

ExitCode renew(const RegistryCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto renewed = (*registry)->renew(options.name, options.claim.claim());
  if (!renewed) return refuse(renewed.error());
  print_done(options.folder, printable(options.name), "renewed");
  return ExitCode::kDone;
}

ExitCode release(const RegistryCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto released = (*registry)->release(options.name, options.claim.claim());
  if (!released) return refuse(released.error());
  print_done(options.folder, printable(options.name), "released");
  return ExitCode::kDone;
}

void print_findings_json(const std::vector<RegistryFinding>& findings) {
  codec::Buffer out;
  const auto text = [&](const char* name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, printable(value));
  };
  codec::write_map_head(out, 1);
  codec::write_text(out, "findings");
  codec::write_list_head(out, findings.size());
  for (const RegistryFinding& finding : findings) {
    codec::write_map_head(out, 4);
    text("place", finding.place);
    text("problem", finding.problem);
    text("remedy", finding.remedy);
    codec::write_text(out, "needs_somebody");
    codec::write_bool(out, finding.needs_somebody);
  }
  print_document(out);
}

ExitCode examine(const RegistryCommandOptions& options) {
  const auto registry = options.folder.open();
  if (!registry) return refuse(registry.error());
  const auto findings = (*registry)->diagnose();
  if (!findings) return refuse(findings.error());
  if (options.folder.json) {
    print_findings_json(*findings);
  } else {
    for (const RegistryFinding& finding : *findings) {
      print_line(printable(finding.place) + ": " + printable(finding.problem));
      print_line((finding.needs_somebody ? "  to do: " : "  mends itself: ") +
                 printable(finding.remedy));
    }
    if (findings->empty()) print_line("nothing is wrong with " + printable((*registry)->dir()));
  }
  const bool needed = std::any_of(findings->begin(), findings->end(),
                                  [](const RegistryFinding& each) { return each.needs_somebody; });
  return needed ? ExitCode::kRefused : ExitCode::kDone;
}

}  // namespace

void add_registry(CLI::App& app, ExitCode& exit_code) {
  CLI::App* registry = app.add_subcommand(
      "registry", "leases: which workflow needs which recipe on this machine (docs/registry.md)");
  registry->require_subcommand(1);
  registry->footer("Example: holdfast registry ls");
  auto options = std::make_shared<RegistryCommandOptions>();
  const auto command = [&](const char* name, const char* what,
                           ExitCode (*run)(const RegistryCommandOptions&)) {
    CLI::App* added = registry->add_subcommand(name, what);
    added->callback([options, run, &exit_code] { exit_code = run(*options); });
    return added;
  };
  const auto named = [&](CLI::App* added) {
    added->add_option("name", options->name, "the name of the workflow")->required();
    return added;
  };

  CLI::App* ls = command("ls", "list live leases and the swap in progress", &list_sites);
  ls->add_flag("--all", options->all, "also expired leases that are not removed yet");
  add_dir_and_json(*ls, options->folder);
  ls->footer("Example: holdfast registry ls --all");

  CLI::App* take = named(command("register", "register a workflow's lease on a recipe", &add));
  take->add_option("--recipe", options->recipe, "the recipe that it needs")->required();
  take->add_option("--ttl", options->ttl, "how long it lives without being renewed")
      ->capture_default_str();
  take->add_flag("--preemptible", options->preemptible, "a swap may ask it to yield");
  take->add_option("--signal-path", options->signal_path,
                   "the file that asks it to: preempt-... in the folder; made up else");
  take->add_option("--pid", options->claim.pid,
                   "the owner, whose end ends it; the process that runs this command else")
      ->check(CLI::PositiveNumber);
  add_dir_and_json(*take, options->folder);
  take->footer(
      "Prints the nonce of the lease. Exit code 75: a swap to another recipe is under way.\n"
      "Example: holdfast registry register chat --recipe llama-70b --ttl 5m");

  CLI::App* again = named(command("renew", "renew a lease", &renew));
  add_claim(*again, options->claim);
  add_dir_and_json(*again, options->folder);
  again->footer("Example: holdfast registry renew chat");

  CLI::App* done = named(command("release", "release a lease", &release));
  add_claim(*done, options->claim);
  add_dir_and_json(*done, options->folder);
  done->footer("Example: holdfast registry release chat");

  CLI::App* doctor = command(
      "doctor", "report problems of the registry and their effects; changes nothing", &examine);
  add_dir_and_json(*doctor, options->folder);
  doctor->footer(
      "Exit code 1: something needs an operator.\n"
      "Example: holdfast registry doctor");

  add_registry_hold(*registry, exit_code);
}

}  // namespace holdfast::cli
