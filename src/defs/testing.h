// SPDX-License-Identifier: Apache-2.0
// What the tests of definitions share: one definition or a bundle as text in, errors or a hash as
// text out, so that a table of cases reads like the rules. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.h"
#include "codec/normaliser.h"
#include "defs/builtin.h"
#include "defs/load.h"

namespace holdfast::defs::testing {

using Lines = std::vector<std::string>;

inline Lines lines_of(const codec::Errors& errors) {
  Lines lines;
  for (const base::Error& error : errors) lines.push_back(error.to_string());
  return lines;
}

inline const Catalogue& builtin() {
  const Catalogue& catalogue = builtin_catalogue();
  return catalogue;
}

// Reads one definition by itself; what is wrong with its form goes to `errors`.
inline std::optional<Definition> parse(std::string_view json, codec::Errors& errors) {
  codec::Normaliser normaliser;
  const auto value = normaliser.from_json(codec::Schema::any(), json);
  EXPECT_TRUE(value) << json << "\n" << value.error().to_string();
  if (!value) return std::nullopt;
  return parse_definition(codec::View::of(*value), "$", errors);
}

inline Lines form_errors(std::string_view json) {
  codec::Errors errors;
  const bool read = parse(json, errors).has_value();
  EXPECT_EQ(read, errors.empty()) << json;
  return lines_of(errors);
}

// The hash of one definition; its form must be right.
inline std::string hash_of(std::string_view json) {
  codec::Errors errors;
  const auto definition = parse(json, errors);
  EXPECT_TRUE(definition) << json << "\n" << ::testing::PrintToString(lines_of(errors));
  return definition ? base::sha256(encode(*definition)).to_text() : "";
}

// A bundle in one file, on top of the system's definitions.
inline Bundle load_text(std::string json) { return load({{"f", std::move(json)}}, &builtin()); }

inline Lines load_errors(std::string json) { return lines_of(load_text(std::move(json)).errors); }

// A case of a table: a text, and all that is wrong with it.
struct Refusal {
  std::string json;
  Lines errors;
};

// Schemas, for bundles that are about something else.
inline std::string schema(std::string_view name, std::string_view type) {
  return R"({"$kind":"defschema","name":")" + std::string(name) + R"(","type":)" +
         std::string(type) + "}";
}

}  // namespace holdfast::defs::testing
