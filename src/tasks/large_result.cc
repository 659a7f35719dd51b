// SPDX-License-Identifier: Apache-2.0
#include "tasks/large_result.h"

#include "base/hex.h"
#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "tasks/limits.h"

namespace holdfast::tasks {
namespace {

constexpr std::string_view kBlobMember = "$blob";
constexpr std::string_view kBytesMember = "bytes";

}  // namespace

std::optional<ResultReference> reference_of(codec::View result) {
  if (result.kind() != codec::ViewKind::kMap || result.size() != 2) return std::nullopt;
  const auto hash = result.find(kBlobMember);
  const auto bytes = result.find(kBytesMember);
  if (!hash || !bytes || !hash->text() || !bytes->nat()) return std::nullopt;
  ResultReference reference{.hash = {}, .bytes = *bytes->nat()};
  if (!base::hex_decode(*hash->text(), reference.hash.bytes)) return std::nullopt;
  return reference;
}

base::Bytes write_reference(const ResultReference& reference) {
  codec::Buffer out;
  codec::write_map_head(out, 2);  // in canonical order: both names have five letters
  codec::write_text(out, kBlobMember);
  codec::write_text(out, base::to_hex(reference.hash.bytes));
  codec::write_text(out, kBytesMember);
  codec::write_nat(out, reference.bytes);
  return out.to_bytes();
}

bool is_kept_as_blob(base::ByteView result) {
  return result.size() > kMaxInlineResultBytes || reference_of(codec::View::of(result));
}

}  // namespace holdfast::tasks
