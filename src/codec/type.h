// SPDX-License-Identifier: Apache-2.0
// Type: a type expression, as written in definitions: one-key objects such as
// {"record":{"id":{"uuid":{}},"tags":{"set":{"text":{}}}}}. It says what was written; whether its
// references lead anywhere is known once it is compiled (codec/schema.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.h"
#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::codec {

enum class TypeKind : std::uint8_t {
  kBool,
  kInt,
  kNat,
  kFloat,
  kDec128,
  kBytes,
  kText,
  kTime,
  kDuration,
  kHash,
  kUuid,
  kUnit,
  kAny,
  kRecord,
  kVariant,
  kList,
  kSet,
  kMap,
  kOption,
  kRef,
  kItem,  // any CBOR item at all; cannot be written in a definition
};

std::string_view name_of(TypeKind kind) noexcept;

// Whether values of the type may be keys: of a map, of an instance.
bool is_key_type(TypeKind kind) noexcept;

inline constexpr std::size_t kMaxMembers = 4096;
inline constexpr std::size_t kMaxMemberName = 255;

struct Member;

struct Type {
  TypeKind kind = TypeKind::kAny;
  std::string ref;              // kRef: the name of the schema
  std::vector<Member> members;  // kRecord: fields, kVariant: arms; in canonical order of names
  std::vector<Type> inner;      // kList, kSet, kOption: one type; kMap: the key's, the value's
};

struct Member {
  std::string name;
  Type type;
};

using base::Errors;
using base::kMaxErrors;

// Reads a type expression; `path` is where it stands, for the errors. All errors are reported.
std::optional<Type> parse_type(View expression, const std::string& path, Errors& errors);

// The one canonical encoding of a type expression.
void write_type(Buffer& out, const Type& type);

}  // namespace holdfast::codec
