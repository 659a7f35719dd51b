// SPDX-License-Identifier: Apache-2.0
// Tokens: who may use a server, and as what. A token is 256 random bits; only its SHA-256 is kept,
// in a file of the world (docs/formats/tokens.md). One that is revoked stays in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "env/disk.h"
#include "env/random.h"
#include "gateway/role.h"

namespace holdfast::gateway {

struct Token {
  std::string id;    // for people: the first digits of the hash
  std::string name;  // what they call it
  Role role = Role::kViewer;
  base::Hash hash;
  std::int64_t made_s = 0;  // since 1970
  bool is_revoked = false;
};

class Tokens {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr std::size_t kMaxNameBytes = 255;

  // No file: there are none. kCorrupt: the file is not what was written.
  static base::Result<Tokens> read(env::Disk& disk, const std::string& file);
  base::Result<void> write(env::Disk& disk, const std::string& file) const;

  // The token itself, which is not kept.
  base::Result<std::string> add(env::Random& random, Role role, std::string name,
                                std::int64_t now_s);

  // kNotFound: there is none with this id. Content if it is revoked already.
  base::Result<void> revoke(std::string_view id);

  // Whose it is that somebody shows; null: nobody's, or revoked. Takes the same time whether it is
  // nearly right or not at all.
  const Token* find(std::string_view text) const;
  std::optional<Role> role_of(std::string_view text) const;

  // Also those that are revoked: a server whose tokens are all revoked is not open.
  const std::vector<Token>& all() const noexcept { return all_; }

 private:
  std::vector<Token> all_;
};

// Of the world in this folder.
std::string tokens_file(const std::string& world);

}  // namespace holdfast::gateway
