// SPDX-License-Identifier: Apache-2.0
#include "defs/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "defs/testing.h"

namespace holdfast::defs {
namespace {

using testing::builtin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_of;
using testing::load_errors;
using testing::schema;

std::vector<std::string> errors_of(const std::vector<Document>& documents) {
  return lines_of(load(documents, &builtin()).errors);
}

constexpr char kOrder[] = R"json([
{"$kind":"defschema","name":"shop/OrderPlaced@1","type":{"record":{"order_id":{"text":{}},"total":{"dec128":{}}}}},
{"$kind":"defschema","name":"shop/OrderId@1","type":{"text":{}}},
{"$kind":"defschema","name":"shop/OrderEvent@1","type":{"variant":{
  "Placed":{"ref":"shop/OrderPlaced@1"},"Receipt":{"ref":"sys/EffectReceiptEnvelope@1"}}}},
{"$kind":"defschema","name":"shop/OrderState@1","type":{"record":{"paid":{"bool":{}}}}},
{"$kind":"defmodule","name":"shop/orders@1","runtime":{"kind":"native"}},
{"$kind":"defworkflow","name":"shop/Order@1","state":"shop/OrderState@1","event":"shop/OrderEvent@1",
 "key_schema":"shop/OrderId@1","effects_emitted":["sys/timer.set@1"],
 "impl":{"module":"shop/orders@1","entrypoint":"order"}}
])json";

constexpr char kManifest[] = R"json({"$kind":"manifest","air_version":"2",
"schemas":[{"name":"shop/OrderEvent@1"},{"name":"shop/OrderPlaced@1"},{"name":"shop/OrderId@1"},{"name":"shop/OrderState@1"}],
"modules":[{"name":"shop/orders@1"}],"workflows":[{"name":"shop/Order@1"}],"effects":[],
"routing":{"subscriptions":[{"event":"shop/OrderPlaced@1","op":"shop/Order@1","key_field":"order_id"}]}})json";

TEST(Load, a_sound_bundle_has_no_errors_and_every_listed_hash_is_filled_in) {
  const Bundle bundle = load({{"order.json", kOrder}, {"manifest.json", kManifest}}, &builtin());
  EXPECT_THAT(lines_of(bundle.errors), IsEmpty());
  ASSERT_TRUE(bundle.manifest);
  for (const NamedRef& ref : std::get<Manifest>(bundle.manifest->definition).schemas)
    EXPECT_TRUE(ref.hash) << ref.name;
  EXPECT_EQ(std::get<Manifest>(bundle.manifest->definition).subscriptions[0].workflow,
            "shop/Order@1");
}

TEST(Load, all_errors_are_reported_each_with_file_and_place) {
  EXPECT_THAT(
      errors_of({{"a.json", R"([{"$kind":"defschema","name":"shop/A@0","type":{"text":{}}},
                                        {"$kind":"defschema","name":"shop/B@1","type":{"list":{"ref":"shop/C@1"}}},
                                        {"$kind":"defschema","name":"sys/D@1","type":{"text":{}}},
                                        {"$kind":"defthing","name":"shop/E@1"},
                                        {"$kind":"defsecret","name":"shop/F@1","colour":1}])"},
                 {"b.json", R"({"$kind":"defschema","name":"shop/B@1","type":{"text":{}}})"},
                 {"c.json", "{"}}),
      ElementsAre(HasSubstr("a.json: $[0].name: 'shop/A@0' has a bad version"),
                  HasSubstr("a.json: $[2].name: 'sys/D@1' is reserved"),
                  HasSubstr("a.json: $[3].$kind: unknown kind"),
                  HasSubstr("a.json: $[4]: the field 'binding_id' is missing"),
                  HasSubstr("a.json: $[4]: unknown field \"colour\""),
                  HasSubstr("b.json: $: 'shop/B@1' is defined twice, first at a.json: $[1]"),
                  HasSubstr("c.json: $: the text ends inside a map"),
                  HasSubstr("a.json: $[1].type.list.ref: there is no defschema named 'shop/C@1'")));
}

TEST(Load, a_document_is_one_definition_or_a_list_of_them) {
  const std::string a = schema("a/A@1", R"({"text":{}})");
  const std::string b = schema("a/B@1", R"({"text":{}})");
  EXPECT_EQ(load({{"f", a}, {"g", b}}, &builtin()).catalogue.entries().size(), 2u);
  EXPECT_EQ(load({{"f", "[" + a + "," + b + "]"}}, &builtin()).catalogue.entries().size(), 2u);
  EXPECT_THAT(load_errors("[]"), ElementsAre("f: $: there is no definition in it"));
  EXPECT_THAT(load_errors("[[" + a + "]]"), ElementsAre("f: $[0]: expected an object"));
  EXPECT_THAT(load_errors("7"), ElementsAre("f: $: expected an object"));
  EXPECT_THAT(load_errors(""), ElementsAre(HasSubstr("f: $: ")));
}

TEST(Load, a_name_belongs_to_one_definition_of_one_kind) {
  const std::string text = schema("a/A@1", R"({"text":{}})");
  const std::string secret = R"({"$kind":"defsecret","name":"a/A@1","binding_id":"k"})";
  EXPECT_THAT(errors_of({{"f", text}, {"g", text}, {"h", secret}}),
              ElementsAre("g: $: 'a/A@1' is defined twice, first at f: $",
                          "h: $: 'a/A@1' is defined twice, first at f: $"));
  const Bundle library = load({{"library.json", text}}, &builtin());
  EXPECT_THAT(lines_of(load({{"f", secret}}, &library.catalogue).errors),
              ElementsAre("f: $: 'a/A@1' is defined twice, first at library.json: $"));
}

TEST(Load, the_same_key_twice_is_refused_with_its_path) {
  EXPECT_THAT(
      load_errors(R"([{"$kind":"defschema","name":"a/A@1","name":"a/B@1","type":{"text":{}}}])"),
      ElementsAre("f: $[0].name: the key is there twice"));
}

TEST(Load, names_under_sys_are_refused_unless_they_are_allowed) {
  const std::string text = schema("sys/A@1", R"({"text":{}})");
  EXPECT_THAT(
      load_errors(text),
      ElementsAre("f: $.name: 'sys/A@1' is reserved: names under sys/ belong to the system"));
  EXPECT_THAT(lines_of(load({{"f", text}}, nullptr, Reserved::kAllowed).errors), IsEmpty());
}

TEST(Load, a_hash_does_not_depend_on_what_lies_below_or_beside) {
  const std::string text = schema("a/A@1", R"({"text":{}})");
  EXPECT_EQ(load_errors(text).size(), 0u);
  EXPECT_EQ(load({{"f", text}}, nullptr).catalogue.find_entry("a/A@1")->hash,
            load({{"f", kOrder}, {"g", text}}, &builtin()).catalogue.find_entry("a/A@1")->hash);
}

TEST(Load, more_than_10000_definitions_are_refused) {
  std::string text;
  for (std::size_t i = 0; i <= kMaxDefinitions + 1; ++i) {
    text += (i == 0 ? "[" : ",") + schema("a/A" + std::to_string(i) + "@1", R"({"text":{}})");
  }
  EXPECT_THAT(load_errors(text + "]"), ElementsAre("f: $[10000]: more than 10000 definitions"));
}

}  // namespace
}  // namespace holdfast::defs
