// SPDX-License-Identifier: Apache-2.0
// holdfast apply: other definitions for a world. holdfast gov: the same with a proposal that is
// tried and decided first, all of it in the journal.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <functional>
#include <memory>

#include "bundle/source.h"
#include "cli/commands.h"
#include "cli/governing.h"
#include "cli/looking.h"
#include "cli/render.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"

namespace holdfast::cli {
namespace {

struct GovOptions {
  Where where;
  std::string bundle;
  bool check = false;
  bool strict = false;
  bool pin = false;
  bool rehearse = false;
  bool migrate = false;
  bool any_file_system = false;
  std::string description;
  std::uint64_t proposal = 0;
  std::string by;
  std::string reason;
  std::string patch;
  Stretch stretch;
};

using Govern = std::function<base::Result<ExitCode>(Governing& governing, const Where& where)>;

ExitCode govern(const GovOptions& options, const std::vector<Module>& modules, const Govern& run) {
  const auto where = settle(options.where);
  if (!where) return misused(where.error().to_string());
  const auto governing = where->is_offline()
                             ? offline_governing(where->world, modules, options.any_file_system)
                             : server_governing(*where);
  if (!governing) return refuse_or_retry(governing.error());
  const auto done = run(**governing, *where);
  return done ? *done : refuse_or_retry(done.error());
}

// What a bundle comes to. Nothing: it is not good, and that was said.
std::optional<base::Bytes> closure_in(const std::string& path, ExitCode& exit_code) {
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = bundle::load_bundle(path, &builtin);
  if (!bundle.errors.empty()) {
    const std::size_t count = bundle.errors.reported();
    exit_code = refuse(std::to_string(count) + (count == 1 ? " error in " : " errors in ") + path,
                       bundle.errors);
    return std::nullopt;
  }
  auto closure = defs::closure_of(bundle);
  if (closure) return std::move(*closure);
  exit_code = refuse(std::move(closure).error().within(path));
  return std::nullopt;
}

base::Result<base::Bytes> patch_in(const std::string& path) {
  const std::string json = TRY(bundle::read_as_json(path));
  codec::Normaliser normaliser;
  auto patch = normaliser.part_from_json(codec::Schema::any(), json);
  if (!patch) return std::move(patch).error().within(path);
  if (codec::View::of(*patch).kind() != codec::ViewKind::kMap)
    return base::invalid(path, "a patch is an object, with base_manifest_hash and patches");
  return base::Bytes(patch->begin(), patch->end());
}

void print_applied(codec::View document) {
  const std::uint64_t count = number_in(document, "blocking_count");
  if (count == 0) {
    const auto unchanged = document.find("unchanged");
    if (unchanged && unchanged->boolean().value_or(false))
      return print_line("The world has these definitions already: nothing changed.");
    const std::uint64_t record = number_in(document, "record");
    print_line(record == 0 ? "It could be applied now."
                           : "applied by record " + std::to_string(record));
    for (const char* what : {"added", "changed", "removed"}) {
      for (const codec::View name : list_in(document, what))
        print_line(std::string(what) + " " + printable(name.text().value_or(std::string_view())));
    }
    for (const codec::View each : list_in(document, "pinned"))
      print_line("pinned " + std::to_string(number_in(each, "instances")) + " instances of " +
                 printable(text_in(each, "workflow")));
    return;
  }
  std::vector<std::vector<std::string>> rows{{"IN THE WAY", "STATUS", "EFFECTS", "MESSAGES"}};
  for (const codec::View each : list_in(document, "blocking")) {
    rows.push_back({printable(id_in(each).text()), status_in(each),
                    std::to_string(number_in(each, "effects")),
                    std::to_string(number_in(each, "mail"))});
  }
  print_table(rows);
  for (const codec::View each : list_in(document, "blocking_workflows")) {
    std::string line = text_in(each, "workflow") + ": " +
                       std::to_string(number_in(each, "instances")) + " instances use";
    const std::vector<codec::View> because = list_in(each, "because");
    for (std::size_t i = 0; i < because.size(); ++i)
      line.append(i == 0 ? " " : ", ").append(because[i].text().value_or(std::string_view()));
    if (!because.empty()) print_line(printable(line));
  }
  print_line(std::to_string(count) + " instances have not ended: it could not be applied now.");
}

base::Result<ExitCode> apply(const GovOptions& options, const base::Bytes& closure,
                             Governing& governing, const Where& where) {
  const Document document =
      TRY(governing.apply(closure, {options.check ? ApplyMode::kCheck : ApplyMode::kApply,
                                    options.strict, options.pin}));
  print_either(where, document.view(), print_applied);
  const bool is_blocked = number_in(document.view(), "blocking_count") != 0;
  return is_blocked ? ExitCode::kRefused : ExitCode::kDone;
}

void print_rehearsed(codec::View document) {
  print_applied(document);
  const auto rehearsal = document.find("rehearsal");
  if (!rehearsal) return;
  print_line("rehearsed after record " + std::to_string(number_in(*rehearsal, "at")) + ": " +
             std::to_string(number_in(*rehearsal, "instances")) + " instances under way, " +
             std::to_string(number_in(*rehearsal, "replayed")) + " records replayed");
  const std::string difference = text_in(*rehearsal, "difference");
  if (!difference.empty()) print_line("replays differently: " + printable(difference));
  const std::uint64_t differs = number_in(*rehearsal, "differs");
  const std::uint64_t differs_ended = number_in(*rehearsal, "differs_ended");
  if (differs + differs_ended != 0)
    print_line(std::to_string(differs) + " instances under way replay differently, and " +
               std::to_string(differs_ended) + " that have ended");
  for (const codec::View each : list_in(*rehearsal, "differing"))
    print_line(printable(id_in(each).text()) + " differs from record " +
               std::to_string(number_in(each, "record")) +
               " on: " + printable(text_in(each, "why")));
  const std::string stopped = text_in(*rehearsal, "replay_stopped");
  if (!stopped.empty()) print_line("not compared any further: " + printable(stopped));
  const std::uint64_t moved = number_in(*rehearsal, "moved");
  const std::uint64_t stays = number_in(*rehearsal, "stays");
  if (moved + stays != 0)
    print_line(std::to_string(moved) + " instances would move, " + std::to_string(stays) +
               " would stay");
  for (const codec::View each : list_in(*rehearsal, "staying"))
    print_line(printable(id_in(each).text()) + " stays: " + printable(text_in(each, "why")));
}

base::Result<ExitCode> rehearse(const GovOptions& options, const base::Bytes& closure,
                                Governing& governing, const Where& where) {
  const Document document =
      TRY(governing.rehearse(closure, {options.strict, options.pin, options.migrate}));
  print_either(where, document.view(), print_rehearsed);
  const auto rehearsal = document.view().find("rehearsal");
  const bool is_good = rehearsal && flag_in(*rehearsal, "good");
  return is_good ? ExitCode::kDone : ExitCode::kRefused;
}

// Without a name of its own a decision says who was logged in.
std::string decider(const GovOptions& options, const Where& where) {
  if (!options.by.empty() || !where.is_offline()) return options.by;
  const char* user = std::getenv("USER");
  return user == nullptr || *user == '\0' ? "unknown user" : user;
}

// What is wished for. Nothing: it is not good, and that was said.
std::optional<Wish> wish_in(const GovOptions& options, ExitCode& exit_code) {
  if (options.patch.empty()) {
    auto closure = closure_in(options.bundle, exit_code);
    if (!closure) return std::nullopt;
    return Wish{std::move(*closure), false, options.description};
  }
  auto patch = patch_in(options.patch);
  if (patch) return Wish{std::move(*patch), true, options.description};
  exit_code = refuse(patch.error());
  return std::nullopt;
}

base::Result<ExitCode> shadow(const GovOptions& options, Governing& governing, const Where& where) {
  const Document document = TRY(governing.try_proposal(options.proposal, options.stretch));
  const auto report = document.view().find("report");
  if (!report) return base::Error(base::ErrorCode::kIo, "the answer has no report");
  return print_either(where, *report, print_shadow);
}

void print_record(codec::View document) {
  print_line("record " + std::to_string(number_in(document, "record")));
}

class GovAdder {
 public:
  GovAdder(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules)
      : gov_(*app.add_subcommand("gov", "govern definitions: propose, try, approve, apply")),
        exit_code_(exit_code),
        modules_(modules) {
    gov_.require_subcommand(1);
    gov_.footer("Example: holdfast gov ls --world ./world");
  }

