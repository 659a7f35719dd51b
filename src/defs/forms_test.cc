// SPDX-License-Identifier: Apache-2.0
// What every kind of definition has in common, and the forms that are small.
#include "defs/forms.h"

#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::form_errors;
using testing::Lines;
using testing::Refusal;

const std::string kUnknownKind =
    "$.$kind: unknown kind; there are defschema, defmodule, defworkflow, defeffect, defsecret and "
    "manifest";

TEST(Forms, what_is_not_a_definition_is_refused) {
  const Refusal cases[] = {
      {"1", {"$: expected an object"}},
      {"[]", {"$: expected an object"}},
      {"{}", {"$: not a definition: it has no $kind"}},
      {R"({"$kind":null})", {"$: not a definition: it has no $kind"}},
      {R"({"$kind":7})", {kUnknownKind}},
      {R"({"$kind":""})", {kUnknownKind}},
      {R"({"$kind":"DefSchema"})", {kUnknownKind}},
      {R"({"$kind":"defplan","name":"a/b@1"})", {kUnknownKind}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(form_errors(json), errors) << json;
}

TEST(Forms, a_comment_may_stand_in_every_object) {
  for (
      const char* json : {
          R"({"$kind":"defschema","$comment":1,"name":"a/b@1","type":{"$comment":[],"text":{}}})",
          R"({"$kind":"defschema","name":"a/b@1","type":{"map":{"$comment":"","key":{"text":{}},"value":{"text":{}}}}})",
          R"({"$kind":"defmodule","name":"a/b@1","$comment":"","runtime":{"$comment":"","kind":"wasm",
               "artifact":{"$comment":"","kind":"wasm_module"}}})",
          R"({"$kind":"defeffect","$comment":{},"name":"a/b@1","params":"a/p@1","receipt":"a/r@1",
               "executor":{"$comment":1,"kind":"timer"}})",
          R"({"$kind":"manifest","$comment":{},"air_version":"2","schemas":[{"$comment":1,"name":"a/b@1"}],
               "modules":[],"workflows":[],"effects":[],"routing":{"$comment":1,"subscriptions":
               [{"$comment":1,"event":"a/e@1","workflow":"a/w@1"}]}})",
      }) {
    EXPECT_EQ(form_errors(json), Lines()) << json;
  }
}

TEST(Forms, a_schema_has_a_name_and_a_type) {
  const Refusal cases[] = {
      {R"({"$kind":"defschema","name":"a/b@1","type":{"text":{}}})", {}},
      {R"({"$kind":"defschema"})",
       {"$: the field 'name' is missing", "$: the field 'type' is missing"}},
      {R"({"$kind":"defschema","name":null,"type":null})",
       {"$: the field 'name' is missing", "$: the field 'type' is missing"}},
      {R"({"$kind":"defschema","name":1,"type":{"text":{}}})", {"$.name: expected a name"}},
      {R"({"$kind":"defschema","name":"a/b@1","type":{"text":{}},"doc":"x","Name":1})",
       {"$: unknown field \"doc\"", "$: unknown field \"Name\""}},
      {R"({"$kind":"defschema","name":"a/b@0","type":{"record":{"x":{"txt":{}},"y":{"list":1}}}})",
       {"$.name: 'a/b@0' has a bad version: a whole number from 1 after the '@'",
        "$.type.record.x: unknown type \"txt\"",
        "$.type.record.y.list: expected a type expression such as {\"text\":{}}"}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(form_errors(json), errors) << json;
}

TEST(Forms, a_secret_has_a_name_and_a_binding) {
  const std::string zeros(64, '0');
  const Refusal cases[] = {
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"env:KEY"})", {}},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k","expected_digest":"sha256:)" +
           zeros + "\"}",
       {}},
      {R"({"$kind":"defsecret","name":"a/b@1"})", {"$: the field 'binding_id' is missing"}},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":""})",
       {"$.binding_id: expected a text that is not empty"}},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k","expected_digest":"sha256:00"})",
       {"$.expected_digest: expected a hash: sha256: and 64 lower-case hexadecimal digits"}},
      {R"({"$kind":"defsecret","name":"a/b@1","binding_id":"k","value":"hunter2"})",
       {"$: unknown field \"value\""}},
  };
  for (const auto& [json, errors] : cases) EXPECT_EQ(form_errors(json), errors) << json;
}

}  // namespace
}  // namespace holdfast::defs
