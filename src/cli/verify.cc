// SPDX-License-Identifier: Apache-2.0
// holdfast verify: looks at every byte of a world.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "base/hex.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/verify_world.h"
#include "cli/where.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "native/machines.h"

namespace holdfast::cli {
namespace {

struct VerifyOptions {
  Where where;
  std::optional<std::string> key;   // in hex
  std::optional<std::string> seal;  // RECORD:HASH
  bool blobs = false;
  bool all = false;
};

std::string count_of(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What the user knows of the seals.
base::Result<node::SealTerms> terms_of(const VerifyOptions& options) {
  node::SealTerms terms;
  if (options.key && !base::hex_decode(*options.key, terms.key.emplace()))
    return base::invalid("--key", "a public key is 64 hexadecimal digits");
  if (!options.seal) return terms;
  node::SealTerms::Remembered& seal = *(terms.seal = node::SealTerms::Remembered{});
  const std::string_view text = *options.seal;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, seal.record);
  const bool is_seal = error == std::errc() && end == text.data() + colon && colon < text.size() &&
                       base::hex_decode(text.substr(colon + 1), seal.hash.bytes);
  if (!is_seal) return base::invalid("--seal", "a seal is RECORD:HASH, as verify prints it");
  return terms;
}

std::string seal_text(const store::Seal& seal) {
  return std::to_string(seal.last) + ":" + base::to_hex(seal.hash.bytes);
}

void print_findings_json(const Findings& found) {
  const node::VerifyReport& report = found.journal;
  codec::Buffer out;
  const auto number = [&](std::string_view name, std::optional<std::uint64_t> value) {
    codec::write_text(out, name);
    if (!value) return codec::write_null(out);
    codec::write_nat(out, *value);
  };
  codec::write_map_head(out, 17);
  number("first", report.first);
  number("last", report.last);
  number("segments", report.segments);
  number("records", report.records);
  number("instances", report.instances);
  number("instances_not_followed", report.unfollowed);
  number("snapshots", report.snapshots);
  number("snapshots_replayed", report.snapshots_replayed);
  number("sealed", report.sealed);
  const auto text = [&](std::string_view name, std::optional<std::string> value) {
    codec::write_text(out, name);
    if (!value) return codec::write_null(out);
    codec::write_text(out, *value);
  };
  const auto& seal = report.last_seal;
  text("last_seal", seal ? std::optional(seal_text(*seal)) : std::nullopt);
  text("key", seal ? std::optional(base::to_hex(seal->key)) : std::nullopt);
  number("replayed", report.replayed);
  codec::write_text(out, "replay_stopped");
  if (report.replay_stopped.empty()) {
    codec::write_null(out);
  } else {
    codec::write_text(out, printable(report.replay_stopped));
  }
  number("blobs", found.blobs);
  const bool is_compared = found.history && found.history->is_compared;
  number("index_rows", is_compared ? std::optional(found.history->rows) : std::nullopt);
  codec::write_text(out, "notes");
  codec::write_list_head(out, report.notes.size());
  for (const std::string& note : report.notes) codec::write_text(out, printable(note));
  codec::write_text(out, "errors");
  write_errors(out, report.errors);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
}

void print_text(const Findings& found) {
  const node::VerifyReport& report = found.journal;
  print_line("journal   " + count_of(report.segments, "segment") + ", " +
             count_of(report.records, "record") +
             (report.records == 0 ? ""
                                  : " from " + std::to_string(report.first) + " to " +
                                        std::to_string(report.first + report.records - 1)));
  print_line("instances " + std::to_string(report.instances) + " followed" +
             (report.unfollowed == 0
                  ? ""
                  : ", more were not: " + count_of(report.unfollowed, "record") + " touch them"));
  print_line("replay    " + count_of(report.replayed, "record") + " came out as recorded" +
             (report.replay_stopped.empty()
                  ? ""
                  : "; the others were not checked: " + printable(report.replay_stopped)));
  print_line("snapshots " + std::to_string(report.snapshots) + ", of which replay came to " +
             std::to_string(report.snapshots_replayed));
  print_line("seals     " + (report.last_seal ? count_of(report.sealed, "record") +
                                                    " as sealed; the last seal is " +
                                                    seal_text(*report.last_seal) + ", the key " +
                                                    base::to_hex(report.last_seal->key)
                                              : "none"));
  print_line(found.blobs ? "blobs     " + std::to_string(*found.blobs) + " looked at"
                         : "blobs     not looked at (--blobs)");
  if (found.history) {
    print_line(
        !found.history->is_there ? "index     none"
        : found.history->is_compared
            ? "index     " + count_of(found.history->rows, "row") + " as the records say"
            : "index     not compared: the journal does not have all of its records any more, "
              "or the snapshot is gone that it begins with");
  }
  for (const std::string& note : report.notes) print_line("note      " + printable(note));
}

ExitCode verify(const VerifyOptions& options, const native::Machines& machines) {
  const auto where = settle(options.where, Reach::kWorldOnly);
  if (!where) return misused(where.error().to_string());
  const auto terms = terms_of(options);
  if (!terms) return refuse(terms.error());
  const auto found = verify_world(where->world, machines, {options.blobs, options.all, *terms});
  if (!found) return refuse(found.error());
  if (where->json) {
    print_findings_json(*found);
  } else {
    print_text(*found);
  }
  const base::Errors& errors = found->journal.errors;
  if (errors.empty()) return ExitCode::kDone;
  return refuse(count_of(errors.reported(), "error") + " in " + where->world, errors);
}

}  // namespace

void add_verify(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "check every byte of a world's journal, and that replay gives the same result");
  add_where(*command, options->where, Reach::kWorldOnly);
  add_folder(*command, options->where);
  command->add_option("--key", options->key, "accept seals of this public key only");
  command->add_option("--seal", options->seal,
                      "a seal that you noted earlier, RECORD:HASH; the world must contain it");
  command->add_flag("--blobs", options->blobs, "also check every blob");
  command->add_flag(
      "--all", options->all,
      "check every byte of every file: blobs too, and the index is rebuilt and compared");
  command->footer(
      "Exits with 1 when something is wrong, and names the file and the offset, or the record.\n"
      "A world that a process has open is refused.\n"
      "Example: holdfast verify ./world --all");
  command->callback(
      [options, &exit_code, &modules] { exit_code = verify(*options, native::Machines(modules)); });
}

}  // namespace holdfast::cli