  std::pair<CLI::App*, std::shared_ptr<GovOptions>> add(CLI::App& to, const char* name,
                                                        const char* what, const char* example) {
    auto options = std::make_shared<GovOptions>();
    CLI::App* command = to.add_subcommand(name, what);
    add_where(*command, options->where);
    command->add_flag("--any-file-system", options->any_file_system,
                      "allow file systems that lose data in a power cut");
    command->footer(std::string("Example: holdfast ") + example);
    return {command, options};
  }

  void add_apply(CLI::App& app) {
    auto [command, options] = add(app, "apply", "apply the definitions of a bundle to a world",
                                  "apply --world ./world ./bundle --check");
    command->add_option("bundle", options->bundle, "a file or folder with definitions")->required();
    command->add_flag(
        "--check", options->check,
        "change nothing; list what blocks the change, and exit with 1 if something does");
    command->add_flag(
        "--pin", options->pin,
        "instances under way keep the version of their workflow that they began with");
    command->add_flag("--strict", options->strict,
                      "every instance must have ended, not only those that use what changes");
    CLI::Option* rehearse_flag = command->add_flag(
        "--rehearse", options->rehearse,
        "change nothing; try it on a copy of the world with every instance under way, and exit "
        "with 1 if something blocks, replays differently or does not migrate");
    command
        ->add_flag("--migrate", options->migrate,
                   "with --rehearse: also try to move instances under way to the new version")
        ->needs(rehearse_flag);
    command->callback([this_ = *this, options = options] {
      const auto closure = closure_in(options->bundle, this_.exit_code_);
      if (!closure) return;
      this_.exit_code_ =
          govern(*options, this_.modules_, [&](Governing& governing, const Where& where) {
            return options->rehearse ? rehearse(*options, *closure, governing, where)
                                     : apply(*options, *closure, governing, where);
          });
    });
  }

