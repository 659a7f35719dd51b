// SPDX-License-Identifier: Apache-2.0
#include "worker/home.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/view.h"

namespace holdfast::work {
namespace {

constexpr std::size_t kMaxIdentityBytes = 64 << 10;
constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kMadeUpBytes = 4;

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./:@").find(c) != std::string_view::npos;
}

base::Result<void> check_name(const char* what, const std::string& name) {
  if (name.empty() || name.size() > kMaxNameBytes || !std::ranges::all_of(name, is_name_letter))
    return base::invalid(
        what, "'" + name + "' is not a name: expected 1 to 128 letters, digits or _-./:@");
  return {};
}

std::string random_hex(env::Random& random, std::size_t bytes) {
  base::Bytes made(bytes);
  random.fill(made);
  return base::to_hex(made);
}

base::Result<Identity> read_identity(env::Disk& disk, const std::string& path) {
  const base::Bytes bytes = TRY(env::read_file(disk, path, kMaxIdentityBytes));
  codec::Normaliser normaliser;
  auto read = normaliser.from_json(codec::Schema::any(), base::as_text(bytes));
  if (!read) return std::move(read).error().within(path);
  const codec::View root = codec::View::of(*read);
  const auto text = [&](std::string_view name) {
    const auto found =
        root.kind() == codec::ViewKind::kMap ? root.find(name) : std::optional<codec::View>();
    return std::string(found && found->text() ? *found->text() : "");
  };
  Identity identity{text("node"), text("name"), text("secret")};
  const bool is_hex = std::ranges::all_of(
      identity.secret, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (identity.secret.size() != 2 * kSecretBytes || !is_hex)
    return base::Error(base::ErrorCode::kCorrupt, path, "holds no secret of a worker");
  TRY(check_name((path + ": node").c_str(), identity.node));
  TRY(check_name((path + ": name").c_str(), identity.name));
  return identity;
}

base::Result<void> write_identity(env::Disk& disk, const std::string& path,
                                  const Identity& identity) {
  codec::Buffer out;
  codec::write_map_head(out, 3);
  const auto text = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  text("name", identity.name);
  text("node", identity.node);
  text("secret", identity.secret);
  const std::string json = codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented);
  return env::replace_file(disk, path, base::as_bytes(json + "\n"));
}

}  // namespace

std::string as_name(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kMaxNameBytes)) name += is_name_letter(c) ? c : '-';
  return name.empty() ? "node" : name;
}

base::Result<Home> Home::open(env::Disk& disk, env::Random& random, const HomeOptions& options) {
  Home home;
  TRY(disk.make_directory(options.dir));
  auto lock = disk.lock(options.dir + "/lock", options.holder);
  if (!lock) return std::move(lock).error();
  home.lock_ = std::move(*lock);
  home.outbox_ = std::make_unique<Outbox>(TRY(Outbox::open(disk, options.dir + "/outbox")));
  const std::string path = options.dir + "/identity.json";
  auto known = read_identity(disk, path);
  if (!known && known.error().code() != base::ErrorCode::kNotFound) return std::move(known).error();
  Identity identity =
      known ? *known
            : Identity{as_name(options.host), "worker-" + random_hex(random, kMadeUpBytes),
                       random_hex(random, kSecretBytes)};
  if (!options.node.empty()) identity.node = options.node;
  if (!options.name.empty()) identity.name = options.name;
  TRY(check_name("node", identity.node));
  TRY(check_name("name", identity.name));
  const bool is_same = known && known->node == identity.node && known->name == identity.name;
  if (known && !is_same && !home.outbox_->held().empty())
    return base::Error(base::ErrorCode::kConflict, options.dir,
                       "holds results of the worker " + known->name + " on " + known->node +
                           " that the server has not acknowledged; start it under that name first");
  if (!is_same) TRY(write_identity(disk, path, identity));
  // The names of both files, and of the folder.
  TRY(disk.sync_directory(options.dir));
  TRY(disk.sync_directory(env::parent_of(options.dir)));
  home.identity_ = std::move(identity);
  return home;
}

}  // namespace holdfast::work
