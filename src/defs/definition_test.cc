// SPDX-License-Identifier: Apache-2.0
// Hashes: what changes them and what does not.
#include "defs/definition.h"

#include <set>

#include "base/hex.h"
#include "base/testing.h"
#include "codec/json_writer.h"
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::hash_of;

const std::string kHash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kZeros = "sha256:" + std::string(64, '0');

// Each group: texts that say the same. Different groups say different things.
const std::vector<std::vector<std::string>>& groups() {
  static const std::vector<std::vector<std::string>> all = {
      {R"({"$kind":"defschema","name":"a/b@1","type":{"record":{"x":{"int":{}},"y":{"int":{}}}}})",
       R"({"type":{"record":{"y":{"int":{}},"x":{"int":{}}}},"name":"a/b@1","$kind":"defschema"})",
       R"( { "$kind":"defschema","$comment":"x","name":"a/b@1","type":{"$comment":1,"record":{"y":{"int":{}},"x":{"int":{}}}}} )",
       R"({"$kind":"defschema","name":"a\/b@1","type":{"record":{"x":{"int":{}},"\u0079":{"int":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@2","type":{"record":{"x":{"int":{}},"y":{"int":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"record":{"x":{"int":{}},"z":{"int":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"record":{"x":{"int":{}},"y":{"nat":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"variant":{"x":{"int":{}},"y":{"int":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"list":{"text":{}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"set":{"text":{}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"ref":"a/c@1"}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"map":{"key":{"text":{}},"value":{"int":{}}}}})",
       R"({"$kind":"defschema","name":"a/b@1","type":{"map":{"$comment":1,"value":{"int":{}},"key":{"text":{}}}}})"},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"map":{"key":{"int":{}},"value":{"text":{}}}}})"},

      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"native"}})"},
      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"steps"}})"},
      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"graph"}})"},
      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"builtin"}})"},
      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"wasm","artifact":{"kind":"wasm_module"}}})",
       R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"wasm","artifact":{"kind":"wasm_module","hash":")" +
           kZeros + R"("}}})"},
      {R"({"$kind":"defmodule","name":"a/b@1","runtime":{"kind":"wasm","artifact":{"kind":"wasm_module","hash":")" +
       kHash + R"("}}})"},

      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"}})",
       R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/y@1","a/x@1"],"impl":{"entrypoint":"f","module":"a/m@1"}})",
       R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"},
           "determinism":"strict","context":null,"annotations":null,"key_schema":null})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@2","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"}})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@2","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"}})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1"],"impl":{"module":"a/m@1","entrypoint":"f"}})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/n@1","entrypoint":"f"}})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"g"}})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"},"context":"a/c@1"})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"},"annotations":"a/c@1"})"},
      {R"({"$kind":"defworkflow","name":"a/b@1","state":"a/s@1","event":"a/e@1","effects_emitted":["a/x@1","a/y@1"],"impl":{"module":"a/m@1","entrypoint":"f"},"key_schema":"a/c@1"})"},

      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"timer"}})",
       R"({"executor":{"kind":"timer"},"impl":null,"timeout_ns":null,"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1"})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@2","receipt":"a/r@1","executor":{"kind":"timer"}})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@2","executor":{"kind":"timer"}})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"http"}})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"worker","queue":"x"}})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"worker","queue":"y"}})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"timer"},"timeout_ns":0})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","executor":{"kind":"timer"},"timeout_ns":1})"},
      {R"({"$kind":"defeffect","name":"a/b@1","params":"a/p@1","receipt":"a/r@1","impl":{"module":"a/m@1","entrypoint":"timer"}})"},

      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k"})",
       R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k","expected_digest":")" + kZeros +
           "\"}"},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"l"})"},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k","expected_digest":")" + kHash +
       "\"}"},

      {R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"a/b@1"},{"name":"a/c@1"}],"modules":[],"workflows":[],"effects":[]})",
       R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"a/c@1"},{"name":"a/b@1","hash":")" +
           kZeros +
           R"("}],"modules":[],"workflows":[],"effects":[],"secrets":[],"routing":{"subscriptions":[]}})",
       R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"a/b@1"},{"name":"a/c@1"}],"modules":[],"workflows":[],"effects":[],"routing":{}})"},
      {R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"a/b@1"}],"modules":[{"name":"a/c@1"}],"workflows":[],"effects":[]})"},
      {R"({"$kind":"manifest","air_version":"2","schemas":[{"name":"a/b@1","hash":")" + kHash +
       R"("},{"name":"a/c@1"}],"modules":[],"workflows":[],"effects":[]})"},
      {R"({"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],"effects":[],"routing":{"subscriptions":[
           {"event":"a/e@1","workflow":"a/w@1"},{"event":"a/f@1","workflow":"a/w@1"}]}})",
       R"({"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],"effects":[],"routing":{"subscriptions":[
           {"event":"a/e@1","op":"a/w@1"},{"op":"a/w@1","event":"a/f@1","key_field":null}]}})"},
      {R"({"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],"effects":[],"routing":{"subscriptions":[
           {"event":"a/f@1","workflow":"a/w@1"},{"event":"a/e@1","workflow":"a/w@1"}]}})"},
      {R"({"$kind":"manifest","air_version":"2","schemas":[],"modules":[],"workflows":[],"effects":[],"routing":{"subscriptions":[
           {"event":"a/e@1","workflow":"a/w@1","key_field":"x"},{"event":"a/f@1","workflow":"a/w@1"}]}})"},
  };
  return all;
}

