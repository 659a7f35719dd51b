// SPDX-License-Identifier: Apache-2.0
#include "executors/secrets.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include "base/sha256.h"
#include "defs/builtin.h"
#include "defs/load.h"
#include "env/descriptor.h"
#include "env/system_error.h"

namespace holdfast::executors {
namespace {

base::Error not_found(const std::string& name, std::string message) {
  return {base::ErrorCode::kNotFound, "secret " + name, std::move(message)};
}

base::Result<Secret> checked(const std::string& name, Secret secret) {
  const std::size_t size = secret.reveal().size();
  if (size < kMinSecretBytes || size > kMaxSecretBytes)
    return base::invalid("secret " + name, "a secret has 8 bytes or more, and at most 64 KiB");
  return secret;
}

// One component, that does not lead anywhere else.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// Not through env::Disk: what that gives is not wiped.
base::Result<Secret> read_file(const std::string& name, const std::string& path) {
  const env::Descriptor file(env::again_after_signals(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (!file.is_open()) return env::system_error("secret " + name, "open");
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return env::system_error("secret " + name, "fstat");
  if (!S_ISREG(status.st_mode)) return not_found(name, "its binding does not name a file");
  std::vector<char> bytes(kMaxSecretBytes + 2);
  std::size_t size = 0;
  ssize_t got = 1;
  while (got > 0 && size < bytes.size()) {
    got = env::again_after_signals(
        [&] { return ::read(file.number(), bytes.data() + size, bytes.size() - size); });
    if (got > 0) size += static_cast<std::size_t>(got);
  }
  const int number = errno;
  if (size > 0 && bytes[size - 1] == '\n') --size;
  Secret secret({bytes.data(), size});
  wipe(bytes.data(), bytes.size());
  if (got < 0) return env::system_error("secret " + name, "read", number);
  return checked(name, std::move(secret));
}

}  // namespace

void LocalSecrets::declare(const std::vector<defs::SecretDef>& secrets) {
  std::map<std::string, defs::SecretDef, std::less<>> declared;
  for (const defs::SecretDef& secret : secrets) declared.emplace(secret.name, secret);
  const std::lock_guard lock(mutex_);
  declared_ = std::move(declared);
}

base::Result<Secret> LocalSecrets::find(std::string_view name) const {
  defs::SecretDef secret;
  {
    const std::lock_guard lock(mutex_);
    const auto found = declared_.find(name);
    if (found == declared_.end())
      return not_found(std::string(name), "the manifest declares no such secret");
    secret = found->second;
  }
  Secret value = TRY(read(secret.name, secret.binding_id));
  if (secret.expected_digest &&
      base::sha256(base::as_bytes(value.reveal())) != *secret.expected_digest)
    return base::invalid("secret " + secret.name, "it is not the one whose digest was declared");
  return value;
}

base::Result<Secret> LocalSecrets::read(const std::string& name, std::string_view binding) const {
  constexpr std::string_view kVariable = "env:";
  constexpr std::string_view kFile = "file:";
  if (binding.starts_with(kVariable)) {
    const std::string variable(binding.substr(kVariable.size()));
    if (!options_.variables.contains(variable))
      return not_found(name, "this node gives no secret from the variable '" + variable + "'");
    const char* const value = std::getenv(variable.c_str());
    if (value == nullptr) return not_found(name, "the variable '" + variable + "' is not set");
    return checked(name, Secret(value));
  }
  if (binding.starts_with(kFile)) {
    const std::string file(binding.substr(kFile.size()));
    if (options_.folder.empty()) return not_found(name, "this node has no folder of secrets");
    if (!is_file_name(file)) return not_found(name, "its binding does not name a file");
    return read_file(name, options_.folder + "/" + file);
  }
  return not_found(name, "its binding begins neither with 'env:' nor with 'file:'");
}

base::Result<std::vector<defs::SecretDef>> secrets_of(base::ByteView closure) {
  std::vector<defs::SecretDef> secrets;
  if (closure.empty()) return secrets;
  const defs::Catalogue& builtin = defs::builtin_catalogue();
  const defs::Bundle bundle = defs::load(codec::View::of(closure), "manifest", &builtin);
  if (!bundle.errors.empty() || !bundle.manifest)
    return base::Error(base::ErrorCode::kCorrupt, "the definitions of the world cannot be read");
  for (const defs::NamedRef& listed :
       std::get<defs::Manifest>(bundle.manifest->definition).secrets) {
    const auto* secret = bundle.catalogue.get<defs::SecretDef>(listed.name);
    if (secret != nullptr) secrets.push_back(*secret);
  }
  return secrets;
}

std::optional<std::string> secret_name(codec::View reference) {
  const auto alias = reference.find("alias");
  const auto version = reference.find("version");
  if (!alias || !alias->text() || !version || !version->nat()) return std::nullopt;
  return std::string(*alias->text()) + "@" + std::to_string(*version->nat());
}

}  // namespace holdfast::executors
