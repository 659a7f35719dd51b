// SPDX-License-Identifier: Apache-2.0
#include "defs/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "defs/builtin.h"

namespace holdfast::defs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts(const codec::Errors& errors) {
  std::vector<std::string> all;
  for (const base::Error& error : errors) all.push_back(error.to_string());
  return all;
}

std::vector<std::string> errors_of(const std::vector<Document>& documents) {
  const Catalogue builtin = builtin_catalogue();
  return texts(load(documents, &builtin).errors);
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
  const Catalogue builtin = builtin_catalogue();
  const Bundle bundle = load({{"order.json", kOrder}, {"manifest.json", kManifest}}, &builtin);
  EXPECT_THAT(texts(bundle.errors), IsEmpty());
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

}  // namespace
}  // namespace holdfast::defs
