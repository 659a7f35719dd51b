// SPDX-License-Identifier: Apache-2.0
// Schema: a type compiled for checking values fast. References are resolved, field names stand
// ready as encoded keys in canonical order, arms as encoded tags; the normaliser only walks it.
// It is immutable and holds no pointer to what it was made from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "codec/name_key.h"
#include "codec/type.h"

namespace holdfast::codec {

// How many types may nest, references included, before a schema is refused.
inline constexpr std::size_t kMaxTypeDepth = 256;

// Where the compiler finds the types that are referred to by name.
class TypeSource {
 public:
  virtual ~TypeSource() = default;
  virtual const Type* find(std::string_view name) const = 0;
};

class Schema {
 public:
  struct Node;
  struct Member;

  // Any JSON value.
  static Schema any();

  // Any CBOR item, also such as have no JSON form; for tools that look at foreign bytes.
  static Schema item();

  // All errors are reported: names that lead nowhere, recursion, options that
  // cannot be told apart.
  static std::optional<Schema> compile(const Type& type, const TypeSource& types,
                                       const std::string& path, Errors& errors);

  const Node& root() const noexcept { return nodes_[root_]; }
  const Node& node(std::uint32_t index) const noexcept { return nodes_[index]; }
  const Member& member(const Node& node, std::uint32_t index) const noexcept;

  // The index of a field or arm by name.
  std::optional<std::uint32_t> find_member(const Node& node, std::string_view name) const noexcept;

  struct Node {
    TypeKind kind = TypeKind::kAny;
    std::uint32_t inner = 0;         // list, set, option: the element; map: the value
    TypeKind key = TypeKind::kText;  // map
    std::uint32_t first_member = 0;  // record, variant
    std::uint32_t member_count = 0;
    std::uint32_t first_slot = 0;  // of the name table
    std::uint32_t slot_mask = 0;
  };

  struct Member {
    std::string name;
    base::Bytes prefix;  // field: the encoded key; arm: all that stands before the arm's value
    std::uint32_t node = 0;
    bool optional = false;  // field: may be absent; arm: `$value` may be absent
    bool unit = false;      // arm: has no `$value`
  };

 private:
  friend class SchemaCompiler;

  struct NameSlot {
    NameKey name;
    std::uint32_t member = 0;  // its index + 1; 0: the slot is free
  };

  bool is_named(std::uint32_t member, std::string_view name) const noexcept;

  std::vector<Node> nodes_;
  std::vector<Member> members_;
  std::vector<NameSlot> slots_;  // open-addressed tables, one per record or variant
  std::uint32_t root_ = 0;
};

inline const Schema::Member& Schema::member(const Node& node, std::uint32_t index) const noexcept {
  return members_[node.first_member + index];
}

inline std::optional<std::uint32_t> Schema::find_member(const Node& node,
                                                        std::string_view name) const noexcept {
  const NameKey key = NameKey::of(name);
  for (std::uint32_t at = key.hash();; ++at) {
    const NameSlot& slot = slots_[node.first_slot + (at & node.slot_mask)];
    if (slot.member == 0) return std::nullopt;
    if (slot.name == key &&
        (key.size <= NameKey::kWholeNames || is_named(node.first_member + slot.member - 1, name))) {
      return slot.member - 1;
    }
  }
}

}  // namespace holdfast::codec
