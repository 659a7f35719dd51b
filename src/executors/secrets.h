// SPDX-License-Identifier: Apache-2.0
// Secrets: what a manifest calls a secret, and where this node finds it.
//
// A workflow knows a secret by its name: sys/SecretRef@1 {alias: "shop/stripe", version: 2} is the
// defsecret shop/stripe@2. Params hold only that, so the secret is in no hash, record or snapshot;
// an executor asks for it here when it is about to perform the effect.
//
// The binding of a defsecret says where it is, but a manifest is not the word of whoever runs the
// node: only what the options name can be had.
//   env:NAME   an environment variable, if NAME is among the variables
//   file:NAME  a file directly in the folder; one newline at its end is not part of it
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/view.h"
#include "defs/definition.h"
#include "executors/secret.h"

namespace holdfast::executors {

// Shorter ones could not be told from other bytes where they are to be hidden (executors/mask.h).
inline constexpr std::size_t kMinSecretBytes = 8;
inline constexpr std::size_t kMaxSecretBytes = std::size_t{64} << 10;

class SecretSource {
 public:
  virtual ~SecretSource() = default;

  // From any thread. kNotFound: it is not declared, or not there. No error tells anything of it.
  virtual base::Result<Secret> find(std::string_view name) const = 0;
};

struct SecretOptions {
  std::set<std::string, std::less<>> variables;
  std::string folder;  // empty: none
};

class LocalSecrets : public SecretSource {
 public:
  explicit LocalSecrets(SecretOptions options) : options_(std::move(options)) {}

  // Those of the present manifest, instead of those before.
  void declare(const std::vector<defs::SecretDef>& secrets);

  base::Result<Secret> find(std::string_view name) const override;

 private:
  base::Result<Secret> read(const std::string& name, std::string_view binding) const;

  const SecretOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, defs::SecretDef, std::less<>> declared_;
};

// Those that a manifest lists, out of its closure (defs/load.h).
base::Result<std::vector<defs::SecretDef>> secrets_of(base::ByteView closure);

// "alias@version" of a sys/SecretRef@1; nothing if it is not one.
std::optional<std::string> secret_name(codec::View reference);

}  // namespace holdfast::executors
