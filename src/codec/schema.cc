// SPDX-License-Identifier: Apache-2.0
#include "codec/schema.h"

#include <bit>
#include <map>
#include <utility>

#include "codec/cbor_writer.h"

namespace holdfast::codec {

class SchemaCompiler {
 public:
  SchemaCompiler(const TypeSource& types, Errors& errors) : types_(types), errors_(errors) {}

  std::optional<Schema> compile(const Type& type, const std::string& path) {
    const auto root = node(type, path, 1);
    if (!root || !good_) return std::nullopt;
    schema_.root_ = *root;
    return std::move(schema_);
  }

 private:
  static constexpr std::uint32_t kInProgress = ~std::uint32_t{0};
  static constexpr std::uint32_t kRefused = kInProgress - 1;

  std::optional<std::uint32_t> node(const Type& type, const std::string& path, std::size_t depth) {
    if (depth > kMaxTypeDepth)
      return refuse(path, "types nest deeper than " + std::to_string(kMaxTypeDepth));
    Schema::Node made{.kind = type.kind};
    switch (type.kind) {
      case TypeKind::kRef: return reference(type, path, depth);
      case TypeKind::kRecord:
      case TypeKind::kVariant: return members(type, path, depth);
      case TypeKind::kList:
      case TypeKind::kSet:
      case TypeKind::kOption: {
        const auto inner =
            node(type.inner[0], path + "." + std::string(name_of(type.kind)), depth + 1);
        if (!inner) return std::nullopt;
        if (type.kind == TypeKind::kOption && !option_is_plain(*inner, path)) return std::nullopt;
        made.inner = *inner;
        return add(made);
      }
      case TypeKind::kMap: {
        const auto inner = node(type.inner[1], path + ".map.value", depth + 1);
        if (!inner) return std::nullopt;
        made.key = type.inner[0].kind;
        made.inner = *inner;
        return add(made);
      }
      default: return add(made);
    }
  }

  // Null means "absent" in an option, so null must mean nothing else inside. (In `any` it means
  // what it means in JSON: absent and null are one value there.)
  bool option_is_plain(std::uint32_t inner, const std::string& path) {
    const TypeKind kind = schema_.nodes_[inner].kind;
    if (kind != TypeKind::kOption && kind != TypeKind::kUnit) return true;
    refuse(path, "an option of " + std::string(name_of(kind)) + " cannot tell absent from null");
    return false;
  }

  std::optional<std::uint32_t> reference(const Type& type, const std::string& path,
                                         std::size_t depth) {
    const auto known = compiled_.find(type.ref);
    if (known != compiled_.end()) {
      if (known->second == kRefused) return std::nullopt;  // reported where it was met first
      if (known->second != kInProgress) return known->second;
      return refuse(path, "recursive type: " + type.ref + " contains itself");
    }
    const Type* target = types_.find(type.ref);
    if (target == nullptr) return refuse(path, "no schema named '" + type.ref + "'");
    compiled_[type.ref] = kInProgress;
    const auto made = node(*target, path + "(" + type.ref + ")", depth + 1);
    compiled_[type.ref] = made.value_or(kRefused);
    return made;
  }

  std::optional<std::uint32_t> members(const Type& type, const std::string& path,
                                       std::size_t depth) {
    const bool record = type.kind == TypeKind::kRecord;
    std::vector<Schema::Member> made;
    for (const codec::Member& member : type.members) {
      const auto inner = node(
          member.type, path + "." + std::string(name_of(type.kind)) + "." + member.name, depth + 1);
      if (!inner) continue;  // reported; go on, so that all errors are
      const TypeKind kind = schema_.nodes_[*inner].kind;
      Schema::Member entry{
          member.name, {}, *inner, kind == TypeKind::kOption, kind == TypeKind::kUnit};
      entry.prefix = record ? field_prefix(member.name) : arm_prefix(member.name, entry.unit);
      made.push_back(std::move(entry));
    }
    if (made.size() != type.members.size()) return std::nullopt;
    Schema::Node node{.kind = type.kind};
    node.first_member = static_cast<std::uint32_t>(schema_.members_.size());
    node.member_count = static_cast<std::uint32_t>(made.size());
    for (Schema::Member& member : made) schema_.members_.push_back(std::move(member));
    build_name_table(node);
    return add(node);
  }

  static base::Bytes field_prefix(std::string_view name) {
    Buffer out;
    write_text(out, name);
    return out.to_bytes();
  }

  static base::Bytes arm_prefix(std::string_view name, bool unit) {
    Buffer out;
    write_map_head(out, unit ? 1 : 2);
    write_text(out, "$tag");
    write_text(out, name);
    if (!unit) write_text(out, "$value");
    return out.to_bytes();
  }

  // At most half full, so that a look-up ends soon, also for a name that is not there.
  void build_name_table(Schema::Node& node) {
    const std::uint32_t size = std::bit_ceil(node.member_count * 2 + 1);
    node.first_slot = static_cast<std::uint32_t>(schema_.slots_.size());
    node.slot_mask = size - 1;
    schema_.slots_.resize(schema_.slots_.size() + size);
    for (std::uint32_t i = 0; i < node.member_count; ++i) {
      const NameKey name = NameKey::of(schema_.member(node, i).name);
      std::uint32_t at = name.hash() & node.slot_mask;
      while (schema_.slots_[node.first_slot + at].member != 0) at = (at + 1) & node.slot_mask;
      schema_.slots_[node.first_slot + at] = {name, i + 1};
    }
  }

  std::uint32_t add(const Schema::Node& node) {
    schema_.nodes_.push_back(node);
    return static_cast<std::uint32_t>(schema_.nodes_.size() - 1);
  }

  std::nullopt_t refuse(const std::string& path, std::string message) {
    good_ = false;
    errors_.push_back(base::invalid(path, std::move(message)));
    return std::nullopt;
  }

  const TypeSource& types_;
  Errors& errors_;
  Schema schema_;
  std::map<std::string, std::uint32_t, std::less<>> compiled_;
  bool good_ = true;
};

Schema Schema::any() {
  Schema schema;
  schema.nodes_.push_back({.kind = TypeKind::kAny});
  return schema;
}

Schema Schema::item() {
  Schema schema;
  schema.nodes_.push_back({.kind = TypeKind::kItem});
  return schema;
}

bool Schema::is_named(std::uint32_t member, std::string_view name) const noexcept {
  return members_[member].name == name;
}

std::optional<Schema> Schema::compile(const Type& type, const TypeSource& types,
                                      const std::string& path, Errors& errors) {
  return SchemaCompiler(types, errors).compile(type, path);
}

}  // namespace holdfast::codec
