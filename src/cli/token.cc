// SPDX-License-Identifier: Apache-2.0
// holdfast token: who may use the server of a world. A server that runs notices within a second.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/where.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/printable.h"
#include "env/clock.h"
#include "env/posix_disk.h"
#include "env/random.h"
#include "gateway/tokens.h"

namespace holdfast::cli {
namespace {

struct TokenOptions {
  Where where;  // settled before anything is done
  std::string role;
  std::string name;
  std::string id;
  bool is_new = false;
};

// A folder that is spelt wrongly is not made.
base::Result<void> check_place(const TokenOptions& options) {
  const auto has = [&](const char* name) {
    std::error_code problem;
    return std::filesystem::exists(options.where.world + "/" + name, problem);
  };
  if (options.is_new || has("WORLD") || has("journal") || has("tokens.json")) return {};
  return base::Error(base::ErrorCode::kNotFound, options.where.world,
                     "there is no world; token add --new is for one that is yet to be made");
}

// The tokens of a world, ours alone while they are changed.
class TokenFile {
 public:
  static base::Result<TokenFile> open(const TokenOptions& options) {
    TRY(check_place(options));
    const std::string& world = options.where.world;
    TokenFile file(world);
    TRY(file.disk_->make_directory(world));
    file.lock_ = TRY(file.disk_->lock(world + "/tokens.lock", "holdfast token"));
    file.tokens = TRY(gateway::Tokens::read(*file.disk_, file.path_));
    return file;
  }
  base::Result<void> write() { return tokens.write(*disk_, path_); }

  gateway::Tokens tokens;

 private:
  explicit TokenFile(const std::string& world) : path_(gateway::tokens_file(world)) {}

  std::unique_ptr<env::Disk> disk_ = env::posix_disk();
  std::string path_;
  std::unique_ptr<env::FileLock> lock_;
};

base::Result<void> issue_token(const TokenOptions& options) {
  auto file = TRY(TokenFile::open(options));
  const auto random = env::posix_random();
  const std::int64_t now_s = env::posix_clock()->wall_ns() / 1'000'000'000;
  const std::string token =
      TRY(file.tokens.add(*random, *gateway::role_named(options.role), options.name, now_s));
  TRY(file.write());
  print_line(options.where.json ? "{\"token\":\"" + token + "\"}" : token);
  return {};
}

base::Result<void> list_tokens(const TokenOptions& options) {
  TRY(check_place(options));
  const auto disk = env::posix_disk();
  const auto tokens = TRY(gateway::Tokens::read(*disk, gateway::tokens_file(options.where.world)));
  if (!options.where.json) {
    std::vector<std::vector<std::string>> table{{"ID", "ROLE", "STATE", "NAME"}};
    for (const gateway::Token& token : tokens.all()) {
      table.push_back({token.id, std::string(name_of(token.role)),
                       token.is_revoked ? "revoked" : "good", printable(token.name)});
    }
    print_table(table);
    return {};
  }
  codec::Buffer out;
  const auto text = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  codec::write_map_head(out, 1);
  codec::write_text(out, "tokens");
  codec::write_list_head(out, tokens.all().size());
  for (const gateway::Token& token : tokens.all()) {
    codec::write_map_head(out, 5);
    text("id", token.id);
    text("name", token.name);
    text("role", name_of(token.role));
    codec::write_text(out, "made");
    codec::write_int(out, token.made_s);
    codec::write_text(out, "revoked");
    codec::write_bool(out, token.is_revoked);
  }
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
  return {};
}

base::Result<void> revoke(const TokenOptions& options) {
  auto file = TRY(TokenFile::open(options));
  TRY(file.tokens.revoke(options.id));
  TRY(file.write());
  if (!options.where.json) return {};
  codec::Buffer out;
  codec::write_map_head(out, 1);
  codec::write_text(out, "revoked");
  codec::write_text(out, options.id);
  print_line(codec::printable_json(
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented)));
  return {};
}

}  // namespace

void add_token(CLI::App& app, ExitCode& exit_code) {
  CLI::App* token = app.add_subcommand("token", "manage API tokens of a world's server");
  token->require_subcommand(1);
  token->footer("Example: holdfast token add --world ./world --role operator --name ci");
  auto options = std::make_shared<TokenOptions>();
  const auto command = [&](const char* name, const char* what, const char* example,
                           base::Result<void> (*run)(const TokenOptions&)) {
    CLI::App* made = token->add_subcommand(name, what);
    made->footer(std::string("Example: holdfast token ") + example);
    add_where(*made, options->where, Reach::kWorldOnly);
    made->callback([options, &exit_code, run] {
      auto where = settle(options->where, Reach::kWorldOnly);
      if (!where) {
        exit_code = misused(where.error().to_string());
        return;
      }
      options->where = std::move(*where);
      const auto done = run(*options);
      exit_code = done ? ExitCode::kDone : refuse(done.error());
    });
    return made;
  };
  CLI::App* added = command("add", "create a token and print it; it is shown only once",
                            "add --world ./world --role operator --name ci", issue_token);
  added->add_option("--role", options->role, "viewer, operator, admin or worker")
      ->required()
      ->check(CLI::IsMember({"viewer", "operator", "admin", "worker"}));
  added->add_option("--name", options->name, "name of the token");
  added->add_flag("--new", options->is_new, "allow a folder that has no world yet");
  command("ls", "list them", "ls --world ./world", list_tokens);
  command("revoke", "revoke a token; a running server notices within a second",
          "revoke --world ./world 3f9a12c0", revoke)
      ->add_option("id", options->id, "as ls shows it")
      ->required();
}

}  // namespace holdfast::cli
