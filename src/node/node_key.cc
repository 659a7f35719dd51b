// SPDX-License-Identifier: Apache-2.0
#include "node/node_key.h"

#include <algorithm>
#include <string>

#include "base/hex.h"
#include "executors/secret.h"

namespace holdfast::node {
namespace {

constexpr std::size_t kFileBytes = 2 * sizeof(base::Ed25519Seed) + 1;  // in hex, and a line break

base::Error no_key_in(const std::string& path) {
  return {base::ErrorCode::kCorrupt, path, "does not hold a key"};
}

base::Result<std::unique_ptr<executors::SigningKey>> key_in(base::Bytes text,
                                                            const std::string& path) {
  base::Ed25519Seed seed{};
  const bool is_whole = text.size() == kFileBytes && text.back() == '\n' &&
                        base::hex_decode(base::as_text(text).substr(0, kFileBytes - 1), seed);
  std::unique_ptr<executors::SigningKey> key;
  if (is_whole) key = std::make_unique<executors::SigningKey>(seed);
  executors::wipe(seed.data(), seed.size());
  executors::wipe(text.data(), text.size());
  if (!key) return no_key_in(path);
  return key;
}

std::string folder_of(const store::WorldFolder& world) { return world.path() + "/keys"; }
std::string path_of(const store::WorldFolder& world) { return folder_of(world) + "/node"; }

}  // namespace

base::Result<std::unique_ptr<executors::SigningKey>> read_node_key(store::WorldFolder& world) {
  const std::string path = path_of(world);
  auto text = env::read_file(world.disk(), path, kFileBytes);
  if (!text && text.error().code() == base::ErrorCode::kTooLarge) return no_key_in(path);
  return key_in(TRY(std::move(text)), path);
}

base::Result<void> make_node_key(store::WorldFolder& world) {
  TRY(world.disk().make_directory(folder_of(world)));
  TRY(world.disk().sync_directory(world.path()));
  base::Ed25519Seed seed{};
  world.random().fill(seed);
  std::string text = base::to_hex(seed);
  base::Bytes line(kFileBytes, '\n');
  std::copy(text.begin(), text.end(), line.begin());
  auto written = env::replace_file(world.disk(), path_of(world), line);
  executors::wipe(seed.data(), seed.size());
  executors::wipe(text.data(), text.size());
  executors::wipe(line.data(), line.size());
  return written;
}

}  // namespace holdfast::node
