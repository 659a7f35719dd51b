// SPDX-License-Identifier: Apache-2.0
#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::builtin;
using testing::Lines;
using testing::lines_of;
using testing::schema;

const std::string kListedRecord = schema("a/R@1", R"({"record":{"id":{"ref":"a/T@1"}}})");
const std::string kListedText = schema("a/T@1", R"({"text":{}})");
const std::string kDefinitions =
    "[" + kListedRecord + "," + kListedText +
    R"(,{"$kind":"defmodule","name":"a/m@1","runtime":{"kind":"native"}},
       {"$kind":"defsecret","name":"a/key@1","binding_id":"env:KEY"},
       {"$kind":"defeffect","name":"a/x@1","params":"a/R@1","receipt":"sys/SecretRef@1","executor":{"kind":"http"}},
       {"$kind":"defworkflow","name":"a/w@1","state":"a/T@1","event":"a/R@1",
        "effects_emitted":["a/x@1","sys/timer.set@1"],"impl":{"module":"a/m@1","entrypoint":"run"}}])";

// Which definitions a manifest lists, as the bodies of its lists.
struct Listed {
  std::string schemas = R"({"name":"a/R@1"},{"name":"a/T@1"})";
  std::string modules = R"({"name":"a/m@1"})";
  std::string workflows = R"({"name":"a/w@1"})";
  std::string effects = R"({"name":"a/x@1"})";
  std::string secrets = R"({"name":"a/key@1"})";
};

std::string manifest(const Listed& listed) {
  return R"({"$kind":"manifest","air_version":"2","schemas":[)" + listed.schemas +
         R"(],"modules":[)" + listed.modules + R"(],"workflows":[)" + listed.workflows +
         R"(],"effects":[)" + listed.effects + R"(],"secrets":[)" + listed.secrets + "]}";
}

Bundle load_with(const Listed& listed) {
  return load({{"d", kDefinitions}, {"m", manifest(listed)}}, &builtin());
}

Lines errors_with(const Listed& listed) { return lines_of(load_with(listed).errors); }

std::string with_hash(std::string_view hash) {
  return R"({"name":"a/T@1","hash":")" + std::string(hash) + R"("},{"name":"a/R@1"})";
}

TEST(Manifest, what_is_listed_gets_its_hash) {
  const Bundle bundle = load_with({});
  EXPECT_EQ(lines_of(bundle.errors), Lines());
  const auto& manifest = std::get<Manifest>(bundle.manifest->definition);
  ASSERT_EQ(manifest.schemas.size(), 2u);
  EXPECT_EQ(manifest.schemas[1].hash->to_text(), testing::hash_of(kListedText));
  for (const auto* refs : {&manifest.schemas, &manifest.modules, &manifest.workflows,
                           &manifest.effects, &manifest.secrets}) {
    for (const NamedRef& ref : *refs) {
      EXPECT_EQ(ref.hash.value(), bundle.catalogue.find_entry(ref.name)->hash) << ref.name;
    }
  }
}

TEST(Manifest, the_right_hash_no_hash_null_and_zeros_make_the_same_manifest) {
  const base::Hash hash = load_with({}).manifest->hash;
  for (const std::string& schemas :
       {with_hash(testing::hash_of(kListedText)), with_hash("sha256:" + std::string(64, '0')),
        std::string(R"({"name":"a/T@1","hash":null},{"name":"a/R@1"})")}) {
    const Bundle bundle = load_with({.schemas = schemas});
    EXPECT_EQ(lines_of(bundle.errors), Lines()) << schemas;
    EXPECT_EQ(bundle.manifest->hash, hash) << schemas;
  }
}

TEST(Manifest, a_wrong_hash_is_refused_with_both_hashes) {
  const std::string wrong = "sha256:" + std::string(63, '0') + "1";
  EXPECT_EQ(errors_with({.schemas = with_hash(wrong)}),
            (Lines{"m: $.schemas: 'a/T@1' has the hash " + testing::hash_of(kListedText) +
                   ", not " + wrong}));
}

TEST(Manifest, what_it_lists_must_be_there_and_of_that_kind) {
  EXPECT_EQ(errors_with({.schemas = R"({"name":"a/R@1"},{"name":"a/T@1"},{"name":"a/none@1"},
                                       {"name":"a/m@1"},{"name":"sys/None@1"})"}),
            (Lines{"m: $.schemas: there is no defschema named 'a/m@1'; that name is a defmodule",
                   "m: $.schemas: there is no defschema named 'a/none@1'",
                   "m: $.schemas: the system has no defschema named 'sys/None@1'"}));
}

TEST(Manifest, what_a_listed_definition_uses_must_be_listed_too) {
  EXPECT_EQ(
      errors_with({.schemas = "", .modules = "", .effects = ""}),
      (Lines{
          "m: $.workflows: 'a/w@1' uses the defschema 'a/T@1', which the manifest does not list",
          "m: $.workflows: 'a/w@1' uses the defschema 'a/R@1', which the manifest does not list",
          "m: $.workflows: 'a/w@1' uses the defeffect 'a/x@1', which the manifest does not list",
          "m: $.workflows: 'a/w@1' uses the defmodule 'a/m@1', which the manifest does not list"}));
  EXPECT_EQ(
      errors_with({.schemas = R"({"name":"a/R@1"})", .workflows = "", .effects = ""}),
      (Lines{
          "m: $.schemas: 'a/R@1' uses the defschema 'a/T@1', which the manifest does not list"}));
}

TEST(Manifest, it_may_leave_out_what_nothing_listed_uses_and_list_what_the_system_has) {
  EXPECT_EQ(errors_with({.modules = "", .workflows = "", .effects = "", .secrets = ""}), Lines());
  EXPECT_EQ(errors_with({.schemas = R"({"name":"a/T@1"},{"name":"sys/SecretRef@1"})",
                         .workflows = "",
                         .effects = R"({"name":"sys/timer.set@1"})"}),
            Lines());
}

TEST(Manifest, there_is_one) {
  EXPECT_EQ(
      lines_of(
          load({{"d", kDefinitions}, {"m", manifest({})}, {"n", manifest({})}}, &builtin()).errors),
      (Lines{"n: $: a second manifest; the first is at m: $"}));
}

TEST(Manifest, a_definition_from_below_is_pinned_like_any_other) {
  const Bundle library = load({{"l", kListedText}}, &builtin());
  const std::string listed = manifest({.schemas = R"({"name":"a/R@1"},{"name":"a/T@1"})",
                                       .modules = "",
                                       .workflows = "",
                                       .effects = "",
                                       .secrets = ""});
  const Bundle bundle = load({{"d", kListedRecord}, {"m", listed}}, &library.catalogue);
  EXPECT_EQ(lines_of(bundle.errors), Lines());
  EXPECT_EQ(std::get<Manifest>(bundle.manifest->definition).schemas[1].hash->to_text(),
            testing::hash_of(kListedText));
}

}  // namespace
}  // namespace holdfast::defs
