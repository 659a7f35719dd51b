// SPDX-License-Identifier: Apache-2.0
#include "node/node_key.h"

#include <string>
#include <string_view>

#include "base/hex.h"
#include "executors/secret.h"

namespace holdfast::node {
namespace {

constexpr std::size_t kFileBytes = 2 * sizeof(base::Ed25519Seed) + 1;  // in hex, and a line break

base::Result<std::unique_ptr<executors::SigningKey>> key_in(base::Bytes text,
                                                            const std::string& path) {
  base::Ed25519Seed seed{};
  const bool is_whole = text.size() == kFileBytes && text.back() == '\n' &&
                        base::hex_decode(base::as_text(text).substr(0, kFileBytes - 1), seed);
  std::unique_ptr<executors::SigningKey> key;
  if (is_whole) key = std::make_unique<executors::SigningKey>(seed);
  executors::wipe(seed.data(), seed.size());
  executors::wipe(text.data(), text.size());
  if (!key) return base::Error(base::ErrorCode::kCorrupt, path, "does not hold a key");
  return key;
}

base::Result<void> make_key(store::WorldFolder& world, const std::string& folder,
                            const std::string& path) {
  TRY(world.disk().make_directory(folder));
  TRY(world.disk().sync_directory(world.path()));
  base::Ed25519Seed seed{};
  world.random().fill(seed);
  std::string text = base::to_hex(seed) + "\n";
  auto written = env::replace_file(world.disk(), path, base::as_bytes(text));
  executors::wipe(seed.data(), seed.size());
  executors::wipe(text.data(), text.size());
  return written;
}

}  // namespace

base::Result<std::unique_ptr<executors::SigningKey>> node_key(store::WorldFolder& world) {
  const std::string folder = world.path() + "/keys";
  const std::string path = folder + "/node";
  auto text = env::read_file(world.disk(), path, kFileBytes + 1);
  if (!text && text.error().code() == base::ErrorCode::kNotFound) {
    TRY(make_key(world, folder, path));
    text = env::read_file(world.disk(), path, kFileBytes + 1);
  }
  return key_in(TRY(std::move(text)), path);
}

}  // namespace holdfast::node
