// SPDX-License-Identifier: Apache-2.0
#include "store/backup_manifest.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "codec/cbor_writer.h"
#include "codec/json_writer.h"
#include "codec/limits.h"
#include "codec/normaliser.h"

namespace holdfast::store {
namespace {

constexpr std::string_view kHead = "holdfast-backup ";
constexpr std::string_view kVersion = "1";

base::Error damaged_manifest(const std::string& path, const std::string& why) {
  return {base::ErrorCode::kCorrupt, path, "the manifest of the backup is damaged: " + why};
}

// A name that leads nowhere else: parts of letters, digits and some signs, none of them ".."
bool is_plain(std::string_view name, bool may_have_folder) {
  const auto is_sign = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) {
    return may_have_folder && is_plain(name.substr(0, slash), false) &&
           is_plain(name.substr(slash + 1), false);
  }
  return !name.empty() && name.size() <= 128 && name.front() != '.' &&
         std::ranges::all_of(name, is_sign);
}

void write_file(codec::Buffer& out, const BackupFile& file) {
  codec::write_map_head(out, 5);
  codec::write_text(out, "name");
  codec::write_text(out, file.name);
  codec::write_text(out, "stored");
  codec::write_text(out, file.stored);
  codec::write_text(out, "bytes");
  codec::write_nat(out, file.bytes);
  codec::write_text(out, "length");
  codec::write_nat(out, file.length);
  codec::write_text(out, "hash");
  codec::write_text(out, file.hash.to_text());
}

std::optional<BackupFile> file_in(codec::View view) {
  const auto name = view.find("name");
  const auto stored = view.find("stored");
  const auto bytes = view.find("bytes");
  const auto length = view.find("length");
  const auto hash = view.find("hash");
  if (!name || !stored || !bytes || !length || !hash || !hash->text()) return std::nullopt;
  auto parsed = base::Hash::parse(*hash->text());
  const bool is_good = name->text() && is_plain(*name->text(), true) && stored->text() &&
                       is_plain(*stored->text(), false) && bytes->nat() && length->nat() &&
                       *length->nat() >= *bytes->nat() && parsed;
  if (!is_good) return std::nullopt;
  return BackupFile{std::string(*name->text()), std::string(*stored->text()), *bytes->nat(),
                    *length->nat(), *parsed};
}

std::optional<BackupManifest> manifest_in(codec::View view) {
  BackupManifest manifest;
  const auto number = [&view](std::string_view name, std::uint64_t& into) {
    const auto found = view.find(name);
    if (!found || !found->nat()) return false;
    into = *found->nat();
    return true;
  };
  const auto world = view.find("world");
  const auto files = view.find("files");
  if (!world || !world->text() || !base::hex_decode(*world->text(), manifest.world) || !files ||
      !number("number", manifest.number) || !number("time_ns", manifest.time_ns) ||
      !number("first", manifest.first) || !number("last", manifest.last))
    return std::nullopt;
  for (const codec::View each : files->elements()) {
    auto file = file_in(each);
    if (!file) return std::nullopt;
    manifest.files.push_back(std::move(*file));
  }
  return manifest;
}

}  // namespace

std::uint64_t BackupManifest::bytes() const {
  std::uint64_t sum = 0;
  for (const BackupFile& file : files) sum += file.bytes;
  return sum;
}

base::Result<base::Bytes> encode(const BackupManifest& manifest) {
  codec::Buffer out;
  codec::write_map_head(out, 6);
  codec::write_text(out, "number");
  codec::write_nat(out, manifest.number);
  codec::write_text(out, "world");
  codec::write_text(out, base::to_hex(manifest.world));
  codec::write_text(out, "time_ns");
  codec::write_nat(out, manifest.time_ns);
  codec::write_text(out, "first");
  codec::write_nat(out, manifest.first);
  codec::write_text(out, "last");
  codec::write_nat(out, manifest.last);
  codec::write_text(out, "files");
  codec::write_list_head(out, manifest.files.size());
  for (const BackupFile& file : manifest.files) write_file(out, file);
  const std::string json =
      codec::to_json(codec::View::of(out.view()), codec::JsonStyle::kIndented) + "\n";
  if (json.size() > codec::kMaxValueBytes)
    return base::Error(base::ErrorCode::kTooLarge, kBackupFile, "the backup has too many files");
  std::string text(kHead);
  text.append(kVersion).append(" ").append(base::sha256(base::as_bytes(json)).to_text());
  text.append("\n").append(json);
  const base::ByteView bytes = base::as_bytes(text);
  return base::Bytes(bytes.begin(), bytes.end());
}

base::Result<BackupManifest> decode_backup_manifest(base::ByteView bytes, const std::string& path) {
  std::string_view text = base::as_text(bytes);
  if (!text.starts_with(kHead)) return damaged_manifest(path, "it does not begin as one");
  text.remove_prefix(kHead.size());
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view version = text.substr(0, space);
  const bool is_number = !version.empty() && version.size() <= 9 &&
                         std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return damaged_manifest(path, "it has no version");
  if (version != kVersion) {
    return base::Error(base::ErrorCode::kConflict, path,
                       "the backup is of version " + std::string(version) +
                           ", and this program knows version " + std::string(kVersion) +
                           ": restore it with the release that made it");
  }
  const std::size_t end = std::min(text.find('\n'), text.size() - 1);
  const std::string_view json = text.substr(end + 1);
  const std::string_view hash =
      text.substr(std::min(space + 1, end), end - std::min(space + 1, end));
  if (base::sha256(base::as_bytes(json)).to_text() != hash)
    return damaged_manifest(path, "it is not what its first line says");
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  if (!value) return damaged_manifest(path, value.error().message());
  auto manifest = manifest_in(codec::View::of(*value));
  if (!manifest) return damaged_manifest(path, "a member is not what it should be");
  return std::move(*manifest);
}

base::Result<std::optional<BackupManifest>> read_backup_manifest(env::Disk& disk,
                                                                 const std::string& folder) {
  const std::string path = folder + "/" + kBackupFile;
  auto bytes = env::read_file(disk, path, codec::kMaxValueBytes + 128);
  if (!bytes && bytes.error().code() == base::ErrorCode::kNotFound)
    return std::optional<BackupManifest>();
  if (!bytes) return base::Error(bytes.error().code(), path, bytes.error().message());
  return std::optional(TRY(decode_backup_manifest(*bytes, path)));
}

}  // namespace holdfast::store
