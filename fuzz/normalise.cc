// SPDX-License-Identifier: Apache-2.0
// JSON and CBOR with a schema: the first byte chooses one of a few that hold every kind of type.
#include <array>

#include "codec_invariants.h"

namespace {

using namespace holdfast;

constexpr std::string_view kTypes[] = {
    R"({"record":{"id":{"uuid":{}},"n":{"int":{}},"m":{"nat":{}},"at":{"time":{}},
                  "note":{"option":{"text":{}}},"ok":{"bool":{}},"for":{"option":{"duration":{}}}}})",
    R"({"variant":{"Idle":{"unit":{}},"Busy":{"record":{"n":{"nat":{}}}},"Note":{"option":{"text":{}}},
                   "Deep":{"variant":{"A":{"list":{"nat":{}}},"B":{"unit":{}},"C":{"any":{}}}}}})",
    R"({"set":{"variant":{"A":{"nat":{}},"B":{"set":{"text":{}}}}}})",
    R"({"map":{"key":{"int":{}},"value":{"set":{"int":{}}}}})",
    R"({"map":{"key":{"nat":{}},"value":{"map":{"key":{"text":{}},"value":{"option":{"float":{}}}}}}})",
    R"({"map":{"key":{"uuid":{}},"value":{"bytes":{}}}})",
    R"({"map":{"key":{"hash":{}},"value":{"dec128":{}}}})",
    R"({"list":{"dec128":{}}})",
    R"({"list":{"record":{"b":{"bytes":{}},"u":{"unit":{}},"f":{"float":{}},"h":{"option":{"hash":{}}}}}})",
    R"({"record":{"a":{"option":{"record":{"a":{"option":{"nat":{}}},"b":{"option":{"any":{}}}}}},
                  "b":{"option":{"list":{"option":{"time":{}}}}},"cc":{"option":{"set":{"any":{}}}}}})",
    R"({"list":{"float":{}}})",
    R"({"list":{"duration":{}}})",
};

class NoTypes : public codec::TypeSource {
 public:
  const codec::Type* find(std::string_view) const override { return nullptr; }
};

std::vector<codec::Schema> make_schemas() {
  std::vector<codec::Schema> schemas;
  codec::Normaliser normaliser;
  for (const std::string_view json : kTypes) {
    codec::Errors errors;
    const auto expression = normaliser.from_json(codec::Schema::any(), json);
    const auto type = codec::parse_type(codec::View::of(expression.value()), "$", errors);
    CHECK(type.has_value());
    schemas.push_back(*codec::Schema::compile(*type, NoTypes(), "$", errors));
  }
  return schemas;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<codec::Schema> schemas = make_schemas();
  static codec::Normaliser normaliser;
  if (size == 0) return 0;
  const codec::Schema& schema = schemas[data[0] / 2 % schemas.size()];
  const base::ByteView input(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    fuzz::check_json(normaliser, schema, fuzz::Json::kReadsBack, base::as_text(input));
  } else {
    fuzz::check_cbor(normaliser, schema, fuzz::Json::kReadsBack, input);
  }
  return 0;
}
