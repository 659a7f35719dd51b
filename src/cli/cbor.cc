// SPDX-License-Identifier: Apache-2.0
// holdfast cbor encode|decode|hash: one value from standard input, made canonical.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "base/hex.h"
#include "base/sha256.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/value_schema.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/printable.h"

namespace holdfast::cli {
namespace {

enum class Action : std::uint8_t { kEncode, kDecode, kHash };

struct CborOptions {
  Action action = Action::kEncode;
  SchemaChoice choice;
  std::string from;  // json or cbor
  bool strict = false;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

base::Result<base::ByteView> normalise(codec::Normaliser& normaliser, const codec::Schema& schema,
                                       const CborOptions& options) {
  constexpr std::size_t kSlack = 4096;  // white space around the hex
  if (options.from == "json") {
    const std::string json = TRY(read_standard_input(codec::kMaxValueBytes));
    return normaliser.from_json(schema, json);
  }
  const std::string hex = TRY(read_standard_input(2 * codec::kMaxValueBytes + kSlack));
  const base::Bytes cbor = TRY(base::from_hex(trimmed(hex)));
  return normaliser.from_cbor(
      schema, cbor, options.strict ? codec::Strictness::kStrict : codec::Strictness::kLenient);
}

ExitCode run(const CborOptions& options) {
  const SchemaChoice& choice = options.choice;
  const bool typed = !choice.type.empty() || !choice.schema.empty();
  if (options.strict && options.from == "json")
    return misused("--strict is about CBOR: it goes with --from cbor");
  std::error_code ignored;
  if (choice.schema.empty() && std::filesystem::is_directory(choice.type, ignored)) {
    return misused("--type names a folder, so --schema must say which of its schemas");
  }
  codec::Errors errors;
  auto schema =
      typed ? find_schema(choice, errors)
            : std::optional(options.from == "json" ? codec::Schema::any() : codec::Schema::item());
  if (!schema) return refuse("the type cannot be used", errors);
  codec::Normaliser normaliser;
  const auto value = normalise(normaliser, *schema, options);
  if (!value) return refuse(value.error());
  switch (options.action) {
    case Action::kEncode: print_line(base::to_hex(*value)); break;
    case Action::kDecode:
      print_line(codec::printable_json(codec::to_json(codec::View::of(*value))));
      break;
    case Action::kHash: print_line(base::sha256(*value).to_text()); break;
  }
  return ExitCode::kDone;
}

void add_action(CLI::App& cbor, Action action, const char* name, const char* help,
                const char* default_from, const char* example, ExitCode& exit_code) {
  auto options = std::make_shared<CborOptions>();
  options->action = action;
  options->from = default_from;
  CLI::App* command = cbor.add_subcommand(name, help);
  // An empty one is a variable that was not set, not a wish for an unchecked value.
  const CLI::Validator not_empty(
      [](const std::string& text) { return text.empty() ? "it is empty" : ""; }, "");
  command
      ->add_option("--type", options->choice.type,
                   "a file with a type expression, or a bundle (with --schema)")
      ->check(not_empty);
  command
      ->add_option("--schema", options->choice.schema,
                   "the name of a schema in the bundle, or of the system")
      ->check(not_empty);
  command->add_option("--from", options->from, "what standard input holds: json, or cbor in hex")
      ->check(CLI::IsMember({"json", "cbor"}))
      ->capture_default_str();
  command->add_flag("--strict", options->strict, "accept canonical CBOR only");
  command->footer(std::string("Example: ") + example);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace

void add_cbor(CLI::App& app, ExitCode& exit_code) {
  CLI::App* cbor = app.add_subcommand("cbor", "encode, decode and hash canonical values");
  cbor->require_subcommand(1);
  cbor->footer("Example: echo '{\"b\":1,\"a\":[true]}' | holdfast cbor encode");
  add_action(*cbor, Action::kEncode, "encode", "print the canonical bytes in hex", "json",
             R"(echo '{"b":1,"a":[true]}' | holdfast cbor encode)", exit_code);
  add_action(*cbor, Action::kDecode, "decode", "print the value as JSON", "cbor",
             "echo d9d9f7a161610a | holdfast cbor decode", exit_code);
  add_action(*cbor, Action::kHash, "hash", "print the hash of the canonical bytes", "json",
             R"(echo '{"id":"o-1"}' | holdfast cbor hash)", exit_code);
}

}  // namespace holdfast::cli