TEST(DefinitionHash, comments_defaults_order_and_placeholders_change_nothing) {
  for (const auto& group : groups()) {
    for (const std::string& text : group) EXPECT_EQ(hash_of(text), hash_of(group[0])) << text;
  }
}

TEST(DefinitionHash, everything_else_changes_it) {
  std::set<std::string> seen;
  for (const auto& group : groups()) {
    EXPECT_TRUE(seen.insert(hash_of(group[0])).second) << group[0];
  }
}

TEST(DefinitionHash, the_canonical_bytes_printed_as_json_and_read_again_stay_the_same) {
  for (const auto& group : groups()) {
    codec::Errors errors;
    const base::Bytes canonical = encode(testing::parse(group[0], errors).value());
    const std::string printed = codec::to_json(codec::View::of(canonical));
    EXPECT_EQ(base::to_hex(encode(testing::parse(printed, errors).value())),
              base::to_hex(canonical));
  }
}

TEST(DefinitionHash, the_kind_is_inside) {
  codec::Errors errors;
  const auto definition = testing::parse(groups()[0][0], errors);
  const base::Bytes canonical = encode(definition.value());
  EXPECT_EQ(codec::View::of(canonical).find("$kind")->text(), "defschema");
}

TEST(DefinitionHash, the_published_vectors_match_byte_for_byte) {
  const auto folder = base::testing::vectors("agentos/test-vectors");
  if (!folder) GTEST_SKIP() << base::testing::kNoVectors;
  const std::string text = base::testing::file_text(*folder / "schemas.json");
  codec::Normaliser normaliser;
  const auto vectors = normaliser.from_json(codec::Schema::any(), text);
  ASSERT_TRUE(vectors) << vectors.error().to_string();
  ASSERT_GT(codec::View::of(*vectors).size(), 0u);
  for (const codec::View vector : codec::View::of(*vectors).elements()) {
    codec::Errors errors;
    const auto definition = parse_definition(*vector.find("json"), "$", errors);
    ASSERT_TRUE(definition) << ::testing::PrintToString(testing::lines_of(errors));
    const base::Bytes canonical = encode(*definition);
    EXPECT_EQ(base::to_hex(canonical), vector.find("cbor_hex")->text());
    EXPECT_EQ(base::sha256(canonical).to_text(), vector.find("hash")->text());
  }
}

}  // namespace
}  // namespace holdfast::defs
