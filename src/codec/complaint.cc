// SPDX-License-Identifier: Apache-2.0
#include "codec/complaint.h"

#include "base/bytes.h"
#include "codec/buffer.h"
#include "codec/json_writer.h"
#include "codec/limits.h"

namespace holdfast::codec {

std::string expectation(TypeKind type) {
  switch (type) {
    case TypeKind::kRecord: return "record (a map)";
    case TypeKind::kVariant: return "variant (a map)";
    case TypeKind::kSet: return "set (a list)";
    case TypeKind::kUnit: return "unit (null)";
    case TypeKind::kAny: return "a JSON value";
    default: return std::string(name_of(type));
  }
}

std::string describe(const Item& item) {
  std::string text(name_of(item.kind));
  if (item.kind == ItemKind::kNumber) text += " " + std::string(item.text.substr(0, 40));
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 64;
  Buffer json;
  std::size_t size = text.size();
  if (size > kShown) {
    size = kShown;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
      --size;  // not inside a character
  }
  write_string_json(json, text.substr(0, size));
  return std::string(base::as_text(json.view())) + (size < text.size() ? "..." : "");
}

std::string not_a_field(const Item& key) {
  if (key.kind == ItemKind::kText) return "unknown field " + quoted(key.text);
  return "expected the name of a field, got " + describe(key);
}

std::string not_a_key(TypeKind type, const Item& key, const char* refusal) {
  if (refusal == nullptr)
    return "expected " + std::string(name_of(type)) + " as key, got " + describe(key);
  const std::string name = key.kind == ItemKind::kText ? " " + quoted(key.text) : "";
  return "the key" + name + ": " + refusal;
}

std::string not_of_a_variant(bool has_sugar, const Item& key) {
  const bool is_text = key.kind == ItemKind::kText;
  if (is_text && !has_sugar && (key.text == "$tag" || key.text == "$value"))
    return std::string(key.text) + " is there twice";
  return std::string("a variant has ") + (has_sugar ? "one arm only" : "only $tag and $value") +
         ", not " + (is_text ? quoted(key.text) : describe(key));
}

std::string beyond_limits(std::size_t items) {
  if (items > kMaxItems)
    return "more items than a value may have (" + std::to_string(kMaxItems) + ")";
  return "encoded it is larger than a value may be (" + std::to_string(kMaxValueBytes) + " bytes)";
}

}  // namespace holdfast::codec
