// SPDX-License-Identifier: Apache-2.0
// What the tests of the codec share: schemas from JSON, and the normaliser as functions from text
// to text, so that a table of cases reads like the rules. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/hex.h"
#include "codec/normaliser.h"
#include "codec/type.h"

namespace holdfast::codec::testing {

inline base::Bytes bytes_of(std::string_view hex) { return base::from_hex(hex).value(); }

// A type expression written as JSON; what is wrong with it goes to `errors`.
inline std::optional<Type> type_of(std::string_view json, Errors& errors) {
  Normaliser normaliser;
  auto expression = normaliser.from_json(Schema::any(), json);
  if (expression) return parse_type(View::of(*expression), "$", errors);
  errors.push_back(std::move(expression).error());
  return std::nullopt;
}

inline std::string to_text(const Errors& errors) {
  std::string text;
  for (const base::Error& error : errors) text += error.to_string() + "\n";
  return text;
}

// The schemas that a reference may name.
class Types : public TypeSource {
 public:
  Types() = default;
  Types(std::initializer_list<std::pair<std::string, std::string_view>> named) {
    for (const auto& [name, json] : named) {
      Errors errors;
      auto type = type_of(json, errors);
      EXPECT_TRUE(type) << name << ": " << to_text(errors);
      if (type) types_[name] = std::move(*type);
    }
  }
  void add(std::string name, Type type) { types_[std::move(name)] = std::move(type); }
  const Type* find(std::string_view name) const override {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Type, std::less<>> types_;
};

// A type expression must be a good one here; where it is not, the test fails and `any` stands in.
inline Schema schema_of(std::string_view type_json, const TypeSource& types = Types()) {
  Errors errors;
  const auto type = type_of(type_json, errors);
  auto schema = type ? Schema::compile(*type, types, "$", errors) : std::nullopt;
  EXPECT_TRUE(schema) << type_json << "\n" << to_text(errors);
  return schema ? std::move(*schema) : Schema::any();
}

inline std::string hex_or_error(const base::Result<base::ByteView>& canonical) {
  if (!canonical) return canonical.error().to_string();
  const std::string hex = base::to_hex(*canonical);
  EXPECT_EQ(hex.substr(0, 6), "d9d9f7");
  return hex.substr(6);
}

// The canonical bytes in hex without the self-describe tag, or the error.
inline std::string encode(const Schema& schema, std::string_view json) {
  Normaliser normaliser;
  return hex_or_error(normaliser.from_json(schema, json));
}
inline std::string encode(std::string_view type, std::string_view json) {
  return encode(schema_of(type), json);
}

// The same from CBOR in hex.
inline std::string recode(const Schema& schema, std::string_view hex) {
  Normaliser normaliser;
  return hex_or_error(normaliser.from_cbor(schema, bytes_of(hex), Strictness::kLenient));
}
inline std::string recode(std::string_view type, std::string_view hex) {
  return recode(schema_of(type), hex);
}

// The same by a strict decode; the self-describe tag is put before `hex`.
inline std::string strict(const Schema& schema, std::string_view hex) {
  Normaliser normaliser;
  return hex_or_error(
      normaliser.from_cbor(schema, bytes_of("d9d9f7" + std::string(hex)), Strictness::kStrict));
}
inline std::string strict(std::string_view type, std::string_view hex) {
  return strict(schema_of(type), hex);
}

inline std::string repeat(std::string_view text, std::size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace holdfast::codec::testing