  void add_propose() {
    auto [command, options] = add(gov_, "propose", "propose the definitions of a bundle",
                                  "gov propose --world ./world ./bundle --description 'two mugs'");
    CLI::Option* bundle =
        command->add_option("bundle", options->bundle, "a file or folder with definitions");
    CLI::Option* patch =
        command->add_option("--patch", options->patch,
                            "file with a patch of the present definitions, instead of a bundle");
    bundle->excludes(patch);
    command->add_option("--description", options->description, "what for");
    command->callback([this_ = *this, options = options] {
      if (options->bundle.empty() && options->patch.empty()) {
        this_.exit_code_ = misused("say which: a bundle, or --patch FILE");
        return;
      }
      const auto wish = wish_in(*options, this_.exit_code_);
      if (!wish) return;
      this_.exit_code_ =
          govern(*options, this_.modules_,
                 [&](Governing& governing, const Where& where) -> base::Result<ExitCode> {
                   const Document document = TRY(governing.propose(*wish));
                   return print_either(where, document.view(), [](codec::View view) {
                     print_line("proposal " + std::to_string(number_in(view, "proposal")));
                   });
                 });
    });
  }

  void add_shadow() {
    auto [command, options] =
        add(gov_, "shadow", "try a proposal on a copy of the world and record the result",
            "gov shadow --world ./world 17 --from 1000");
    command->add_option("proposal", options->proposal, "its number")->required();
    const CLI::Range numbers(std::uint64_t{1}, std::uint64_t{1} << 62);
    CLI::Option* from = command->add_option(
        "--from", options->stretch.from,
        "first record to replay; default: where the present definitions were applied");
    from->check(numbers);
    command->add_option("--to", options->stretch.to, "last record to replay; default: the last one")
        ->check(numbers);
    command
        ->add_option("--records", options->stretch.records,
                     "replay at most this many records, counted from the end (1000000)")
        ->check(numbers)
        ->excludes(from);
    command->callback([this_ = *this, options = options] {
      this_.exit_code_ =
          govern(*options, this_.modules_, [&](Governing& governing, const Where& where) {
            return shadow(*options, governing, where);
          });
    });
  }

