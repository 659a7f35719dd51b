// SPDX-License-Identifier: Apache-2.0
#include "gateway/tokens.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/normaliser.h"
#include "codec/utf8.h"
#include "codec/view.h"

namespace holdfast::gateway {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kIdDigits = 12;
constexpr std::string_view kPrefix = "hf_";  // so that it is known for what it is where it is found

base::Error damaged(const std::string& file, std::string message) {
  return {base::ErrorCode::kCorrupt, file, std::move(message)};
}

base::Result<Token> token_of(codec::View entry, const std::string& file) {
  const auto text = [&](const char* name) -> std::optional<std::string_view> {
    const auto found = entry.find(name);
    return found ? found->text() : std::nullopt;
  };
  const auto role = role_named(text("role").value_or(""));
  const auto hash = base::Hash::parse(text("hash").value_or(""));
  const auto revoked = entry.find("revoked");
  const auto made = entry.find("made");
  if (!role || !hash || !revoked || !revoked->boolean() || !made || !made->integer())
    return damaged(file, "a token has no role, hash, time or word on whether it is revoked");
  Token token;
  token.id = base::to_hex(hash->bytes).substr(0, kIdDigits);
  token.name = text("name").value_or("");
  token.role = *role;
  token.hash = *hash;
  token.made_s = *made->integer();
  token.is_revoked = *revoked->boolean();
  return token;
}

}  // namespace

base::Result<Tokens> Tokens::read(env::Disk& disk, const std::string& file) {
  Tokens tokens;
  auto bytes = env::read_file(disk, file, kMaxFileBytes);
  if (!bytes && bytes.error().code() == base::ErrorCode::kNotFound) return tokens;
  if (!bytes) return std::move(bytes).error();
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), base::as_text(*bytes));
  if (!value) return damaged(file, value.error().to_string());
  const auto list = codec::View::of(*value).find("tokens");
  if (!list || list->kind() != codec::ViewKind::kList) return damaged(file, "there are no tokens");
  if (list->size() > kMost) return damaged(file, "there are too many tokens");
  for (const codec::View entry : list->elements())
    tokens.all_.push_back(TRY(token_of(entry, file)));
  return tokens;
}

base::Result<void> Tokens::write(env::Disk& disk, const std::string& file) const {
  codec::Buffer out;
  const auto text = [&](std::string_view name, std::string_view value) {
    codec::write_text(out, name);
    codec::write_text(out, value);
  };
  codec::write_map_head(out, 1);
  codec::write_text(out, "tokens");
  codec::write_list_head(out, all_.size());
  for (const Token& token : all_) {
    codec::write_map_head(out, 5);
    text("name", token.name);
    text("role", name_of(token.role));
    text("hash", token.hash.to_text());
    codec::write_text(out, "made");
    codec::write_int(out, token.made_s);
    codec::write_text(out, "revoked");
    codec::write_bool(out, token.is_revoked);
  }
  const std::string json =
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented) + "\n";
  return env::replace_file(disk, file, base::as_bytes(json));
}

base::Result<std::string> Tokens::add(env::Random& random, Role role, std::string name,
                                      std::int64_t now_s) {
  if (name.size() > kMaxNameBytes || !codec::is_utf8(name))
    return base::invalid("name", "it is too long, or not UTF-8");
  if (all_.size() == kMost) {
    return base::Error(base::ErrorCode::kTooLarge,
                       "there are " + std::to_string(kMost) + " tokens already");
  }
  std::array<std::uint8_t, kTokenBytes> secret{};
  random.fill(secret);
  std::string text = std::string(kPrefix) + base::to_hex(secret);
  OPENSSL_cleanse(secret.data(), secret.size());
  const base::Hash hash = base::sha256(base::as_bytes(text));
  all_.push_back(
      {base::to_hex(hash.bytes).substr(0, kIdDigits), std::move(name), role, hash, now_s, false});
  return text;
}

base::Result<void> Tokens::revoke(std::string_view id) {
  const auto found = std::ranges::find(all_, id, &Token::id);
  if (found == all_.end()) {
    return base::Error(base::ErrorCode::kNotFound,
                       "there is no token with the id '" + std::string(id) + "'");
  }
  found->is_revoked = true;
  return {};
}

const Token* Tokens::find(std::string_view text) const {
  const base::Hash shown = base::sha256(base::as_bytes(text));
  const Token* found = nullptr;
  for (const Token& token : all_) {
    const bool same =
        CRYPTO_memcmp(shown.bytes.data(), token.hash.bytes.data(), shown.bytes.size()) == 0;
    if (same && !token.is_revoked) found = &token;
  }
  return found;
}

std::optional<Role> Tokens::role_of(std::string_view text) const {
  const Token* token = find(text);
  if (token == nullptr) return std::nullopt;
  return token->role;
}

std::string tokens_file(const std::string& world) { return world + "/tokens.json"; }

}  // namespace holdfast::gateway