  void add_decision(const char* name, const char* what, const char* example, bool approve) {
    auto [command, options] = add(gov_, name, what, example);
    command->add_option("proposal", options->proposal, "its number")->required();
    command->add_option("--reason", options->reason, "reason, kept in the journal");
    command->add_option("--by", options->by, "who decides; a server with tokens knows");
    command->callback([this_ = *this, options = options, approve] {
      this_.exit_code_ =
          govern(*options, this_.modules_,
                 [&](Governing& governing, const Where& where) -> base::Result<ExitCode> {
                   const Document document = TRY(governing.decide(
                       {options->proposal, approve, decider(*options, where), options->reason}));
                   return print_either(where, document.view(), print_record);
                 });
    });
  }

  void add_apply_proposal() {
    auto [command, options] =
        add(gov_, "apply", "apply an approved proposal", "gov apply --world ./world 17");
    command->add_option("proposal", options->proposal, "its number")->required();
    command->callback([this_ = *this, options = options] {
      this_.exit_code_ =
          govern(*options, this_.modules_,
                 [&](Governing& governing, const Where& where) -> base::Result<ExitCode> {
                   const Document document = TRY(governing.apply_proposal(options->proposal));
                   return print_either(where, document.view(), print_applied);
                 });
    });
  }

  void add_list() {
    auto options = std::make_shared<GovOptions>();
    CLI::App* command = gov_.add_subcommand("ls", "list proposals");
    add_where(*command, options->where);
    command->add_option("proposal", options->proposal, "only this one, with its report");
    command->footer("Example: holdfast gov ls --world ./world");
    command->callback([this_ = *this, options = options] {
      this_.exit_code_ =
          look_at(options->where, this_.modules_,
                  [&](WorldSource& source, const Where& where) -> base::Result<ExitCode> {
                    const Document document = TRY(source.proposals());
                    if (options->proposal == 0)
                      return print_either(where, document.view(), print_proposals);
                    for (const codec::View each : list_in(document.view(), "proposals")) {
                      if (number_in(each, "proposal") != options->proposal) continue;
                      return print_either(where, each, print_proposal);
                    }
                    return base::Error(base::ErrorCode::kNotFound,
                                       "there is no proposal " + std::to_string(options->proposal));
                  });
    });
  }

 private:
  CLI::App& gov_;
  ExitCode& exit_code_;
  const std::vector<Module>& modules_;
};

}  // namespace

void add_gov(CLI::App& app, ExitCode& exit_code, const std::vector<Module>& modules) {
  GovAdder adder(app, exit_code, modules);
  adder.add_apply(app);
  adder.add_propose();
  adder.add_shadow();
  adder.add_decision("approve", "approve a tried proposal",
                     "gov approve --world ./world 17 --reason 'no differences'", true);
  adder.add_decision("reject", "reject a proposal", "gov reject --world ./world 17", false);
  adder.add_apply_proposal();
  adder.add_list();
}

}  // namespace holdfast::cli
